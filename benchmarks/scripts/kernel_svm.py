#!/usr/bin/env python3
"""Exact kernel SVMs against scikit-learn's SVC (libsvm), in turns on the same problems.

    kernel_svm.py --program target/dist/multiplane --data $MULTIPLANE_DATA --out DIR [--repeats 2] [--only SUBSTRING]

RBF, C = 1, no bias for multiplane (SVC has one), one thread. multiplane: CPU and wall seconds of the whole process, reading and
saving included, to a certified gap of 0.1 %. SVC: of `fit` alone, tol = 1e-3 (its default), a cache of 1000 MB, on dense
and on sparse input. Test errors beside. Writes raw.jsonl and prints a table in Markdown: medians.
"""

import argparse
import gzip
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PROBLEMS = {"a9a": (0.05, "a9a.gz", "a9a.t.gz"), "ijcnn1": (1.0, "ijcnn1.gz", "ijcnn1.t.gz"), "w8a": (0.1, "w8a.gz", None)}

RIVAL = """
import json, sys, time
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC
kind, gamma, train, test = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
def read(path, width=None):
    x, y = load_svmlight_file(path, n_features=width)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return (x.toarray() if kind == "dense" else x), y
x, y = read(train)
wall, cpu = time.perf_counter(), time.process_time()
model = SVC(C=1, gamma=gamma, cache_size=1000).fit(x, y)
row = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "support": int(model.n_support_.sum())}
if test:
    row["test_error"] = 1 - model.score(*read(test, x.shape[1]))
print(json.dumps(row))
"""


def ours(program, gamma, train, test):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--task", "binary", "--data", train, "--set", "task.kernel=rbf"]
        command += ["--set", f"task.kernel.gamma={gamma}", "--lambda", "c:1", "--gap", "0.1%", "--threads", "1"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([*command, "--json", "--quiet", "--out", f"{folder}/m"], capture_output=True, text=True, check=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found = json.loads(done.stdout)
        row = {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
        row |= {key: found[key] for key in ("primal", "dual", "gap", "certified", "passes", "oracle_calls", "cached_steps")}
        if test:
            scored = [program, "evaluate", "--model", f"{folder}/m", "--data", test, "--json"]
            row["test_error"] = 1 - json.loads(subprocess.run(scored, capture_output=True, text=True, check=True).stdout)["accuracy"]
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(options.out / "raw.jsonl", "a") as raw, tempfile.TemporaryDirectory() as folder:
        for name, (gamma, *files) in PROBLEMS.items():
            if options.only not in name:
                continue
            paths = []
            for file in files:
                path = pathlib.Path(folder) / str(file).removesuffix(".gz")
                if file:
                    path.write_bytes(gzip.decompress((options.data / "binary" / file).read_bytes()))
                paths.append(str(path) if file else "")
            for _ in range(options.repeats):
                for solver in ("multiplane", "SVC dense", "SVC sparse"):
                    if solver == "multiplane":
                        found = ours(options.program, gamma, *paths)
                    else:
                        command = [sys.executable, "-c", RIVAL, solver.split()[1], str(gamma), *paths]
                        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                    rows.append({"problem": name, "solver": solver, **found})
                    raw.write(json.dumps(rows[-1]) + "\n")
                    raw.flush()
    print("| problem | solver | CPU s | wall s | test error % |\n|---|---|---|---|---|")
    for problem, solver in dict.fromkeys((row["problem"], row["solver"]) for row in rows):
        mine = [row for row in rows if (row["problem"], row["solver"]) == (problem, solver)]
        median = {key: statistics.median(row[key] for row in mine) for key in ("cpu", "wall")}
        error = f"{100 * mine[0]['test_error']:.2f}" if "test_error" in mine[0] else "-"
        print(f"| {problem} | {solver} | {median['cpu']:.2f} | {median['wall']:.2f} | {error} |")


if __name__ == "__main__":
    main()
