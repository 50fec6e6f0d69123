#!/usr/bin/env python3
"""Minimum cuts of grids from Python, multiplane beside PyMaxflow: arrays in, labels out, build included.

    python_infer.py --out DIR [--sizes 100 300 1000] [--repeats 7] [--slowest 3.0]

Random unaries (absolute values of normals, [height, width, 2]) and random weights, uniform up to 0.25, 0.5 (strong
unaries), 1, 2 (weak ones); 4 and 8 neighbours. Both sides get the same float64 arrays in the shapes that they take, and
are timed in turns, the first of each pair changing; every pair is checked: the same energy, and ours is proven. Where a
call takes longer than --slowest seconds there are three pairs. Writes raw.jsonl and a table, summary.md; ratios are ours / theirs, the median of the pairs.
"""

import argparse
import json
import pathlib
import platform
import statistics
import time

import maxflow
import numpy as np

import multiplane

STRUCTURES = [np.zeros((3, 3)) for _ in range(4)]
for _structure, _place in zip(STRUCTURES, [(1, 2), (2, 1), (2, 2), (2, 0)]):
    _structure[_place] = 1


def theirs(unary, weights):
    """PyMaxflow: a weight for every pixel, of which the last row or column is not used; True is label 0."""
    height, width, _ = unary.shape
    graph = maxflow.GraphFloat(height * width, len(weights) * height * width)
    nodes = graph.add_grid_nodes((height, width))
    for weight, structure in zip(weights, STRUCTURES):
        graph.add_grid_edges(nodes, weight, structure, symmetric=True)
    graph.add_grid_tedges(nodes, unary[..., 0], unary[..., 1])
    flow = graph.maxflow()
    return flow, ~graph.get_grid_segments(nodes)


def ours(unary, weights):
    """multiplane: a weight for every edge."""
    found = multiplane.infer(multiplane.PairwiseModel.grid(unary, *weights))
    assert found.exact
    return found.energy, found.labels


def timed(call, *arguments):
    start = time.perf_counter()
    energy, labels = call(*arguments)
    return time.perf_counter() - start, energy, labels


def instance(size, strength, neighbours, seed):
    rng = np.random.default_rng(seed)
    unary = np.abs(rng.normal(size=(size, size, 2)))
    weights = [strength * rng.random((size, size)) for _ in range(neighbours // 2)]
    places = [np.s_[:, :-1], np.s_[:-1], np.s_[:-1, :-1], np.s_[:-1, 1:]]
    return unary, weights, [np.ascontiguousarray(weight[place]) for weight, place in zip(weights, places)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--slowest", type=float, default=3.0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(options.out / "raw.jsonl", "w") as raw:
        for size in options.sizes:
            for neighbours in (4, 8):
                for strength in (0.25, 0.5, 1.0, 2.0):
                    pairs, repeat = [], 0
                    while repeat < options.repeats:
                        unary, full, edges = instance(size, strength, neighbours, repeat)
                        calls = [(ours, edges), (theirs, full)]
                        done = {}
                        for call, weights in calls if repeat % 2 else calls[::-1]:
                            done[call.__name__] = timed(call, unary, weights)
                        (mine, energy, labels), (other, flow, known) = done["ours"], done["theirs"]
                        assert abs(energy - flow) <= 1e-9 * (1 + abs(flow)), (energy, flow)
                        assert (labels == known).mean() > 0.999
                        pairs.append((mine, other))
                        line = {"size": size, "neighbours": neighbours, "strength": strength, "repeat": repeat,
                                "ours": mine, "pymaxflow": other}
                        raw.write(json.dumps(line) + "\n")
                        raw.flush()
                        repeat += 1
                        if repeat >= 3 and max(mine, other) > options.slowest:
                            break
                    mine, other = (1000 * statistics.median(column) for column in zip(*pairs))
                    ratio = statistics.median(a / b for a, b in pairs)
                    rows.append((size, neighbours, strength, len(pairs), mine, other, ratio))
                    print(*rows[-1], flush=True)
    lines = [f"multiplane {multiplane.__version__}, PyMaxflow {maxflow.__version__}, NumPy {np.__version__}, "
             f"Python {platform.python_version()}, {platform.machine()}", "",
             "| grid | neighbours | weights up to | pairs | multiplane, ms | PyMaxflow, ms | ratio |",
             "|---|---|---|---|---|---|---|"]
    for size, neighbours, strength, count, mine, other, ratio in rows:
        lines.append(f"| {size} x {size} | {neighbours} | {strength} | {count} | {mine:.1f} | {other:.1f} | {ratio:.2f} |")
    (options.out / "summary.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
