#!/usr/bin/env python3
"""Graphs from photographs of two data sets, and how far their node features carry an independent classifier.

    vision_features.py --data DIR --out DIR [--folds 5] [--only horses,stanford] [--build-only] [--keep]

DIR holds weizmann_horses and stanford_background. Writes the folds as lists of names (OUT/NAME.foldK.{train,test}.txt,
for --list of `python -m multiplane.vision`), and OUT/raw.jsonl, one object a fold (added to what is there). With
--build-only it writes OUT/{horses,stanford}.safetensors, all images, and the lists.

A fold: visual words and scaling are fitted on its training images alone (`graph`, then `graph --like` for the others).
The classifier is multinomial logistic regression on the nodes, each by itself. Its C is chosen once, in the first
fold, on a fifth of the training images that is held out for this, and used in all folds. Accuracy is over pixels at
full size. Needs multiplane[vision] and scikit-learn.
"""

import argparse
import json
import pathlib
import shutil
import time

import numpy as np
from sklearn.linear_model import LogisticRegression

from multiplane import vision
from multiplane.vision._container import Reader

GRID = (1e-3, 3e-3, 1e-2)
SETS = {"horses": {"threshold": 128}, "stanford": {"ignore": 255}}


def folders(data, out, name):
    """Folders of photographs and label maps. The horses' one black photograph is replaced by its grey copy."""
    if name == "stanford":
        return data / "stanford_background/images", data / "stanford_background/labels"
    photos = out / "horses_photos"
    photos.mkdir(parents=True, exist_ok=True)
    for source in (*sorted((data / "weizmann_horses/rgb").iterdir()), data / "weizmann_horses/gray/horse318.jpg"):
        shutil.copyfile(source, photos / source.name)
    return photos, data / "weizmann_horses/figure_ground"


def folds_of(names, folds):
    """The number of each name's fold: names in sorted order, shuffled by seed 0, dealt out in turn."""
    order = np.random.default_rng(0).permutation(len(names))
    fold = np.empty(len(names), dtype=int)
    fold[order] = np.arange(len(names)) % folds
    return dict(zip(sorted(names), fold, strict=True))


class Nodes:
    """The nodes of a container: features of mean square about 1, labels, pixels by class, number of the image."""

    def __init__(self, path):
        reader = Reader(path)
        self.classes = reader.settings["classes"]
        self.x = reader.tensor("node_features")
        self.x = self.x * np.float32(np.sqrt(self.x.shape[1]))
        self.y = reader.tensor("labels")
        self.pixels = reader.tensor("vision.pixels")
        counts = np.diff(reader.tensor("node_offsets"))
        self.image = np.repeat(np.arange(len(counts)), counts)

    def accuracy(self, model, where=slice(None)):
        """Right pixels, all pixels with a label, and the most that any labelling of these superpixels gets right."""
        pixels = self.pixels[where]
        answer = np.searchsorted(self.classes, model.predict(self.x[where]))
        hits = pixels[np.arange(len(pixels)), answer].sum()
        return int(hits), int(pixels.sum()), int(pixels.max(axis=1).sum())


def classifier(c):
    return LogisticRegression(C=c, max_iter=150, tol=1e-3, warm_start=True)


def tuned(nodes):
    """The best C of the grid on held-out training images, and the accuracies there."""
    images = nodes.image.max() + 1
    inner = np.isin(nodes.image, np.random.default_rng(1).permutation(images)[: images // 5])
    rows = ~inner & (nodes.y >= 0)
    model, x, y = classifier(GRID[0]), nodes.x[rows], nodes.y[rows]
    shares = []
    for c in GRID:  # each from the weights of the one before
        hits, pixels, _ = nodes.accuracy(model.set_params(C=c).fit(x, y), inner)
        shares.append(hits / pixels)
    return GRID[int(np.argmax(shares))], shares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--build-only", action="store_true", help="build the containers and lists, and end")
    parser.add_argument("--keep", action="store_true", help="keep the containers of the folds")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in args.only.split(","):
        images, labels = folders(args.data, args.out, name)
        if args.build_only:
            start = time.monotonic()
            built = vision.graph(images, labels, args.out / f"{name}.safetensors", jobs=args.jobs, **SETS[name])
            print(name, built, f"{time.monotonic() - start:.1f} s", flush=True)
        fold_of = folds_of([path.stem for path in images.iterdir()], args.folds)
        totals, nodes, c, shares = np.zeros(3, dtype=np.int64), 0, None, None
        for fold in range(args.folds):
            paths = {}
            for part in ("train", "test"):
                names = [stem for stem, number in fold_of.items() if (number == fold) == (part == "test")]
                (args.out / f"{name}.fold{fold}.{part}.txt").write_text("\n".join(names) + "\n")
                paths[part] = args.out / f"{name}.fold{fold}.{part}.safetensors"
                if not args.build_only:
                    options = SETS[name] if part == "train" else {"like": paths["train"]}
                    vision.graph(images, labels, paths[part], only=names, jobs=args.jobs, **options)
            if args.build_only:
                continue
            start = time.monotonic()
            train, test = Nodes(paths["train"]), Nodes(paths["test"])
            if c is None:
                c, shares = tuned(train)
            known = train.y >= 0
            counts = test.accuracy(classifier(c).fit(train.x[known], train.y[known]))
            totals += counts
            nodes += len(test.y)
            record = {
                "set": name, "fold": fold, "folds": args.folds, "c": c, "grid": GRID, "inner_accuracy": shares,
                "features": test.x.shape[1], "nodes": len(test.y), "accuracy": counts[0] / counts[1],
                "most": counts[2] / counts[1], "seconds": time.monotonic() - start,
            }  # fmt: skip
            print(json.dumps(record), flush=True)
            with open(args.out / "raw.jsonl", "a") as raw:
                raw.write(json.dumps(record) + "\n")
            if not args.keep:
                for path in paths.values():
                    path.unlink()
        if not args.build_only:
            rows.append((name, len(fold_of), nodes, c, totals))
    if rows:
        print("\n| set | images | superpixels | C | logistic regression | most possible |\n|---|---|---|---|---|---|")
    for name, images, nodes, c, (hits, pixels, most) in rows:
        print(f"| {name} | {images} | {nodes} | {c} | {hits / pixels:.4f} | {most / pixels:.4f} |")


if __name__ == "__main__":
    main()
