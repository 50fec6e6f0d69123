#!/usr/bin/env python3
"""Times one epoch of CRFsuite's averaged perceptron on the OCR words, as a yardstick for one pass of ours.

The difference of a long and a short run leaves out what both pay once (building features, writing the model):

    seconds per epoch = (T(25 epochs) - T(5 epochs)) / 20

Features are the pixels that are on and a constant; every label-feature pair and every transition has a weight,
as in our chain task. The short and the long run of a repeat follow each other, so that a change of load hits
both. Prints one JSON object; needs a quiet machine to mean much.
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

import numpy as np
import pycrfsuite

from check_primal import InputError, read_words
from common import finish

SHORT_EPOCHS, LONG_EPOCHS = 5, 25


def default_data():
    """letter.data.gz under $MULTIPLANE_DATA, or under ../shared/data seen from the workspace root."""
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = os.environ.get("MULTIPLANE_DATA", root / ".." / "shared" / "data")
    return pathlib.Path(folder) / "ocr" / "letter.data.gz"


def load(path):
    """Words as (attribute lists, label list), ready for the trainer."""
    words = []
    for letters, pixels in read_words(path):
        attributes = [["1"] + [f"p{j}" for j in np.flatnonzero(row)] for row in pixels]
        words.append((pycrfsuite.ItemSequence(attributes), [chr(ord("a") + letter) for letter in letters]))
    return words


def timed_run(words, epochs, model_path):
    """Seconds that training for `epochs` epochs takes; fails if it stopped early."""
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params(
        {
            "max_iterations": epochs,
            "epsilon": -1.0,  # the error share is never below it, so no early stop
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
        }
    )
    for attributes, labels in words:
        trainer.append(attributes, labels)
    start = time.perf_counter()
    trainer.train(model_path)
    seconds = time.perf_counter() - start
    run = len(trainer.logparser.iterations)
    if run != epochs:
        raise InputError(f"the trainer ran {run} epochs instead of {epochs}")
    return seconds


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", default=default_data(), help="letter.data (default: $MULTIPLANE_DATA/ocr)")
    parser.add_argument("--repeats", type=int, default=3, help="odd, for a clean median (default 3)")
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error(f"--repeats {args.repeats}: must be at least 1")
    words = load(args.data)
    repeats = []
    with tempfile.TemporaryDirectory() as folder:
        model_path = os.path.join(folder, "model")
        for _ in range(args.repeats):
            short = timed_run(words, SHORT_EPOCHS, model_path)
            long = timed_run(words, LONG_EPOCHS, model_path)
            repeats.append((long - short) / (LONG_EPOCHS - SHORT_EPOCHS))
    print(json.dumps({"crfsuite_epoch_seconds": statistics.median(repeats), "repeats": repeats}))
    return 0


if __name__ == "__main__":
    finish(main, InputError)
