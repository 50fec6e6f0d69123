"""Paths that are cross-validated, and paths with checkpoints."""

import json
import pickle
import subprocess

import matplotlib
import numpy as np
import pytest
from conftest import blobs
from problems import Multiclass

import multiplane
import multiplane._base as base
from multiplane import BinarySSVM, MulticlassSSVM, StructuredSVM

matplotlib.use("Agg")
X, Y = blobs(3)
Y = np.where(np.arange(len(Y)) % 7 == 0, (Y + 1) % 3, Y)  # some labels are wrong, so that lambda matters


def follow(estimator=None, **given):
    return (estimator or MulticlassSSVM(clock="work")).path(X, Y, **{"eps": 0.1, "lambda_min": 0.01, **given})


def test_held_out_losses_are_those_of_the_command_line(tmp_path, cli):
    """The same folds, losses to the bit, and choice; the file holds the choice, for both."""
    lines = [f"{label} " + " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(row)) for row, label in zip(X.tolist(), Y, strict=True)]
    (tmp_path / "data").write_text("\n".join(lines) + "\n")
    ask = [cli, "path", "--task", "multiclass", "--data", tmp_path / "data", "--eps", "0.1", "--lambda-min", "0.01", "--cv", "3"]
    ask += ["--clock", "work", "--seed", "5", "--json", "--out", tmp_path / "theirs"]
    theirs = json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)["cross_validation"]
    path = follow(MulticlassSSVM(clock="work", seed=5), cv=3)
    assert path.summary_["cross_validation"] == theirs and theirs["folds"] == 3
    losses = {row["lambda"]: row["mean_loss"] for row in theirs["losses"]}
    assert list(losses) == path.lambdas_.tolist() and path.best.lam == theirs["best_lambda"]
    assert losses[path.best.lam] == min(losses.values()) < max(losses.values())
    path.save(tmp_path / "ours")
    for again in (multiplane.load(tmp_path / "ours"), multiplane.load(tmp_path / "theirs"), pickle.loads(pickle.dumps(path))):
        assert again.best.lam == path.best.lam and np.array_equal(again.best.predict(X), path.best.predict(X))


def test_folds_may_be_given():
    """A fold for each example, by number or name; what is held out decides, not test data that is there as well."""
    of_example = np.arange(len(Y)) % 4
    path = follow(cv=of_example, X_test=X[:5], y_test=Y[:5])
    found = path.summary_["cross_validation"]
    assert found["folds"] == 4 and path.best.lam == found["best_lambda"]
    assert follow(cv=[f"part {k}" for k in of_example]).summary_["cross_validation"] == found
    assert found != follow(cv=4).summary_["cross_validation"]
    lam, losses = float(path.lambdas_[-1]), []  # by hand, for one lambda
    for fold in range(4):
        kept, out = of_example != fold, of_example == fold
        part = MulticlassSSVM(clock="work").path(X[kept], Y[kept], eps=0.1, lambda_min=0.01)
        losses.append(1 - part.at(lam).score(X[out], Y[out]))
    assert found["losses"][-1]["mean_loss"] == pytest.approx(np.mean(losses))
    drawn = path.plot().get_legend_handles_labels()[1]
    assert "held-out loss" in drawn


