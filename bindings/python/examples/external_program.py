"""A task written for this package, as the oracle of the command line: the JSON lines of docs/external-oracles.md.

    multiplane train --task external --set 'task.command=python3 external_program.py' --out model.safetensors

The command line brings checkpoints, `verify` and `check` to an oracle in Python. Run without the command line, as
`python external_program.py --demo`, the program shows one conversation with itself.
"""

import io
import json
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment


class Matching:
    """Row i of x goes with column y[i]; every pair has 3 features."""

    quality = "exact"

    def dim(self):
        return 3

    def features(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, truth, y):
        return float(np.mean(truth != y))

    def decode(self, x, w, truth=None):
        gains = x @ w
        if truth is not None:
            gains = gains + 1 / len(truth)
            gains[np.arange(len(truth)), truth] -= 1 / len(truth)
        return linear_sum_assignment(gains, maximize=True)[1]


def serve(task, X, Y, requests, answers):
    """Answers requests until the input ends. Only JSON may go to `answers`: print() what you like to stderr."""
    w = np.zeros(task.dim())

    def describe(i, y):
        y = np.asarray(y)
        return {"label": y.tolist(), "features": np.asarray(task.features(X[i], y)).tolist(), "loss": task.loss(Y[i], y)}

    for line in requests:
        request = json.loads(line)
        kind, examples = request["type"], request.get("examples", [])
        if kind == "end":
            return
        if kind == "weights":  # the only request without an answer
            w = np.array(request["w"])
            continue
        if kind == "hello":
            answer = {"protocol": 1, "examples": len(X), "dim": task.dim(), "quality": task.quality,
                      "capabilities": ["batch"], "fingerprint": "matching 60 rng 0"}
        else:
            if kind == "decode":
                found = [task.decode(X[i], w, Y[i] if request["augment"] else None) for i in examples]
            else:
                found = [Y[i] for i in examples] if kind == "truth" else request["labels"]
            answer = {"id": request["id"], "answers": [describe(i, y) for i, y in zip(examples, found)]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()  # or both programs wait for each other


rng = np.random.default_rng(0)
X = [rng.normal(size=(5, 5, 3)) for _ in range(60)]
Y = [linear_sum_assignment(x @ [2.0, -1.0, 0.5] + rng.normal(size=(5, 5)), maximize=True)[1] for x in X]
if "--demo" in sys.argv:
    asked = ['{"type":"hello","protocol":1,"data":null}', '{"type":"weights","w":[1.0,0.0,0.0]}',
             '{"type":"decode","id":1,"examples":[0],"augment":true}', '{"type":"truth","id":2,"examples":[0]}']
    told = io.StringIO()
    serve(Matching(), X, Y, asked, told)
    print("\n".join([f"> {line}" for line in asked] + [f"< {line}" for line in told.getvalue().splitlines()]))
else:
    serve(Matching(), X, Y, sys.stdin, sys.stdout)
