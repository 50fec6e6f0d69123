#!/usr/bin/env python3
"""CoNLL-2000 chunking with `task.template=tagging`: ours with `--lambda cv` beside CRFsuite (L-BFGS) on the same features.

Features are written here once more, from the items that our model lists: affixes, shapes and the rest as in the manual.
That their number is that of the model's names says that both mean the same. CRFsuite trains at each c2 of `--c2`, the
first of which is its default, and is given the best of them by the test part; ours never sees it. One process after the
other; seconds are those of the process, wall and CPU, reading and features included. F1 is that of chunks, as conlleval
counts, by one function for both. Writes raw.jsonl, and prints one JSON object for every run.
"""

import argparse
import gzip
import itertools
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import pycrfsuite

from common import finish
from conll import InputError, cell, default_data, sentences

AFFIX = re.compile(r"^(prefix|suffix)\((.*),(\d+)\)$")
PLAIN = re.compile(r"^(lower|shape|is_title|is_upper|has_digit|has_hyphen)\((.*)\)$")
COLUMN = re.compile(r"^([wp])\[(-?\d+)\]$")


def shape(text):
    """Classes of characters, equal neighbours once."""
    of = [
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isnumeric() else c
        for c in text
    ]
    return "".join(key for key, _ in itertools.groupby(of))


def said(truth):
    """A flag as a value."""
    return "yes" if truth else "no"


MADE = {
    "lower": str.lower,
    "shape": shape,
    "is_title": lambda text: said(text[:1].isupper() and not any(c.isupper() for c in text[1:])),
    "is_upper": lambda text: said(any(c.isalpha() for c in text) and not any(c.islower() for c in text)),
    "has_digit": lambda text: said(any(c.isnumeric() for c in text)),
    "has_hyphen": lambda text: said("-" in text),
}


def value(text):
    """One value of an item as (offset, column, function of the text)."""
    if found := AFFIX.match(text):
        kind, inner, length = found[1], value(found[2]), int(found[3])
        cut = slice(None, length) if kind == "prefix" else slice(-length, None)
        return inner[0], inner[1], lambda cell: inner[2](cell)[cut]
    if found := PLAIN.match(text):
        inner, function = value(found[2]), MADE[found[1]]
        return inner[0], inner[1], lambda cell: function(inner[2](cell))
    if not (found := COLUMN.match(text)):
        raise InputError(f"{text}: not known here")
    return int(found[2]), "wp".index(found[1]), lambda cell: cell


def attributes(items, sentence):
    """The names of the features of every token."""
    rows = []
    for t in range(len(sentence)):
        row = []
        for name, values in items:
            parts = [name]
            for offset, column, function in values:
                text = cell(sentence, t + offset, column)
                parts.append(function(text) if 0 <= t + offset < len(sentence) else text)
            row.append("\t".join(parts))
        rows.append(row)
    return rows


def chunks(tags):
    """The chunks of a sentence's tags as (kind, start, end), as conlleval finds them."""
    found, start, kind = set(), None, None
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if start is not None and (prefix != "I" or name != kind):
            found.add((kind, start, t))
            start = None
        if prefix == "B" or (prefix == "I" and start is None):
            start, kind = t, name
    return found


def f1(truths, predictions):
    """F1 of chunks, and the share of right tags."""
    right = both = tags = same = 0
    for truth, prediction in zip(truths, predictions, strict=True):
        a, b = chunks(truth), chunks(prediction)
        right += len(a & b)
        both += len(a) + len(b)
        tags += len(truth)
        same += sum(x == y for x, y in zip(truth, prediction, strict=True))
    return {"f1": 2 * right / both, "accuracy": same / tags}


def timed(arguments):
    """Runs a process; its standard output, and what it took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        raise InputError(ran.stderr.strip())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran.stdout, {"wall_seconds": round(wall, 1), "cpu_seconds": round(cpu, 1)}


def rival(items, c2, train, model):
    """In a process of its own: trains CRFsuite and says what there was."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": c2})
    names = set()
    for sentence in sentences(train):
        rows = attributes(items, sentence)
        names.update(name for row in rows for name in row)
        trainer.append(pycrfsuite.ItemSequence(rows), [token[-1] for token in sentence])
    start = time.perf_counter()
    trainer.train(str(model))
    seconds = round(time.perf_counter() - start, 1)
    print(json.dumps({"features": len(names), "train_seconds": seconds, "iterations": len(trainer.logparser.iterations)}))


