#!/usr/bin/env python3
"""Budgets of support vectors: online solvers that train within one, and models that are reduced to one.

    budget.py --program target/dist/multiplane --data $MULTIPLANE_DATA --out DIR [--seeds 1] [--only SUBSTRING]

Binary, RBF (a9a: gamma 0.05, ijcnn1: gamma 1), one thread. `sfd1` for two epochs, without a budget and within 1000 rows by removal
and by projection; the same models reduced to 1000 rows by each method; `auto` at C = 1 to a gap of 1 %, its model whole and
reduced to 1000 and 200 rows by each method. Test errors, CPU seconds of the process (reading and test errors included),
kernel evaluations, rows, P. Writes raw.jsonl and prints a table in Markdown: means over the seeds.
"""

import argparse
import gzip
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

PROBLEMS = {"a9a": 0.05, "ijcnn1": 1.0}
METHODS = ("removal", "projection", "merging")


def runs():
    """What is run: a name, and the arguments."""
    sfd = ["--solver", "sfd1", "--passes", "2"]
    auto = ["--solver", "auto", "--gap", "1%"]
    yield "sfd1", sfd
    for method in METHODS[:2]:
        yield f"sfd1 within 1000, {method}", [*sfd, "--set", f"solver.budget={method}", "--set", "solver.budget.rows=1000"]
    for method in METHODS:
        yield f"sfd1 reduced to 1000, {method}", [*sfd, *reduced(method, 1000)]
    yield "auto", auto
    for rows in (1000, 200):
        for method in METHODS:
            yield f"auto reduced to {rows}, {method}", [*auto, *reduced(method, rows)]


def reduced(method, rows):
    return ["--set", f"task.kernel_budget={method}", "--set", f"task.kernel_budget.rows={rows}"]


def train(program, gamma, train, test, seed, arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--task", "binary", "--data", train, "--test", test, "--set", "task.kernel=rbf"]
        command += ["--set", f"task.kernel.gamma={gamma}", "--lambda", "c:1", "--threads", "1", "--seed", str(seed)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*command, *arguments, "--json", "--quiet", "--out", f"{folder}/m"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{command + arguments}: {done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.loads(done.stdout)
        row = {"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
        keys = ("primal", "dual", "gap", "certified", "test_loss", "kernel_evaluations", "support_vectors", "train_seconds")
        return row | {key: found[key] for key in keys}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(options.out / "raw.jsonl", "a") as raw, tempfile.TemporaryDirectory() as folder:
        for name, gamma in PROBLEMS.items():
            paths = []
            for file in (f"{name}.gz", f"{name}.t.gz"):
                paths.append(str(pathlib.Path(folder) / file.removesuffix(".gz")))
                pathlib.Path(paths[-1]).write_bytes(gzip.decompress((options.data / "binary" / file).read_bytes()))
            for seed in range(options.seeds):
                for what, arguments in runs():
                    if options.only not in f"{name} {what}":
                        continue
                    found = train(options.program, gamma, *paths, seed, arguments)
                    rows.append({"problem": name, "run": what, "seed": seed, **found})
                    raw.write(json.dumps(rows[-1]) + "\n")
                    raw.flush()
    print("| problem | run | rows | test error % | P | CPU s | kernel evaluations, millions |\n|---|---|---|---|---|---|---|")
    for problem, what in dict.fromkeys((row["problem"], row["run"]) for row in rows):
        mine = [row for row in rows if (row["problem"], row["run"]) == (problem, what)]
        mean = {key: statistics.fmean(row[key] for row in mine) for key in mine[0] if isinstance(mine[0][key], (int, float))}
        print(
            f"| {problem} | {what} | {mean['support_vectors']:.0f} | {100 * mean['test_loss']:.2f} | {mean['primal']:.4f} "
            f"| {mean['cpu']:.1f} | {mean['kernel_evaluations'] / 1e6:.0f} |"
        )


if __name__ == "__main__":
    main()
