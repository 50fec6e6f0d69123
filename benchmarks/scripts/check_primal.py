#!/usr/bin/env python3
"""Recomputes the primal value of a saved model, sharing no code with the trainer.

    P(w) = lambda/2 |w|^2 + (1/n) sum_i max_y { Delta(y_i, y) + <w, phi(x_i, y) - phi(x_i, y_i)> }

Data files, feature maps, losses and the maximisation are written again here, on numpy alone; of the model file
only the tensor `w` is used (and its task name, to refuse a mix-up). Defaults of the command line are assumed:
no bias feature, no start and end weights. Weight layouts and losses:

    binary      w[feature]; the larger label is +1; phi = y psi / 2, 0-1 loss
    multiclass  w[class][feature], classes in ascending order of label; 0-1 loss
    chain       unary[letter][pixel], then pair[from][to], letters a..z; Hamming loss / length

Prints one JSON object. Exit code 0: done; 1: not the expected value; 2: bad input. For example

    check_primal.py --model m.safetensors --data letter.data.gz --task chain --folds 0 --expect 0.0765
    check_primal.py --self-test
"""

import argparse
import gzip
import itertools
import json
import math
import os
import sys
import tempfile
import zlib

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from common import finish

LETTERS = 26
TOLERANCE = 1e-9
TASKS = ("binary", "multiclass", "chain")


class InputError(Exception):
    """A file or an option that cannot be used; the text says which and why."""


def read_lines(path):
    """Text lines of a file, gzip recognised by its first two bytes."""
    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    opener = gzip.open if packed else open
    try:
        with opener(path, "rt", encoding="utf-8") as text:
            yield from text
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def read_libsvm(path):
    """`label idx:val ...` lines as labels [n], and row, column (from 0) and value of every stored number [nnz]."""
    labels, rows, columns, values = [], [], [], []
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split("#", 1)[0].split()
        if not fields:
            continue
        try:
            label = float(fields[0])
            labels.append(int(label))
            pairs = [field.split(":") for field in fields[1:] if not field.startswith("qid:")]
            columns.extend(int(index) - 1 for index, _ in pairs)
            values.extend(float(value) for _, value in pairs)
        except (ValueError, OverflowError) as error:
            raise InputError(f"{path}:{number}: not a LIBSVM line: {error}") from error
        if label != labels[-1]:
            raise InputError(f"{path}:{number}: label {fields[0]}: must be an integer")
        rows.extend([len(labels) - 1] * len(pairs))
    if not labels:
        raise InputError(f"{path}: no example")
    if columns and min(columns) < 0:
        raise InputError(f"{path}: an index below 1")
    return np.array(labels), np.array(rows, int), np.array(columns, int), np.array(values, float)


def read_words(path, folds=None):
    """letter.data as a list of (letters [length], pixels [length, p]), of the given folds only if there are any."""
    words, letters, pixels = [], [], []
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            letter = ord(fields[1]) - ord("a")
            ends, fold = int(fields[2]) == -1, int(fields[5])
            row = np.array(fields[6:], dtype=float)
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"{path}:{number}: not a line of letter.data: {error}") from error
        if not 0 <= letter < LETTERS:
            raise InputError(f"{path}:{number}: letter {fields[1]!r}: must be a to z")
        letters.append(letter)
        pixels.append(row)
        if len(row) != len(pixels[0]):
            raise InputError(f"{path}:{number}: {len(row)} pixels after lines with {len(pixels[0])}")
        if ends:
            words.append((fold, np.array(letters), np.array(pixels)))
            letters, pixels = [], []
    if letters:
        raise InputError(f"{path}: the last word does not end")
    if not words:
        raise InputError(f"{path}: no word")
    present = {word[0] for word in words}
    if not present.issuperset(folds or present):
        raise InputError(f"{path}: asked for folds {sorted(folds)}, there are {sorted(present)}")
    return [word[1:] for word in words if folds is None or word[0] in folds]


def unpacked(model):
    """The weights of a file of format 2: a bit for each that differs from the one before, and those that do."""
    shape = model.get_tensor("w.shape")
    changes = np.unpackbits(model.get_tensor("w.changes"), count=shape.prod(), bitorder="little")
    values = np.frombuffer(zlib.decompress(model.get_tensor("w.values").tobytes()), "<f8")
    return np.concatenate([[0.0], values])[np.cumsum(changes)].reshape(shape)


