#!/usr/bin/env python3
"""The map of regimes: `auto` beside our other solvers on planted problems; writes raw.jsonl, summary.md and map.svg.

    regimes.py --program target/dist/multiplane --out benchmarks/runs/<date>-regimes-<machine> [--half choose|figures]
               [--cap SECONDS] [--only TASK,TASK] [--solvers A,B]

Tasks multiclass, chain, tree, graph, mrf and an assignment whose oracle is written in Python, 5 to 5000 weights, 1 to
2000 examples, lambda 10/n to 0.01/n, oracles that take 0, 1 or 20 ms a call (on the work clock, where nothing sleeps),
gaps of 1 % and 0.1 % of P. Fifteen problems have a column 1000 times larger. A hash of its name puts a problem into the
half by which something may be chosen or into the half of the figures. Calls are all that a run makes, in passes; CPU
seconds are of the whole process (in Python of the fit alone), one thread, and the time of slow oracles is added.
"""

import argparse
import hashlib
import json
import math
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from common import finish

SOLVERS = ["auto", "n-slack", "bundle", "one-slack", "mp-bcfw", "bcpfw-gap-cache"]

# (labels, columns) that give about so many weights
ROWS = {12: (3, 4), 50: (5, 10), 200: (10, 20), 1000: (10, 100), 5000: (10, 500)}
CHAINS = {12: (2, 4), 50: (5, 5), 200: (10, 10), 1000: (20, 30), 5000: (26, 166)}
SIZES = [(12, 1), (12, 5), (12, 30), (12, 200), (12, 2000), (50, 5), (50, 200), (200, 30), (200, 200), (200, 2000),
         (1000, 30), (1000, 200), (5000, 30)]


class Problem:
    """A planted problem: what it is called, and how its data are made."""

    def __init__(self, task, d, n, strength, delay, large):
        self.task, self.d, self.n, self.strength, self.delay, self.large = task, d, n, strength, delay, large
        self.name = f"{task} d={d} n={n} lambda={strength:g}/n {delay} ms" + (" large column" if large else "")

    @property
    def half(self):
        return ("choose", "figures")[hashlib.sha256(self.name.encode()).digest()[0] % 2]

    def data(self, folder):
        path = folder / f"{self.task}-{self.d}-{self.n}{'-large' if self.large else ''}{SUFFIXES.get(self.task, '')}"
        if not path.exists():
            draw = np.random.default_rng(int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:4], "little"))
            MAKERS[self.task](self, draw, path)
        return path


def columns(count, large):
    """The size of each column."""
    size = np.ones(count)
    if large:
        size[0] = 1000
    return size


def rows(problem, draw, path):
    labels, width = ROWS[problem.d]
    weights, x = draw.normal(size=(labels, width)), draw.normal(size=(problem.n, width))
    scores = x @ weights.T
    y = (scores + 0.6 * math.sqrt(width) * draw.normal(size=scores.shape)).argmax(axis=1)
    x = x * columns(width, problem.large)
    lines = (f"{label} " + " ".join(f"{k + 1}:{value:.6g}" for k, value in enumerate(row)) for label, row in zip(y, x))
    path.write_text("\n".join(lines) + "\n")


def neighbours(problem, draw):
    """Weights of labels, shares of steps from each label, the size of each column, the noise."""
    labels, width = CHAINS[problem.d]
    weights, steps = draw.normal(size=(labels, width)), np.exp(draw.normal(size=(labels, labels)))
    steps /= steps.sum(axis=1, keepdims=True)
    return weights, steps, columns(width, problem.large), 1.2 * math.sqrt(max(1, width / 5))


def chains(problem, draw, path, length=10):
    weights, steps, size, noise = neighbours(problem, draw)
    (labels, width), lines = weights.shape, []
    for sequence in range(problem.n):
        label = draw.integers(labels)
        for _ in range(length):
            x = (weights[label] + noise * draw.normal(size=width)) * size
            numbers = " ".join(f"{k + 1}:{value:.6g}" for k, value in enumerate(x))
            lines.append(f"{label + 1} qid:{sequence + 1} {numbers}")
            label = draw.choice(labels, p=steps[label])
    path.write_text("\n".join(lines) + "\n")


