"""What a certificate costs, all in: oracle calls of training and evaluation, and wall seconds of whole processes.

Takes two builds, before and after, and writes five tables as TSV:

calls      passes all in (oracle calls and evaluation calls, / n) with an oracle of 5 ms a call, on the work clock
seconds    wall seconds of the whole process on one thread, in turns: medians, their paired ratio, passes, peak memory
bytes      whether two default runs give the same model, with one thread and with two
budget     wall seconds of `--seconds 10` on a problem without hope
liblinear  USPS to the accuracy of LIBLINEAR `-s 4 -c 1 -e 0.001`, whole process against its fit, in turns; needs the
           package liblinear-official, so it runs only where `--only` names it

    python benchmarks/scripts/every_call.py --before OLD --after NEW --data DIR --out FOLDER [--seeds 6] [--repeats 3]
"""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

OCR0 = ["--task", "chain", "--data", "ocr/letter.data.gz", "--set", "data.folds=0"]
OCR = ["--task", "chain", "--data", "ocr/letter.data.gz"]
USPS = ["--task", "multiclass", "--data", "usps/usps.gz"]
CONLL = ["--task", "chain", "--data", "conll2000/train.txt.gz", "--lambda", "1e-4"]
A9A = ["--task", "binary", "--data", "binary/a9a.gz"]
SATIMAGE = ["--task", "multiclass", "--data", "multiclass/satimage.gz"]
MNIST = ["--task", "multiclass", "--data", "multiclass/mnist_5k.csv.gz"]
SATIMAGE_REGULAR = [*SATIMAGE, "--lambda", "0.1"]
LETTER = ["--task", "multiclass", "--data", "multiclass/letter.gz"]
LETTER_REGULAR = [*LETTER, "--lambda", "0.01"]
IJCNN1 = ["--task", "binary", "--data", "binary/ijcnn1.gz"]
W8A = ["--task", "binary", "--data", "binary/w8a.gz"]

CALLS = [
    ("ocr-0", OCR0, [0.1, 0.01, 0.001]),
    ("usps", USPS, [0.01, 0.001]),
    ("mnist_5k", MNIST, [0.01, 0.001]),
    ("satimage-0.1", SATIMAGE_REGULAR, [0.01, 0.001]),
    ("a9a", A9A, [0.01, 0.001]),
    ("ocr", OCR, [0.1]),
]
SECONDS = [
    ("ocr-0", OCR0, "0.001"),
    ("usps", USPS, "0.0001"),
    ("ocr", OCR, "0.01"),
    ("a9a", A9A, "0.1%"),
    ("satimage-0.1", SATIMAGE_REGULAR, "0.002"),
    ("letter-0.01", LETTER_REGULAR, "0.01"),
    ("mnist_5k", MNIST, "0.001"),
    ("ijcnn1", IJCNN1, "0.1%"),
    ("w8a", W8A, "0.0001"),
    ("conll2000", CONLL, "20%"),
    ("ocr", OCR, "0.001"),
]
BYTES = [("ocr-0", OCR0, "0.01"), ("usps", USPS, "0.001"), ("conll2000", CONLL, "50%"), ("a9a", A9A, "0.001")]