def items_of(texts):
    """Items as (name, values)."""
    return [(text, [value(part) for part in text.split("|")]) for text in texts]


def main():
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", help="the multiplane binary")
    parser.add_argument("--data", default=default_data(), type=pathlib.Path, help="folder with train/test.txt.gz")
    parser.add_argument("--template", default="tagging", help="(default tagging)")
    parser.add_argument("--c2", default="1,0.3,3", help="of CRFsuite, its default first (default 1,0.3,3)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="folder for raw.jsonl")
    parser.add_argument("--more", nargs=argparse.REMAINDER, default=[], help="the rest: further arguments of our training")
    parser.add_argument("--fold", help="I/K: the I-th of K blocks of train.txt.gz is held out, in place of test.txt.gz")
    parser.add_argument("--rival", nargs=3, help=argparse.SUPPRESS)  # items as JSON, c2, model
    args = parser.parse_args()
    train, test = args.data / "train.txt.gz", args.data / "test.txt.gz"
    if args.rival:
        texts, c2, model = args.rival
        rival(items_of(json.loads(texts)), float(c2), train, model)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if args.fold:
            train, test = split(train, *map(int, args.fold.split("/")), pathlib.Path(folder))
        compare(args, train, test)
    return 0


def split(path, fold, folds, folder):
    """Writes the training part but for a block of its sentences, and that block; where they are."""
    blocks = [block.strip() for block in gzip.open(path, "rt", encoding="utf-8").read().split("\n\n") if block.strip()]
    first, end = len(blocks) * (fold - 1) // folds, len(blocks) * fold // folds
    paths = folder / "train.txt.gz", folder / "test.txt.gz"
    for to, part in zip(paths, (blocks[:first] + blocks[end:], blocks[first:end]), strict=True):
        with gzip.open(to, "wt", encoding="utf-8") as file:
            file.write("\n\n".join(part) + "\n\n")
    return paths


def compare(args, train, test):
    """Trains, predicts and reports."""
    held_out = sentences(test)
    truths = [[token[-1] for token in sentence] for sentence in held_out]
    raw = (args.out / "raw.jsonl").open("a", encoding="utf-8")

    def report(run):
        for file in (raw, sys.stdout):
            print(json.dumps(run), file=file, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        out, took = timed([
            args.program, "train", "--task", "chain", "--data", train, "--lambda", "cv",
            "--set", f"task.template={args.template}", "--out", model, "--json", *args.more,
        ])  # fmt: skip
        trained = json.loads(out)
        shown = json.loads(timed([args.program, "show", model, "--json"])[0])
        judged = json.loads(timed([args.program, "evaluate", "--model", model, "--data", test, "--json"])[0])
        lines = timed([args.program, "predict", "--model", model, "--data", test])[0].splitlines()
        scores = f1(truths, [line.split() for line in lines])
        if abs(scores["f1"] - judged["f1"]) > 1e-9:
            raise InputError(f"F1 is {scores['f1']} here and {judged['f1']} there")
        report({"learner": "multiplane", "template": args.template, "fold": args.fold, **scores, **took, "trained": trained,
                "features": shown["features"]})  # fmt: skip
        items = items_of(shown["template"])
        for c2 in args.c2.split(","):
            out, took = timed([
                sys.executable, __file__, "--data", train.parent,
                "--rival", json.dumps(shown["template"]), c2, pathlib.Path(folder) / "crf",
            ])  # fmt: skip
            tagger = pycrfsuite.Tagger()
            tagger.open(str(pathlib.Path(folder) / "crf"))
            scores = f1(truths, [tagger.tag(attributes(items, sentence)) for sentence in held_out])
            report({"learner": "crfsuite", "c2": float(c2), "fold": args.fold, **scores, **took, **json.loads(out)})


if __name__ == "__main__":
    finish(main, InputError)
