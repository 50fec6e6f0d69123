"""Inference from Python: every way to write a model, against enumeration of all labellings."""

from __future__ import annotations

import doctest
import itertools

import numpy as np
import pytest

import multiplane
import multiplane._infer
from multiplane import PairwiseModel, infer

ENGINES = ["tree", "min-cut", "brute", "trws", "expansion"]


def enumerated(unary, edges, cost, constant=0.0):
    """All labellings with their energies, lowest first: ``cost(edge, a, b)``."""
    found = []
    for labels in itertools.product(*(range(len(row)) for row in unary)):
        energy = constant + sum(row[label] for row, label in zip(unary, labels, strict=True))
        energy += sum(cost(e, labels[i], labels[j]) for e, (i, j) in enumerate(edges))
        if energy < np.inf:
            found.append((energy, labels))
    return sorted(found)


def graph(rng, nodes=5, density=0.7):
    pairs = [(a, b) for a, b in itertools.combinations(range(nodes), 2) if rng.random() < density]
    return np.array([pair if rng.random() < 0.5 else pair[::-1] for pair in pairs], dtype=int).reshape(-1, 2)


def check(model, known):
    """Every engine that applies: bound <= optimum <= energy, and the energy is the labels'."""
    applied = 0
    for engine in [None, *ENGINES]:
        try:
            found = infer(model, engine)
        except ValueError as error:
            assert "does not apply" in str(error), error
            continue
        applied += 1
        if found.labels is None:
            assert not known
            continue
        assert found.labels.dtype == np.int32 and found.labels.shape == model.shape
        assert found.energy == pytest.approx(model.energy(found.labels), abs=1e-9)
        optimum = known[0][0]
        assert found.bound <= optimum + 1e-9 and found.energy >= optimum - 1e-9
        if found.exact or engine in (None, "tree", "min-cut", "brute"):
            assert found.energy == pytest.approx(optimum, abs=1e-9) and found.exact, (engine, found)
    assert applied >= 3, "brute and trws apply to all, and the automatic choice"


def kinds(rng, unary, edges):
    """All ways to write edges: arguments of the constructor, and what an edge costs."""
    labels, count = [len(row) for row in unary], len(edges)
    weights = rng.normal(size=count)
    yield (edges, weights), {}, lambda e, a, b: weights[e] * (a != b)
    yield (edges, 0.5), {}, lambda e, a, b: 0.5 * (a != b)
    yield (edges, weights), {"term": "linear", "cap": 1.5}, lambda e, a, b: weights[e] * min(abs(a - b), 1.5)
    yield (edges, weights), {"term": "quadratic", "cap": 3.0}, lambda e, a, b: weights[e] * min((a - b) ** 2, 3.0)
    many = [rng.normal(size=(labels[i], labels[j])) for i, j in edges]
    yield (edges,), {"tables": many}, lambda e, a, b: many[e][a, b]
    if len(set(labels)) == 1:
        table, stack = rng.normal(size=(labels[0], labels[0])), rng.normal(size=(count, labels[0], labels[0]))
        yield (edges, weights), {"tables": table}, lambda e, a, b: weights[e] * table[a, b]
        yield (edges,), {"tables": stack}, lambda e, a, b: stack[e, a, b]


@pytest.mark.parametrize("seed", range(12))
def test_every_kind_of_edges_against_enumeration(seed):
    """Potts, linear, quadratic, shared, stacked and listed tables; label counts alike and not."""
    rng = np.random.default_rng(seed)
    counts = [3] * 5 if seed % 3 == 0 else [2] * 5 if seed % 3 == 1 else rng.integers(1, 4, size=5).tolist()
    unary = [rng.normal(size=count) for count in counts]
    edges = graph(rng)
    for given, keywords, cost in kinds(rng, unary, edges):
        array = np.array(unary) if len(set(counts)) == 1 else unary
        model = PairwiseModel(array, *given, constant=1.5, **keywords)
        assert model.label_counts.tolist() == counts
        check(model, enumerated(unary, edges, cost, 1.5))


def test_forbidden_labels_and_pairs():
    """Energies of inf forbid; where nothing is allowed there are no labels, and that is proven."""
    unary = [[0.0, np.inf, 2.0], [1.0, 0.0, np.inf]]
    table = np.array([[np.inf, 3.0, 0.0], [0.0, 0.0, 0.0], [0.5, np.inf, 0.0]])
    model = PairwiseModel(np.array(unary), [[0, 1]], tables=table)
    check(model, enumerated(unary, [(0, 1)], lambda e, a, b: table[a, b]))
    nothing = PairwiseModel(np.zeros((2, 2)), [[0, 1]], tables=np.full((2, 2), np.inf)).solve()
    assert nothing.labels is None and nothing.exact and nothing.energy == np.inf


