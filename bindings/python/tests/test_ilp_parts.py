"""Programmes that fall into parts, and the solver for few examples."""

import warnings

import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy.sparse import block_diag  # noqa: E402
from test_ilp import again, objective, problem  # noqa: E402

from multiplane._errors import ConvergenceWarning  # noqa: E402
from multiplane.ilp import Box, FromFunction, IlpSSVM, IntegerProgramme, TopK, _programme  # noqa: E402


def joined(X, Y, order):
    """Examples as one: their programmes side by side, the variables in another order."""
    ends = [np.concatenate([getattr(x[0], name) for x in X]) for name in ("row_lower", "row_upper", "lower", "upper")]
    matrix = block_diag([x[0].matrix for x in X]).tocsr()[:, order]
    feasible = IntegerProgramme(matrix, ends[0], ends[1], lower=ends[2][order], upper=ends[3][order])
    return (feasible, np.vstack([x[1] for x in X])[order], np.concatenate([x[2] for x in X])[order]), np.concatenate(Y)[order]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("top", [1, 3])
def test_parts_have_the_objective_of_the_whole(monkeypatch, seed, top):
    """The sum of their hinges, by enumeration of each; also with errors between bounds, and with lambda that depends on n."""
    monkeypatch.setattr(_programme, "SMALL", 1)
    rng = np.random.default_rng(700 + seed)
    X, Y, every = problem(rng, count=6, top=top)
    order = rng.permutation(18)
    pairs = [joined(X[:3], Y[:3], order), joined(X[3:], Y[3:], order)]
    losses = [lambda y, true=true: np.abs(y - true).sum() for true in Y]
    for lam, value in ((0.3, 0.3), ("1/n", 0.5), ("c:2", 0.25)):
        model = IlpSSVM(lam=lam, gap=1e-6, passes=2000).fit(*map(list, zip(*pairs, strict=True)))
        at = objective(model.coef_, value / 3.0, X, Y, every, losses)  # the mean over six, not over two
        assert model.lam == lam and model.lam_ == pytest.approx(value)
        assert model.certified_ and model.gap_ <= 1e-6 and model.primal_ == pytest.approx(3.0 * at, abs=1e-6)
    assert sum(len(x[0].parts()) for x, _ in pairs) > 4  # rows may connect less than all of six variables
    assert top > 1 or sum(one.solver.calls for x, _ in pairs for _, one in x[0].parts()) >= model.summary_["oracle_calls"]
    assert model.score([x for x, _ in pairs], [y for _, y in pairs]) == pytest.approx(1.0 - 3.0 * (1.0 - model.score(X, Y)))


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_completed_as_the_whole(monkeypatch, seed):
    """Over the turns, which go on from each other; the objective is that of the wholes, by enumeration of each part."""
    monkeypatch.setattr(_programme, "SMALL", 1)
    rng = np.random.default_rng(800 + seed)
    X, Y, every = problem(rng, count=12)
    marked = [np.where(rng.random(6) < 0.5, true, np.nan) for true in Y]
    order = rng.permutation(18)
    pairs = [joined(X[k : k + 3], marked[k : k + 3], order) for k in range(0, 12, 3)]
    model = IlpSSVM(lam=0.2, gap="0.1%", passes=500).fit(*map(list, zip(*pairs, strict=True)))
    w, total = model.coef_, 0.1 * model.coef_ @ model.coef_
    for (_, features, costs), partly, vectors in zip(X, marked, every, strict=True):
        paid, known = features @ w + costs, ~np.isnan(partly)
        agree = vectors[(vectors[:, known] == partly[known]).all(axis=1)]
        loss = np.abs(vectors - np.where(known, partly, 0.0))[:, known].sum(axis=1)
        total += ((loss - vectors @ paid).max() + (agree @ paid).min()) / 4
    assert model.rounds_[-1]["objective"] == pytest.approx(total, abs=1e-6)


def test_parts_divide_the_variables(monkeypatch):
    """In order, with their rows; few variables are put together."""
    monkeypatch.setattr(_programme, "SMALL", 16)
    rows = np.zeros((4, 40))
    rows[0, [3, 30]] = rows[1, [30, 7]] = rows[2, [1, 2]] = 1.0
    feasible = IntegerProgramme(rows, -np.inf, [1.0, 1.0, 1.0, 0.0])
    parts = feasible.parts()
    assert sorted(np.concatenate([own for own, _ in parts]).tolist()) == list(range(40)) and len(parts) == 3
    own, part = next(pair for pair in parts if 30 in pair[0])
    assert {3, 7, 30} <= set(own.tolist()) and part.fault(np.ones(len(own))) is not None
    monkeypatch.setattr(_programme, "SMALL", 1)
    assert [own.tolist() for own, _ in again(feasible).parts()][:2] == [[3, 7, 30], [1, 2]] and len(again(feasible).parts()) == 37
    assert [(own.tolist(), part) for own, part in Box([0.0], [1.0]).parts()][0][0] == [0]
    costs = np.random.default_rng(0).normal(size=40)
    assert sum(part.minimise(costs[own]).bound for own, part in feasible.parts()) == pytest.approx(feasible.minimise(costs).bound)


class Hurried(IntegerProgramme):
    """A programme whose subclass decides how it is solved."""

    def minimise(self, costs, *others, **more):
        self.asked = getattr(self, "asked", 0) + 1
        return super().minimise(costs, *others, **more)


def test_programmes_of_a_subclass_stay_whole(monkeypatch):
    monkeypatch.setattr(_programme, "SMALL", 1)
    whole = Hurried(np.eye(3), -np.inf, 1.0)
    IlpSSVM(lam=0.1).fit([(whole, np.eye(3))] * 4, [[1.0, 0.0, 1.0]] * 4)
    assert len(whole.parts()) == 1 and whole.asked > 0


def test_few_examples_are_for_bundle():
    """With a gap in percent, unless something else is asked for."""
    X, Y, _ = problem(np.random.default_rng(10), count=5)

    def used(count, gap="1%", **given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = IlpSSVM(lam=0.1, gap=gap, **given)
            name = model.fit(X[:count], Y[:count]).summary_["solver"]
        assert model.solver == given.get("solver", "auto")
        return name

    assert used(1) == used(3) == used(2, gap=None) == "bundle"
    assert used(5) == used(1, gap=1e-4) == used(1, gap=None, passes=3) == used(1, params={"solver.gap_check": 5}) == "auto"
    assert used(1, solver="n-slack") == "n-slack"
    choice = FromFunction(lambda costs: TopK(6, 2).minimise(costs).y, 6)
    assert IlpSSVM(lam=0.1, passes=5, gap="1%").fit([(choice, np.eye(6))], [[1, 1, 0, 0, 0, 0]]).summary_["solver"] == "auto"


def test_parts_are_examples_by_default(monkeypatch):
    """lambda as the default has it, which is 1/n, and as 1/n."""
    monkeypatch.setattr(_programme, "SMALL", 1)
    whole = IntegerProgramme(np.eye(2), -np.inf, 1.0)
    fits = [IlpSSVM(**given).fit([(whole, np.eye(2))] * 3, [[1.0, 0.0]] * 3) for given in ({}, {"lam": "1/n"})]
    assert [fit.summary_["n"] for fit in fits] == [6, 6] and fits[0].lam_ == fits[1].lam_
