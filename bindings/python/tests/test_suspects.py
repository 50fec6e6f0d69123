"""Labels that may be wrong: what was made wrong comes first, in the users' own terms."""

from __future__ import annotations

import numpy as np
import pytest

from multiplane import ChainSSVM, MulticlassSSVM


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


def test_scores_are_those_of_max_marginals():
    rng = np.random.default_rng(1)
    x = [rng.normal(size=(length, 3)) for length in (2, 5, 3, 4)]
    y = [(np.argmax(rows, axis=1) * 10).tolist() for rows in x]
    model = ChainSSVM(lam=0.1).fit(x, y)
    given = [rng.integers(3, size=len(labels)) * 10 for labels in y]
    found = model.suspects(x, given)
    assert len(found) == 14
    tables, labels = model.max_marginals(x), model.classes_.tolist()
    for one in found:
        scores = tables[one["example"]][one["part"]].copy()
        own = scores[labels.index(given[one["example"]][one["part"]])]
        scores[labels.index(one["given"])] = -np.inf
        assert one["rival"] == labels[int(scores.argmax())]
        assert one["score"] == pytest.approx(scores.max() - own)
    assert model.suspects(x, given, cv=0) == found


@pytest.mark.parametrize("cv", [1, -2, True, 2.5, "5"])
def test_folds_that_are_none(cv):
    x, y, _ = rows(30)
    with pytest.raises(ValueError, match=r"cv = .*: must be None, 0 or a whole number from 2"):
        MulticlassSSVM(lam=0.1).fit(x, y).suspects(x, y, cv=cv)
