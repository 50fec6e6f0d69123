#!/usr/bin/env python3
"""User CPU seconds of reading CoNLL-2000 with a template: our whole process beside `append` of CRFsuite's trainer.

Our process is the example `reading` of the crate tasks: it reads the file, names and numbers the features, and opens
the task. The other is given the same attributes, made before its clock starts: only `append` counts. One after
the other, `--repeats` times; prints one JSON object with the medians.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import pycrfsuite

from common import finish
from conll import InputError, default_data, sentences
from conll_words import attributes, items_of

WORDS = ["w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"]


def user(who):
    """User CPU seconds so far."""
    return resource.getrusage(who).ru_utime


def append(path):
    """In a process of its own: the seconds that appending takes."""
    items = items_of(WORDS)
    made = [(attributes(items, sentence), [token[-1] for token in sentence]) for sentence in sentences(path)]
    trainer = pycrfsuite.Trainer(verbose=False)
    start = user(resource.RUSAGE_SELF)
    for rows, labels in made:
        trainer.append(rows, labels)
    print(user(resource.RUSAGE_SELF) - start)


def child(arguments):
    """What a process prints, and its user CPU seconds."""
    start = user(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise InputError(ran.stderr.strip())
    return ran.stdout, user(resource.RUSAGE_CHILDREN) - start


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", type=pathlib.Path, help="the example `reading`")
    parser.add_argument("--data", default=default_data(), type=pathlib.Path, help="folder with train.txt.gz")
    parser.add_argument("--repeats", type=int, default=5, help="odd, for a clean median (default 5)")
    parser.add_argument("--append", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    packed = args.data / "train.txt.gz"
    if args.append:
        append(packed)
        return 0
    ours, others = [], []
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / "train.txt"
        plain.write_bytes(subprocess.run(["gzip", "-dc", packed], capture_output=True, check=True).stdout)
        size = plain.stat().st_size / 1e6
        for _ in range(args.repeats):
            ours.append(child([args.program, "chain", plain, json.dumps({"template": "words"})])[1])
            others.append(float(child([sys.executable, __file__, "--append", "--data", args.data])[0]))
    ratios = [a / b for a, b in zip(ours, others, strict=True)]
    median = statistics.median
    print(json.dumps({
        "seconds": ours, "append_seconds": others, "median_seconds": median(ours), "median_append": median(others),
        "mb_per_second": size / median(ours), "median_ratio": median(ratios),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    finish(main, InputError)
