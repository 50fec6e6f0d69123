#!/usr/bin/env python3
"""Partial linearisation beside Frank-Wolfe and exponentiated gradient: dual values at equal time, as curves.

    partial_linearization.py --program target/dist/multiplane --out benchmarks/runs/<date>-bcpl-<machine>
                             [--data DIR] [--seconds 8] [--repeats 3]

The solvers take turns, so that all meet the same load of the machine; times are training seconds of the program, bounds are
evaluated off that clock. The curves are the medians over the repeats of (F* - F) / F*, where F* is the highest dual value of
all runs and of `auto`, run to a gap of 1e-5 (times lambda n, if that is more than 1). Writes raw.jsonl (one line per run with its curve), summary.md and an SVG per problem and
lambda. Standard library alone.
"""

import argparse
import gzip
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

UNIFORM, TRUTH = (["--set", f"solver.start={start}"] for start in ("uniform", "truth"))
RUNS = {
    "bcfw": (["--solver", "bcfw"], "#222", ""),
    "bcpl, uniform": (["--solver", "bcpl", *UNIFORM], "#c33", ""),
    "oeg, uniform": (["--solver", "oeg", *UNIFORM], "#36c", ""),
    "bcpl, from the truth": (["--solver", "bcpl", *TRUTH], "#c33", "6 3"),
    "oeg, from the truth": (["--solver", "oeg", *TRUTH], "#36c", "6 3"),
}
LAMBDAS = [1.0, 100.0]  # times 1/n
WIDTH, HEIGHT, LEFT, TOP = 460, 300, 70, 90


def train(program, arguments, folder):
    """The final object of a run, and its curve: pass, training seconds, dual value."""
    record = pathlib.Path(folder) / "record.jsonl"
    command = [program, "train", *map(str, arguments), "--json", "--quiet", "--record", record]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    return json.loads(done.stdout), [[round(r["pass"], 3), float(f"{r['seconds']:.5g}"), r["dual"]] for r in rows]


def at(curve, second):
    """The dual value that is known at a second; minus infinity before the first."""
    known = [dual for _, seconds, dual in curve if seconds <= second]
    return max(known, default=-math.inf)


def short_of(best, curves, second):
    """How far the median dual value is from the best, relative."""
    return (best - statistics.median(at(curve, second) for curve in curves)) / best


def chart(title, best, curves, seconds):
    """The SVG of a problem: logarithmic axes, 1 at the top."""
    low = 1e-4
    x_of = lambda s: LEFT + WIDTH * math.log(s / (seconds / 400)) / math.log(400)
    y_of = lambda v: TOP + HEIGHT * math.log(min(max(v, low), 2.0) / 2.0) / math.log(low / 2.0)
    text = lambda x, y, words, more="": f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" {more}>{words}</text>'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {TOP + HEIGHT + 50}" '
             'font-family="sans-serif" fill="#222">', '<rect width="100%" height="100%" fill="#fff"/>',
             text(LEFT, 22, title, 'font-weight="bold"')]
    for k, (name, (_, color, dash)) in enumerate(RUNS.items()):
        x, y = LEFT + k % 3 * 160, 44 + k // 3 * 18
        parts += [f'<path d="M{x} {y - 4}h24" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>', text(x + 30, y, name)]
    for power in range(-4, 1):
        y = y_of(10.0**power)
        parts += [f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#ddd"/>', text(LEFT - 44, y + 4, f"1e{power}")]
    for k in range(6):
        s = seconds / 2**k
        parts += [f'<path d="M{x_of(s):.1f} {TOP}v{HEIGHT}" stroke="#ddd"/>', text(x_of(s) - 10, TOP + HEIGHT + 16, f"{s:.2g}")]
    parts.append(text(LEFT, TOP + HEIGHT + 36, "training seconds; (F* - F) / F*, median of the repeats"))
    for name, (_, color, dash) in RUNS.items():
        points = [seconds / 400 * 400 ** (k / 150) for k in range(151)]
        points = [(x_of(s), y_of(v)) for s in points if math.isfinite(v := short_of(best, curves[name], s))]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("../shared/data"))
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--redraw", action="store_true", help="draws raw.jsonl of --out again, and runs nothing")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    problems = {
        "OCR fold 0": ["--task", "chain", "--data", args.data / "ocr/letter.data.gz", "--set", "data.folds=0"],
        "USPS": ["--task", "multiclass", "--data", args.data / "usps/usps.gz"],
    }
    raw_path = args.out / "raw.jsonl"
    if not args.redraw:
        chunks = sentences(args.data / "conll2000/train.txt.gz", 1000, pathlib.Path(tempfile.mkdtemp()) / "train.txt")
        problems["CoNLL, 1000 sentences"] = ["--task", "chain", "--data", chunks]
        raw_path.write_text("".join(json.dumps(row) + "\n" for row in measure(args, problems)), encoding="utf-8")
    draw(args, [json.loads(line) for line in raw_path.read_text(encoding="utf-8").splitlines()])


