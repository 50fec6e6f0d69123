"""Seconds of a fit bound every solution in it, and what was cut short is certified."""

import time
import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")
from multiplane.ilp import DecisionSSVM, IlpSSVM, IntegerProgramme  # noqa: E402
from multiplane.ilp._feasible import Budget, Least, no_slack  # noqa: E402
from test_ilp import engine, hinges, problem, programme  # noqa: E402, F401


class Slow(IntegerProgramme):
    """A programme that takes ``pause`` for a solution, and has a bound alone if it is given less. Notes what it is given."""

    def __init__(self, like, pause):
        super().__init__(like.matrix, like.row_lower, like.row_upper, upper=like.upper)
        self.pause, self.given = pause, []

    def minimise(self, costs, slack=no_slack, seconds=np.inf):
        self.given.append(seconds)
        time.sleep(min(self.pause, seconds))
        if seconds < self.pause:
            return Least(None, float(np.minimum(costs * self.lower, costs * self.upper).sum()))
        return super().minimise(costs)

    def nearest(self, costs, values, weights, seconds=np.inf):
        self.given.append(seconds)
        time.sleep(min(self.pause, seconds))
        return super().nearest(costs, values, weights, seconds if seconds >= self.pause else 0.0)


@pytest.mark.parametrize("pause", [0.1, 0.2, 60.0])
@pytest.mark.parametrize("partly", [False, True])
def test_a_fit_ends_with_its_seconds(pause, partly):
    X, Y, every = problem(np.random.default_rng(3))
    slow = [(Slow(x[0], pause), *x[1:]) for x in X]
    if partly:
        Y = [np.where(np.arange(6) < 3, y, np.nan) for y in Y]
    begun = time.monotonic()
    model = IlpSSVM(lam=0.01, gap=1e-12, seconds=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if partly and pause == 60.0:
            with pytest.raises(ValueError, match=r"^Y\[0\]: no vector that agrees with what is known was found in time: seconds gives it more"):
                model.fit(slow, Y)
        else:
            model.fit(slow, Y)
            assert model.certified_ and model.stop_reason_ == "seconds" and model.dual_ <= model.primal_ < np.inf
            if not partly:
                hinge = np.mean([hinges(model.coef_, x, y, lambda z, y=y: float(np.abs(z - y).sum()), of) for x, y, of in zip(X, Y, every, strict=True)])
                assert 0.005 * model.coef_ @ model.coef_ + hinge <= model.primal_ + 1e-9
    assert time.monotonic() - begun < 50.0  # a solution of 60 s fits in none
    given = [seconds for x in slow for seconds in x[0].given]
    assert given and max(given) <= 0.5
    model.seconds = None
    assert pause == 60.0 or all(len(y) == 6 for y in model.predict(slow))  # which has no such limit


def test_what_is_cut_short_is_bounded_by_the_last_multipliers(engine):  # noqa: F811
    rng = np.random.default_rng(0)
    closer = 0
    for _ in range(30):
        feasible, vectors = programme(rng)
        costs = rng.normal(size=6)
        least = (vectors @ costs).min()
        nothing = feasible.minimise(costs, no_slack, 0.0)
        assert nothing.bound <= least and (nothing.y is None or feasible.fault(nothing.y) is None)
        feasible.minimise(costs)
        again = feasible.minimise(costs, no_slack, 0.0)
        assert again.y is not None and nothing.bound <= again.bound <= least
        closer += again.bound > nothing.bound + 1e-6
    assert closer > 5


def test_decisions_are_bounded_too():
    rng = np.random.default_rng(1)
    slow = Slow(IntegerProgramme(np.ones((1, 6)), 1.0, 3.0), 0.02)
    X, C = rng.normal(size=(10, 2)), rng.normal(size=(10, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DecisionSSVM(slow, lam=1e-3, gap=1e-12, seconds=1.5).fit(X, C)
    assert model.certified_ and model.stop_reason_ == "seconds" and max(slow.given) <= 0.75
    slow.pause = 10.0
    with pytest.raises(ValueError, match="^the solver found no feasible vector in its time"):
        DecisionSSVM(slow, lam=1e-3, seconds=0.2).fit(X, C)


def test_patience_doubles_where_it_was_not_enough():
    budget, example = Budget(100.0), object()
    with budget.patience(example) as first:
        pass
    with budget.patience(example) as second:
        pass
    budget._first = 0.01
    found = []
    for _ in range(3):
        with budget.patience(example) as seconds:
            found.append(seconds)
            time.sleep(1.01 * seconds)
    assert first == second == 1.0 and found == [0.01, 0.02, 0.04]
    assert Budget(each=3.0).share() == 3.0 and Budget(0.0).share() == 0.0


class Lazy(IntegerProgramme):
    """Answers with the dearest vector that the slack allows, and a bound as far below it as that."""

    def __init__(self, like, vectors):
        super().__init__(like.matrix, like.row_lower, like.row_upper, upper=like.upper)
        self.vectors, self.shares = vectors, []

    def minimise(self, costs, slack=no_slack, seconds=np.inf):
        paid = self.vectors @ costs
        least = paid.min()
        allowed = slack(least)
        y = self.vectors[np.argmax(np.where(paid <= least + allowed, paid, -np.inf))]
        self.shares.append(allowed)
        return Least(y, min(least, float(costs @ y) - allowed))


def test_solvers_of_a_bundle_leave_open_a_share_of_its_gap():
    rng, wide = np.random.default_rng(5), 0
    for _ in range(10):
        X, Y, every = problem(rng, count=3)
        exact = IlpSSVM(lam=0.05, gap=1e-9).fit(X, Y)
        lazy = [(Lazy(x[0], vectors), *x[1:]) for x, vectors in zip(X, every, strict=True)]
        model = IlpSSVM(lam=0.05, gap="1%").fit(lazy, Y)
        assert model.certified_ and model.stop_reason_ == "gap" and model.gap_ <= 0.01 * model.primal_
        assert model.dual_ <= exact.primal_ + 1e-9 and exact.dual_ <= model.primal_ + 1e-9
        assert model._costed.accuracy == pytest.approx(0.2 * 0.01)
        wide += lazy[0][0].shares[0] > 0.05
    assert wide > 5
