#!/usr/bin/env python3
"""Weights of energy terms for side-chain prediction, in the manner of the protein experiment of the diverse M-best paper.

    protein.py --data DIR --out DIR [--passes 200] [--draws 2] [--cap 45]

DIR holds mrf/protein (`$MULTIPLANE_DATA`). Needs the package installed, and safetensors.

Real are the structures of four proteins (Yanover and Weiss; PASCAL 2 inference challenge): which side chains there are, how
many rotamers each has, which ones interact, and the energies of single rotamers and of pairs in these files. The files hold
one energy per rotamer or pair, already weighted and summed, and no native structure. So the terms are made up of it:

    feature 0  energy of a rotamer, at most 10                       real
    feature 1  energy of a rotamer                                   synthetic: normal numbers
    feature 2  energy of a rotamer                                   synthetic: normal numbers
    feature 3  energy of a pair up to 3: contact                     real, split by size
    feature 4  energy of a pair from 3 to 13: clash                  real, split by size
    feature 5  energy of a pair, one pair in ten                     synthetic: normal numbers

Each term is divided by its root of mean squares, and the features are negated energies. The truth is synthetic, too: the
labelling that TRW-S finds for the weights TRUE with a Gumbel number times NOISE on every rotamer, which no feature explains.
What is learned here are weights that are known, from labellings on real structures; it says nothing of proteins.

The structures are cut into stretches of LENGTH side chains, which are the examples: more of them for a learner that takes one
at a time. Trained on three structures, tested on the fourth and largest, with `--draws` draws of the synthetic terms each; reports the
side-chain accuracy (share of the nodes with more than one rotamer that are right) of the learned weights, of weights that are
all equal, and of those that the truth was made with; all three are decoded by the same engine.
"""

import argparse
import gzip
import json
import pathlib
import time

import numpy as np
from multiplane import MrfSSVM, PairwiseModel
from safetensors.numpy import save_file

TRAIN = ("1aie", "pdb1i24", "pdb1kwh")
TEST = ("pdb1fmj",)
TRUE = np.array([0.5, 3.0, 0.3, 1.0, 0.2, 2.0])
NOISE = 0.5
ITERATIONS = 30  # of TRW-S in a call of training
DECODED = 100
LENGTH = 50  # side chains in a stretch
UNARY, PAIR = [0, 1, 2], [3, 4, 5]


def read_uai(path):
    """Label counts, energies of rotamers by node, and energies of pairs by edge."""
    words = gzip.open(path, "rt").read().split()
    count = int(words[1])
    labels = [int(word) for word in words[2 : 2 + count]]
    factors, at = int(words[2 + count]), 3 + count
    scopes = []
    for _ in range(factors):
        size = int(words[at])
        scopes.append([int(word) for word in words[at + 1 : at + 1 + size]])
        at += 1 + size
    unary = [np.zeros(size) for size in labels]
    edges, tables = [], []
    for scope in scopes:
        size = int(words[at])
        with np.errstate(divide="ignore"):
            energies = -np.log(np.array(words[at + 1 : at + 1 + size], dtype=np.float64))
        energies[~np.isfinite(energies)] = np.max(energies[np.isfinite(energies)])
        at += 1 + size
        if len(scope) == 1:
            unary[scope[0]] += energies
        elif len(scope) == 2:  # a scope without variables is a constant
            edges.append(scope)
            tables.append(energies.reshape(labels[scope[0]], labels[scope[1]]))
    return labels, unary, np.array(edges, dtype=np.int64), tables


def stretches(structure, length):
    """The structure in parts of so many side chains that follow each other; who meets across a border does not meet."""
    labels, unary, edges, tables = structure
    for start in range(0, len(labels), length):
        stop = min(start + length, len(labels))
        inside = [e for e, ends in enumerate(edges) if start <= ends.min() and ends.max() < stop]
        yield labels[start:stop], unary[start:stop], edges[inside] - start, [tables[e] for e in inside]


def terms(structure, rng):
    """Energies by term: rows of rotamers, rows of pairs."""
    _, unary, _, tables = structure
    alone = np.concatenate([np.minimum(energies - energies.min(), 10) for energies in unary])
    met = np.concatenate([energies.ravel() for energies in tables])
    of_rotamers = np.stack([alone, *rng.normal(size=(2, len(alone)))], axis=1)
    bonds = np.where(rng.random(len(met)) < 0.1, rng.normal(size=len(met)), 0.0)
    return of_rotamers, np.stack([np.minimum(met, 3), np.clip(met - 3, 0, 10), bonds], axis=1)


