"""A warm start goes on from the same content, whatever the objects are, and from nothing else."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest
from problems import Multiclass

from multiplane import StructuredSVM

FACTOR = 1.0


class Locked(np.ndarray):
    """Rows that cannot be pickled."""

    def __reduce__(self):
        return Locked, (threading.Lock(),)


class Task(Multiclass):
    """Three classes; the loss can be changed in several places."""

    share = 1.0

    def __init__(self, cost=1.0):
        super().__init__(3, 2)
        self.cost = cost

    def fingerprint(self):
        return FACTOR, self.share, self.cost

    def loss(self, truth, y):
        return FACTOR * self.share * self.cost * float(truth != y)

    def scores(self, x, w, truth=None):
        scores = super().scores(x, w)
        return scores if truth is None else scores + FACTOR * self.share * self.cost * (np.arange(3) != truth)


def data():
    chance = np.random.default_rng(0)
    return [chance.normal(size=2) for _ in range(30)], [int(chance.integers(3)) for _ in range(30)]


def cost(task, X, Y):
    task.cost = 0.97


def share(task, X, Y):
    Task.share = 0.97


def factor(task, X, Y):
    global FACTOR
    FACTOR = 0.97


def labels(task, X, Y):
    for i in range(0, 24, 3):
        Y[i] = 0


def rows(task, X, Y):
    for x in X:
        x *= 1.5


@pytest.fixture(autouse=True)
def restored():
    yield
    global FACTOR
    FACTOR, Task.share = 1.0, 1.0


@pytest.mark.parametrize("change", [cost, share, factor, labels, rows])
def test_what_was_changed_in_place_is_not_gone_on_from(change):
    """Same bounds as those of a fresh fit: no plane, dual or primal value of before is left."""
    X, Y = data()
    task = Task()
    warm = StructuredSVM(task, gap=1e-4, clock="work", lam=0.1, warm_start=True).fit(X, Y)
    change(task, X, Y)
    warm.set_params(gap=0.2).fit(X, Y)
    fresh = StructuredSVM(task, gap=0.2, clock="work", lam=0.1).fit(X, Y)
    assert (warm.primal_, warm.dual_) == (fresh.primal_, fresh.dual_)
    exact = StructuredSVM(task, gap=1e-5, clock="work", lam=0.1).fit(X, Y)
    assert warm.dual_ <= exact.primal_ + 1e-9 and warm.primal_ >= exact.dual_ - 1e-9


def test_the_same_content_is_gone_on_from():
    """Other objects of the same content will do, and bounds are made anew: a dual no lower, a primal that was evaluated."""
    X, Y = data()
    warm = StructuredSVM(Task(), passes=3, clock="work", lam=0.1, warm_start=True).fit(X, Y)
    before = warm.dual_
    warm.task = Task()
    X, Y = data()
    warm.fit(X, Y)
    assert warm.dual_ >= before - 1e-12 and warm.summary_["oracle_calls"] > 4 * 30


def test_budgets_of_seconds_count_what_is_added():
    """Evaluation of the fits before is not paid for again, and where bounds are evaluated may change."""
    X, Y = data()
    delay = {"oracle.delay_us": 100}
    warm = StructuredSVM(Task(), warm_start=True, solver="bcfw", seconds=0.02, clock="work", lam=0.1, params=delay)
    calls = [0]
    for _ in range(4):
        assert warm.fit(X, Y).stop_reason_ == "seconds"
        calls.append(warm.summary_["oracle_calls"])
    added = np.diff(calls)
    assert added.min() >= 0.9 * added.max() > 0, added
    warm.set_params(params={**delay, "evaluate": "pass"}, seconds=None, passes=1)
    assert warm.fit(X, Y).summary_["oracle_calls"] == calls[-1] + len(X)


@pytest.mark.parametrize("moments", [("pass", "auto"), ("auto", "pass")])
def test_budgets_of_seconds_count_what_is_added_where_moments_change(moments):
    """What evaluation took is paid for by one rule and not by the other; of the fits before, by neither."""
    X, Y = data()
    common = {"solver": "bcfw", "clock": "work", "lam": 0.1}
    given = [{"oracle.delay_us": 100, "evaluate": moment} for moment in moments]
    alone = StructuredSVM(Task(), seconds=0.04, params=given[1], **common).fit(X, Y)
    warm = StructuredSVM(Task(), warm_start=True, seconds=0.2, params=given[0], **common).fit(X, Y)
    before = warm.summary_["oracle_calls"]
    warm.set_params(params=given[1], seconds=0.04).fit(X, Y)
    added = warm.summary_["oracle_calls"] - before
    assert 0.8 * alone.summary_["oracle_calls"] <= added <= 1.2 * alone.summary_["oracle_calls"]


@pytest.mark.parametrize("clock", ["wall", "work"])
def test_reports_count_from_the_first_fit(clock):
    """All of a report's figures, wall seconds too: none is less than its parts, and none falls from fit to fit."""
    X, Y = data()
    delay = {"oracle.delay_us": 200}
    warm = StructuredSVM(Task(), warm_start=True, passes=6, clock=clock, lam=0.1, params=delay).fit(X, Y)
    before = warm.summary_
    for passes in (3, 1):
        summary = warm.set_params(passes=passes).fit(X, Y).summary_
        assert summary["wall_seconds"] >= summary["train_seconds"] >= before["train_seconds"] + 100e-6 * 30 * passes
        for name in ("oracle_calls", "evaluation_calls", "passes", "iterations", "oracle_seconds", "wall_seconds"):
            assert summary[name] >= before[name], name
        before = summary


def test_what_cannot_be_compared_starts_anew():
    """With one warning: a task without fingerprint(), and examples that cannot be pickled."""
    X, Y = data()

    class Unnamed(Task):
        fingerprint = None

    cold = StructuredSVM(Unnamed(), passes=3, clock="work", lam=0.1, warm_start=True)
    with pytest.warns(UserWarning, match=r"Unnamed has no method `fingerprint\(\)`.* every fit starts anew") as told:
        first = cold.fit(X, Y).dual_
    assert len(told) == 1
    with pytest.warns(UserWarning, match="every fit starts anew"):
        assert cold.fit(X, Y).dual_ == first
    locked = [row.view(Locked) for row in X]
    warm = StructuredSVM(Task(), passes=3, clock="work", lam=0.1, warm_start=True)
    with pytest.warns(UserWarning, match=r"the examples cannot be pickled \(.*lock.*\)"):
        warm.fit(locked, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warm.fit(X, Y).dual_ < warm.fit(X, Y).dual_
