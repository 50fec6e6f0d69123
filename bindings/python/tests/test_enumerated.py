"""Brackets of every solver on small random problems of every task, against enumeration: margin and slack rescaling,
example weights, costs. ``MULTIPLANE_RUNS`` sets how many fits there are (300 by default).
"""

import os
import warnings

import numpy as np
import pytest
from enumerated import TASKS, problem

from multiplane._solvers import DEFINITIONS

RUNS = int(os.environ.get("MULTIPLANE_RUNS", "300"))
SOLVERS = [entry["name"] for entry in DEFINITIONS["solvers"]]
WITH_DUAL = {entry["name"] for entry in DEFINITIONS["solvers"] if entry["has_dual"]}
ROUNDING = 1e-9


def fits(task, rescaling, seed):
    """Every solver's fit of one problem; those that the task does not take are refused with a reason."""
    rng = np.random.default_rng([seed, TASKS.index(task)])
    given, lam = problem(task, rng), float(10 ** rng.uniform(-2, 0))
    weights, keywords = None, {}
    if task != "own" and rescaling == "margin" and rng.random() < 0.5:
        weights = rng.integers(1, 4, len(given.losses)).astype(float)
        keywords = {"sample_weight": weights}
    fitted = {}
    for solver in SOLVERS:
        stops = {"gap": 1e-5, "passes": 150} if solver in WITH_DUAL else {"passes": 3}
        made = given.make(solver=solver, lam=lam, seed=seed, clock="work", rescaling=rescaling, **stops)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted[solver] = made.fit(given.X, given.y, **keywords)
        except ValueError as error:
            reasons = ("needs a task that can", "slack", "takes no weights of examples")
            assert any(reason in str(error) for reason in reasons), (solver, str(error))
    return given, lam, weights, fitted


PER_PROBLEM = 17
"""Fits of a problem, at least: not every solver takes every task."""

PROBLEMS = [
    (task, rescaling, seed)
    for seed in range(-(-RUNS // (PER_PROBLEM * 2 * len(TASKS))))
    for task in TASKS
    for rescaling in ("margin", "slack")
]


@pytest.mark.parametrize(("task", "rescaling", "seed"), PROBLEMS)
def test_brackets_hold_the_optimum(task, rescaling, seed):
    """No dual value is above the objective anywhere, each primal value is the objective at the weights or above it, and
    what is called certified is.
    """
    given, lam, weights, fitted = fits(task, rescaling, seed)
    assert len(fitted) >= PER_PROBLEM
    values = {name: given.primal(np.ravel(fit.coef_), lam, rescaling, weights) for name, fit in fitted.items()}
    least = min(values.values())
    for name, fit in fitted.items():
        room = ROUNDING * (1 + values[name])
        assert np.isnan(fit.dual_) or fit.dual_ <= least + room, (name, fit.dual_, least)
        assert np.isnan(fit.primal_) or fit.primal_ >= values[name] - room, (name, fit.primal_, values[name])
        if rescaling == "margin" and not np.isnan(fit.primal_):
            assert fit.primal_ == pytest.approx(values[name], rel=1e-8, abs=1e-8), name
        if given.nonnegative is not None:
            assert (np.ravel(fit.coef_)[given.nonnegative] >= 0).all(), name
        if fit.certified_:
            assert fit.primal_ >= least - room and fit.gap_ >= values[name] - least - room, name
    assert fitted["one-slack"].gap_ <= 1e-3 * (1 + least) or rescaling == "slack"  # whose answers are searched