def decode(problem, w, noise=None):
    """The labelling that TRW-S finds at these weights."""
    labels, _, edges, _ = problem["structure"]
    alone = -(problem["unary"] @ w[UNARY]) - (0.0 if noise is None else noise)
    met = -(problem["pair"] @ w[PAIR])
    unary = np.split(alone, np.cumsum(labels)[:-1])
    sizes = [labels[a] * labels[b] for a, b in edges]
    tables = [one.reshape(labels[a], labels[b]) for one, (a, b) in zip(np.split(met, np.cumsum(sizes)[:-1]), edges)]
    return PairwiseModel(unary, edges, tables=tables).solve("trws", iterations=DECODED).labels.astype(np.int64)


def problems(names, data, draws, seed, scale):
    """Features and truths; `scale` are the divisors of the terms, taken from these problems where None."""
    found = []
    for number, name in enumerate(names):
        parts = list(stretches(read_uai(data / f"{name}.uai.gz"), LENGTH))
        for draw, part in np.ndindex(draws, len(parts)):
            structure, rng = parts[part], np.random.default_rng([seed, number, draw, part])
            unary, pair = terms(structure, rng)
            found.append({"name": name, "structure": structure, "unary": unary, "pair": pair, "rng": rng})
    if scale is None:
        root = lambda key: np.sqrt(np.mean(np.concatenate([one[key] for one in found]) ** 2, axis=0))
        scale = {"unary": root("unary"), "pair": root("pair")}
    for one in found:
        for key in ("unary", "pair"):
            one[key] = np.ascontiguousarray((-one[key] / scale[key]).astype(np.float32))
        one["truth"] = decode(one, TRUE, NOISE * one["rng"].gumbel(size=len(one["unary"])))
    return found, scale


def container(found, path):
    """Writes problems in the format `mrf`."""
    offsets = lambda sizes: np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    counts = [np.array(one["structure"][0]) for one in found]
    edges = [one["structure"][2] for one in found]
    save_file({
        "node_offsets": offsets([len(one) for one in counts]),
        "label_offsets": offsets(np.concatenate(counts)),
        "unary_features": np.concatenate([one["unary"] for one in found]),
        "unary_feature_columns": np.array(UNARY, dtype=np.int64),
        "labels": np.concatenate([one["truth"] for one in found]),
        "edge_offsets": offsets([len(one) for one in edges]),
        "edges": np.concatenate(edges),
        "pair_offsets": offsets(np.concatenate([c[e[:, 0]] * c[e[:, 1]] for c, e in zip(counts, edges)])),
        "pair_features": np.concatenate([one["pair"] for one in found]),
        "pair_feature_columns": np.array(PAIR, dtype=np.int64),
    }, path)


def accuracy(found, w):
    """Share of right side chains, of those with a choice."""
    right = total = 0
    for one in found:
        choice = np.array(one["structure"][0]) > 1
        right += int((decode(one, w) == one["truth"])[choice].sum())
        total += int(choice.sum())
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--passes", type=float, default=200)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--cap", type=float, default=45, help="seconds of training at most")
    parser.add_argument("--lam", default="1")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    data = args.data / "mrf" / "protein"
    clock = time.perf_counter()
    train, scale = problems(TRAIN, data, args.draws, args.seed, None)
    test, _ = problems(TEST, data, args.draws, args.seed + 1, scale)
    path = args.out / "protein.safetensors"
    container(train, path)
    built, clock = time.perf_counter() - clock, time.perf_counter()
    # Errors are counted, not divided by the number of nodes, so that weights have the size of the terms.
    params = {"task.max_iterations": ITERATIONS, "task.loss": "hamming-sum"}
    model = MrfSSVM(lam=float(args.lam), gap="1%", passes=args.passes, seconds=args.cap, threads=0, params=params).fit(path)
    trained, clock = time.perf_counter() - clock, time.perf_counter()
    weights = {"learned": model.coef_, "uniform": np.ones(len(TRUE)), "true": TRUE}
    record = {
        "train": TRAIN, "test": TEST, "draws": args.draws, "n": len(train), "d": len(TRUE), "seed": args.seed,
        "lambda": model.lam_, "primal": model.primal_, "dual": model.dual_, "gap": model.gap_,
        "relative_gap": model.gap_ / model.primal_, "certified": model.certified_, "stop_reason": model.stop_reason_,
        "oracle_calls": model.summary_["oracle_calls"], "evaluation_calls": model.summary_["evaluation_calls"],
        "train_accuracy_of_truth_weights": accuracy(train, TRUE),
        "accuracy": {name: accuracy(test, w) for name, w in weights.items()},
        "weights": {name: [round(float(x), 4) for x in w / np.abs(w).sum()] for name, w in weights.items()},
        "seconds": {"build": built, "train": trained, "evaluate": time.perf_counter() - clock},
        "container_mb": path.stat().st_size / 2**20,
    }
    path.unlink()
    with open(args.out / "raw.jsonl", "a") as out:
        out.write(json.dumps(record) + "\n")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
