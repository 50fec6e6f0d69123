"""Multi-class classification as an external oracle: copy this file and change what is yours.

    multiplane train --task external --set 'task.command=python3 multiclass.py' --data train.svm --out model

It reads one JSON object per line from standard input and answers on standard output; docs/external-oracles.md has every
message. Yours are the five functions in the first half. Print nothing else to standard output; standard error is free.
"""
import json
import sys


def read(path, classes):
    """The examples, as (input, truth) pairs. `classes`: those of the training data, where this is not it."""
    rows = []
    for line in open(path):
        label, *features = line.split("#")[0].split() or [None]
        if label is not None:
            pairs = (feature.split(":") for feature in features)
            rows.append(([(int(index) - 1, float(value)) for index, value in pairs], int(label)))
    return rows, classes or sorted({label for _, label in rows})


def features(x, y):
    """The joint feature vector: x in the block of class y."""
    start = CLASSES.index(y) * WIDTH
    return [[start + index, value] for index, value in x if index < WIDTH]


def loss(truth, y):
    """What it costs to answer y; 0 for the truth."""
    return float(y != truth)


def score(x, y, w):
    start = CLASSES.index(y) * WIDTH
    return sum(value * w[start + index] for index, value in x if index < WIDTH)


def decode(x, w, truth):
    """The y with the greatest score, plus its loss where there is a truth. The first of equals."""
    return max(CLASSES, key=lambda y: score(x, y, w) + (0.0 if truth is None else loss(truth, y)))


def describe(i, y):
    x, truth = EXAMPLES[i]
    if y not in CLASSES:  # test data may have labels that training never saw
        return {"label": y, "features": [], "loss": loss(truth, y)}
    return {"label": y, "features": features(x, y), "loss": loss(truth, y)}


for line in sys.stdin:
    ask = json.loads(line)
    kind, examples = ask["type"], ask.get("examples")
    if kind == "hello":
        memory = ask.get("memory") or {}  # with a model: what was returned as memory in training
        EXAMPLES, CLASSES = read(ask["data"], memory.get("classes"))
        WIDTH = memory.get("width") or 1 + max(index for x, _ in EXAMPLES for index, _ in x)
        answer = {"protocol": 1, "examples": len(EXAMPLES), "dim": len(CLASSES) * WIDTH, "quality": "exact",
                  "capabilities": ["batch", "changes"], "memory": {"classes": CLASSES, "width": WIDTH}}
    elif kind == "weights":
        if "w" in ask:
            W = ask["w"]
        for index, value in ask.get("set", []):
            W[index] = value
        continue
    elif kind == "decode":
        answers = [decode(EXAMPLES[i][0], W, EXAMPLES[i][1] if ask["augment"] else None) for i in examples]
        answer = {"id": ask["id"], "answers": [describe(i, y) for i, y in zip(examples, answers)]}
    elif kind == "truth":
        answer = {"id": ask["id"], "answers": [describe(i, EXAMPLES[i][1]) for i in examples]}
    elif kind == "describe":
        answer = {"id": ask["id"], "answers": [describe(i, y) for i, y in zip(examples, ask["labels"])]}
    else:
        break  # end
    print(json.dumps(answer), flush=True)
