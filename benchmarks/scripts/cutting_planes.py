#!/usr/bin/env python3
"""Cutting planes against dlib's, and against the default solver, in turns on the same problems.

    cutting_planes.py --program target/dist/multiplane --data $MULTIPLANE_DATA --dlib dlib_chain --out DIR
                      [--repeats 3] [--only SUBSTRING]

`dlib_chain` is built from dlib_chain.cpp beside this script (its first lines say how). The problem of the OCR rows is the
same for all: fold 0, a constant feature, weights for the first and last label (d = 4082), lambda = 1/n, one thread. Wall
and CPU seconds are those of the whole process, reading and writing included; passes are oracle calls over examples, with
evaluation. Writes raw.jsonl and prints a table in Markdown: medians, and CPU seconds over dlib's with its cache.
"""

import argparse
import gzip
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

OCR = ["--task", "chain", "--set", "data.folds=0", "--set", "task.bias=true", "--set", "task.ends=true"]
PROBLEMS = {
    "OCR fold 0": ("ocr/letter.data.gz", OCR, ["0.01", "0.001"]),
    "USPS": ("usps/usps.gz", ["--task", "multiclass"], ["0.01", "0.001"]),
}
SOLVERS = {
    "one-slack": ["--solver", "one-slack"],
    "one-slack, no cache": ["--solver", "one-slack", "--set", "solver.cache.max_planes=0"],
    "bundle": ["--solver", "bundle"],
    "n-slack": ["--solver", "n-slack"],
    "auto": ["--solver", "auto"],
}


def timed(command):
    """Wall and CPU seconds of a process, and the JSON object that it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(done.stdout)


def ours(program, data, arguments, gap, budget):
    """One row of a run of multiplane; one that ran out of seconds says so by its gap."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--data", data, *arguments, "--gap", gap, "--seconds", budget, "--threads", "1"]
        wall, cpu, found = timed([*command, "--json", "--quiet", "--out", f"{folder}/model"])
    passes = (found["oracle_calls"] + found["evaluation_calls"]) / found["n"]
    kept = {key: found[key] for key in ("primal", "gap", "stop_reason", "iterations", "train_seconds", "oracle_seconds")}
    return {"wall": wall, "cpu": cpu, "passes": passes, **kept}


def rival(program, letters, epsilon, cache):
    """One row of dlib's run."""
    wall, cpu, found = timed([program, letters, "0", "0", epsilon, cache])
    return {"wall": wall, "cpu": cpu, "passes": found["passes"], "primal": found["primal"], "train_seconds": found["train_seconds"]}


def runs(options, letters):
    """Every run as (problem, gap, solver, function)."""
    for problem, (file, arguments, gaps) in PROBLEMS.items():
        data = str(pathlib.Path(options.data) / file)
        for gap in gaps:
            for solver, chosen in SOLVERS.items():
                yield problem, gap, solver, lambda d=data, a=arguments, c=chosen, g=gap: ours(options.program, d, [*a, *c], g, options.seconds)
            if problem.startswith("OCR") and options.dlib:
                for cache in ("5", "0"):
                    yield problem, gap, f"dlib, cache {cache}", lambda g=gap, c=cache: rival(options.dlib, letters, g, c)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--dlib")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", default="120", help="budget of one run of ours")
    parser.add_argument("--only", default="", help="runs whose `problem gap solver` contains this")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder, open(options.out / "raw.jsonl", "a") as raw:
        letters = f"{folder}/letter.data"
        pathlib.Path(letters).write_bytes(gzip.open(pathlib.Path(options.data) / "ocr/letter.data.gz").read())
        for repeat in range(options.repeats):
            for problem, gap, solver, run in runs(options, letters):
                if options.only not in f"{problem} {gap} {solver}":
                    continue
                row = {"problem": problem, "wanted": float(gap), "solver": solver, "repeat": repeat, **run()}
                raw.write(json.dumps(row) + "\n")
                raw.flush()
                rows.append(row)
    report(rows)


def report(rows):
    """Prints medians by problem, gap and solver."""
    print("| problem | gap | solver | passes | gap reached | CPU s | wall s | CPU / dlib's |\n|---|---|---|---|---|---|---|---|")
    groups = {}
    for row in rows:
        groups.setdefault((row["problem"], row["wanted"], row["solver"]), []).append(row)
    middle = lambda found, key: statistics.median(row[key] for row in found)
    for (problem, gap, solver), found in groups.items():
        base = groups.get((problem, gap, "dlib, cache 5"))
        ratio = f"{middle(found, 'cpu') / middle(base, 'cpu'):.2f}" if base else ""
        reached = f"{middle(found, 'gap'):.4g}" if "gap" in found[0] else ""
        print(f"| {problem} | {gap} | {solver} | {middle(found, 'passes'):.1f} | {reached} | {middle(found, 'cpu'):.2f} "
              f"| {middle(found, 'wall'):.2f} | {ratio} |")


if __name__ == "__main__":
    main()
