"""Solvers that learn online: the latest weights are kept, and what is to be said of them is a warning."""

import warnings

import numpy as np
import pytest

from multiplane import BinarySSVM, ConvergenceWarning, MulticlassSSVM


def rows(n=300):
    chance = np.random.default_rng(0)
    x = chance.normal(size=(n, 4))
    return x, x[:, 0] + 0.1 * chance.normal(size=n) > 0


@pytest.mark.parametrize("solver", ["pegasos", "pegasos-avg"])
def test_the_latest_weights_are_kept(solver):
    x, y = rows()
    with pytest.warns(ConvergenceWarning, match="primal value of these weights is .*, and w = 0 has 1: they are the latest"):
        model = BinarySSVM(solver=solver, lam=1e-7).fit(x, y)
    assert model.coef_.any() and model.primal_ > 1 and model.score(x, y) > 0.8


def test_a_small_multiple_stands_for_zero():
    x, y = rows()
    with pytest.warns(ConvergenceWarning, match="no iterate was better than w = 0, whose primal value is 1"):
        model = BinarySSVM(solver="ssg", lam=1e-7, passes=1).fit(x, y)
    assert model.coef_.any() and model.primal_ < 1.01
    assert model.score(x, y) > 0.8


@pytest.mark.parametrize("solver", ["auto", "bcfw", "one-slack", "fw", "bcpl"])
def test_noisy_classes_are_predicted(solver):
    chance = np.random.default_rng(0)
    x = chance.normal(size=(600, 6))
    y = (x + 2 * chance.normal(size=x.shape)).argmax(1)
    with pytest.warns(ConvergenceWarning, match="no iterate was better than w = 0, whose primal value is 1"):
        model = MulticlassSSVM(solver=solver, lam=1.0, gap="5%").fit(x, y)
    assert model.certified_ and model.gap_ <= 0.05 * model.primal_
    assert len(set(model.predict(x))) > 2 and model.score(x, y) > (y == 0).mean()


def test_lambda_without_effect_is_told():
    x, y = rows()
    said = "solver `sfd1` ignores lambda: lambda = 0.1 changes no weight"
    with pytest.warns(UserWarning, match=said):
        BinarySSVM(solver="sfd1", lam=0.1).fit(x, y)
    model = BinarySSVM(solver="sfd1", lam=0.1)
    with pytest.warns(UserWarning, match=said):
        model.partial_fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(x, y)  # told once
        BinarySSVM(solver="sfd1").fit(x, y)
        BinarySSVM(solver="pegasos", lam=1.0).fit(x, y)
