#!/usr/bin/env python3
"""Two threads against one: wall seconds to the same certified gap on OCR fold 0, with an oracle of 1 ms of real work.

    cargo build --profile dist && cargo build --release -p multiplane --example busy
    threads.py --program target/dist/multiplane --busy target/release/examples/busy --data $MULTIPLANE_DATA --out DIR
               [--python VENV/bin/python] [--threads 2] [--repeats 3] [--gap 0.01] [--solver auto] [--only rust,program,python]

Three ways to have such an oracle: in Rust (an example that works in every call), as an external program (the same
behind the protocol, a copy per thread), and a decoder in Python spread over processes (`n_jobs`). The work is a number of
additions, measured once: a delay that sleeps would be shared out by any machine. Runs come in turns, one thread and
several; the ratio of a pair is what counts. Writes raw.jsonl, and prints a table in Markdown with medians.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

DECODER = r"""
import json, sys, time
import numpy as np
import multiplane
from common import viterbi

data, iterations, jobs, gap, solver = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]

class Chain:
    '''The OCR chain in NumPy, with work in pure Python beside it.'''
    quality = "exact"
    labels, pixels = 26, 128

    def dim(self):
        return self.labels * (self.pixels + self.labels)

    def features(self, x, y):
        unary = np.zeros((self.labels, self.pixels))
        np.add.at(unary, y, x)
        pair = np.zeros((self.labels, self.labels))
        np.add.at(pair, (y[:-1], y[1:]), 1.0)
        phi = np.concatenate([unary.ravel(), pair.ravel()])
        indices = np.flatnonzero(phi)
        return indices, phi[indices]

    def loss(self, truth, y):
        return float(np.mean(truth != y))

    def decode(self, x, w, truth=None):
        for _ in range(iterations):
            pass
        cut = self.labels * self.pixels
        scores = x @ w[:cut].reshape(self.labels, self.pixels).T
        if truth is not None:
            scores += 1.0 / len(x)
            scores[np.arange(len(x)), truth] -= 1.0 / len(x)
        pair = w[cut:].reshape(self.labels, self.labels)
        return np.array(viterbi(scores, pair))

if __name__ == "__main__":
    X, names = multiplane.load_letters(data, folds=[0])
    X = [np.asarray(x.todense() if hasattr(x, "todense") else x, dtype=float) for x in X]
    alphabet = sorted({name for word in names for name in word})
    Y = [np.array([alphabet.index(name) for name in word]) for word in names]
    task = Chain()
    w, started = np.zeros(task.dim()), time.perf_counter()
    for x, y in zip(X[:100], Y[:100]):
        task.decode(x, w, y)
    call = (time.perf_counter() - started) / 100
    started = time.perf_counter()
    model = multiplane.StructuredSVM(task, solver=solver, gap=gap, n_jobs=jobs).fit(X, Y)
    found = {key: model.summary_[key] for key in ("oracle_calls", "evaluation_calls", "gap", "certified")}
    print(json.dumps({"seconds": time.perf_counter() - started, "threads": jobs, "call_ms": 1e3 * call, **found}))
"""

PURE = "import time\nbest = 1e9\nfor _ in range(20):\n s = time.perf_counter()\n for _ in range(100000): pass\n best = min(best, time.perf_counter() - s)\nprint(int(1e5 * 1e-3 / best))"


def last_object(command, **options):
    """The last line that a command prints, as JSON, with the wall seconds of the whole process."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return {**json.loads(done.stdout.splitlines()[-1]), "process_seconds": time.perf_counter() - started}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "busy", "data", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gap", default="0.01")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--only", default="rust,program,python")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    letters = options.data / "ocr/letter.data.gz"
    only = options.only.split(",")

    busy = subprocess.run([options.busy, "calibrate"], capture_output=True, text=True, check=True).stdout.strip()

    def rust(threads):
        return last_object([options.busy, "train", letters, busy, str(threads), options.gap, options.solver])

    def program(threads):
        command = f"task.command={json.dumps([str(options.busy.resolve()), 'serve', busy, '0'])}"
        return last_object([options.program, "train", "--task", "external", "--data", letters, "--set", command, "--gap",
                            options.gap, "--solver", options.solver, "--threads", str(threads), "--json", "--quiet"])

    pure = ""
    if "python" in only:
        pure = subprocess.run([options.python, "-c", PURE], capture_output=True, text=True, check=True).stdout.strip()
    script = options.out / "decoder.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(pathlib.Path(__file__).parent.resolve())!r})\n{DECODER}")
    single = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def python(threads):
        return last_object([options.python, script, letters, pure, str(threads), options.gap, options.solver], env=single)

    ways = {"rust": rust, "program": program, "python": python}
    with open(options.out / "raw.jsonl", "w") as raw:
        print(f"| oracle | 1 thread, s | {options.threads} threads, s | ratio | calls, passes all in |\n|---|---|---|---|---|")
        for name in only:
            pairs = []
            for repeat in range(options.repeats):
                order = (1, options.threads) if repeat % 2 == 0 else (options.threads, 1)
                found = {threads: ways[name](threads) for threads in order}
                for threads, run in found.items():
                    run["threads"] = threads
                    raw.write(json.dumps({"oracle": name, "repeat": repeat, **run}) + "\n")
                raw.flush()
                pairs.append((found[1], found[options.threads]))
            seconds = [statistics.median(pair[side]["process_seconds"] for pair in pairs) for side in (0, 1)]
            ratio = statistics.median(one["process_seconds"] / many["process_seconds"] for one, many in pairs)
            calls = [[run["oracle_calls"] + run["evaluation_calls"] for run in side] for side in zip(*pairs)]
            shown = ", ".join(f"{statistics.median(side):.0f}" for side in calls)
            print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} | {ratio:.2f} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
