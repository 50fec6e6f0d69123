#!/usr/bin/env python3
"""CoNLL-2000 chunking: one bcfw pass of ours beside one epoch of CRFsuite's averaged perceptron, same features.

Features are those of the template `chunking`: 19 a token. CRFsuite runs with its defaults (weights only for pairs of
attribute and label that occur in training); ours has a weight for every pair. A rival's epoch is timed as

    seconds per epoch = (T(long) - T(short)) / (long - short)

which leaves out what both pay once. Ours is `train_seconds` of a run, divided by its passes, in the same two lengths.
The runs of a repeat follow each other, so that a change of load hits both. Then one longer run with a lambda that was
chosen on held-out training sentences (not on the test part) gives test F1 and peak memory. Prints one JSON object;
needs a quiet machine to mean much.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import pycrfsuite

from common import finish

SHORT_EPOCHS, LONG_EPOCHS = 2, 12
TEMPLATE = (
    "w[-2] w[-1] w[0] w[1] w[2] w[-1]|w[0] w[0]|w[1] p[-2] p[-1] p[0] p[1] p[2] p[-2]|p[-1] p[-1]|p[0] p[0]|p[1] "
    "p[1]|p[2] p[-2]|p[-1]|p[0] p[-1]|p[0]|p[1] p[0]|p[1]|p[2]"
)


class InputError(Exception):
    """Something that the user should correct."""


def default_data():
    """conll2000 under $MULTIPLANE_DATA, or under ../shared/data seen from the workspace root."""
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = os.environ.get("MULTIPLANE_DATA", root / ".." / "shared" / "data")
    return pathlib.Path(folder) / "conll2000"


def atoms(text):
    """`w[-1]|p[0]` as [(-1, 0), (0, 1)]: offset and column."""
    parts = [part.rstrip("]").split("[") for part in text.split("|")]
    return [(int(offset), "wp".index(column)) for column, offset in parts]


ITEMS = [(text, atoms(text)) for text in TEMPLATE.split()]


def sentences(path):
    """Lists of (word, part of speech, chunk tag)."""
    text = gzip.open(path, "rt", encoding="utf-8").read()
    blocks = (block for block in text.split("\n\n") if block.strip())
    return [[tuple(line.split()) for line in block.strip().split("\n")] for block in blocks]


def cell(sentence, place, column):
    """A value, or what stands beyond the ends of a sentence."""
    if place < 0:
        return f"_B{place}"
    if place >= len(sentence):
        return f"_B+{place - len(sentence) + 1}"
    return sentence[place][column]


def attributes(sentence):
    """The names of the features of every token."""
    rows = []
    for t in range(len(sentence)):
        row = []
        for name, parts in ITEMS:
            row.append("\t".join([name] + [cell(sentence, t + offset, column) for offset, column in parts]))
        rows.append(row)
    return rows


def crfsuite_seconds(examples, epochs, model_path):
    """Seconds that training for `epochs` epochs takes; fails if it stopped early."""
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": epochs, "epsilon": -1.0})
    for items, labels in examples:
        trainer.append(items, labels)
    start = time.perf_counter()
    trainer.train(model_path)
    seconds = time.perf_counter() - start
    if len(trainer.logparser.iterations) != epochs:
        raise InputError(f"the trainer ran {len(trainer.logparser.iterations)} epochs instead of {epochs}")
    return seconds


def peak_kib(pid):
    """The most memory that a running process has had so far; None once it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) if lines else None


def ours(program, *arguments):
    """Runs our program and reads its JSON object; adds its peak memory, looked up every hundredth of a second."""
    peak = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen([program, *map(str, arguments), "--json"], stdout=out, stderr=err)
        while child.poll() is None:
            peak = max(peak, peak_kib(child.pid) or 0)
            time.sleep(0.01)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise InputError(err.read().strip())
        return json.load(out) | {"peak_mib": peak / 1024}


def pass_seconds(program, train):
    """Seconds of one bcfw pass: the mean of the passes after the first two, as for the rival; and of the first."""
    base = ["train", "--task", "chain", "--data", train, "--solver", "bcfw", "--passes"]
    short = ours(program, *base, SHORT_EPOCHS)["train_seconds"]
    long = ours(program, *base, LONG_EPOCHS)["train_seconds"]
    return (long - short) / (LONG_EPOCHS - SHORT_EPOCHS), short / SHORT_EPOCHS


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", required=True, help="the multiplane binary")
    parser.add_argument("--data", default=default_data(), type=pathlib.Path, help="folder with train/test.txt.gz")
    parser.add_argument("--repeats", type=int, default=3, help="odd, for a clean median (default 3)")
    parser.add_argument("--lambda-times-n", type=float, default=10.0, help="of the long run (default 10)")
    parser.add_argument("--loss", default="hamming-sum", help="of the long run (default hamming-sum)")
    parser.add_argument("--solver", default="bcfw-avg", help="of the long run (default bcfw-avg)")
    parser.add_argument("--passes", type=int, default=15, help="of the long run (default 15)")
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error(f"--repeats {args.repeats}: must be at least 1")
    train, test = args.data / "train.txt.gz", args.data / "test.txt.gz"
    data = sentences(train)
    examples = [(pycrfsuite.ItemSequence(attributes(s)), [token[-1] for token in s]) for s in data]
    repeats = []
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        for _ in range(args.repeats):
            short = crfsuite_seconds(examples, SHORT_EPOCHS, model)
            epoch = (crfsuite_seconds(examples, LONG_EPOCHS, model) - short) / (LONG_EPOCHS - SHORT_EPOCHS)
            later, first = pass_seconds(args.program, train)
            repeats.append({"crfsuite_epoch": epoch, "bcfw_pass": later, "bcfw_first_passes": first})
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        wrong = [
            sum(a != b[-1] for a, b in zip(tagger.tag(attributes(s)), s, strict=True)) for s in sentences(test)
        ]
        lam = args.lambda_times_n / len(data)
        out = os.path.join(folder, "ours")
        run = ours(
            args.program, "train", "--task", "chain", "--data", train, "--solver", args.solver, "--passes", args.passes,
            "--lambda", lam, "--set", f"task.loss={args.loss}", "--out", out,
        )  # fmt: skip
        score = ours(args.program, "evaluate", "--model", out, "--data", test)
    ratios = [max(repeat["bcfw_pass"], repeat["bcfw_first_passes"]) / repeat["crfsuite_epoch"] for repeat in repeats]
    report = {
        "repeats": repeats,
        "ratio": statistics.median(ratios),
        "crfsuite_test_accuracy": 1 - sum(wrong) / sum(len(s) for s in sentences(test)),
        "solver": args.solver,
        "passes": args.passes,
        "loss": args.loss,
        "lambda": lam,
        "n": run["n"],
        "d": run["d"],
        "primal": run["primal"],
        "dual": run["dual"],
        "train_seconds": run["train_seconds"],
        "wall_seconds": run["wall_seconds"],
        "peak_mib": run["peak_mib"],
        "test": score,
    }
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    finish(main, InputError)
