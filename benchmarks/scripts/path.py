#!/usr/bin/env python3
"""Compares the regularisation path with a grid of ten certified points, and prints a table in Markdown.

    path.py --program target/dist/multiplane --data $MULTIPLANE_DATA [--eps 0.1] [--lambda-min 1e-4] [--repeats 3]

OCR fold 0, one thread, in alternation: each repeat runs the path and the three grids one after the other, and the table
has medians. Seconds are those of the training clock; in brackets the whole process, with the checks that are off it.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

SOLVERS = {
    "auto": [],
    "mp-bcfw": ["--solver", "mp-bcfw"],
    "mp-bcfw, step=solve": ["--solver", "mp-bcfw", "--set", "solver.step=solve", "--set", "solver.planes.max_idle=3"],
}


def run(program, arguments):
    start = time.monotonic()
    done = subprocess.run([program, "path", *arguments, "--json"], check=True, capture_output=True, text=True)
    return {**json.loads(done.stdout), "process_seconds": time.monotonic() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/dist/multiplane")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--eps", default="0.1")
    parser.add_argument("--lambda-min", default="1e-4")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    common = ["--task", "chain", "--data", str(options.data / "ocr/letter.data.gz"), "--set", "data.folds=0",
              "--eps", options.eps, "--lambda-min", options.lambda_min]
    kinds = {"path": []}
    for start in ["keep-primal", "keep-dual", "none"]:
        kinds[f"grid of 10, {start}"] = ["--grid", "10", "--warm-start", start]
    results = {}
    for seed in range(options.repeats):
        for solver, choice in SOLVERS.items():
            for kind, more in kinds.items():
                found = run(options.program, [*common, *choice, *more, "--seed", str(seed)])
                assert found["certified"] and found["stop_reason"] == "lambda-min"
                results.setdefault((solver, kind), []).append(found)
    print("| solver | what | points | passes | train seconds (process) | checks off the clock, passes |")
    print("|---|---|---|---|---|---|")
    for (solver, kind), runs in results.items():
        middle = lambda value: statistics.median(value(found) for found in runs)
        points, passes = middle(lambda found: len(found["breakpoints"])), middle(lambda found: found["passes"])
        seconds, process = middle(lambda found: found["train_seconds"]), middle(lambda found: found["process_seconds"])
        checks = middle(lambda found: found["evaluation_calls"] / found["n"])
        print(f"| {solver} | {kind} | {points:.0f} | {passes:.0f} | {seconds:.2f} ({process:.2f}) | {checks:.0f} |")


if __name__ == "__main__":
    main()
