#!/usr/bin/env python3
"""Alpha-expansion beside gco on random Potts problems, paired, and the price and yield of partial optimality.

Problems are Delaunay triangulations of 500 uniform points with 9 labels; weights are uniform in [0, strength].
First part: unary energies standard normal. gco and ours take turns on every problem, each building what it needs; the
energies of both labellings are computed here, in doubles. gco works on integers: its data costs and weights are ours
times 10^6, rounded (its terms may not pass 10^7), with smooth costs 0 and 1.
Second part: like superpixels: the lowest unary energy is lowered by `shift` at the label of a random map of 12 regions.

Writes raw.jsonl, one row per problem, and prints the tables of summary.md; needs a quiet machine to mean much.
Build first: cargo build --profile dist -p multiplane-infer --example expansion
"""

import argparse
import json
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import gco
import numpy as np
from scipy.spatial import Delaunay

NODES, LABELS, STRENGTHS, SHIFTS = 500, 9, (0.5, 1.0, 2.0), (1.0, 2.0, 3.0)
SCALE = 1e6
EQUAL = 1e-9


def triangulation(random):
    """Points and edges."""
    points = random.random((NODES, 2))
    triangles = Delaunay(points).simplices
    edges = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [0, 2])])
    edges.sort(axis=1)
    return points, np.unique(edges, axis=0)


def noise_problem(seed, strength):
    """The same graph and unary energies for all strengths of a seed."""
    random = np.random.default_rng([7, seed])
    _, edges = triangulation(random)
    unary = random.standard_normal((NODES, LABELS))
    return {"seed": seed, "strength": strength, "unary": unary, "edges": edges, "weights": random.random(len(edges)) * strength}


