"""What an oracle promises and does not keep certifies nothing; what has changed is not gone on from."""

from __future__ import annotations

import numpy as np
import pytest

import multiplane
from multiplane import Bounded, MulticlassSSVM, StructuredSVM

K, F = 3, 4


class Task:
    """Several classes, written out."""

    quality = "exact"

    def __init__(self, scale=1.0):
        self.scale = scale

    def fingerprint(self):
        return self.scale

    def dim(self):
        return K * F

    def features(self, x, y):
        return (np.arange(F) + y * F, x)

    def loss(self, truth, y):
        return self.scale * float(truth != y)

    def scores(self, x, w, truth):
        scores = w.reshape(K, F) @ x
        if truth is not None:
            scores = scores + self.scale
            scores[truth] -= self.scale
        return scores

    def decode(self, x, w, truth=None):
        return int(self.scores(x, w, truth).argmax())


class Liar(Task):
    """Exact for 200 calls, then silent."""

    calls = 0

    def decode(self, x, w, truth=None):
        self.calls += 1
        return super().decode(x, w, truth) if truth is None or self.calls <= 200 else truth


class BoundOf(Task):
    quality = "upper-bound"

    def __init__(self, bound):
        super().__init__()
        self.bound = bound

    def decode(self, x, w, truth=None):
        return Bounded(super().decode(x, w, truth), self.bound)


def data(seed=0):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(60, F))
    return list(x), [int(y) for y in (x @ chance.normal(size=(F, K)) + chance.normal(size=(60, K))).argmax(axis=1)]


def test_a_broken_promise_certifies_nothing():
    """A better labelling that was named before, or F above P, disproves that decode was exact: the fit and the path end."""
    with pytest.raises(ValueError, match=r"check\(X, Y\)"):
        StructuredSVM(Liar(), solver="bcfw", passes=40, clock="work").fit(*data())
    with pytest.raises(ValueError, match=r"check\(X, Y\)"):
        StructuredSVM(Liar(), clock="work").path(*data(), eps=0.05, lambda_min=1e-3)


@pytest.mark.parametrize("bound", [float("nan"), float("-inf"), -100.0])
def test_bounds_that_bound_nothing_are_refused(bound):
    """No number, no bound; nor one below the labelling's own score."""
    with pytest.raises(ValueError, match="its upper bound is"):
        StructuredSVM(BoundOf(bound)).fit(*data())


def test_a_loose_bound_is_what_the_primal_is_made_of():
    """The certificate holds with the bound, and says so."""

    class Loose(Task):
        quality = "upper-bound"

        def decode(self, x, w, truth=None):
            scores = self.scores(x, w, truth)
            return Bounded(int(scores.argmax()), float(scores.max()) + 0.05)

    exact = StructuredSVM(Task(), gap=1e-4, clock="work").fit(*data())
    loose = StructuredSVM(Loose(), gap=0.051, clock="work").fit(*data())
    assert loose.certified_ and loose.dual_ <= exact.primal_ + 1e-9 <= loose.primal_ + 1e-6


def test_a_truth_with_a_loss_is_refused():
    """The loss of the truth is 0, but for rounding."""

    class Off(Task):
        off = 0.5

        def loss(self, truth, y):
            return super().loss(truth, y) + self.off

    with pytest.raises(ValueError, match="the loss of its truth is 0.5, expected 0"):
        StructuredSVM(Off()).fit(*data())
    tiny = Off()
    tiny.off = 1e-13
    assert StructuredSVM(tiny).fit(*data()).certified_
    assert StructuredSVM(tiny).check(*data()) == []


def test_another_problem_is_not_gone_on_from():
    """A warm start after loss or task has changed is a cold one: same optimum as a fresh fit."""
    x, y = data()
    warm = StructuredSVM(Task(), warm_start=True, gap=1e-4, clock="work").fit(x, y)
    warm.task = Task(1.5)
    fresh = StructuredSVM(Task(1.5), gap=1e-4, clock="work").fit(x, y)
    assert warm.fit(x, y).primal_ == pytest.approx(fresh.primal_, abs=2e-4)

    rows = MulticlassSSVM(warm_start=True, gap=1e-4, clock="work").fit(np.array(x), y)
    weights = {"task.class_weights": [1.0, 3.0, 5.0]}
    fresh = MulticlassSSVM(params=weights, gap=1e-4, clock="work").fit(np.array(x), y)
    rows.set_params(params=weights)
    assert rows.fit(np.array(x), y).primal_ == pytest.approx(fresh.primal_, abs=2e-4)
    calls = rows.summary_["oracle_calls"]
    rows.set_params(gap=1e-5)
    assert rows.fit(np.array(x), y).summary_["oracle_calls"] > calls, "the same problem is gone on from"


@pytest.mark.parametrize("dim", [0, 10**13, -1, 2.5, "x"])
def test_impossible_dimensions_are_refused(dim):
    """By name, before anything of that size is made."""

    class Huge(Task):
        def dim(self):
            return dim

    for use in (StructuredSVM(Huge()).fit, StructuredSVM(Huge()).check):
        with pytest.raises(ValueError, match=r"dim\(\) returned"):
            use(*data())


def test_frozen_weights_come_back_with_the_model(tmp_path):
    """An estimator that is loaded solves the problem that its model solved."""
    x, y = data()
    model = MulticlassSSVM(params={"regularizer.freeze": "0..4"}, clock="work").fit(np.array(x), y)
    assert not model.coef_.ravel()[:4].any()
    model.save(tmp_path / "m")
    again = multiplane.load(tmp_path / "m").fit(np.array(x), y)
    assert (again.coef_ == model.coef_).all()


def test_a_forgotten_loss_does_not_pass_in_silence():
    """The commonest mistake ends the fit, with what finds it."""

    class Forgetful(Task):
        def decode(self, x, w, truth=None):
            return super().decode(x, w)

    with pytest.raises(ValueError, match=r"check\(X, Y\)"):
        StructuredSVM(Forgetful(), passes=30, clock="work").fit(*data())


@pytest.mark.parametrize("sign", [-1.0, 0.0])
def test_exact_decoders_are_held_to_their_word(sign):
    """A loss that is subtracted, or a search for the worst, ends in a tight gap of nothing: some answers tell."""

    class Wrong(Task):
        def decode(self, x, w, truth=None):
            if sign == 0.0:
                return int(self.scores(x, w, truth).argmin())
            scores = self.scores(x, w, None)
            if truth is not None:
                scores = scores - 1.0
                scores[truth] += 1.0
            return int(scores.argmax())

    with pytest.warns(multiplane.BrokenPromiseWarning):
        assert not StructuredSVM(Wrong(), passes=20, clock="work").fit(*data()).certified_


def test_sound_tasks_are_not_warned_of():
    """Many seeds, no false alarm."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(30):
            assert StructuredSVM(Task(), gap="2%", clock="work").fit(*data(seed)).certified_


def test_estimated_gaps_stop_where_that_is_wished():
    """stop.estimated=true takes the gap at its word; nothing is certified all the same."""

    class Undeclared(Task):
        quality = "heuristic"

    model = StructuredSVM(Undeclared(), gap="5%", clock="work", params={"stop.estimated": True}).fit(*data())
    assert model.stop_reason_ == "gap" and not model.certified_