def read_weights(path, task):
    """The tensor `w`; refuses a model that names another task."""
    with safe_open(path, framework="numpy") as model:
        metadata = json.loads((model.metadata() or {}).get("multiplane", "{}"))
        w = model.get_tensor("w") if "w" in model.keys() else unpacked(model)
    named = metadata.get("task", task)
    named = named.get("name", task) if isinstance(named, dict) else named
    if named != task:
        raise InputError(f"{path}: the model's task is {named}, asked for {task}")
    if w.ndim != 1 or w.dtype != np.float64:
        raise InputError(f"{path}: w is {w.dtype} of shape {w.shape}: must be float64 [d]")
    return w


def expect_length(w, length, layout):
    """Refuses weights that do not fit the data."""
    if len(w) != length:
        raise InputError(f"w has {len(w)} numbers, the data ask for {length} = {layout}")


def hinges_binary(w, data):
    """max(0, 1 - y <w, psi>) of every example."""
    labels, rows, columns, values = data
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(f"{len(classes)} different labels: a binary task has 2")
    if len(columns) and columns.max() >= len(w):
        raise InputError(f"w has {len(w)} numbers, the data have feature {columns.max() + 1}")
    scores = np.bincount(rows, weights=values * w[columns], minlength=len(labels))
    return np.maximum(0.0, 1.0 - np.where(labels == classes[1], scores, -scores))


def hinges_multiclass(w, data):
    """max over classes of [k != y_i] + score of k - score of y_i, for every example."""
    labels, rows, columns, values = data
    classes, truth = np.unique(labels, return_inverse=True)
    features = len(w) // len(classes)
    expect_length(w, len(classes) * features, f"{len(classes)} classes x features")
    if len(columns) and columns.max() >= features:
        raise InputError(f"w has {features} features a class, the data have feature {columns.max() + 1}")
    weights = w.reshape(len(classes), features)
    scores = np.stack(
        [np.bincount(rows, weights=values * row[columns], minlength=len(labels)) for row in weights], axis=1
    )
    every = np.arange(len(labels))
    true_score = scores[every, truth]
    scores += 1.0
    scores[every, truth] -= 1.0
    return scores.max(axis=1) - true_score


def hinges_chain(w, words):
    """The loss-augmented best path less the true path of every word; words of one length go together."""
    pixels = words[0][1].shape[1]
    expect_length(w, LETTERS * (pixels + LETTERS), f"{LETTERS} letters x ({pixels} pixels + {LETTERS} followers)")
    unary_weights = w[: LETTERS * pixels].reshape(LETTERS, pixels)
    pair = w[LETTERS * pixels :].reshape(LETTERS, LETTERS)
    hinges = np.empty(len(words))
    for length in sorted({len(letters) for letters, _ in words}):
        members = [i for i, (letters, _) in enumerate(words) if len(letters) == length]
        truth = np.stack([words[i][0] for i in members])
        unary = np.stack([words[i][1] for i in members]) @ unary_weights.T
        true_unary = np.take_along_axis(unary, truth[:, :, None], axis=2)[:, :, 0]
        true_score = true_unary.sum(axis=1) + pair[truth[:, :-1], truth[:, 1:]].sum(axis=1)
        augmented = unary + (truth[:, :, None] != np.arange(LETTERS)) / length
        best = augmented[:, 0]  # [word][letter]: the best prefix that ends in this letter
        for position in range(1, length):
            best = (best[:, :, None] + pair).max(axis=1) + augmented[:, position]
        hinges[members] = best.max(axis=1) - true_score
    return hinges


def primal(w, task, path, lam, folds=None):
    """P(w) and n; `lam` None means 1/n."""
    if task == "chain":
        hinges = hinges_chain(w, read_words(path, folds))
    elif folds is not None:
        raise InputError("--folds: only letter.data has folds")
    else:
        hinges = (hinges_binary if task == "binary" else hinges_multiclass)(w, read_libsvm(path))
    n = len(hinges)
    lam = 1.0 / n if lam is None else lam
    return 0.5 * lam * math.fsum(w * w) + math.fsum(hinges) / n, n, lam


def brute_primal(w, examples, labels_of, phi, loss, lam):
    """P(w) by its definition: every labelling, every feature vector written out."""
    total = 0.0
    for x, truth in examples:
        true_score = w @ phi(x, truth)
        total += max(loss(truth, y) + w @ phi(x, y) - true_score for y in labels_of(x))
    return 0.5 * lam * (w @ w) + total / len(examples)


def chain_phi(x, y):
    """Joint features of a word, one entry at a time."""
    pixels = x.shape[1]
    out = np.zeros(LETTERS * (pixels + LETTERS))
    for position, letter in enumerate(y):
        out[letter * pixels : (letter + 1) * pixels] += x[position]
        if position:
            out[LETTERS * pixels + y[position - 1] * LETTERS + letter] += 1.0
    return out


