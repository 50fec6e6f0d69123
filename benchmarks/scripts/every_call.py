"""What a certificate costs, all in: oracle calls of training and evaluation, and wall seconds of whole processes.

Takes two builds, before and after, and writes four tables as TSV:

calls    passes all in (oracle calls and evaluation calls, / n) with an oracle of 5 ms a call, on the work clock
seconds  wall seconds of the whole process against the training seconds of the build before, in turns, medians
bytes    whether two default runs give the same model, with one thread and with two
budget   wall seconds of `--seconds 10` on a problem without hope

    python benchmarks/scripts/every_call.py --before OLD --after NEW --data DIR --out FOLDER
"""

import argparse
import hashlib
import json
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
LETTER = ["--task", "multiclass", "--data", "multiclass/letter.gz"]

CALLS = [
    ("ocr-0", OCR0, [0.1, 0.01, 0.001]),
    ("usps", USPS, [0.01, 0.001]),
    ("mnist_5k", MNIST, [0.01, 0.001]),
    ("a9a", A9A, [0.01, 0.001]),
    ("ocr", OCR, [0.1]),
]
SECONDS = [
    ("ocr-0", OCR0, "0.001"),
    ("usps", USPS, "0.0001"),
    ("ocr", OCR, "0.01"),
    ("conll2000", CONLL, "20%"),
    ("mnist_5k", MNIST, "0.001"),
    ("a9a", A9A, "0.001"),
]
BYTES = [("ocr-0", OCR0, "0.01"), ("usps", USPS, "0.001"), ("conll2000", CONLL, "50%"), ("a9a", A9A, "0.001")]


class Bench:
    def __init__(self, arguments):
        self.data = arguments.data
        self.programs = {"before": arguments.before, "after": arguments.after}
        self.out = arguments.out
        self.repeats = arguments.repeats

    def train(self, program, problem, *more):
        command = [str(self.data / word) if word.endswith(".gz") else word for word in problem]
        start = time.perf_counter()
        ran = subprocess.run([program, "train", *command, "--json", "--quiet", *more], check=True, capture_output=True)
        return json.loads(ran.stdout), time.perf_counter() - start

    def write(self, name, lines):
        (self.out / f"{name}.tsv").write_text("\n".join(lines) + "\n")

    def calls(self):
        lines = ["set\tgap\tbuild\ttraining\tevaluation\tall in\treached"]
        for name, problem, gaps in CALLS:
            for gap in gaps:
                for build, program in self.programs.items():
                    delay = ["--clock", "work", "--set", "oracle.delay_us=5000"]
                    summary, _ = self.train(program, problem, "--gap", str(gap), *delay)
                    n = summary["n"]
                    training, evaluation = summary["oracle_calls"] / n, summary["evaluation_calls"] / n
                    figures = f"{training:.2f}\t{evaluation:.2f}\t{training + evaluation:.2f}\t{summary['gap']:.3g}"
                    lines.append(f"{name}\t{gap}\t{build}\t{figures}")
                    print(lines[-1], flush=True)
        self.write("calls", lines)

    def seconds(self):
        lines = ["set\tgap\tbuild\tprocess s\ttraining s\tprocess / training before\ttraining / training before"]
        for name, problem, gap in SECONDS:
            times = {build: [] for build in self.programs}
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(self.repeats):
                    for build, program in self.programs.items():
                        model = str(pathlib.Path(folder) / "model")
                        summary, wall = self.train(program, problem, "--gap", gap, "--out", model)
                        times[build].append((wall, summary["train_seconds"]))
            medians = {build: [statistics.median(column) for column in zip(*rows)] for build, rows in times.items()}
            before = medians["before"][1]
            for build, (wall, training) in medians.items():
                ratios = f"{wall / before:.2f}\t{training / before:.2f}"
                lines.append(f"{name}\t{gap}\t{build}\t{wall:.2f}\t{training:.2f}\t{ratios}")
                print(lines[-1], flush=True)
        self.write("seconds", lines)

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
            lines.append(f"{name}\t{gap}\t{sums[0] == sums[1]}\t{sums[0] == sums[2]}")
            print(lines[-1], flush=True)
        self.write("bytes", lines)

    def budget(self):
        lines = ["set\tbuild\tprocess s\twall_seconds\tgap\tcertified"]
        for name, problem in [("satimage", SATIMAGE), ("letter", LETTER)]:
            for build, program in self.programs.items():
                summary, wall = self.train(program, problem, "--gap", "1e-6", "--seconds", "10")
                figures = f"{wall:.2f}\t{summary['wall_seconds']:.2f}\t{summary['gap']:.3g}\t{summary['certified']}"
                lines.append(f"{name}\t{build}\t{figures}")
                print(lines[-1], flush=True)
        self.write("budget", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="calls,bytes,budget,seconds")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    for table in arguments.only.split(","):
        getattr(bench, table)()


if __name__ == "__main__":
    main()
