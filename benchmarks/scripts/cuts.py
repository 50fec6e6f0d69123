#!/usr/bin/env python3
"""Minimum cuts beside PyMaxflow: solve, build and solve, solve again after small changes.

    cuts.py --program target/dist/examples/cuts --out DIR [--data $MULTIPLANE_DATA] [--rounds 7]

Grids of 512 x 512 nodes and 1000 planar graphs of 500 nodes, from fixed seeds; with --data also its DIMACS instances.
Each round solves an instance with both, one after the other, in one run; flows must agree. Prints a table in Markdown,
medians over rounds and medians of the rounds' ratios, and writes DIR/raw.jsonl.
"""

import argparse
import gzip
import json
import pathlib
import statistics
import struct
import subprocess
import tempfile
import time

import maxflow
import numpy as np
from scipy.spatial import Delaunay


def changes(rng, unary):
    """A twentieth of the unaries moved by N(0, 0.1)."""
    nodes = rng.choice(len(unary), len(unary) // 20, replace=False)
    return nodes, unary[nodes] + rng.normal(scale=0.1, size=len(nodes))


def grid(size, weight):
    rng = np.random.default_rng(0)
    unary = rng.normal(size=size * size)
    index = np.arange(size * size).reshape(size, size)
    tails = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    heads = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    weights = np.full(len(tails), float(weight))
    return unary, tails, heads, weights, weights, *changes(rng, unary)


def planar(seed, scale):
    """Delaunay triangulation of 500 uniform points."""
    rng = np.random.default_rng(1000 + seed)
    sides = Delaunay(rng.uniform(size=(500, 2))).simplices[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2)
    edges = np.unique(np.sort(sides, axis=1), axis=0)
    weights = rng.uniform(size=len(edges)) * scale
    unary = rng.normal(size=500)
    return unary, edges[:, 0], edges[:, 1], weights, weights, *changes(rng, unary)


def dimacs(path):
    """A .max file with source and sink folded into unaries."""
    arcs, ends = [], (None, None)
    for line in gzip.open(path, "rt"):
        field = line.split()
        if field and field[0] == "p":
            nodes = int(field[2])
        elif field and field[0] == "n":
            ends = (int(field[1]) - 1, ends[1]) if field[2] == "s" else (ends[0], int(field[1]) - 1)
        elif field and field[0] == "a":
            arcs.append((int(field[1]) - 1, int(field[2]) - 1, float(field[3])))
    source, sink = ends
    unary, inner = np.zeros(nodes), []
    for tail, head, capacity in arcs:
        if tail == source and head != sink:
            assert unary[head] >= 0, "a node with arcs from source and to sink"
            unary[head] += capacity
        elif head == sink and tail != source:
            assert unary[tail] <= 0, "a node with arcs from source and to sink"
            unary[tail] -= capacity
        elif head != source and tail != sink:
            inner.append((tail, head, capacity))
    tails, heads, forward = (np.array(column) for column in zip(*inner))
    nothing = np.zeros(0)
    return unary, tails, heads, forward, np.zeros(len(forward)), nothing, nothing


def write(path, instances):
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(instances)))
        for unary, tails, heads, forward, backward, nodes, values in instances:
            file.write(struct.pack("<III", len(unary), len(tails), len(nodes)))
            for array, kind in ((unary, "<f8"), (tails, "<u4"), (heads, "<u4"), (forward, "<f8"), (backward, "<f8"),
                                (nodes, "<u4"), (values, "<f8")):
                file.write(np.asarray(array).astype(kind).tobytes())


def rival(prepared):
    """Seconds of PyMaxflow to build and to solve, and the flow."""
    build = solve = flow = 0.0
    for ids, source, sink, tails, heads, forward, backward in prepared:
        start = time.perf_counter()
        graph = maxflow.GraphFloat(len(ids), len(tails))
        graph.add_nodes(len(ids))
        graph.add_edges(tails, heads, forward, backward)
        graph.add_grid_tedges(ids, source, sink)
        built = time.perf_counter()
        flow += graph.maxflow()
        solve += time.perf_counter() - built
        build += built - start
    return {"build": build, "solve": solve, "flow": flow}


def prepare(instance):
    unary, tails, heads, forward, backward = instance[:5]
    ids = np.arange(len(unary))
    return ids, np.maximum(unary, 0), np.maximum(-unary, 0), tails.astype(int), heads.astype(int), forward, backward


def measure(name, instances, program, rounds, raw):
    prepared = [prepare(instance) for instance in instances]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graphs.bin"
        write(path, instances)
        process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        pairs = []
        for number in range(rounds):
            print("solve", file=process.stdin, flush=True)
            ours = json.loads(process.stdout.readline())
            theirs = rival(prepared)
            assert abs(ours["flow"] - theirs["flow"]) <= 1e-9 * theirs["flow"], (name, ours, theirs)
            assert ours["difference"] <= 1e-9, (name, ours)
            pairs.append((ours, theirs))
            raw.write(json.dumps({"instance": name, "round": number, "ours": ours, "pymaxflow": theirs}) + "\n")
        process.stdin.close()
        process.wait()

    def median(get):
        return statistics.median(get(ours, theirs) for ours, theirs in pairs)

    unit = 1e6 / len(instances) if len(instances) > 1 else 1e3

    def both(run, solve):
        return run["build"] + run[solve]

    cells = [
        name,
        f"{median(lambda a, b: a['solve']) * unit:.4g}",
        f"{median(lambda a, b: b['solve']) * unit:.4g}",
        f"{median(lambda a, b: a['solve'] / b['solve']):.2f}",
        f"{median(lambda a, b: both(a, 'first')) * unit:.4g}",
        f"{median(lambda a, b: both(b, 'solve')) * unit:.4g}",
        f"{median(lambda a, b: both(a, 'first') / both(b, 'solve')):.2f}",
    ]
    changed = len(instances[0][5]) > 0
    cells.append(f"{median(lambda a, b: a['resolve'] / a['cold']):.3f}" if changed else "")
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print("| instance | solve | PyMaxflow | ratio | build + solve | PyMaxflow | ratio | re-solve / cold |")
    print("|---|---|---|---|---|---|---|---|")
    with open(options.out / "raw.jsonl", "w") as raw:
        for weight in (0.5, 1, 2):
            name = f"grid 512 x 512, weight {weight} (ms)"
            measure(name, [grid(512, weight)], options.program, options.rounds, raw)
        for scale in (0.5, 1, 2):
            name = f"1000 planar graphs of 500, weight U(0, {scale}) (us each)"
            measure(name, [planar(seed, scale) for seed in range(1000)], options.program, options.rounds, raw)
        if options.data:
            for name in ("gl1", "wlm3", "ak-4102"):
                instance = dimacs(options.data / f"maxflow/{name}.max.gz")
                measure(f"{name} (ms)", [instance], options.program, options.rounds, raw)


if __name__ == "__main__":
    main()
