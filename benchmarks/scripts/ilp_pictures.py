#!/usr/bin/env python3
"""Draws the pictures of docs/integer-programmes.md, from the programs on that page.

    ilp_pictures.py --out docs/images

``tracks.png``: a movie that was not trained on, by weights of 1, by learned ones, and as it is. ``regret.png``: regret of
planners over lambda, on the examples and on others, mean over seeds. Needs matplotlib.
"""

import argparse
import pathlib
import re

import numpy as np
from matplotlib import pyplot

from common import finish
from multiplane.ilp import DecisionSSVM

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "integer-programmes.md"
GUESS = np.array([-1.0, 0.0, 1.0, -1.0, 1.0])  # of scores, detections, lengths of edges, edges and beginnings


def programs():
    """What the tracker and the planner on the page define."""
    made = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL):
        if "def " in block:
            exec(block, made)
    return made


def tracks(page, out):
    found = page["movie"](np.random.default_rng(20), frames=10, cells=4, false=3)
    (feasible, features), truth = page["example"](found)
    learned = page["model"].predict([(feasible, features)])[0]
    solutions = {"weights of 1": feasible.minimise(features @ GUESS).y, "learned weights": learned, "truth": truth}
    time, place = found[:, 0], found[:, 1]
    pairs = [(a, b) for a in range(len(found)) for b in range(len(found)) if time[b] == time[a] + 1 and abs(place[b] - place[a]) < 12]
    figure, axes = pyplot.subplots(1, 3, figsize=(9.0, 3.0), sharey=True, layout="constrained")
    for axis, (name, y) in zip(axes, solutions.items(), strict=True):
        axis.scatter(time, place, s=12, color="0.75", zorder=1)
        axis.scatter(time, place, s=14 * y[: len(found)], color="tab:blue", zorder=3)
        for (a, b), taken, is_true in zip(pairs, y[len(found) :], truth[len(found) :], strict=False):
            if taken > 0.5:
                axis.plot(time[[a, b]], place[[a, b]], color="tab:blue" if is_true > 0.5 else "tab:red", zorder=2)
        axis.set(xlabel="frame", ylabel="place", title=f"{name}: {np.abs(y - truth).sum():.0f} errors")
    figure.savefig(out / "tracks.png", dpi=80)


def regrets(page, out):
    lambdas, found = 10.0 ** np.arange(-3.0, 2.1, 0.5), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.normal(0.0, 0.4, (600, 4))
        c = page["gains"](x, rng)
        models = [DecisionSSVM(page["knapsack"], sense="max", lam=lam).fit(x[:100], c[:100]) for lam in lambdas]
        rows = [[-model.score(x[part], c[part]) for model in models] for part in (slice(100), slice(100, None))]
        *slopes, models[0].intercept_ = np.linalg.lstsq(np.hstack([x, np.ones((600, 1))])[:100], c[:100], rcond=None)[0]
        models[0].coef_ = np.transpose(slopes)
        found.append([*rows, [-models[0].score(x[100:], c[100:])] * len(lambdas)])
    mean = 100.0 * np.mean(found, axis=0)
    figure, axis = pyplot.subplots(figsize=(5.0, 3.0), layout="constrained")
    for row, name, style in zip(mean, ("100 examples", "500 others", "least squares, others"), ("--", "-", ":"), strict=True):
        axis.plot(lambdas, row, style, color="tab:blue" if style != ":" else "0.4", label=name)
    axis.set(xscale="log", xlabel="lambda", ylabel="regret, %", ylim=(0.0, None))
    axis.legend()
    figure.savefig(out / "regret.png", dpi=80)


def main():
    parser = argparse.ArgumentParser(description="Draws the pictures of docs/integer-programmes.md.")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out, page = parser.parse_args().out, programs()
    tracks(page, out)
    regrets(page, out)


if __name__ == "__main__":
    finish(main)
