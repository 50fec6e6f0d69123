#!/usr/bin/env python3
"""A stream of sparse rows, linear, one pass: `train --stream` against hinge SGD of vowpalwabbit, in turns on the same rows.

    stream.py --program target/dist/multiplane --out DIR [--rows 1000000] [--repeats 5]

Rows: d = 10^5, about 50 nonzeros, labels of a random hyperplane with noise, seeded; libsvm text for one, vw text with the same
indices for the other. CPU and wall seconds of the whole process, reading included; both read on a thread of their own. Loss
is progressive: vw's is the mean hinge of each row before it is learned, ours the share of wrong labels, of whole windows. Peak
memory of ours at a tenth of the rows and at all. Needs `pip install numpy vowpalwabbit`. Writes raw.jsonl and summary.md: medians.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

DIM, NONZEROS = 100_000, 50
SOLVERS = {"ssg": ["--solver", "ssg", "--lambda", "1e-5"], "pegasos-avg": ["--solver", "pegasos-avg", "--lambda", "1e-5"]}
RIVAL = """
import json, sys
import vowpalwabbit
vw = vowpalwabbit.Workspace(f"-d {sys.argv[1]} --loss_function hinge --sgd --noconstant -b 18 --quiet")
print(json.dumps({"loss": vw.get_sum_loss() / vw.get_weighted_examples(), "version": vowpalwabbit.__version__}))
vw.finish()
"""


def generate(n, folder):
    import numpy as np

    rng = np.random.default_rng(0)
    w = rng.normal(size=DIM)
    with open(folder / "rows.svm", "w") as svm, open(folder / "rows.vw", "w") as vw:
        for begin in range(0, n, 10_000):
            columns = np.sort(rng.integers(0, DIM, size=(10_000, NONZEROS)), axis=1)
            values = rng.random((10_000, NONZEROS)).round(4) + 0.0001
            for i in range(min(10_000, n - begin)):
                found, first = np.unique(columns[i], return_index=True)
                x = values[i][first]
                y = 1 if x @ w[found] + rng.normal() > 0 else -1
                text = " ".join(f"{c}:{v:.4f}" for c, v in zip((found + 1).tolist(), x.tolist()))
                svm.write(f"{y} {text}\n")
                vw.write(f"{y} | {text}\n")


def timed(command, **options):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, **json.loads(done.stdout)}


def ours(program, options, path):
    command = [program, "train", "--stream", "--task", "binary", "--data", str(path), "--json", *options]
    return timed(command)


def peak(program, path, rows):
    """Peak memory in MiB while `rows` rows come through a pipe."""
    command = [program, "train", "--stream", "--task", "binary", "--data", "-", "--quiet", *SOLVERS["ssg"]]
    head = subprocess.Popen(["head", "-n", str(rows), str(path)], stdout=subprocess.PIPE)
    child = subprocess.Popen(command, stdin=head.stdout)
    most = 0  # of rusage a child's begins at its parent's
    while child.poll() is None:
        with contextlib.suppress(OSError, StopIteration, ValueError):
            lines = pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines()
            most = int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
        time.sleep(0.01)
    assert child.returncode == 0
    head.wait()
    return most / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = []
    with open(args.out / "raw.jsonl", "w") as raw, tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        generate(args.rows, folder)
        for repeat in range(args.repeats):
            runs = [("vw", timed([sys.executable, "-c", RIVAL, str(folder / "rows.vw")]))]
            runs += [(name, ours(args.program, options, folder / "rows.svm")) for name, options in SOLVERS.items()]
            for name, run in runs:
                found.append({"what": name, "repeat": repeat, **run})
                raw.write(json.dumps(found[-1]) + "\n")
                raw.flush()
        peaks = {rows: peak(args.program, folder / "rows.svm", rows) for rows in (args.rows // 10, args.rows)}
        raw.write(json.dumps({"what": "peak MiB", **peaks}) + "\n")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    lines = ["# A stream of sparse rows", "", f"`scripts/stream.py --rows {args.rows} --repeats {args.repeats}`; {cpu}, {os.cpu_count()}"
             f" cores, {platform.system()}; commit {commit}; vowpalwabbit {found[0]['version']}. Medians.", "",
             "| learner | CPU s | wall s | rows per CPU second | CPU of vw / its own, paired | progressive loss |", "|---|---|---|---|---|---|"]
    base = [run["cpu"] for run in found if run["what"] == "vw"]
    for name in ("vw", *SOLVERS):
        mine = [run for run in found if run["what"] == name]
        cpu, wall = (statistics.median(run[key] for run in mine) for key in ("cpu", "wall"))
        ratio = statistics.median(of_vw / run["cpu"] for of_vw, run in zip(base, mine))
        loss = f"{mine[0]['loss']:.4f} (hinge)" if name == "vw" else f"{mine[0]['progressive_loss']:.4f} (wrong)"
        lines.append(f"| {name} | {cpu:.2f} | {wall:.2f} | {args.rows / cpu:,.0f} | {ratio:.2f} | {loss} |")
    lines += ["", "Peak memory: " + ", ".join(f"{mib:.1f} MiB at {rows:,} rows" for rows, mib in peaks.items()) + ".", ""]
    (args.out / "summary.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