@pytest.mark.parametrize("seed", range(20))
def test_grids_against_the_same_model(seed):
    """A grid is the model with its edges written out: 4 and 8 neighbours, numbers and arrays as weights, 2 and 3 labels."""
    rng = np.random.default_rng(seed)
    height, width, labels = int(rng.integers(1, 4)), int(rng.integers(1, 4)), 2 + seed % 2
    unary = rng.normal(size=(height, width, labels))
    shapes = [(height, width - 1), (height - 1, width), (height - 1, width - 1), (height - 1, width - 1)]
    weights = [0.3 if rng.random() < 0.3 else np.abs(rng.normal(size=shape)) for shape in shapes]
    if seed % 4 < 2:
        weights[2:] = [None, None]
    index = np.arange(height * width).reshape(height, width)
    ends = [(index[:, :-1], index[:, 1:]), (index[:-1], index[1:])]
    ends += [(index[:-1, :-1], index[1:, 1:]), (index[:-1, 1:], index[1:, :-1])]
    edges, factors = [], []
    for (tails, heads), weight in zip(ends, weights, strict=True):
        if weight is not None:
            edges += list(zip(tails.ravel().tolist(), heads.ravel().tolist(), strict=True))
            factors += np.broadcast_to(weight, tails.shape).ravel().tolist()
    model = PairwiseModel.grid(unary, *weights)
    rows = unary.reshape(-1, labels)
    check(model, enumerated(rows, edges, lambda e, a, b: factors[e] * (a != b)))
    written = PairwiseModel(rows, np.array(edges, dtype=int).reshape(-1, 2), factors)
    labelling = rng.integers(0, labels, size=(height, width))
    assert model.energy(labelling) == pytest.approx(written.energy(labelling.ravel()))
    assert repr(model) == repr(written)


@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_warm_solves_after_changes(engine):
    """Solving again after new unaries and weights gives what a new model gives, in values and in validity of bounds."""
    rng = np.random.default_rng(3)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4]]) if engine == "tree" else graph(rng)
    unary, weights = rng.normal(size=(5, 2)), np.abs(rng.normal(size=len(edges)))
    model = PairwiseModel(unary, edges, weights)
    for change in range(30):
        unary, weights = unary.copy(), weights.copy()
        node, edge = rng.integers(5), rng.integers(len(edges))
        unary[node], weights[edge] = rng.normal(size=2), abs(rng.normal())
        if change % 2:
            model.set_unary(unary[[node]], nodes=[node])
            model.set_weights([weights[edge]], edges=[edge])
        else:
            model.set_unary(unary)
            model.set_weights(weights)
        if change == 15:
            model.forget()
        optimum = enumerated(unary, edges, lambda e, a, b: weights[e] * (a != b))[0][0]  # noqa: B023
        found = model.solve(engine)
        assert found.bound <= optimum + 1e-9 and found.energy >= optimum - 1e-9
        assert found.energy == pytest.approx(model.energy(found.labels))
        if engine not in ("trws", "expansion") or found.exact:
            assert found.energy == pytest.approx(optimum), (change, found)


def test_warm_grids():
    """Grids solved again: straight from the arrays where most nodes are sure, else in a network that keeps its flow."""
    rng = np.random.default_rng(5)
    for strength in (0.1, 3.0):
        unary = rng.normal(size=(6, 7, 2))
        weights = [strength * rng.random((6, 6)), strength * rng.random((5, 7))]
        model = PairwiseModel.grid(unary, *weights)
        for _ in range(6):
            found = model.solve()
            fresh = PairwiseModel.grid(unary, *weights).solve("trws")
            assert found.exact and found.engine == "min-cut"
            assert fresh.bound <= found.energy + 1e-9 and found.energy <= fresh.energy + 1e-9
            y, x = rng.integers(6), rng.integers(7)
            unary[y, x] = rng.normal(size=2)
            model.set_unary(unary[y, x][None], nodes=[7 * y + x])
            weights[1] = strength * rng.random((5, 7))
            model.set_grid_weights(vertical=weights[1])
        model.set_unary(unary)
        assert model.solve().energy == pytest.approx(PairwiseModel.grid(unary, *weights).solve().energy)


def test_warm_messages_save_iterations():
    """After a small change TRW-S goes on from its last messages: far fewer iterations than from nothing."""
    rng = np.random.default_rng(1)
    unary = rng.normal(size=(12, 12, 4))
    model = PairwiseModel.grid(unary, 0.3 + rng.random((12, 11)), 0.3 + rng.random((11, 12)))
    cold = model.solve("trws")
    model.set_unary([[0.1, 0.0, 0.2, 0.1]], nodes=[77])
    warm = model.solve("trws")
    model.forget()
    again = model.solve("trws")
    assert warm.energy == pytest.approx(again.energy) and warm.bound == pytest.approx(again.bound, abs=1e-3)
    print(f"iterations: cold {cold.iterations}, warm {warm.iterations}, cold again {again.iterations}")
    assert warm.iterations <= again.iterations / 2