class Bench:
    def __init__(self, arguments):
        self.data = arguments.data
        self.programs = {"before": arguments.before, "after": arguments.after}
        self.out = arguments.out
        self.repeats = arguments.repeats
        self.seeds = arguments.seeds
        self.sets = arguments.sets.split(",") if arguments.sets else []

    def train(self, program, problem, *more):
        command = [str(self.data / word) if word.endswith(".gz") else word for word in problem]
        start = time.perf_counter()
        process = subprocess.Popen([program, "train", *command, "--json", "--quiet", *more], stdout=subprocess.PIPE)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status:
            raise SystemExit(f"{program} {' '.join(command)}: ended with status {status}")
        return {**json.loads(printed), "megabytes": usage.ru_maxrss / 1024}, wall

    def note(self, lines, line):
        lines.append(line)
        print(line, flush=True)

    def write(self, name, lines):
        (self.out / f"{name}.tsv").write_text("\n".join(lines) + "\n")

    def chosen(self, rows):
        return [row for row in rows if not self.sets or row[0] in self.sets]

    def calls(self):
        lines = ["set\tgap\tseed\tbuild\ttraining\tevaluation\tall in\treached"]
        for name, problem, gaps in self.chosen(CALLS):
            for gap in gaps:
                for seed in range(self.seeds):
                    for build, program in self.programs.items():
                        delay = ["--clock", "work", "--set", "oracle.delay_us=5000", "--seed", str(seed)]
                        summary, _ = self.train(program, problem, "--gap", str(gap), *delay)
                        n = summary["n"]
                        training, evaluation = summary["oracle_calls"] / n, summary["evaluation_calls"] / n
                        figures = f"{training:.2f}\t{evaluation:.2f}\t{training + evaluation:.2f}\t{summary['gap']:.3g}"
                        self.note(lines, f"{name}\t{gap}\t{seed}\t{build}\t{figures}")
        self.write("calls", lines)

    def seconds(self):
        lines = ["set\tgap\tbuild\tprocess s\tratio of pairs\ttraining s\tpasses all in\tpeak MB\tcertified"]
        for name, problem, gap in self.chosen(SECONDS):
            runs = {build: [] for build in self.programs}
            with tempfile.TemporaryDirectory() as folder:
                model = str(pathlib.Path(folder) / "model")
                for _ in range(self.repeats):
                    for build, program in self.programs.items():
                        summary, wall = self.train(program, problem, "--gap", gap, "--threads", "1", "--out", model)
                        runs[build].append({"wall": wall, **summary})
            pairs = statistics.median(b["wall"] / a["wall"] for a, b in zip(runs["before"], runs["after"]))
            for build, found in runs.items():
                wall, training, memory, calls, more = (
                    statistics.median(run[key] for run in found)
                    for key in ("wall", "train_seconds", "megabytes", "oracle_calls", "evaluation_calls")
                )
                ratio = f"{pairs:.2f}" if build == "after" else "1"
                rest = f"{(calls + more) / found[0]['n']:.1f}\t{memory:.0f}\t{all(run['certified'] for run in found)}"
                self.note(lines, f"{name}\t{gap}\t{build}\t{wall:.2f}\t{ratio}\t{training:.2f}\t{rest}")
        self.write("seconds", lines)

    def liblinear(self):
        from liblinear.liblinearutil import parameter, problem, train

        with gzip.open(self.data / "usps/usps.gz", "rt") as file:
            rows = [line.split() for line in file if line.strip()]
        columns = [{int(k): float(v) for k, v in (item.split(":") for item in row[1:])} for row in rows]
        rival = problem([int(row[0]) for row in rows], columns)
        lines = ["liblinear fit s\tprocess s\tratio\tgap\tcertified\tprimal sum"]
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(self.repeats):
                start = time.perf_counter()
                train(rival, parameter("-s 4 -c 1 -e 0.001 -q"))
                fit = time.perf_counter() - start
                more = ["--gap", "2e-6", "--threads", "1", "--out", str(pathlib.Path(folder) / "model")]
                summary, wall = self.train(self.programs["after"], USPS, *more)
                primal = summary["primal"] * summary["n"]
                figures = f"{wall / fit:.3f}\t{summary['gap']:.3g}\t{summary['certified']}\t{primal:.4f}"
                self.note(lines, f"{fit:.2f}\t{wall:.2f}\t{figures}")
        self.write("liblinear", lines)

    def bytes(self):
        lines = ["set\tgap\tsame model\tsame with two threads"]
        for name, problem, gap in BYTES:
            sums = []
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder) / "model"
                for threads in ("1", "1", "2"):
                    more = ["--gap", gap, "--out", str(model), "--threads", threads]
                    self.train(self.programs["after"], problem, *more)
                    sums.append(hashlib.sha256(model.read_bytes()).hexdigest())
            self.note(lines, f"{name}\t{gap}\t{sums[0] == sums[1]}\t{sums[0] == sums[2]}")
        self.write("bytes", lines)

    def budget(self):
        lines = ["set\tbuild\tprocess s\twall_seconds\tgap\tcertified"]
        for name, problem in [("satimage", SATIMAGE), ("letter", LETTER)]:
            for build, program in self.programs.items():
                summary, wall = self.train(program, problem, "--gap", "1e-6", "--seconds", "10")
                figures = f"{wall:.2f}\t{summary['wall_seconds']:.2f}\t{summary['gap']:.3g}\t{summary['certified']}"
                self.note(lines, f"{name}\t{build}\t{figures}")
        self.write("budget", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="calls,bytes,budget,seconds")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sets", default="", help="of the tables `calls` and `seconds`, separated by commas; default all")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    for table in arguments.only.split(","):
        getattr(bench, table)()


if __name__ == "__main__":
    main()
