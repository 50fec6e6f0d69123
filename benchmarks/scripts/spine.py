#!/usr/bin/env python3
"""Measures the figures of the first milestone, paired in one run, and writes raw.jsonl and summary.md.

    spine.py --program target/dist/multiplane --out benchmarks/runs/<date>-<machine> [--data DIR]

Everything runs on one thread. Rivals (CRFsuite) are measured beside our own runs, in alternation. Seconds are
training seconds as the program reports them: bounds are evaluated off that clock. Needs requirements.txt.
"""

import argparse
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def train(program, arguments, seed=0):
    """Runs `train --json` and returns its object, with the process's peak memory in MB."""
    with tempfile.NamedTemporaryFile() as status:
        command = [program, "train", *arguments, "--seed", str(seed), "--json"]
        pid = os.posix_spawnp(
            command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, status.name, os.O_WRONLY, 0)]
        )
        _, code, usage = os.wait4(pid, 0)
        if code != 0:
            sys.exit(f"{' '.join(command)} failed")
        result = json.loads(pathlib.Path(status.name).read_text())
    result["peak_mb"] = usage.ru_maxrss / 1024
    result["command"] = " ".join(["multiplane", "train", *arguments, "--seed", str(seed), "--json"])
    return result


def crfsuite_epoch(data):
    """Seconds of one CRFsuite averaged-perceptron epoch, set-up taken out."""
    out = subprocess.run(
        [sys.executable, HERE / "crfsuite_epoch.py", "--data", data, "--repeats", "1"],
        check=True, capture_output=True, text=True,
    )
    return json.loads(out.stdout)["crfsuite_epoch_seconds"]


class Bench:
    def __init__(self, program, data):
        self.program, self.raw, self.rows, self.data = program, [], [], str(data)
        self.ocr = str(data / "ocr/letter.data.gz")
        self.usps = str(data / "usps/usps.gz")

    def run(self, row, arguments, seed=0):
        result = {"row": row, **train(self.program, arguments, seed)}
        result["command"] = result["command"].replace(self.data, "$MULTIPLANE_DATA")
        self.raw.append(result)
        return result

    def oracle(self):
        """Mean loss-augmented decode: oracle seconds per call, all timed, at the w's of a run near its end."""
        us = []
        for seed in range(3):
            result = self.run("oracle", ["--task", "chain", "--data", self.ocr, "--solver", "bcfw", "--passes", "20"], seed)
            us.append(1e6 * result["oracle_seconds"] / result["oracle_calls"])
        self.rows.append(("OCR oracle, mean per call over 6877 words", "<= 5 us", f"{statistics.median(us):.2f} us"))

    def bcfw_pass(self, repeats):
        """One bcfw pass against one CRFsuite epoch, in alternation."""
        ours, theirs, ratios = [], [], []
        for seed in range(repeats):
            theirs.append(crfsuite_epoch(self.ocr))
            result = self.run("pass", ["--task", "chain", "--data", self.ocr, "--solver", "bcfw", "--passes", "20"], seed)
            ours.append(result["train_seconds"] / 20)
            ratios.append(ours[-1] / theirs[-1])
            self.raw.append({"row": "crfsuite", "seed": seed, "crfsuite_epoch_seconds": theirs[-1]})
        self.rows.append((
            "one bcfw pass, 6877 words, against one CRFsuite epoch", "<= 0.6 x",
            f"{statistics.median(ratios):.2f} x ({statistics.median(ours):.4f} s / {statistics.median(theirs):.4f} s)",
        ))

    def passes_to_gap(self):
        """Exact passes to gap 0.1 on fold 0, five seeds, on both clocks."""
        for clock in ["wall", "work"]:
            common = ["--task", "chain", "--data", self.ocr, "--set", "data.folds=0", "--gap", "0.1", "--clock", clock]
            multi = [self.run("to-0.1", [*common, "--solver", "mp-bcfw"], seed) for seed in range(5)]
            plain = [self.run("to-0.1", [*common, "--solver", "bcfw"], seed) for seed in range(5)]
            ours = statistics.median(result["passes"] for result in multi)
            theirs = statistics.median(result["passes"] for result in plain)
            self.rows.append((
                f"mp-bcfw, OCR fold 0, exact passes to gap 0.1, 5 seeds, {clock} clock", "<= 25 and <= 1/4 of bcfw",
                f"{ours:.0f} (bcfw {theirs:.0f}, ratio {ours / theirs:.2f}; all: {[int(r['passes']) for r in multi]})",
            ))

    def memory(self):
        result = self.run("memory", ["--task", "chain", "--data", self.ocr, "--solver", "mp-bcfw", "--passes", "20"])
        self.rows.append(("peak memory, 6877 words, mp-bcfw, 20 passes", "<= 400 MB", f"{result['peak_mb']:.0f} MB"))

    def cheap_oracle(self):
        """mp-bcfw against bcfw where the oracle is cheap, in alternation."""
        ratios, seconds = [], []
        for seed in range(5):
            common = ["--task", "multiclass", "--data", self.usps, "--gap", "0.05"]
            multi = self.run("usps", [*common, "--solver", "mp-bcfw"], seed)
            plain = self.run("usps", [*common, "--solver", "bcfw"], seed)
            ratios.append(multi["train_seconds"] / plain["train_seconds"])
            seconds.append((multi["train_seconds"], plain["train_seconds"]))
        ours, theirs = (statistics.median(column) for column in zip(*seconds))
        self.rows.append((
            "mp-bcfw against bcfw, USPS, seconds to gap 0.05", "<= 1.1 x",
            f"{statistics.median(ratios):.2f} x ({ours:.2f} s / {theirs:.2f} s)",
        ))


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("MULTIPLANE_DATA", "../shared/data")))
    parser.add_argument("--repeats", type=int, default=5, help="paired repeats against CRFsuite")
    args = parser.parse_args()
    bench = Bench(args.program, args.data)
    bench.oracle()
    bench.bcfw_pass(args.repeats)
    bench.passes_to_gap()
    bench.memory()
    bench.cheap_oracle()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    args.out.mkdir(parents=True, exist_ok=True)
    with open(args.out / "raw.jsonl", "w") as raw:
        raw.writelines(json.dumps(row) + "\n" for row in bench.raw)
    lines = [f"# First milestone\n\nMachine: {machine()}. Commit {commit}. One thread.\n",
             "Command: `benchmarks/scripts/spine.py --program target/dist/multiplane --out DIR`\n",
             "| what | wanted | measured |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in bench.rows)]
    (args.out / "summary.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
