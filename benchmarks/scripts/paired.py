#!/usr/bin/env python3
"""Two builds of the program on the same runs, in turns: whether a change made anything slower.

    paired.py --before OLD/multiplane --after target/dist/multiplane --data $MULTIPLANE_DATA --out DIR
              [--python-before OLD/bin/python --python-after NEW/bin/python]
              [--expansion-before OLD/examples/expansion --expansion-after NEW/examples/expansion] [--repeats 5]

Every run trains to a certificate or for a number of passes, evaluation included; seconds are those of the whole process
(wall) and of training. With the two Pythons, in which the packages of the two builds are installed, the cost of a call of
a trivial oracle is compared as well; with the two examples (`cargo build --profile dist -p multiplane-infer --example
expansion`) alpha-expansion on 200 triangulated grids of 500 nodes, 9 labels and Potts weights. Writes raw.jsonl and prints a table in Markdown; ratios are after / before, the
median of the pairs.
"""

import argparse
import json
import pathlib
import random
import statistics
import struct
import subprocess
import tempfile
import time

OCR = ["--task", "chain", "--set", "data.folds=0"]
USPS = ["--task", "multiclass"]

RUNS = {
    "bcfw, 40 passes, OCR fold 0": ("ocr/letter.data.gz", [*OCR, "--solver", "bcfw", "--passes", "40"]),
    "auto to 0.01, OCR fold 0": ("ocr/letter.data.gz", [*OCR, "--gap", "0.01"]),
    "auto to 0.001, USPS": ("usps/usps.gz", [*USPS, "--gap", "0.001"]),
    "mp-bcfw, 20 passes, USPS": ("usps/usps.gz", [*USPS, "--solver", "mp-bcfw", "--passes", "20"]),
}

CALLS = """
import time, numpy as np, multiplane
class Trivial:
    quality = "exact"
    answers = [(np.arange(128) + 128 * k, np.ones(128)) for k in range(2)]
    def dim(self): return 4000
    def features(self, x, y): return self.answers[y]
    def loss(self, truth, y): return float(truth != y)
    def decode(self, x, w, truth=None): return 1
start = time.perf_counter()
model = multiplane.StructuredSVM(Trivial(), solver="bcfw", passes=60).fit([0] * 1000, [0] * 1000)
found = model.summary_
print((time.perf_counter() - start) / (found["oracle_calls"] + found["evaluation_calls"]))
"""


def grids(path, count=200, height=20, width=25, labels=9):
    """Writes triangulated grids with normal unary energies and uniform weights, as the example reads them."""
    draw = random.Random(7)
    node = lambda y, x: y * width + x
    edges = [(node(y, x), node(y + dy, x + dx)) for y in range(height) for x in range(width)
             for dy, dx in ((0, 1), (1, 0), (1, 1)) if y + dy < height and x + dx < width]
    parts = [struct.pack("<I", count)]
    for _ in range(count):
        parts.append(struct.pack("<3I", height * width, labels, len(edges)))
        parts.append(struct.pack(f"<{height * width * labels}d", *(draw.gauss(0, 1) for _ in range(height * width * labels))))
        parts.append(struct.pack(f"<{2 * len(edges)}I", *(end for edge in edges for end in edge)))
        parts.append(struct.pack(f"<{len(edges)}d", *(draw.random() for _ in edges)))
    path.write_bytes(b"".join(parts))
    return count


def expand(program, path, count):
    """Seconds of all problems together, as the example measures them, and its energies."""
    lines = "".join(f"expand {k}\n" for k in range(count))
    done = subprocess.run([program, str(path)], input=lines, capture_output=True, check=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return sum(answer["seconds"] for answer in answers), [answer["labels"] for answer in answers]


def train(program, data, arguments):
    """Wall seconds, training seconds and the final object of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "train", "--data", str(data), *arguments, "--seed", "7", "--json", "--quiet"]
        start = time.perf_counter()
        done = subprocess.run([*command, "--out", f"{folder}/model"], capture_output=True, check=True)
        return time.perf_counter() - start, json.loads(done.stdout)


def main():
    """Runs the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--python-before")
    parser.add_argument("--python-after")
    parser.add_argument("--expansion-before")
    parser.add_argument("--expansion-after")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    programs = {"before": options.before, "after": options.after}
    rows = []
    for name, (file, arguments) in RUNS.items():
        for repeat in range(options.repeats):
            for build, program in programs.items():
                wall, final = train(program, options.data / file, arguments)
                calls = final["oracle_calls"] + final["evaluation_calls"]
                rows.append({"run": name, "build": build, "repeat": repeat, "wall": wall, "calls": calls,
                             "train": final["train_seconds"], "primal": final["primal"]})
    if options.python_before and options.python_after:
        pythons = {"before": options.python_before, "after": options.python_after}
        for repeat in range(options.repeats):
            for build, python in pythons.items():
                done = subprocess.run([python, "-c", CALLS], capture_output=True, check=True, text=True)
                rows.append({"run": "a call of a trivial Python oracle", "build": build, "repeat": repeat,
                             "wall": float(done.stdout), "train": float(done.stdout)})
    if options.expansion_before and options.expansion_after:
        examples = {"before": options.expansion_before, "after": options.expansion_after}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "problems"
            count, labels = grids(path), {}
            for repeat in range(options.repeats):
                for build, program in examples.items():
                    seconds, labels[build] = expand(program, path, count)
                    rows.append({"run": "expansion, 200 graphs", "build": build, "repeat": repeat, "wall": seconds,
                                 "train": seconds})
        if labels["before"] != labels["after"]:
            raise SystemExit("the two builds give different labellings")
    (options.out / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    print("| run | before, s | after, s | after / before, training | after / before, whole process |\n|---|---|---|---|---|")
    for name in dict.fromkeys(row["run"] for row in rows):
        of = {build: [row for row in rows if (row["run"], row["build"]) == (name, build)] for build in programs}
        median = {build: statistics.median(row["train"] for row in of[build]) for build in programs}
        ratio = {key: statistics.median(new[key] / old[key] for old, new in zip(of["before"], of["after"], strict=True))
                 for key in ("train", "wall")}
        print(f"| {name} | {median['before']:.3g} | {median['after']:.3g} | {ratio['train']:.3f} | {ratio['wall']:.3f} |")


if __name__ == "__main__":
    main()