def sentences(path, count, out):
    """Writes the first sentences of a gzipped file of columns to another."""
    with gzip.open(path, "rt") as lines:
        text = "\n\n".join(itertools.islice(lines.read().split("\n\n"), count))
    out.write_text(text + "\n", encoding="utf-8")
    return out


def measure(args, problems):
    """Runs everything, the solvers in turns; yields one object per run."""
    for (name, problem), times in itertools.product(problems.items(), LAMBDAS):
        common = [*problem, "--lambda", f"c:{1 / times}"]
        with tempfile.TemporaryDirectory() as folder:
            found, _ = train(args.program, [*common, "--gap", 1e-5 * max(1, times), "--seconds", 60], folder)
            for seed, (run, (more, _, _)) in itertools.product(range(args.repeats), RUNS.items()):
                limits = ["--seconds", args.seconds, "--seed", seed, "--set", "evaluate=pass"]
                end, curve = train(args.program, [*common, *more, *limits], folder)
                keys = ["n", "lambda", "primal", "dual", "gap", "certified", "oracle_calls", "oracle_seconds", "train_seconds"]
                yield {"problem": name, "times": times, "run": run, "seed": seed, "best_dual": found["dual"],
                       **{key: end[key] for key in keys}, "pass_seconds_dual": curve}


def draw(args, raw):
    """Writes the summary and the curves of what was measured."""
    repeats = 1 + max(row["seed"] for row in raw)
    lines = ["# Dual values of partial linearisation, at equal time", "",
             "`scripts/partial_linearization.py`; one thread, solvers in turns on a machine that others load: ratios hold, seconds "
             f"less so. Medians of {repeats} seeds. \"1\" is F = 0, the value of w = 0, which all know; \"-\": no pass has ended.", ""]
    for name, times in dict.fromkeys((row["problem"], row["times"]) for row in raw):
        mine = [row for row in raw if (row["problem"], row["times"]) == (name, times)]
        best = max(max(row["best_dual"], row["dual"]) for row in mine)
        curves = {run: [row["pass_seconds_dual"] for row in mine if row["run"] == run] for run in RUNS}
        title = f"{name}, lambda = {times:g}/n"
        file = f"{name.split()[0].lower().strip(',')}-{times:g}.svg"
        (args.out / file).write_text(chart(title, best, curves, args.seconds), encoding="utf-8")
        marks = [args.seconds / 8, args.seconds / 2, args.seconds]
        lines += [f"## {title}", "", f"F* = {best:.6g}. ![curves]({file})", "",
                  f"| (F* - F) / F* at | {' | '.join(f'{m:g} s' for m in marks)} | passes | us a call |", "|---|---|---|---|---|---|"]
        for run in RUNS:
            short = [short_of(best, curves[run], mark) for mark in marks]
            shown = " | ".join(f"{value:.2g}" if math.isfinite(value) else "-" for value in short)
            own = [row for row in mine if row["run"] == run]
            passes = statistics.median(row["oracle_calls"] / row["n"] for row in own)
            each = statistics.median(1e6 * row["oracle_seconds"] / max(1, row["oracle_calls"]) for row in own)
            lines.append(f"| {run} | {shown} | {passes:.0f} | {each:.0f} |")
        lines.append("")
    (args.out / "summary.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
