"""One problem in the core, as a task in Python, and in another program: the same weights, to the bit.

Rows have two features: a score is then the sum of two products, whose bits do not depend on the order of adding. In
general other languages add in other orders, and near ties other labellings win.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import multiplane
from multiplane import MulticlassSSVM, StructuredSVM

K = 3
LAMBDA = 0.2

TASK = '''
K = 3

class Multiclass:
    quality = "exact"

    def dim(self):
        return 2 * K

    def features(self, x, y):
        return [2 * y, 2 * y + 1], [x[0], x[1]]

    def loss(self, truth, y):
        return float(truth != y)

    def decode(self, x, w, truth=None):
        scores = [float(w[2 * k]) * x[0] + float(w[2 * k + 1]) * x[1] for k in range(K)]
        if truth is not None:
            scores = [score + float(k != truth) for k, score in enumerate(scores)]
        return max(range(K), key=lambda k: (scores[k], -k))
'''

SERVE = '''
import json, sys

rows, truths = json.load(open(sys.argv[1]))
task, w = Multiclass(), []

def describe(i, y):
    return {"label": y, "features": list(zip(*task.features(rows[i], y))), "loss": task.loss(truths[i], y)}

for line in sys.stdin:
    ask = json.loads(line)
    kind, examples = ask["type"], ask.get("examples", [])
    if kind == "end":
        break
    if kind == "weights":
        w = ask["w"]
        continue
    if kind == "hello":
        answer = {"protocol": 1, "examples": len(rows), "dim": task.dim(), "quality": "exact", "capabilities": ["batch"]}
    else:
        if kind == "decode":
            found = [task.decode(rows[i], w, truths[i] if ask["augment"] else None) for i in examples]
        else:
            found = [truths[i] for i in examples] if kind == "truth" else ask["labels"]
        answer = {"id": ask["id"], "answers": [describe(i, y) for i, y in zip(examples, found)]}
    print(json.dumps(answer), flush=True)
'''


def points(seed):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(40, 2))
    return x, [int(k) for k in (x @ chance.normal(size=(2, K)) + chance.normal(size=(40, K))).argmax(axis=1)]


@pytest.mark.parametrize("solver", ["bcfw", "bcfw-avg", "fw"])
@pytest.mark.parametrize("seed", range(3))
def test_three_ways_to_the_same_weights(cli, tmp_path, solver, seed):
    """Same planes, same work clock, same steps: same bits, where training has found better weights than 0."""
    x, y = points(seed)
    # Lambda is large enough for all of these solvers to be below P(0) = 1 after 8 passes. Where they are not, the core's
    # own task answers w = 0, and the others cannot: see the next test.
    chosen = {"solver": solver, "passes": 8, "clock": "work", "lam": LAMBDA}

    core = MulticlassSSVM(**chosen).fit(x, y)
    assert core.primal_ < 1.0, "no better than w = 0"

    names = {}
    exec(TASK, names)
    here = StructuredSVM(names["Multiclass"](), **chosen).fit([tuple(map(float, row)) for row in x], y)

    (tmp_path / "rows.json").write_text(json.dumps([x.tolist(), y]))
    (tmp_path / "oracle.py").write_text(TASK + SERVE)
    command = ["--task", "external", "--set", f"task.command={sys.executable} oracle.py rows.json", "--solver", solver]
    stops = ["--passes", "8", "--clock", "work", "--lambda", str(LAMBDA), "--quiet", "--out", "model"]
    subprocess.run([cli, "train", *command, *stops], cwd=tmp_path, check=True)
    model, _ = multiplane._core.load(tmp_path / "model")
    there = np.frombuffer(model.w(), dtype=np.float64)

    assert (core.coef_.ravel() == here.coef_).all(), "Python"
    assert (here.coef_ == there).all(), "another program"
    assert here.primal_ == json.loads(model.info())["primal"]


def test_weights_worse_than_none():
    """Of its own tasks the core knows P(0), the mean of the largest losses, without a call, and answers next to w = 0
    where training found nothing better. Of others it does not know how large a loss can be, so they answer with what training
    found. Both bracket the optimum, by the same dual point.
    """
    x, y = points(2)
    chosen = {"solver": "fw", "passes": 8, "clock": "work", "lam": 0.05}
    core = MulticlassSSVM(**chosen).fit(x, y)
    names = {}
    exec(TASK, names)
    here = StructuredSVM(names["Multiclass"](), **chosen).fit([tuple(map(float, row)) for row in x], y)
    assert core.primal_ < 1.01
    assert here.primal_ > 1.01 and here.coef_.any()
    assert here.dual_ == pytest.approx(core.dual_, rel=1e-12) and core.certified_ and here.certified_