def test_m_best_and_diverse():
    """The M best are those of enumeration, in order; penalties make labellings differ."""
    rng = np.random.default_rng(2)
    for edges in (np.array([[0, 1], [1, 2], [2, 3]]), graph(rng, 4, 1.0)):
        unary, weights = rng.normal(size=(4, 3)), rng.normal(size=len(edges))
        model = PairwiseModel(unary, edges, weights)
        known = enumerated(unary, edges, lambda e, a, b: weights[e] * (a != b))  # noqa: B023
        best = model.m_best(9, None if len(edges) == 3 else "brute")
        assert [one.energy for one in best] == pytest.approx([energy for energy, _ in known[:9]])
        assert [tuple(one.labels) for one in best] == [labels for _, labels in known[:9]]
        diverse = model.diverse([100.0, 100.0], "brute")
        assert diverse[0].energy == pytest.approx(known[0][0])
        assert all((a.labels != b.labels).all() for a, b in itertools.combinations(diverse, 2))
    assert len(model.m_best(1000, "brute")) == 81


def test_persistency():
    """Proven labels are those of an optimum; -1 where nothing is proven."""
    proven = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        edges = graph(rng)
        unary, weights = 2 * rng.normal(size=(5, 3)), np.abs(rng.normal(size=len(edges)))
        model = PairwiseModel(unary, edges, weights)
        known = enumerated(unary, edges, lambda e, a, b: weights[e] * (a != b))  # noqa: B023
        labels = model.persistency()
        assert ((labels == -1) | (labels == known[0][1])).all()
        proven += int((model.persistency(every=True) >= 0).sum())
    assert 20 < proven < 100
    with pytest.raises(ValueError, match="does not apply"):
        PairwiseModel(np.zeros((2, 2)), [[0, 1]], -1.0).persistency()


def test_fuse():
    """The best combination of labellings: exact for two labels, by enumeration."""
    rng = np.random.default_rng(7)
    edges = graph(rng)
    unary, weights = rng.normal(size=(5, 2)), np.abs(rng.normal(size=len(edges)))
    model = PairwiseModel(unary, edges, weights)
    given = [[0, 0, 1, 1, 0], [0, 1, 0, 1, 0]]
    mixed = [labels for labels in itertools.product([0, 1], repeat=5) if (labels[0], labels[3], labels[4]) == (0, 1, 0)]
    found = model.fuse(given)
    assert found.exact and found.energy == pytest.approx(min(map(model.energy, mixed)))
    assert found.energy == pytest.approx(model.energy(found.labels)) and found.bound == found.energy


def test_limits_end_a_solve():
    """Limits of iterations give the same answer every time, limits of seconds end in time, both with a valid bound."""
    rng = np.random.default_rng(0)
    edges = graph(rng, 60, 0.4)
    model = PairwiseModel(rng.normal(size=(60, 4)), edges, rng.normal(size=len(edges)))
    first = model.solve("trws", iterations=5)
    assert first.stopped == "iterations" and first.iterations == 5 and not first.exact
    model.forget()
    second = model.solve("trws", iterations=5)
    assert (second.labels == first.labels).all() and second.bound == first.bound
    model.forget()
    plain = model.solve("trws")
    model.forget()
    timed = model.solve("trws", seconds=plain.seconds + 1.0)
    assert timed.stopped == "seconds" and plain.seconds + 0.9 < timed.seconds < plain.seconds + 3
    assert timed.bound > plain.bound and timed.energy <= plain.energy
    model.forget()
    rounds = [model.solve("trws", search=3) or model.forget() for _ in range(1)]
    assert rounds[0].bound >= plain.bound and rounds[0].energy <= plain.energy