def regions_problem(seed, strength, shift):
    """Regions of a random map, seen through noise."""
    random = np.random.default_rng([9, seed])
    points, edges = triangulation(random)
    centres, labels = random.random((12, 2)), random.integers(0, LABELS, 12)
    truth = labels[((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)]
    unary = random.standard_normal((NODES, LABELS))
    unary[np.arange(NODES), truth] -= shift
    weights = random.random(len(edges)) * strength
    return {"seed": seed, "strength": strength, "shift": shift, "unary": unary, "edges": edges, "weights": weights}


def energy(problem, labels):
    """The energy of a labelling, in doubles."""
    labels = np.asarray(labels)
    cut = labels[problem["edges"][:, 0]] != labels[problem["edges"][:, 1]]
    return float(problem["unary"][np.arange(NODES), labels].sum() + problem["weights"][cut].sum())


def write(problems, path):
    """The file that the example program reads."""
    with open(path, "wb") as out:
        out.write(struct.pack("<I", len(problems)))
        for problem in problems:
            out.write(struct.pack("<III", NODES, LABELS, len(problem["edges"])))
            for key, kind in (("unary", "<f8"), ("edges", "<u4"), ("weights", "<f8")):
                out.write(np.ascontiguousarray(problem[key], dtype=kind).tobytes())


class Ours:
    """The example program, asked one problem at a time."""

    def __init__(self, program, problems, folder):
        path = pathlib.Path(folder) / "problems.bin"
        write(problems, path)
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request, index):
        """One answer."""
        self.process.stdin.write(f"{request} {index}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        """Ends the program."""
        self.process.stdin.close()
        self.process.wait()


def run_gco(problem):
    """Seconds in all, seconds in its expansion alone, labels."""
    unary = np.rint((problem["unary"] - problem["unary"].min(axis=1, keepdims=True)) * SCALE)
    weights = np.rint(problem["weights"] * SCALE)
    edges = problem["edges"]
    smooth = 1 - np.eye(LABELS, dtype=int)
    start = time.perf_counter()
    graph = gco.GCO()
    graph.create_general_graph(NODES, LABELS, energy_is_float=False)
    graph.set_data_cost(unary)
    graph.set_all_neighbors(edges[:, 0], edges[:, 1], weights)
    graph.set_smooth_cost(smooth)
    before = time.perf_counter()
    graph.expansion(-1)
    after = time.perf_counter()
    labels = graph.get_labels()
    end = time.perf_counter()
    graph.destroy_graph()
    return end - start, after - before, labels


def median_of(answers, key="seconds"):
    """The median of one figure over repeats."""
    return statistics.median(answer[key] for answer in answers)


def compare(ours, index, problem, repeats):
    """A row of the first part: gco and ours in turns."""
    rival, mine, plain = [], [], []
    for _ in range(repeats):
        seconds, moving, labels = run_gco(problem)
        rival.append({"seconds": seconds, "moving": moving, "labels": labels})
        mine.append(ours.ask("expand", index))
        plain.append(ours.ask("expand:0", index))
    row = {"part": "gco", "seed": problem["seed"], "strength": problem["strength"], "edges": len(problem["edges"])}
    row |= {"gco_seconds": median_of(rival), "gco_moving_seconds": median_of(rival, "moving")}
    row["gco_energy"] = energy(problem, rival[0]["labels"])
    for name, answers in (("ours", mine), ("plain", plain)):
        found = energy(problem, answers[0]["labels"])
        if abs(found - answers[0]["energy"]) > 1e-7:
            raise ValueError(f"seed {problem['seed']}: energy {answers[0]['energy']} told, {found} found")
        row |= {f"{name}_{key}": answers[0][key] for key in ("bound", "exact", "moves", "cycles")}
        row |= {f"{name}_seconds": median_of(answers), f"{name}_energy": found}
    return row


def prove(ours, index, problem, repeats):
    """A row of the second part."""
    requests = {"kovtun": "kovtun", "halving": "halving", "plain": "expand:0", "settled": "settle:0", "ours": "expand"}
    row = {"part": "proofs"} | {key: problem[key] for key in ("seed", "strength", "shift")}
    answers = {name: [] for name in requests}
    for _ in range(repeats):
        for name, request in requests.items():
            answers[name].append(ours.ask(request, index))
    for name, found in answers.items():
        keys = ("proven", "cuts") if "proven" in found[0] else ("energy", "bound", "exact", "moves")
        row |= {f"{name}_{key}": found[0][key] for key in keys} | {f"{name}_seconds": median_of(found)}
    row["cycle_seconds"] = median_of(answers["plain"], "first_cycle_seconds")
    return row


def table(rows, head):
    """Prints a table of markdown."""
    print(head)
    print("|" + "---|" * (head.count("|") - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def gco_table(rows, name):
    """Times and energies by strength."""
    lines = []
    for strength in STRENGTHS:
        of = [row for row in rows if row["part"] == "gco" and row["strength"] == strength]
        total = lambda key: sum(row[key] for row in of)
        change = [row[f"{name}_energy"] - row["gco_energy"] for row in of]
        split = [sum(d < -EQUAL for d in change), sum(abs(d) <= EQUAL for d in change), sum(d > EQUAL for d in change)]
        lines.append(
            [
                f"{strength}",
                f"{1e3 * total('gco_seconds') / len(of):.2f} ms",
                f"{1e3 * total(f'{name}_seconds') / len(of):.2f} ms",
                f"{total(f'{name}_seconds') / total('gco_seconds'):.2f} x",
                f"{total(f'{name}_seconds') / total('gco_moving_seconds'):.2f} x",
                f"{statistics.median(row[f'{name}_seconds'] / row['gco_seconds'] for row in of):.2f} x",
                f"{total('gco_energy'):.2f}",
                f"{total(f'{name}_energy'):.2f}",
                " / ".join(map(str, split)),
                f"{(total(f'{name}_energy') - total(f'{name}_bound')) / len(of):.2f}",
                f"{100 * total(f'{name}_exact') / len(of):.0f} %",
            ]
        )
    table(
        lines,
        "| strength | gco | ours | ours / gco | ... / its moves alone | median of ratios | energy gco | energy ours |"
        " lower / equal / higher | mean gap to bound | proven optimal |",
    )


def proof_table(rows):
    """Shares and times by shift and strength."""
    lines = []
    for shift in SHIFTS:
        for strength in STRENGTHS:
            of = [row for row in rows if row.get("shift") == shift and row["strength"] == strength]
            mean = lambda key: sum(row[key] for row in of) / len(of)
            cycle = mean("cycle_seconds")
            lines.append(
                [f"{shift}", f"{strength}"]
                + [f"{100 * mean(f'{name}_proven') / NODES:.1f} %" for name in ("kovtun", "halving")]
                + [f"{mean(f'{name}_seconds') / cycle:.2f} x" for name in ("kovtun", "halving")]
                + [f"{1e3 * mean(f'{name}_seconds'):.2f} ms" for name in ("plain", "settled", "ours")]
                + [f"{mean(f'{name}_energy') - mean(f'{name}_bound'):.2f}" for name in ("settled", "ours")]
                + [f"{100 * mean('ours_exact'):.0f} %"]
            )
    table(
        lines,
        "| shift | strength | proven: Kovtun | proven: halving | time / first cycle: Kovtun | halving | moves alone |"
        " with proofs | with sweeps | gap with proofs | gap with sweeps | optimal with sweeps |",
    )


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", default="target/dist/examples/expansion", help="the built example")
    parser.add_argument("--graphs", type=int, default=200, help="graphs of the first part (default 200)")
    parser.add_argument("--regions", type=int, default=30, help="graphs of the second part (default 30)")
    parser.add_argument("--repeats", type=int, default=3, help="odd, for a clean median (default 3)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for raw.jsonl")
    args = parser.parse_args()
    first = [noise_problem(seed, strength) for strength in STRENGTHS for seed in range(args.graphs)]
    shifts = [(shift, strength) for shift in SHIFTS for strength in STRENGTHS]
    second = [regions_problem(seed, strength, shift) for shift, strength in shifts for seed in range(args.regions)]
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder, open(args.out / "raw.jsonl", "w", encoding="utf-8") as out:
        ours = Ours(args.program, first + second, folder)
        for index, problem in enumerate(first + second):
            row = (prove if "shift" in problem else compare)(ours, index, problem, args.repeats)
            rows.append(row)
            out.write(json.dumps(row) + "\n")
        ours.close()
    for name in ("ours", "plain"):
        print({"ours": "With sweeps (default):", "plain": "Without sweeps:"}[name] + "\n")
        gco_table(rows, name)
    proof_table(rows)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        print(f"expansion: {error}", file=sys.stderr)
        sys.exit(2)
