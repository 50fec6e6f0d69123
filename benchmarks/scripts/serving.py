#!/usr/bin/env python3
"""Answers of a trained tagger in Python, beside CRFsuite: one sentence, all of them, threads, file and loading.

Both learn the chunks of CoNLL-2000 from the same dicts of attributes (the 19 of the template `chunking`), and answer
those dicts. CPU seconds of the process, in turns, medians; `--passes` keeps training short, as answers cost the same
after it. Prints one JSON object.
"""

import argparse
import json
import pathlib
import statistics
import tempfile
import threading
import time

import pycrfsuite

import multiplane
from common import finish
from conll import ITEMS, InputError, cell, default_data, sentences


def features(sentence):
    """The attributes of every token, by name."""
    return [
        {name: "|".join(cell(sentence, t + offset, column) for offset, column in atoms) for name, atoms in ITEMS}
        for t in range(len(sentence))
    ]


def cpu(function):
    """CPU seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def crfsuite(examples, labels, folder, epochs):
    """A tagger that a few epochs of averaged perceptron made."""
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": epochs}, verbose=False)
    for x, y in zip(examples, labels, strict=True):
        trainer.append(x, y)
    trainer.train(f"{folder}/crf")
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{folder}/crf")
    return tagger


def rate(model, examples, threads):
    """Sentences a second, one at a time, shared among threads."""
    parts = [examples[k::threads] for k in range(threads)]
    work = [threading.Thread(target=lambda part=part: [model.predict([x]) for x in part]) for part in parts]
    start = time.perf_counter()
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return len(examples) / (time.perf_counter() - start)


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", default=default_data(), type=pathlib.Path, help="folder with train.txt.gz")
    parser.add_argument("--passes", type=int, default=4, help="passes of ours, and epochs of the other (default 4)")
    parser.add_argument("--repeats", type=int, default=7, help="odd, for a clean median (default 7)")
    args = parser.parse_args()
    read = [list(sentences(args.data / f"{part}.txt.gz")) for part in ("train", "test")]
    train, test = ([features(sentence) for sentence in part] for part in read)
    labels, truth = ([[token[-1] for token in sentence] for sentence in part] for part in read)
    fitted = multiplane.ChainSSVM(passes=args.passes, lam="1/n").fit(train, labels)
    median = statistics.median
    with tempfile.TemporaryDirectory() as folder:
        sizes, loads = {}, {}
        for bits in (64, 32):
            path = pathlib.Path(folder) / f"{bits}.safetensors"
            fitted.save(path, bits=bits)
            sizes[bits] = path.stat().st_size / 1e6
            loads[bits] = median([cpu(lambda path=path: multiplane.load(path)) for _ in range(args.repeats)])
        model = multiplane.load(pathlib.Path(folder) / "64.safetensors")
        first = cpu(lambda: model.predict(test[:1]))
        tagger = crfsuite(train, labels, folder, args.passes)
        ours, others = ([cpu(lambda x=x: call(x)) for x in test] for call in (lambda x: model.predict([x]), tagger.tag))
        whole = [(cpu(lambda: model.predict(train)), cpu(lambda: [tagger.tag(x) for x in train])) for _ in range(args.repeats)]
        rates = [(rate(model, train, 1), rate(model, train, 4)) for _ in range(args.repeats)]
        same = sum(a == b for x, y in zip(test, truth, strict=True) for a, b in zip(tagger.tag(x), y, strict=True))
    weights = fitted.coef_.ravel()
    print(json.dumps({
        "weights": weights.size, "nonzero": float((weights != 0).mean()),
        "accuracy": model.score(test, truth), "crfsuite_accuracy": same / sum(map(len, truth)),
        "file_mb": sizes, "load_cpu_seconds": loads, "first_call_ms": 1e3 * first,
        "sentence_ms": {"median": 1e3 * median(ours), "p99": 1e3 * sorted(ours)[int(0.99 * len(ours))]},
        "crfsuite_sentence_ms": {"median": 1e3 * median(others), "p99": 1e3 * sorted(others)[int(0.99 * len(others))]},
        "all_seconds": median(a for a, _ in whole), "crfsuite_all_seconds": median(b for _, b in whole),
        "ratio": median(a / b for a, b in whole), "ratios": [a / b for a, b in whole],
        "sentences_per_second": {"1 thread": median(a for a, _ in rates), "4 threads": median(b for _, b in rates)},
        "threads_ratio": median(b / a for a, b in rates),
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    finish(main, InputError)
