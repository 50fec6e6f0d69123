"""Labels that may be wrong: what was made wrong comes first, in the users' own terms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from multiplane import ArborescenceSSVM, ChainSSVM, GraphSSVM, MulticlassSSVM


def rows(n=300, classes=("ant", "bee", "cat")):
    rng = np.random.default_rng(0)
    number = rng.integers(len(classes), size=n)
    x = rng.normal(size=(n, 6)) * 0.4
    x[np.arange(n), number] += 2.0
    y = np.array(classes)[number]
    wrong = rng.choice(n, n // 20, replace=False)
    y[wrong] = np.array(classes)[(number[wrong] + 1) % len(classes)]
    return x, y, set(wrong.tolist())


def test_rows_with_names():
    x, y, wrong = rows()
    model = MulticlassSSVM(lam=0.01).fit(x, y)
    found = model.suspects(x, y)
    assert {one["example"] for one in found[: len(wrong)]} == wrong
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert all(one["given"] == y[one["example"]] and one["rival"] != one["given"] and one["part"] == 0 for one in found)
    assert model.suspects(x, y, cv=5) == found, "5 others judge the data of the fit"
    assert found == MulticlassSSVM(lam=0.01).fit(x, y).suspects(x, y)


def leads_by_enumeration(model, x, given, trust):
    """The scores of all labels, if labellings score ``trust`` higher for each label given elsewhere."""
    labels, found = model.classes_.tolist(), {}
    for example, (rows, truth) in enumerate(zip(x, given, strict=True)):
        codes = [labels.index(label) for label in truth]
        best = np.full((len(rows), len(labels)), -np.inf)
        for y in itertools.product(range(len(labels)), repeat=len(rows)):
            score = sum(rows[t] @ model.unary_[label] for t, label in enumerate(y)) + sum(model.pair_[a, b] for a, b in itertools.pairwise(y))
            same = np.equal(y, codes)
            for t, label in enumerate(y):
                best[t, label] = max(best[t, label], score + trust * (same.sum() - same[t]))
        for t, code in enumerate(codes):
            rivals = np.where(np.arange(len(labels)) == code, -np.inf, best[t])
            found[example, t] = (rivals.max() - best[t, code], labels[int(rivals.argmax())])
    return found


def test_scores_are_those_of_enumeration():
    rng = np.random.default_rng(1)
    x = [rng.normal(size=(length, 3)) for length in (2, 5, 3, 4, 1)]
    y = [(np.argmax(rows, axis=1) * 10).tolist() for rows in x]
    model = ChainSSVM(lam=0.1).fit(x, y)
    given = [(rng.integers(3, size=len(labels)) * 10).tolist() for labels in y]
    found = model.suspects(x, given)
    assert len(found) == 15
    sizes = sorted(abs(lead) for lead, _ in leads_by_enumeration(model, x, given, 0.0).values())
    expected = leads_by_enumeration(model, x, given, 0.5 * sizes[len(sizes) // 2])
    for one in found:
        assert (one["score"], one["rival"]) == (pytest.approx(expected[one["example"], one["part"]][0]), expected[one["example"], one["part"]][1])
    assert model.suspects(x, given, cv=0) == found


def test_graphs_with_cycles_trust_their_neighbours():
    """A label that all neighbours contradict comes first, though its own features say nothing."""
    rng = np.random.default_rng(4)
    edges = np.array([[i, j] for i in range(9) for j in range(i + 1, 9) if (i % 3 == j % 3 and j - i == 3) or (i // 3 == j // 3 and j - i == 1)])
    x, y = [], []
    for _ in range(30):
        label = int(rng.integers(2))
        x.append((np.c_[np.full(9, label - 0.5) + rng.normal(size=9), np.ones(9)], edges))
        y.append(np.full(9, label))
    model = GraphSSVM(lam=0.01, pairwise="cut").fit(x, y)
    given = [labels.copy() for labels in y]
    given[7][4] = 1 - given[7][4]
    (first, *_) = model.suspects(x, given, cv=0)
    assert (first["example"], first["part"], first["given"]) == (7, 4, int(given[7][4]))


@pytest.mark.parametrize("cv", [1, -2, True, 2.5, "5"])
def test_folds_that_are_none(cv):
    x, y, _ = rows(30)
    with pytest.raises(ValueError, match=r"cv = .*: must be None, 0 or a whole number from 2"):
        MulticlassSSVM(lam=0.1).fit(x, y).suspects(x, y, cv=cv)


def test_empty_sequences_keep_their_numbers():
    rng = np.random.default_rng(2)
    x = [rng.normal(size=(length, 3)) for length in (3, 0, 4, 0, 2)]
    y = [(np.argmax(rows, axis=1) if len(rows) else rows[:, 0].astype(int)).tolist() for rows in x]
    full = [i for i in range(5) if y[i]]
    model = ChainSSVM(lam=0.1).fit([x[i] for i in full], [y[i] for i in full])
    found = model.suspects(x, y, cv=0)
    assert sorted((one["example"], one["part"]) for one in found) == [(i, part) for i in full for part in range(len(y[i]))]
    model.calibrate(x, y)
    assert [len(one) for one in model.predict_set(x)] == [3, 0, 4, 0, 2]


def test_parents_are_those_of_users():
    rng = np.random.default_rng(3)
    x = [rng.normal(size=(4, 3)) for _ in range(30)]
    y = [[-1, 0, 1, 2] if i % 2 else [1, -1, 1, 2] for i in range(30)]
    model = ArborescenceSSVM(lam=0.1).fit(x, y)
    found = model.suspects(x, y, cv=0)
    assert len(found) == 120 and all(one["given"] == y[one["example"]][one["part"]] for one in found)
    sets = model.calibrate(x[:15], y[:15]).predict_set(x, alpha=0.005)
    assert all(-1 in one and set(one.tolist()) <= {-1, 0, 1, 2, 3} for sentence in sets for one in sentence)


def test_rows_of_a_path_are_judged():
    x, y, wrong = rows()
    model = MulticlassSSVM().path(x, y, lambda_min=0.01).at(0.02)
    assert {one["example"] for one in model.suspects(x, y)[: len(wrong)]} == wrong
