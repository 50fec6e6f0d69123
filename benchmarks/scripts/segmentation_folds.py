#!/usr/bin/env python3
"""Held-out pixel accuracy of trained segmentation models, fold by fold, beside what `vision_features.py` measures.

    segmentation_folds.py --program target/dist/multiplane --data DIR --out DIR [--only horses,stanford] [--folds 5]
                          [--lambda 1] [--gap 5%] [--seconds 120]

A fold: visual words and scaling are fitted on its training images alone, a model is trained on them (`train --task graph`),
and predicts the others. Accuracy is over labelled pixels at full size. Images are cached in --out. Adds a line of JSON a fold
to OUT/folds.jsonl and prints a table. Needs multiplane[vision].
"""

import json
import pathlib
import statistics
import subprocess
import sys

import numpy as np

from multiplane import vision
from multiplane.vision._container import Reader

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from common import standard_parser  # noqa: E402
from vision_features import SETS, folders, folds_of  # noqa: E402


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def fold(args, name, images, maps, train, test):
    """Report and accuracies of one fold."""
    paths = [args.out / f"{name}.{part}.safetensors" for part in ("train", "test")]
    vision.graph(images, maps, paths[0], only=train, cache=args.out / "cache", **SETS[name])
    vision.graph(images, maps, paths[1], only=test, like=paths[0], cache=args.out / "cache",
                 **{key: value for key, value in SETS[name].items()})
    model, answers = args.out / f"{name}.model", args.out / f"{name}.txt"
    report = json.loads(run(args.program, "train", "--task", "graph", "--data", paths[0], "--lambda", getattr(args, "lambda"),
                            "--gap", args.gap, "--seconds", args.seconds, "--out", model, "--json"))
    run(args.program, "predict", "--model", model, "--data", paths[1], "--out", answers)
    reader = Reader(paths[1])
    pixels, classes = reader.tensor("vision.pixels"), np.array(reader.settings["classes"])
    found = np.concatenate([np.array(line.split(), dtype=int) for line in answers.read_text().splitlines()])
    columns = np.searchsorted(classes, found)
    right = pixels[np.arange(len(found)), columns]
    known = pixels.sum(axis=1) > 0
    union = [pixels[columns == c].sum() + pixels[:, c].sum() - pixels[columns == c, c].sum() for c in range(len(classes))]
    iou = [pixels[columns == c, c].sum() / max(1, union[c]) for c in range(len(classes))]
    for path in paths:
        path.unlink()
    return {"accuracy": float(right[known].sum() / pixels.sum()), "mean_iou": float(np.mean(iou)),
            **{key: report[key] for key in ("primal", "gap", "certified", "passes", "wall_seconds", "train_loss", "stop_reason")}}


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--only", default="horses,stanford")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first fold to run")
    parser.add_argument("--last", type=int, default=99, help="the last fold to run")
    parser.add_argument("--lambda", default="1")
    parser.add_argument("--gap", default="5%")
    parser.add_argument("--seconds", default="120")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.only.split(","):
        images, maps = folders(args.data, args.out, name)
        numbers = folds_of([path.stem for path in images.iterdir() if path.suffix == ".jpg"], args.folds)
        found = []
        for k in range(args.first, min(args.folds, args.last + 1)):
            train = [stem for stem, number in numbers.items() if number != k]
            test = [stem for stem, number in numbers.items() if number == k]
            record = fold(args, name, images, maps, train, test)
            found.append(record["accuracy"])
            with (args.out / "folds.jsonl").open("a") as file:
                file.write(json.dumps({"set": name, "fold": k, "lambda": getattr(args, "lambda"), **record}) + "\n")
            print(name, k, json.dumps(record), flush=True)
        print(f"| {name} | {', '.join(f'{a:.3f}' for a in found)} | mean {statistics.mean(found):.3f} |", flush=True)


if __name__ == "__main__":
    main()
