#!/usr/bin/env python3
"""The Frank-Wolfe family's figures: certified gaps over time, rivals beside them; writes raw.jsonl and summary.md.

    family.py --program target/dist/multiplane --out benchmarks/runs/<date>-<machine> [--data DIR] [--only a,b]

One thread, medians of three seeds. Seconds are training seconds as the program reports them: bounds are evaluated off
that clock. "Scaled" seconds are for a core on which one CRFsuite epoch over the OCR words takes 0.107 s; that epoch is
measured in the same run. Needs requirements.txt.
"""

import argparse
import gzip
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time

from spine import crfsuite_epoch, train

REFERENCE_EPOCH = 0.107
PRESETS = ["bcfw", "mp-bcfw", "mp-bcfw-avg", "bcpfw-gap-cache", "bcpfw-cache", "bcfw-gap-cache"]


class Bench:
    def __init__(self, program, data):
        self.program, self.data, self.raw, self.lines = program, data, [], []
        chain = ["--task", "chain", "--data", str(data / "ocr/letter.data.gz")]
        self.problems = {
            "OCR fold 0": [*chain, "--set", "data.folds=0"],
            "OCR all": chain,
            "USPS": ["--task", "multiclass", "--data", str(data / "usps/usps.gz")],
            "CoNLL": ["--task", "chain", "--data", str(data / "conll2000/train.txt.gz"), "--format", "conll",
                      "--set", "task.template=chunking"],
        }
        self.problems["CoNLL, lambda 0.1"] = [*self.problems["CoNLL"], "--lambda", "0.1"]

    def run(self, row, problem, arguments, seed=0):
        """A run with its records."""
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as record:
            result = train(self.program, [*self.problems[problem], *arguments, "--record", record.name], seed)
            records = [json.loads(line) for line in pathlib.Path(record.name).read_text().splitlines()]
        command = result["command"].replace(str(self.data), "$MULTIPLANE_DATA").replace(f" --record {record.name}", "")
        self.raw.append({"row": row, "problem": problem, **result, "command": command})
        return result, records

    def to_gaps(self, row, problem, arguments, gaps, what="seconds"):
        """Medians over seeds of seconds or passes until each gap is certified."""
        found = {gap: [] for gap in gaps}
        for seed in range(3):
            _, records = self.run(row, problem, [*arguments, "--gap", str(min(gaps))], seed)
            for gap in gaps:
                found[gap].append(next((r[what] for r in records if r["gap"] <= gap), float("inf")))
        return [statistics.median(found[gap]) for gap in gaps]

    def say(self, *lines):
        for line in lines:
            print(line, flush=True)
            self.lines.append(line)

    def times(self):
        self.epoch = statistics.median(crfsuite_epoch(str(self.data / "ocr/letter.data.gz")) for _ in range(3))
        scale = REFERENCE_EPOCH / self.epoch
        self.say(f"CRFsuite epoch here: {self.epoch:.4f} s; scale {scale:.3f}.", "",
                 "| problem, `auto` | to gaps | wanted | measured | scaled |", "|---|---|---|---|---|")
        for problem, arguments, gaps, wanted in [
            ("OCR fold 0", [], [0.1, 0.01, 0.001], "0.6 / 1.4 / 3.0 s"),
            ("OCR all", ["--lambda", "0.01"], [0.01, 0.001], "1.2 / 2.1 s"),
            ("OCR all", [], [0.1, 0.01, 0.001], "10 / 30 / 60 s"),
            ("USPS", [], [0.1, 0.01, 0.001], "-"),
        ]:
            seconds = self.to_gaps("seconds", problem, arguments, gaps)
            name = problem + (", lambda 0.01" if arguments else ", lambda 1/n")
            shown = lambda factor: " / ".join(f"{factor * s:.2f}" for s in seconds)
            self.say(f"| {name} | {' / '.join(map(str, gaps))} | {wanted} | {shown(1)} s | {shown(scale)} s |")
        self.say("")

    def calls(self):
        delayed = ["--clock", "work", "--set", "oracle.delay_us=5000"]
        self.say("| oracle of 5 ms, work clock, `auto` | wanted | exact passes |", "|---|---|---|")
        for problem, wanted in [("OCR fold 0", "10 / 18 / 36"), ("USPS", "-")]:
            passes = self.to_gaps("calls", problem, delayed, [0.1, 0.01, 0.001], "pass")
            self.say(f"| {problem}, lambda 1/n, to 0.1 / 0.01 / 0.001 | {wanted} | {' / '.join(f'{p:.1f}' for p in passes)} |")
        self.say("")

    def liblinear(self):
        """Seconds until the primal sum is at most 120.961, beside LIBLINEAR -s 4 -e 0.001."""
        from liblinear.liblinearutil import parameter, problem, train as fit

        with gzip.open(self.data / "usps/usps.gz", "rt") as lines:
            rows = [line.split() for line in lines if line.strip()]
        labels = [int(row[0]) for row in rows]
        features = [{int(k): float(v) for k, v in (item.split(":") for item in row[1:])} for row in rows]
        task, settings = problem(labels, features), parameter("-s 4 -c 1 -e 0.001 -q")
        ratios = []
        for seed in range(3):
            start = time.perf_counter()
            fit(task, settings)
            theirs = time.perf_counter() - start
            _, records = self.run("liblinear", "USPS", ["--gap", "1e-6"], seed)
            goal = 120.961 / len(labels)
            ours = next(r["seconds"] for r in records if r["primal"] <= goal)
            ratios.append((ours / theirs, ours, theirs))
            self.raw.append({"row": "liblinear", "seed": seed, "liblinear_seconds": theirs, "auto_seconds": ours})
        ratio, ours, theirs = sorted(ratios)[1]
        self.say("| USPS, lambda 1/n, no bias | wanted | measured |", "|---|---|---|",
                 f"| `auto` until the primal sum is <= 120.961, against LIBLINEAR -s 4 -e 0.001 | <= 0.6 x | "
                 f"{ratio:.2f} x ({ours:.2f} s / {theirs:.2f} s) |", "")

    def auto(self, problems, delays):
        """`auto` beside the presets, each given as much time as `auto` took; to a gap of 1 %."""
        self.say("| to a gap of 1 % | delay | `auto` | best preset within that time | `auto` / best | `bcfw` |",
                 "|---|---|---|---|---|---|")
        for problem in problems:
            for delay in delays:
                self.auto_row(problem, delay)
        self.say("")

    def auto_row(self, problem, delay):
        clock = ["--set", f"oracle.delay_us={delay}", "--clock", "work"] if delay else []
        common = [*clock, "--gap", "1%", "--seconds"]
        mine, _ = self.run("auto", problem, [*common, "1e9"])
        limit = mine["train_seconds"]
        reached, bcfw = {}, ""
        for preset in PRESETS:
            # bcfw gets five times as long: is auto five times faster?
            seconds = limit * (5 if preset == "bcfw" and delay == 10_000 else 1)
            theirs, _ = self.run("auto", problem, [*common, str(seconds), "--solver", preset])
            if theirs["stop_reason"] == "gap":
                reached[preset] = theirs["train_seconds"]
            if preset == "bcfw":
                relative = theirs["gap"] / theirs["primal"]
                bcfw = f"gap {100 * relative:.0f} % after {seconds / limit:.0f} x" if preset not in reached else \
                    f"{reached[preset] / limit:.2f} x"
        best = min(reached, key=reached.get, default=None)
        ratio = f"{limit / reached[best]:.2f} x" if best else "< 1 x"
        self.say(f"| {problem} | {delay} us | {limit:.2f} s, {mine['passes']:.1f} passes | {best or 'none'} | {ratio} | {bcfw} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("MULTIPLANE_DATA", "../shared/data"))
    parser.add_argument("--only", default="times,calls,liblinear,auto", help="of times, calls, liblinear, auto")
    parser.add_argument("--problems", default="OCR fold 0;OCR all;USPS;CoNLL, lambda 0.1",
                        help="of the table of auto")
    parser.add_argument("--delays", default="0,100,1000,10000", help="microseconds, of the table of auto")
    arguments = parser.parse_args()
    bench = Bench(str(pathlib.Path(arguments.program).resolve()), arguments.data.resolve())
    wanted = arguments.only.split(",")
    bench.say(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}.", "")
    try:
        for name in ["times", "calls", "liblinear"]:
            if name in wanted:
                getattr(bench, name)()
        if "auto" in wanted:
            delays = [int(delay) for delay in arguments.delays.split(",")]
            bench.auto(arguments.problems.split(";"), delays)
    finally:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bench.raw))
        (arguments.out / "measured.md").write_text("\n".join(bench.lines) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
