"""Every keyword of every estimator reaches the specification of its run, or is refused by name."""

import inspect

import numpy as np
import pytest
from enumerated import TASKS, problem
from problems import Multiclass

import multiplane as mp
from multiplane._base import Estimator

OTHER = {
    "solver": "bcfw", "lam": 0.25, "gap": 0.125, "passes": 7.0, "calls": 70, "seconds": 9.0, "patience": 2, "seed": 5,
    "threads": 2, "clock": "work", "n_jobs": 2, "params": {"evaluate": "pass"}, "holdout": "20%", "rescaling": "slack",
    "partial": "masked",
    "bias": True, "ends": True, "transitions": "bio", "min_count": 2, "class_weight": [1.0, 2.0], "loss": "hamming-sum", "scale": "max-abs",
    "label_weights": [1.0, 2.0], "pairwise": "none", "potts": 0.5, "inference": "brute", "max_iterations": 7,
    "root": "any", "distances": [1, 2], "kernel": "rbf", "gamma": 0.5, "degree": 2, "coef0": 0.75, "kernel_budget": 5,
    "kernel_rows": {"bytes": 1000}, "unary_columns": [0, 1], "pair_columns": [2],
    "levels": 3, "max_sets": 10, "none": True, "normalise": "l2", "search": "windows", "stride": 2, "windows": 3, "words": [5],
    "apart": 0.7, "bin_kernel": "chi2", "alpha": 0.25, "edges": "0-1", "torso": "0-1", "types": 2,
}  # fmt: skip
"""A value of each keyword that is not its default."""

BESIDE = {
    "gamma": {"kernel": "rbf"}, "degree": {"kernel": "poly"}, "coef0": {"kernel": "poly"}, "kernel_budget": {"kernel": "rbf"},
    "kernel_rows": {"kernel": "rbf"},
}  # fmt: skip
"""What a keyword needs beside it."""

ELSEWHERE = {
    "task": "the object that is asked", "executor": "who decodes", "ray_options": "what an actor needs", "timeout": "of processes", "warm_start": "where a fit begins",
    "dual": "what is kept", "progress": "what is shown", "prior": "a file for the time of a fit", "unknown": "how labels are read", "template": "how examples are read",
    "min_count": "how examples are read", "unary_columns": "how examples are read", "pair_columns": "how examples are read",
}  # fmt: skip
"""Keywords that are no part of a specification, and what they are of."""

ESTIMATORS = [
    found for found in vars(mp).values() if inspect.isclass(found) and issubclass(found, Estimator) and found is not Estimator
]


def made(cls, **keywords):
    return cls(Multiclass(), **keywords) if cls is mp.StructuredSVM else cls(**keywords)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_keywords_reach_the_specification(cls):
    """Another value makes another specification; of a user's task ``n_jobs`` starts processes instead of threads."""
    assert len(ESTIMATORS) >= 9
    for name in cls._names():
        if name in ELSEWHERE or (cls is mp.StructuredSVM and name in ("threads", "n_jobs")):
            continue
        beside = BESIDE.get(name, {})
        other = made(cls, **beside, **{name: OTHER[name]})
        assert other._tree() != made(cls, **beside)._tree(), name


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("params", [
    {"task.nonsense": 3}, {"solver.nonsense": 3}, {"stop.nonsense": 3}, {"nonsense": 3}, {"task.name": "other"},
    {"task": "other"}, {"regularizer.nonsense": 1}, {"oracle.nonsense": 1},
], ids=str)  # fmt: skip
def test_unknown_parameters_are_refused(task, params):
    """By their name, before anything is trained."""
    given = problem(task, np.random.default_rng(0))
    model = given.make(params=params, passes=1)
    word = next(iter(params)).split(".")[-1]
    with pytest.raises(ValueError, match=word):
        model.fit(given.X, given.y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("keyword", [{"rescaling": "both"}, {"clock": "sun"}, {"solver": "best"}, {"lam": "some"}], ids=str)
def test_values_that_are_none_are_refused(task, keyword):
    """The message has the value."""
    given = problem(task, np.random.default_rng(0))
    with pytest.raises(ValueError, match=next(iter(keyword.values()))):
        given.make(passes=1, **keyword).fit(given.X, given.y)


def test_the_class_of_a_users_task_is_that_of_the_object():
    """It is no parameter."""
    given = problem("own", np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"task\.class"):
        given.make(params={"task.class": "Other"}).fit(given.X, given.y)


def test_slack_rescaling_of_users_tasks_comes_through_a_file(tmp_path):
    """The model knows it."""
    given = problem("own", np.random.default_rng(0))
    model = given.make(rescaling="slack", lam=0.1).fit(given.X, given.y)
    assert model.summary_["margin_calls"] > 0
    model.save(tmp_path / "m.safetensors")
    loaded = mp.StructuredSVM.load(tmp_path / "m.safetensors", model.task)
    assert np.array_equal(loaded.coef_, model.coef_)


def test_tables_and_keywords_go_together():
    """A table under ``params`` leaves what keywords say beside it."""
    model = mp.MulticlassSSVM(bias=True, solver="bcfw", params={"task": {"scale": "max-abs"}, "solver": {"order": "uniform"}})
    assert model._tree()["task"] == {"name": "multiclass", "bias": True, "scale": "max-abs"}
    assert model._tree()["solver"] == {"name": "bcfw", "order": "uniform"}