def grids(problem, draw, path, side=8):
    """Noisy squares on a grid, two labels, two features of an edge."""
    from safetensors.numpy import save_file

    width = max(1, (problem.d - 2) // 2)
    weights, noise = draw.normal(size=(2, width)), 1.5 * math.sqrt(max(1, width / 5))
    place = np.arange(side * side).reshape(side, side)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    edges = np.concatenate([across, np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)])
    features, labels, pairs = [], [], []
    for _ in range(problem.n):
        coarse = draw.integers(2, size=(side // 3 + 1, side // 3 + 1))
        label = coarse.repeat(3, axis=0).repeat(3, axis=1)[:side, :side].ravel()
        x = weights[label] + noise * draw.normal(size=(side * side, width))
        differs = np.abs(x[edges[:, 0]] - x[edges[:, 1]]).mean(axis=1)
        features.append(x * columns(width, problem.large))
        labels.append(label)
        pairs.append(np.stack([np.ones(len(edges)), np.exp(-differs)], axis=1))
    count = problem.n
    tensors = {
        "node_offsets": np.arange(count + 1) * side * side, "node_features": np.concatenate(features),
        "labels": np.concatenate(labels).astype(np.int64), "edge_offsets": np.arange(count + 1) * len(edges),
        "edges": np.concatenate([edges] * count).astype(np.int64), "edge_features": np.concatenate(pairs),
    }
    save_file(tensors, path)


def trees(problem, draw, path, nodes=10):
    """Every node hangs on a random earlier one, whose label decides about its own."""
    weights, steps, size, noise = neighbours(problem, draw)
    (labels, width), lines = weights.shape, []
    for _ in range(problem.n):
        found, tree = [], []
        for node in range(nodes):
            parent = int(draw.integers(node)) if node else None
            label = int(draw.choice(labels, p=steps[found[parent]]) if node else draw.integers(labels))
            x = (weights[label] + noise * draw.normal(size=width)) * size
            found.append(label)
            tree.append({"features": x.round(6).tolist(), "label": f"l{label}", **({"parent": parent} if node else {})})
        lines.append(json.dumps({"nodes": tree}))
    path.write_text("\n".join(lines) + "\n")


def tables(problem, draw, path, nodes=12):
    """Models whose nodes and edges have a row of numbers for each of their labels: a path with a few chords."""
    from safetensors.numpy import save_file

    of_pairs = max(1, problem.d // 4)
    of_labels = problem.d - of_pairs
    noise = 1.5 * math.sqrt(problem.d / 12)
    weights = [draw.normal(size=of_labels) / math.sqrt(of_labels), draw.normal(size=of_pairs) / math.sqrt(of_pairs)]
    edges = np.array([[v, v + 1] for v in range(nodes - 1)] + [[0, nodes // 2], [nodes // 3, nodes - 1]])
    counts, pairs, unary, labels = [], [], [], []
    for _ in range(problem.n):
        count = draw.integers(2, 5, size=nodes)
        truth = draw.integers(count)
        x = draw.normal(size=(count.sum(), of_labels))
        x[np.cumsum(count) - count + truth] += weights[0] * 4 / noise
        counts.append(count)
        pairs.append(count[edges[:, 0]] * count[edges[:, 1]])
        unary.append(x * columns(of_labels, problem.large))
        labels.append(truth)
    offsets = lambda sizes: np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    pairs, n = np.concatenate(pairs), problem.n
    tensors = {
        "node_offsets": np.arange(n + 1) * nodes, "label_offsets": offsets(np.concatenate(counts)),
        "unary_features": np.concatenate(unary), "labels": np.concatenate(labels).astype(np.int64),
        "edge_offsets": np.arange(n + 1) * len(edges), "edges": np.concatenate([edges] * n).astype(np.int64),
        "pair_offsets": offsets(pairs), "pair_features": draw.normal(size=(pairs.sum(), of_pairs)),
        "unary_feature_columns": np.arange(of_labels), "pair_feature_columns": np.arange(of_labels, problem.d),
    }
    save_file(tensors, path)


def assignments(problem, draw, path, size=6):
    """Costs of pairs are a product of features and weights; the truth is the cheapest assignment under noise."""
    weights = draw.normal(size=problem.d)
    x = draw.normal(size=(problem.n, size, size, problem.d))
    scores = x @ weights + 0.7 * math.sqrt(problem.d) * draw.normal(size=(problem.n, size, size))
    from scipy.optimize import linear_sum_assignment

    y = np.array([linear_sum_assignment(-score)[1] for score in scores])
    with path.open("wb") as file:
        np.savez(file, x=x * columns(problem.d, problem.large), y=y)


MAKERS = {"multiclass": rows, "chain": chains, "tree": trees, "graph": grids, "mrf": tables, "python": assignments}
SUFFIXES = {"chain": ".hmm", "tree": ".jsonl", "graph": ".safetensors", "mrf": ".safetensors", "python": ".npz"}


def fit_in_python(data, strength, gap, solver, seconds):
    """Trains assignments by an oracle written in Python, and prints what `multiplane train --json` prints."""
    import multiplane
    from scipy.optimize import linear_sum_assignment

    class Assignment:
        quality = "exact"

        def dim(self):
            return self.columns

        def features(self, x, y):
            return x[np.arange(len(y)), y].sum(axis=0)

        def loss(self, truth, y):
            return float(np.mean(np.asarray(truth) != np.asarray(y)))

        def decode(self, x, w, truth=None):
            scores = x @ w
            if truth is not None:
                scores = scores + (np.arange(len(truth))[None, :] != np.asarray(truth)[:, None]) / len(truth)
            return linear_sum_assignment(-scores)[1]

    found = np.load(data)
    task = Assignment()
    task.columns = found["x"].shape[-1]
    model = multiplane.StructuredSVM(task, lam=strength, gap=gap, solver=solver, seconds=seconds, n_jobs=1)
    before = time.process_time()
    model.fit(list(found["x"]), list(found["y"]))
    record = model.summary_
    kept = ("oracle_calls", "evaluation_calls", "n", "stop_reason", "primal", "dual")
    print(json.dumps({key: record[key] for key in kept} | {"cpu": time.process_time() - before}))


def problems():
    """All problems of the map."""
    for task in ("multiclass", "chain", "graph"):
        for d, n in SIZES:
            if task == "graph" and d * n > 100_000:
                continue
            for delay in (0, 20):
                if not delay or n <= 200:
                    yield Problem(task, d, n, 1.0, delay, False)
            if n in (30, 200) and d <= 1000:
                for strength in (10.0, 0.1, 0.01):
                    yield Problem(task, d, n, strength, 0, False)
                yield Problem(task, d, n, 0.1, 1, False)
        for d, n in ((12, 30), (12, 200), (200, 200), (50, 200)):
            yield Problem(task, d, n, 1.0, 0, True)
    for task in ("tree", "mrf", "python"):
        for d, n in ((12, 5), (12, 30), (12, 200), (50, 30), (200, 200)):
            for delay in (0, 20):
                if task != "python" or not delay:
                    yield Problem(task, d, n, 1.0, delay, False)
        for strength in (10.0, 0.1, 0.01):
            yield Problem(task, 12, 30, strength, 0, False)
        yield Problem(task, 12, 30, 1.0, 0, True)
    for task in ("mrf", "python"):
        for n in (5, 30, 200):
            yield Problem(task, 5, n, 1.0, 0, False)


def train(program, problem, data, solver, gap, cap):
    """Calls in passes, CPU seconds and the state at the end of one run."""
    command = [program, "train", "--task", problem.task, "--data", str(data), "--lambda",
               repr(problem.strength / problem.n), "--gap", gap, "--solver", solver, "--threads", "1", "--seconds",
               str(cap), "--json", "--quiet"]
    if problem.delay:
        command += ["--clock", "work", "--set", f"oracle.delay_us={1000 * problem.delay}", "--passes", "400"]
        command[command.index("--seconds") + 1] = str(100 * cap + problem.n * problem.delay)
    if problem.task == "python":
        command = [sys.executable, __file__, "--fit", str(data), repr(problem.strength / problem.n), gap, solver, str(cap)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * cap + 60)
        found = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    calls = (found["oracle_calls"] + found["evaluation_calls"]) / found["n"]
    cpu = found.get("cpu", cpu) + problem.delay * 1e-3 * calls * found["n"]
    return {"calls": calls, "cpu": cpu, "solved": found["stop_reason"] == "gap", "primal": found["primal"],
            "dual": found["dual"]}


def share(values, bound, count):
    """Percent of `count` problems whose value is within the bound; those that `auto` did not solve have none."""
    return 100 * sum(value <= bound for value in values) / max(1, count)


def summary(raw, half):
    """Ratios of `auto` to the best of the others, as a table by task."""
    lines = ["| task | problems solved | `auto` short | calls: median, within 1.25, largest | CPU: median, within 1.5, largest |",
             "|---|---|---|---|---|"]
    groups = {}
    for row in raw:
        if half in (None, row["half"]):
            groups.setdefault((row["task"], row["name"], row["gap"]), {})[row["solver"]] = row
    points = []
    for (task, name, gap), runs in groups.items():
        solved = [run for run in runs.values() if run["solved"]]
        if solved and "auto" in runs:
            others = [run for run in solved if run["solver"] != "auto"] or solved
            calls, cpu = min(run["calls"] for run in others), min(run["cpu"] for run in others)
            auto = runs["auto"]
            ratio = auto["cpu"] / cpu if auto["cpu"] - cpu > 0.02 else min(1.0, auto["cpu"] / cpu)
            points.append((task, name, gap, auto["solved"], auto["calls"] / calls, ratio, auto["radius"]))
    for task in sorted({point[0] for point in points}) + ["all"]:
        own = [point for point in points if task in (point[0], "all")]
        done = [point for point in own if point[3]]
        if not done:
            continue
        calls, cpu = [point[4] for point in done], [point[5] for point in done]
        lines.append(
            f"| {task} | {len(own)} | {len(own) - len(done)} | {statistics.median(calls):.2f}, {share(calls, 1.25, len(own)):.0f} %, "
            f"{max(calls):.1f} | {statistics.median(cpu):.2f}, {share(cpu, 1.5, len(own)):.0f} %, {max(cpu):.1f} |")
    return lines, points


def picture(points, path):
    """Ratios of calls and of CPU over the size of the problem, on logarithmic axes."""
    width, height, left = 720, 360, 60
    place_x = lambda size: left + (width - 2 * left) * min(1.0, max(0.0, (math.log10(size) - 0.5) / 6.5))
    place_y = lambda ratio: height / 2 - 60 * math.log2(min(8.0, max(1 / 8, ratio)))
    marks = []
    for task, name, gap, solved, calls, cpu, size in points:
        x = place_x(size)
        color = "#c33" if not solved else "#26c"
        marks.append(f'<circle cx="{x:.1f}" cy="{place_y(calls):.1f}" r="3" fill="{color}"><title>{name}, {gap}: '
                     f"calls {calls:.2f}, CPU {cpu:.2f}</title></circle>")
        marks.append(f'<path d="M{x - 3:.1f} {place_y(cpu):.1f}h6" stroke="#888"/>')
    lines = [f'<path d="M{left} {place_y(r):.1f}H{width - left}" stroke="#ccc"/><text x="8" y="{place_y(r) + 4:.1f}">{r:g}'
             "</text>" for r in (0.25, 0.5, 1, 2, 4)]
    label = f'<text x="{left}" y="{height - 8}">weights x examples, 10 to 10^7; circles: calls, dashes: CPU; red: not solved</text>'
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
                    f'font-size="12">{"".join(lines + marks)}{label}</svg>\n')


def main():
    if sys.argv[1:2] == ["--fit"]:
        data, strength, gap, solver, seconds = sys.argv[2:]
        fit_in_python(data, float(strength), gap, solver, float(seconds))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--half", choices=["choose", "figures"])
    parser.add_argument("--cap", type=float, default=3.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--count", action="store_true", help="say how many problems there are, and run none")
    arguments = parser.parse_args()
    chosen = [p for p in problems() if arguments.half in (None, p.half)]
    chosen = [p for p in chosen if not arguments.only or p.task in arguments.only.split(",")]
    if arguments.count:
        print(len(chosen))
        return 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    record = arguments.out / "raw.jsonl"
    raw = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    done = {(row["name"], row["solver"], row["gap"]) for row in raw}
    with tempfile.TemporaryDirectory() as folder, record.open("a") as file:
        for problem in chosen:
            data = problem.data(pathlib.Path(folder))
            for gap in ("1%", "0.1%"):
                for solver in arguments.solvers.split(","):
                    if (problem.name, solver, gap) in done:
                        continue
                    found = train(arguments.program, problem, data, solver, gap, arguments.cap)
                    found = found or {"calls": math.inf, "cpu": math.inf, "solved": False}
                    row = {"name": problem.name, "task": problem.task, "half": problem.half, "solver": solver,
                           "gap": gap, "radius": problem.d * problem.n, **found}
                    raw.append(row)
                    file.write(json.dumps(row) + "\n")
                    file.flush()
            print(problem.name, file=sys.stderr)
    lines, points = summary(raw, arguments.half)
    (arguments.out / "summary.md").write_text("\n".join(lines) + "\n")
    picture(points, arguments.out / "map.svg")
    print("\n".join(lines))
    return 0


finish(main)