def self_test_rows(rng, folder, task):
    """Binary and multiclass: a random problem written as LIBSVM text, from file to P against brute force."""
    classes = [-1, 1] if task == "binary" else [-3, 2, 7]
    x = np.where(rng.random((9, 4)) < 0.6, rng.normal(size=(9, 4)), 0.0)
    x[:, -1] = 1.5
    labels = [classes[i % len(classes)] for i in range(9)]
    path = os.path.join(folder, task)
    with open(path, "w", encoding="utf-8") as text:
        text.write("# comment\n\n")
        for row, label in zip(x, labels):
            pairs = " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()) if value)
            text.write(f"{label} qid:1 {pairs} # tail\n")

    def phi(row, y):
        return y * row / 2 if task == "binary" else np.concatenate([row * (y == k) for k in classes])

    w = rng.normal(size=len(phi(x[0], classes[0])))
    brute = brute_primal(w, list(zip(x, labels)), lambda _: classes, phi, lambda a, b: float(a != b), 0.3)
    return path, w, brute, None


def self_test_words(rng, folder):
    """Chain: words of 1 to 3 letters in a gzip file, one fold left out, from file to P against brute force."""
    path = os.path.join(folder, "chain.gz")
    examples, number = [], 0
    with gzip.open(path, "wt", encoding="utf-8") as text:
        for word, (length, fold) in enumerate([(1, 0), (2, 3), (2, 5), (3, 0)]):
            x = rng.integers(0, 2, size=(length, 5)).astype(float)
            y = tuple(int(letter) for letter in rng.integers(0, LETTERS, size=length))
            for position in range(length):
                number += 1
                follower = number + 1 if position + 1 < length else -1
                head = [number, chr(ord("a") + y[position]), follower, word, position + 1, fold]
                text.write("\t".join(str(field) for field in head + [int(p) for p in x[position]]) + "\t\n")
            if fold != 5:
                examples.append((x, y))
    w = rng.normal(size=LETTERS * (5 + LETTERS)) * 0.3

    def loss(truth, y):
        return sum(a != b for a, b in zip(truth, y)) / len(truth)

    def labels_of(x):
        return itertools.product(range(LETTERS), repeat=len(x))

    return path, w, brute_primal(w, examples, labels_of, chain_phi, loss, 0.3), {0, 3}


def self_test(seeds=3):
    """Compares with brute force on tiny problems; returns the worst relative difference."""
    worst = 0.0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        for task in TASKS:
            with tempfile.TemporaryDirectory() as folder:
                make = self_test_words(rng, folder) if task == "chain" else self_test_rows(rng, folder, task)
                path, w, brute, folds = make
                model = os.path.join(folder, "model.safetensors")
                save_file({"w": w}, model, metadata={"multiplane": json.dumps({"task": task})})
                value, _, _ = primal(read_weights(model, task), task, path, 0.3, folds)
            difference = abs(value - brute) / abs(brute)
            worst = max(worst, difference)
            if not difference <= TOLERANCE:
                raise AssertionError(f"seed {seed}, {task}: {value} here, {brute} by brute force")
    return worst


def parse_lambda(text):
    """A positive number, or `1/n` (None)."""
    if text == "1/n":
        return None
    value = float(text)
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(text)
    return value


def parse_folds(text):
    """`0,3` as a set of integers."""
    return {int(fold) for fold in text.split(",")}


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", help="safetensors file with the tensor w")
    parser.add_argument("--data", help="LIBSVM text, or letter.data for chains; may be gzip")
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--folds", type=parse_folds, help="chains: folds to keep, e.g. 0,3 (default: all)")
    parser.add_argument("--lambda", dest="lam", type=parse_lambda, default="1/n", help="a number or 1/n (default)")
    parser.add_argument("--expect", type=float, help=f"exit 1 unless within {TOLERANCE} (relative) of this value")
    parser.add_argument("--self-test", action="store_true", help="compare with brute force on tiny problems")
    args = parser.parse_args()
    if args.self_test:
        print(json.dumps({"self_test": "passed", "worst_relative_difference": self_test()}))
        return 0
    missing = [name for name in ("model", "data", "task") if getattr(args, name) is None]
    if missing:
        parser.error("missing " + ", ".join(f"--{name}" for name in missing))
    value, n, lam = primal(read_weights(args.model, args.task), args.task, args.data, args.lam, args.folds)
    answer = {"primal": value, "n": n, "lambda": lam}
    agrees = True
    if args.expect is not None:
        scale = max(abs(args.expect), sys.float_info.min)
        answer["relative_difference"] = abs(value - args.expect) / scale
        agrees = answer["relative_difference"] <= TOLERANCE  # false for NaN too
    print(json.dumps(answer))
    return 0 if agrees else 1


if __name__ == "__main__":
    finish(main, InputError, SafetensorError)
