"""A fit that fails leaves the estimator as it was, and nothing that a later fit could go on from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import multiplane
from conftest import blobs, sequences
from multiplane import ChainSSVM, MulticlassSSVM, StructuredSVM


class Broken(Exception):
    """What a user's code raises."""


class Task:
    """Three classes; a call can fail."""

    quality = "exact"

    def __init__(self):
        self.left = np.inf

    def dim(self):
        return 6

    def features(self, x, y):
        v = np.zeros(6)
        v[2 * y : 2 * y + 2] = x
        return v

    def loss(self, truth, y):
        return float(truth != y)

    def decode(self, x, w, truth=None):
        self.left -= 1
        if self.left < 0:
            raise Broken("no answer")
        scores = w.reshape(3, 2) @ x
        return int((scores if truth is None else scores + (np.arange(3) != truth)).argmax())

    def fingerprint(self):
        return "three classes"


def data(n=40):
    chance = np.random.default_rng(0)
    return [0.01 * chance.normal(size=2) for _ in range(n)], [int(chance.integers(3)) for _ in range(n)]


def spread(X, Y):
    """Other data in the same objects, so that planes of before bound another problem; a third stays as it was."""
    for i in range(len(X)):
        if i % 3:
            X[i][:] = 30 * np.cos(2.1 * Y[i]), 30 * np.sin(2.1 * Y[i])


def wrong_parameter(model, task):
    model.set_params(lam="oops")
    return ValueError


def broken_decoder(model, task):
    task.left = 25
    return Broken


def wrong_answers(model, task):
    task.dim = lambda: 5
    return ValueError


@pytest.mark.parametrize("fail", [wrong_parameter, broken_decoder, wrong_answers])
def test_data_of_a_failed_fit_is_not_that_of_the_last(fail):
    """What was changed before the fit that failed has changed for the one after it, too."""
    X, Y = data()
    task = Task()
    warm = StructuredSVM(task, gap=1e-4, clock="work", lam=0.01, warm_start=True).fit(X, Y)
    spread(X, Y)
    with pytest.raises(fail(warm, task)):
        warm.fit(X, Y)
    task.left = np.inf
    vars(task).pop("dim", None)
    warm.set_params(lam=0.01, gap=0.5).fit(X, Y)
    fresh = StructuredSVM(task, gap=0.5, clock="work", lam=0.01).fit(X, Y)
    if fail is broken_decoder:  # the fit continues with what it has learned of the new data
        assert warm.dual_ <= fresh.primal_ and fresh.dual_ <= warm.primal_
    else:
        assert (warm.primal_, warm.dual_) == (fresh.primal_, fresh.dual_)


def state(model):
    """All that an estimator holds, but for what the next fit would go on from."""
    getattr(model, "coef_", None)  # copied when it is first asked for
    held = {name: value for name, value in vars(model).items() if name not in ("_fit", "_last", "_model")}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in held.items()}


@pytest.mark.parametrize("solver", ["auto", "bcfw"])
def test_an_exception_of_the_oracle_keeps_the_model_so_far(solver):
    """Wherever it comes, in training, within an evaluation under way, or in the calls that hold the decoder to its word:
    the user's own exception, which hands the estimator out. The first call of all leaves the estimator as it was.
    """
    X, Y = data(60)
    spread(X, Y)
    counted = Task()
    counted.left = 10**6
    parameters = {"gap": 1e-3, "clock": "work", "lam": 0.01, "solver": solver}
    again = StructuredSVM(counted, **parameters).fit(X, Y)
    calls = 10**6 - counted.left
    assert again.summary_["evaluation_calls"] >= 60, "an attempt ends the run"
    within = calls - 16 - 30  # 16 calls sample the promise; the attempt before them has 60
    for k in sorted({0, 1, 59, 60, 61, calls // 3, calls // 2, within, calls - 17, calls - 16, calls - 9, calls - 1}):
        task = Task()
        model = StructuredSVM(task, **parameters)
        task.left = k
        with pytest.raises(Broken) as raised:
            model.fit(X, Y)
        assert str(raised.value) == "no answer" and type(raised.value) is Broken
        task.left = np.inf
        if k == 0:
            assert state(model) == state(StructuredSVM(task, **parameters)) and not hasattr(raised.value, "estimator")
            with pytest.raises(AttributeError):  # not fitted yet, as either package says it
                model.predict(X)
            continue
        assert raised.value.estimator is model and "can be used" in raised.value.__notes__[-1], f"call {k} of {calls}"
        assert len(model.predict(X)) == 60 and not model.certified_
        assert not model.dual_ > again.primal_ and not again.dual_ > model.primal_
        model.set_params(gap=0.2, warm_start=True).fit(X, Y)
        model.set_params(gap=1e-3)
        task.left = k
        try:
            model.fit(X, Y)  # which goes on from where the last one was: it may need no more than k calls
        except Broken as error:
            assert error.estimator is model
        task.left = np.inf
        whole = model.fit(X, Y)
        assert whole.certified_ and whole.dual_ <= again.primal_ + 1e-9 and again.dual_ <= whole.primal_ + 1e-9


def test_a_broken_promise_is_in_the_report_too():
    """Estimator and summary say the same of the certificate."""

    class Wrong(Task):
        def decode(self, x, w, truth=None):
            scores = w.reshape(3, 2) @ x
            return int((scores if truth is None else scores - (np.arange(3) != truth)).argmax())

    X, Y = data()
    with pytest.warns(multiplane.BrokenPromiseWarning):
        model = StructuredSVM(Wrong(), passes=20, clock="work").fit(X, Y)
    assert not model.certified_ and not model.summary_["certified"]


def rows():
    x, y = blobs()
    return MulticlassSSVM(gap="5%", warm_start=True), (x, y), (np.hstack([x, x]), np.array(["a", "b", "c"])[y])


def chains():
    x, y = sequences()
    other = [[f"tag {label}" for label in labels] for labels in y]
    return ChainSSVM(gap="5%", warm_start=True), (x, y), ([np.hstack([part, part]) for part in x], other)


@pytest.mark.parametrize("kind", [rows, chains])
def test_built_in_estimators_stay_as_they_were(kind):
    """Names of classes and numbers of features belong to the weights: a fit that fails, and a path, leave both."""
    model, one, other = kind()
    model.fit(*one)
    before, answers = state(model), model.predict(one[0])
    model.set_params(lam="oops")
    with pytest.raises(ValueError, match="lam"):
        model.fit(*other)
    model.set_params(lam="auto")
    assert state(model) == before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.path(*other, eps=0.5, lambda_min=0.1)
    assert found.at(0.2).predict(other[0])[0] is not None
    assert state(model) == before
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(one[0]), answers, strict=True))