def test_tasks_of_users_are_cross_validated():
    """Folds are made of the user's examples; the losses are about those of the built-in task."""
    x, y = list(X), Y.tolist()
    path = StructuredSVM(Multiclass(), clock="work").path(x, y, eps=0.1, lambda_min=0.01, cv=3)
    found = path.summary_["cross_validation"]
    ours = follow(cv=3).summary_["cross_validation"]
    assert found["folds"] == 3 and path.best.lam == found["best_lambda"] and path.best.score(x, y) > 0.6
    assert found["losses"][-1]["mean_loss"] == pytest.approx(ours["losses"][-1]["mean_loss"], abs=0.1)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"cv": 1}, "cv = 1: expected a number of folds, at least 2"),
        ({"cv": True}, "cv = True: expected"),
        ({"cv": "folds"}, "cv = folds: expected"),
        ({"cv": 2.5}, "cv = 2.5: expected"),
        ({"cv": 10**400}, "expected a number of folds"),
        ({"cv": 91}, "91 folds of 90 examples"),
        ({"cv": [0, 1]}, "2 folds given for 90 examples"),
        ({"cv": [3] * 90}, "all examples are of one fold"),
        ({"cv": 3, "checkpoint": "c"}, "cross-validation has no checkpoints"),
        ({"checkpoint_every": 5}, "there is no checkpoint to write"),
        ({"checkpoint": "c", "checkpoint_every": "5"}, "must be a number of seconds"),
        ({"checkpoint": "c", "checkpoint_every": -1}, "must be a number of seconds"),
        ({"checkpoint": "no/such/place"}, "cannot be written"),
        ({"resume": "nothing"}, "nothing: .*No such file"),
    ],
)
def test_wrong_arguments(given, message, tmp_path, monkeypatch):
    """One line, before anything is trained."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        follow(**given)
    if "cv" in given:
        with pytest.raises(ValueError, match="columns of a precomputed kernel"):
            BinarySSVM(kernel="precomputed").path(X @ X.T, Y > 0, cv=3)


def test_an_incomplete_path_is_not_cross_validated():
    """It says so, and best falls back to test data."""
    with pytest.warns(UserWarning, match="not complete: it was not cross-validated"):
        path = follow(MulticlassSSVM(clock="work", passes=25), cv=3)
    assert path.summary_["cross_validation"] is None
    with pytest.raises(ValueError, match="cv=5"):
        path.best


def test_a_path_goes_on_from_its_checkpoint(tmp_path):
    """Cut short, and resumed twice: the same bits as in one go. Checkpoints of other things are refused."""
    whole, file = follow(), tmp_path / "checkpoint"
    with pytest.warns(multiplane.ConvergenceWarning, match="stopped by passes"):
        cut = follow(MulticlassSSVM(clock="work", passes=25), checkpoint=file)
    assert 1 <= len(cut) < len(whole) and file.exists()
    with pytest.warns(multiplane.ConvergenceWarning, match="stopped by passes"):
        more = follow(MulticlassSSVM(clock="work", passes=40), resume=file)
    again = follow(resume=file, checkpoint=tmp_path / "other", checkpoint_every=0.001)
    assert len(cut) <= len(more) <= len(whole) and np.array_equal(again.coef_, whole.coef_)
    assert np.array_equal(again.lambdas_, whole.lambdas_) and (tmp_path / "other").exists()
    with pytest.raises(ValueError, match="not the training data of the checkpoint"):
        MulticlassSSVM(clock="work").path(X[:50], Y[:50], eps=0.1, lambda_min=0.01, resume=file)
    with pytest.raises(ValueError, match="eps"):
        follow(eps=0.2, resume=file)
    (tmp_path / "broken").write_bytes(b"x")
    with pytest.raises(ValueError, match="broken"):
        follow(resume=tmp_path / "broken")


def test_a_checkpoint_of_what_was_interrupted(tmp_path, monkeypatch):
    """After Ctrl-C the path can be gone on from."""
    whole, file, seen = follow(), tmp_path / "checkpoint", []

    class Watcher(base.Watcher):
        def needed(self):
            return True

        def __call__(self, *given):
            seen.append(given)
            if len(seen) == 8:
                raise KeyboardInterrupt

    estimator = MulticlassSSVM(clock="work")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt) as caught:
        patched.setattr(base, "Watcher", Watcher)
        follow(estimator, checkpoint=file)
    assert file.exists() and np.array_equal(follow(resume=file).coef_, whole.coef_)
    found = estimator.path_
    assert 0 < len(found) < len(whole) and np.array_equal(found.coef_, whole.coef_[: len(found)])
    assert found.stop_reason_ == "interrupt" and "path_ of the MulticlassSSVM holds the path" in caught.value.__notes__[0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_folds_that_fail_lose_no_path(error):
    """A path is trained before its folds are: it is there whatever becomes of them."""

    class Signs:
        """The sign of a number; the decoder fails after a number of calls."""

        asked, quality = 0, "exact"

        def dim(self):
            return 1

        def features(self, x, y):
            return np.array([x * y], dtype=float)

        def loss(self, truth, y):
            return float(truth != y)

        def decode(self, x, w, truth=None):
            Signs.asked += 1
            if Signs.asked > limit:
                raise error("enough")
            return max((-1, 1), key=lambda y: w[0] * x * y + (truth is not None and truth != y))

    X, Y = [-2.0, -1.0, 1.0, 3.0, 0.5, -0.2] * 4, [-1, -1, 1, 1, -1, 1] * 4
    limit = np.inf
    estimator = multiplane.StructuredSVM(Signs(), clock="work")
    whole = estimator.path(X, Y, eps=0.1, lambda_min=0.01)
    limit, Signs.asked = Signs.asked + 40, 0
    with pytest.raises(error, match="enough"):
        estimator.path(X, Y, eps=0.1, lambda_min=0.01, cv=3)
    found = estimator.path_
    assert np.array_equal(found.coef_, whole.coef_) and found.summary_["cross_validation"] is None
