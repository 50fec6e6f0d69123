"""Poses of people in photographs: PoseSSVM beside templates without a tree, and calls of `auto` beside `bcfw`.

    python benchmarks/scripts/poses.py --data $MULTIPLANE_DATA/lspet_400 --out FOLDER

Reads `joints.csv` and `images`; the first 300 photographs train, the others test, but for those on which no torso is marked.
Maps are those of `multiplane.vision.poses`: HOG cells, with `--colours` also colours; `--components K` has in their place the K
strongest components of windows around each cell, found on the training photographs. The rival has one linear SVM per joint on the
same cells around it, with hard negatives; it looks at all cells of a photograph, with and without how likely each place is. Writes
`raw.jsonl` and pictures.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from multiplane import PoseSSVM, vision

NAMES = "r_ankle r_knee r_hip l_hip l_knee l_ankle r_wrist r_elbow r_shoulder l_shoulder l_elbow l_wrist neck head".split()
TORSO = ((9, 2), (8, 3), (12, 2), (12, 3))
PAIRS = ",".join(f"{a}-{b}" for a, b in TORSO)


def torso(joints: Any) -> float:
    """The length of the first torso that is marked in two cells."""
    lengths = [np.hypot(*np.floor(joints[a]) - np.floor(joints[b])) for a, b in TORSO]
    return next(length for length in lengths if length > 0)


def windows(one: Any, side: int) -> Any:
    """The cells around each cell, in one row: [rows, columns, side * side * channels], zeros outside."""
    edge = side // 2
    padded = np.pad(one, ((edge, edge), (edge, edge), (0, 0)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))
    return found.transpose(0, 1, 3, 4, 2).reshape(*one.shape[:2], -1)


class Templates:
    """A linear SVM for each joint, with two rounds of hard negatives, and how likely each place of a photograph is."""

    def __init__(self, side: int, c: float, rounds: int = 2, prior: float = 0.0) -> None:
        self.side, self.c, self.rounds, self.prior = side, c, rounds, prior

    def fit(self, maps: list[Any], poses: list[Any], torsos: Any) -> Templates:
        rng = np.random.default_rng(0)
        rows = [windows(one, self.side) for one in maps]
        self.weights, self.places = [], []
        for joint in range(14):
            marked = [k for k, pose in enumerate(poses) if np.isfinite(pose[joint, 0])]
            where = {k: np.floor(poses[k][joint]).astype(int) for k in marked}
            positives = np.array([rows[k][where[k][1], where[k][0]] for k in marked])
            far = {}
            for k in marked:
                y, x = np.indices(maps[k].shape[:2])
                far[k] = np.hypot(x - where[k][0], y - where[k][1]) > 0.5 * torsos[k]
            chosen = [rows[k][far[k]][rng.permutation(far[k].sum())[:10]] for k in marked]
            for round in range(self.rounds + 1):
                negatives = np.concatenate(chosen)
                model = LinearSVC(C=self.c, class_weight="balanced", max_iter=3000)
                model.fit(np.vstack([positives, negatives]), np.r_[np.ones(len(positives)), np.zeros(len(negatives))])
                if round < self.rounds:
                    for k in marked:
                        own = rows[k][far[k]]
                        chosen.append(own[np.argsort(-(own @ model.coef_[0]))[:5]])
            self.weights.append(model.coef_[0].astype(np.float32))
            places = np.array([poses[k][joint] / maps[k].shape[1::-1] for k in marked])
            self.places.append((places.mean(0), places.std(0)))
        return self

    def predict(self, maps: list[Any]) -> Any:
        found = []
        for one in maps:
            rows, (y, x) = windows(one, self.side), np.indices(one.shape[:2])
            pose = []
            for weights, (mean, deviation) in zip(self.weights, self.places, strict=True):
                scores = rows @ weights
                place = np.stack([x, y], 2) / one.shape[1::-1]
                scores = scores - self.prior * (((place - mean) / deviation) ** 2).sum(2)
                best = scores.argmax()
                pose.append((best % one.shape[1], best // one.shape[1]))
            found.append(pose)
        return np.array(found)


def pdj(found: Any, poses: list[Any], torsos: Any, at: float = 0.2) -> Any:
    """The share of each joint's marks within `at` torsos; the middle of a cell stands for it."""
    shares = np.hypot(*(found + 0.5 - np.array(poses)).transpose(2, 0, 1)) / torsos[:, None]
    return (shares <= at).sum(0) / np.isfinite(shares).sum(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cell", type=int, default=6)
    parser.add_argument("--template", type=int, default=5)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--lam", type=float, nargs="+", default=[0.003, 0.01, 0.03])
    parser.add_argument("--prior", type=float, nargs="+", default=[0.0, 0.1, 0.3])
    parser.add_argument("--cost", type=float, nargs="+", default=[0.001, 0.01])
    parser.add_argument("--gap", default="1%")
    parser.add_argument("--passes", type=float, default=400)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--types", type=int, default=1)
    parser.add_argument("--mirrored", action="store_true", help="train on each photograph and its mirror image")
    parser.add_argument("--colours", action="store_true", help="have channels of colours as well as HOG")
    parser.add_argument("--components", type=int, default=0, help="of windows, in the place of cells; with --template 1")
    parser.add_argument("--window", type=int, default=5, help="rows and columns of cells of these windows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true", help="count calls of auto and bcfw at the chosen lambda")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    photographs, table, cells = options.data / "images", options.data / "joints.csv", options.out / "train.safetensors"
    only = [f"im{number:05}" for number in range(1, 301)]
    vision.poses(photographs, table, cells, cell=options.cell, size=1024, torso=PAIRS, mirrored=options.mirrored, only=only,
                 colours=options.colours, components=options.components, window=options.window)  # fmt: skip
    names, maps, poses = vision.poses(photographs, table, like=cells, mirrored=options.mirrored)
    count = sum("(mirrored)" not in name for name in names)
    mirrored = {name.split()[0]: k for k, name in enumerate(names) if k >= count}
    torsos = np.array([torso(joints) for joints in poses])
    numbers = np.array([int(name[2:]) for name in names[:count]])
    train, test = np.flatnonzero(numbers <= 300), np.flatnonzero(numbers > 300)
    part = lambda values, chosen: [values[k] for k in chosen]  # noqa: E731
    sizes = [one.shape[0] * one.shape[1] for one in maps[:count]]
    log = open(options.out / "raw.jsonl", "a")

    def note(**record: Any) -> None:
        print(json.dumps(record), file=log, flush=True)
        print(json.dumps(record), flush=True)

    note(what="data", train=len(train), test=len(test), cells=[float(np.percentile(sizes, q)) for q in (0, 50, 100)],
         torso=float(np.median(torsos[:count])), seconds=time.perf_counter() - start, cell=options.cell)  # fmt: skip
    held, fitted = train[::5], np.setdiff1d(train, train[::5])

    def examples(chosen: Any) -> tuple[list[Any], list[Any], Any]:
        """Maps, joints and torsos, with those of mirror images."""
        both = [*chosen, *(mirrored[names[k]] for k in chosen if names[k] in mirrored)]
        return part(maps, both), part(poses, both), torsos[both]

    def measured(model: Any, chosen: Any) -> Any:
        return pdj(np.asarray(model.predict(part(maps, chosen))), part(poses, chosen), torsos[chosen])

    best: tuple[float, Any] = (-1.0, None)
    for cost in options.cost:
        model = Templates(options.template, cost).fit(*examples(fitted))
        for model.prior in options.prior:
            share = float(np.mean(measured(model, held)))
            note(what="templates, held out", cost=cost, prior=model.prior, pdj=share)
            best = max(best, (share, (cost, model.prior)), key=lambda one: one[0])
    cost, prior = best[1]
    rival = Templates(options.template, cost).fit(*examples(train))
    for rival.prior in (0.0, prior):
        note(what="templates", cost=cost, prior=rival.prior, pdj=dict(zip(NAMES, measured(rival, test).tolist(), strict=True)))

    def ours(lam: float, chosen: Any, **keywords: Any) -> tuple[PoseSSVM, float]:
        begin = time.perf_counter()
        model = PoseSSVM(lam=lam, gap=options.gap, passes=options.passes, seconds=options.seconds, template=options.template,
                         alpha=options.alpha, types=options.types, seed=options.seed,
                         torso=PAIRS, **keywords)  # fmt: skip
        return model.fit(*examples(chosen)[:2]), time.perf_counter() - begin

    best = (-1.0, options.lam[0])
    for lam in options.lam if len(options.lam) > 1 else ():
        model, seconds = ours(lam, fitted)
        share = float(np.mean(measured(model, held)))
        note(what="PoseSSVM, held out", lam=lam, pdj=share, seconds=seconds, gap=model.gap_, summary=model.summary_)
        best = max(best, (share, lam))
    for solver in ("auto", "bcfw") if options.compare else ("auto",):
        model, seconds = ours(best[1], train, solver=solver)
        shares = measured(model, test)
        note(what="PoseSSVM", solver=solver, lam=best[1], seconds=seconds, gap=model.gap_, primal=model.primal_, reason=model.stop_reason_,
             summary=model.summary_, pdj=dict(zip(NAMES, shares.tolist(), strict=True)))  # fmt: skip
        if solver == "auto":
            model.save(options.out / "poses.model")
            np.savez(options.out / "found.npz", test=test, found=model.predict(part(maps, test)))
            curve = [pdj(model.predict(part(maps, test)), part(poses, test), torsos[test], at) for at in np.arange(1, 11) / 20]
            note(what="curve", at=(np.arange(1, 11) / 20).tolist(), pdj=np.mean(curve, axis=1).tolist())


if __name__ == "__main__":
    main()
