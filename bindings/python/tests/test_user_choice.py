"""``lam="cv"`` and cross-validated paths for tasks of users: folds are made of their examples."""

import numpy as np
import pytest
from conftest import blobs
from problems import Multiclass, Undeclared

from multiplane import MulticlassSSVM, StructuredSVM

X, Y = blobs(3)


def noisy():
    """Data of which some labels are wrong, so that lambda matters."""
    y = Y.copy()
    y[::7] = (y[::7] + 1) % 3
    return list(X), y.tolist()


class Watched(Multiclass):
    """Notes what it is asked to learn from, and what to predict."""

    def __init__(self, fail_at=None, error=None):
        super().__init__()
        self.learned, self.predicted, self.fail_at, self.error, self.asked = [], [], fail_at, error, 0

    def decode(self, x, w, truth=None):
        self.asked += 1
        if self.asked == self.fail_at:
            raise self.error
        (self.predicted if truth is None else self.learned).append((x.tobytes(), self.asked))
        return super().decode(x, w, truth)


def test_lambda_is_chosen_by_examples_held_out():
    """The least loss decides, and the fit is that at its lambda; folds and lambdas are those of the built-in task."""
    x, y = noisy()
    model = StructuredSVM(Multiclass(), lam="cv", clock="work", solver="mp-bcfw").fit(x, y)
    choice = model.summary_["lambda_choice"]
    losses = {row["lambda"]: row["mean_loss"] for row in choice["losses"]}
    assert model.lam_ == choice["lambda"] and losses[model.lam_] == min(losses.values()) and model.certified_
    assert choice["folds"] == 5 and choice["held_out"] == len(y) and choice["calls"] > len(y)
    twin = MulticlassSSVM(lam="cv", clock="work", solver="mp-bcfw").fit(X, np.array(y)).summary_["lambda_choice"]
    first, other = ([(row["lambda"], row["mean_loss"]) for row in of["first_fold"]] for of in (choice, twin))
    # The first fold ends where passes do not train any more, and calls of Python are priced otherwise.
    common = min(len(first), len(other))
    assert abs(len(first) - len(other)) <= 1 and common > 5
    assert [at for at, _ in first[:common]] == pytest.approx([at for at, _ in other[:common]])
    assert [loss for _, loss in first[:2]] == [loss for _, loss in other[:2]]  # where w hardly depends on what was asked when
    fixed = StructuredSVM(Multiclass(), lam=model.lam_, clock="work", solver="mp-bcfw").fit(x, y)
    assert np.array_equal(fixed.coef_, model.coef_) and fixed.n_iter_ == model.n_iter_


def test_what_is_held_out_is_not_learned_from():
    """In each fold the examples that are predicted are others than those that are learned from."""
    x, y = noisy()
    task = Watched()
    model = StructuredSVM(task, lam="cv:3", seed=4).fit(x, y)
    assert model.summary_["lambda_choice"]["folds"] == 3
    predicted = sorted(task.predicted, key=lambda one: one[1])
    held_out = {one for one, _ in predicted[:30]}  # a third, before the next point is trained
    before = {one for one, at in task.learned if at < predicted[0][1]}
    assert len(held_out) == 30 and len(before) == 60 and not held_out & before


@pytest.mark.parametrize("error", [RuntimeError("no answer"), KeyboardInterrupt()], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("fail_at", [1, 75, 400])
def test_what_the_users_code_raises(error, fail_at):
    """An exception in a fold is the user's own, and nothing is fitted."""
    x, y = noisy()
    model = StructuredSVM(Watched(fail_at, error), lam="cv")
    with pytest.raises(type(error)):
        model.fit(x, y)
    assert not hasattr(model, "coef_")


def test_kinds_of_tasks(quiet):
    """Undeclared decoders, slack rescaling, processes and warm starts go through folds, too."""
    x, y = noisy()
    for model in (
        StructuredSVM(Undeclared(), lam="cv", passes=5),
        StructuredSVM(Multiclass(), rescaling="slack", lam="cv", passes=5),
        StructuredSVM(Multiclass(), lam="cv:2", n_jobs=2, passes=5),
        StructuredSVM(Multiclass(), lam="cv", warm_start=True, passes=5),
    ):
        model.fit(x, y, X_test=x[:9], Y_test=y[:9])
        assert model.summary_["lambda_choice"]["lambda"] == model.lam_ and model.score(x, y) > 0.6
    with pytest.raises(ValueError, match="lambda = cv:folds: the data has no"):
        StructuredSVM(Multiclass(), lam="cv:folds").fit(x, y)
    with pytest.raises(ValueError, match="lambda = cv: 1 examples cannot be divided"):
        StructuredSVM(Multiclass(), lam="cv").fit(x[:1], y[:1])
    with pytest.raises(ValueError, match="91 folds of 90 examples"):
        StructuredSVM(Multiclass(), lam="cv:91").fit(x, y)