FAULTS = [
    (lambda: PairwiseModel([[0.0, np.nan]]), "node 0: found NaN as energy of label 1, expected a finite number or +inf"),
    (lambda: PairwiseModel([[0.0], []]), "node 1: found no label, expected at least one"),
    (lambda: PairwiseModel(np.zeros(3)), "unary: found shape (3,), expected [nodes, labels]"),
    (lambda: PairwiseModel([["a"]]), "unary[0]: expected numbers: could not convert string to float: 'a'"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 2]]), "edges.ravel()[1]: found 2, expected an index from 0 to less than 2"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, -1]]), "edges.ravel()[1]: found -1, expected an index from 0 to less than 2"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[1, 1]]), "edge 0: found node 1 at both ends"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0.0, 1.0]]), "edges: found numbers of type float64, expected integers"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [0, 1]), "edges: found shape (2,), expected [edges, 2]"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], [1.0, 2.0]), "weights: found shape (2,), expected one for each of 1 edges"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], np.inf), "edge 0: found weight inf, expected a finite number"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], term="pots"), "term: found \"pots\", expected potts, linear, quadratic or table"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], term="linear", cap=0), "cap: found 0, expected a positive number"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], tables=np.zeros((3, 2))), "edge 0 of nodes 0 and 1: found a table of 3 x 2 energies, expected 2 x 2"),
    (lambda: PairwiseModel(np.zeros((2, 2)), [[0, 1]], tables=np.zeros((2, 2, 2))), "tables: found shape (2, 2, 2), expected [labels, labels] or [1 edges, labels, labels]"),
    (lambda: PairwiseModel.grid(np.zeros((2, 2))), "unary: found shape (2, 2), expected [height, width, labels]"),
    (lambda: PairwiseModel.grid(np.zeros((2, 3, 2)), np.zeros((2, 3))), "horizontal: found shape (2, 3), expected a number or (2, 2)"),
    (lambda: PairwiseModel.grid(np.zeros((2, 3, 2)), np.full((2, 2), np.nan)), "horizontal weight of row 0, column 0: found NaN, expected a finite number"),
    (lambda: PairwiseModel(np.zeros((2, 2))).energy([0]), "labels: found 1 labels, expected one for each of 2 nodes"),
    (lambda: PairwiseModel(np.zeros((2, 2))).energy([0, 2]), "labels: found label 2 at node 1, expected one from 0 to less than 2"),
    (lambda: PairwiseModel(np.zeros((2, 2))).solve("simplex"), "unknown engine `simplex`: expected one of `tree`, `min-cut`, `brute`, `trws`, `expansion`"),
    (lambda: PairwiseModel(np.zeros((2, 2))).solve("mincut"), "unknown engine `mincut`: did you mean `min-cut`?"),
    (lambda: PairwiseModel(np.zeros((2, 2))).solve(seconds=0), "seconds = 0: must be greater than 0"),
    (lambda: PairwiseModel(np.zeros((2, 2))).solve(iterations=0), "iterations = 0: must be at least 1"),
    (lambda: PairwiseModel(np.zeros((2, 2))).m_best(0), "count = 0: must be at least 1"),
    (lambda: PairwiseModel(np.zeros((2, 2))).diverse([-1.0]), "penalty 0: found -1, expected a finite number that is not negative"),
    (lambda: PairwiseModel(np.zeros((2, 2))).set_unary([[1.0]], nodes=[0]), "found 1 energies for 1 nodes, expected 2"),
    (lambda: PairwiseModel(np.zeros((2, 2))).set_unary([[1.0, 2.0]], nodes=[2]), "nodes[0]: found 2, expected an index from 0 to less than 2"),
    (lambda: PairwiseModel(np.zeros((2, 2))).set_grid_weights(1.0), "the model is no grid: set_weights replaces the weights of its edges"),
    (lambda: PairwiseModel.grid(np.zeros((2, 2, 2))).set_weights(1.0), "found weights by edge, expected those of a grid by direction"),
    (lambda: PairwiseModel.grid(np.zeros((2, 2, 2))).add_edges([[0, 1]]), "a grid has the edges that its size gives, and no others"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), FAULTS, ids=range(len(FAULTS)))
def test_faults_are_told_with_their_place(call, message):
    """One ValueError: what was found, where, and the rule."""
    with pytest.raises(ValueError) as raised:
        call()
    assert str(raised.value) == message


def test_a_refused_change_changes_nothing():
    """All numbers that are given, or none."""
    for model in (PairwiseModel([[0.0, 1.0], [2.0, 0.0]], [[0, 1]], 0.5), PairwiseModel.grid([[[0.0, 1.0], [2.0, 0.0]]], 0.5)):
        before = [model.energy(labels) for labels in itertools.product([0, 1], repeat=2)]
        with pytest.raises(ValueError, match="node 1"):
            model.set_unary([[5.0, 5.0], [np.nan, 0.0]])
        with pytest.raises(ValueError, match="weight"):
            model.set_grid_weights([[np.nan]]) if len(model.shape) == 2 else model.set_weights([np.nan])
        if len(model.shape) == 1:
            with pytest.raises(ValueError, match="edge 2"):
                model.add_edges([[0, 1], [1, 1]])
        assert before == [model.energy(labels) for labels in itertools.product([0, 1], repeat=2)]


def test_the_examples_in_the_docstrings_run():
    """doctest over the module."""
    failed, attempted = doctest.testmod(multiplane._infer)
    assert failed == 0 and attempted >= 15
