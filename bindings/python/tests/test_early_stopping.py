"""``patience`` and ``holdout``: fits that end by held-out data."""

import inspect
import pickle

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, MultiLabelSSVM, StructuredSVM, load


def noisy(n, seed=0):
    """Rows of three classes, a quarter of which have a label by chance."""
    x, y = blobs(3, n=n)
    rng = np.random.default_rng(seed)
    return x, np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), y)


def early(kind=MulticlassSSVM, **changes):
    return kind(**{"gap": 1e-6, "passes": 200, "patience": 3, "clock": "work", "lam": 1e-5, **changes})


def test_the_lowest_loss_is_kept():
    """Of all losses measured the weights have the lowest, bounds and losses are theirs, and the fit says why it ended."""
    x, y = noisy(240)
    model = early().fit(x[:180], y[:180], X_test=x[180:], y_test=y[180:])
    told = model.summary_["early_stopping"]
    assert model.stop_reason_ == model.summary_["stop_reason"] == "patience" and told["since"] == 3
    assert 1 - model.score(x[180:], y[180:]) == pytest.approx(told["loss"])
    losses = [loss for loss in model.history_.column("test_loss") if loss is not None]
    assert min(losses) == told["loss"] == model.summary_["test_loss"]
    assert model.primal_ - model.dual_ == pytest.approx(model.gap_) and model.certified_
    assert model.history_[-1]["early_stopping"] == told and model.history_[-1]["primal"] == model.primal_
    assert model.summary_["evaluation_calls"] >= 180


@pytest.mark.parametrize("kind", [MulticlassSSVM, BinarySSVM, MultiLabelSSVM, ChainSSVM])
def test_examples_are_held_out(kind):
    """A share or a number of the examples, drawn by the seed, is not trained on and is watched; without patience it is measured."""
    x, y = sequences(20) if kind is ChainSSVM else noisy(120)
    y = [np.asarray(labels) for labels in y] if kind is ChainSSVM else y
    if kind is BinarySSVM:
        y = (y > 0).astype(int)
    elif kind is MultiLabelSSVM:
        y = np.eye(3, dtype=int)[y]
    n = len(x)
    by_share = early(kind, holdout="25%").fit(x, y)
    by_number = early(kind, holdout=n // 4).fit(x, y)
    assert by_share.summary_["n"] == n - n // 4 and np.array_equal(by_share.coef_, by_number.coef_)
    assert by_share.summary_["early_stopping"]["loss"] == by_share.summary_["test_loss"]
    other = early(kind, holdout="25%", seed=1, patience=None, passes=3, gap=None).fit(x, y)
    assert other.summary_["test_loss"] is not None and "early_stopping" not in other.summary_
    assert other.history_.column("test_loss")[0] is not None
    same = early(kind, holdout="25%", params={"stop.patience": 3}, patience=None).fit(x, y)
    assert np.array_equal(same.coef_, by_share.coef_)
    with pytest.raises(ValueError, match=r"params\['data.holdout'\]: write the keyword, as in holdout="):
        early(kind, params={"data.holdout": "25%"}).fit(x, y)


def test_tasks_of_ones_own():
    """The loss of a user's task on ``X_test`` and ``Y_test`` ends a fit; there is no ``holdout``."""
    x, y = noisy(90)
    x, y = list(x[:, :4]), y.tolist()
    task = Multiclass(classes=3, features=len(x[0]))
    model = early(lambda **given: StructuredSVM(task, **given)).fit(x[:60], y[:60], X_test=x[60:], Y_test=y[60:])
    told = model.summary_["early_stopping"]
    assert 1 - model.score(x[60:], y[60:]) == pytest.approx(told["loss"])
    assert "holdout" not in model.get_params() and "holdout" not in StructuredSVM.__doc__ and "patience" in StructuredSVM.__doc__
    with pytest.raises(ValueError, match="nothing is held out to be watched: give fit test data") as caught:
        early(lambda **given: StructuredSVM(task, **given)).fit(x, y)
    assert "holdout" not in str(caught.value)
    with pytest.raises(ValueError, match=r"params\['data.holdout'\]: there is no holdout here; give fit test data"):
        StructuredSVM(task, params={"data.holdout": "20%"}).fit(x, y)


def test_estimators_with_patience_are_estimators(tmp_path):
    """They are cloned, pickled, saved and cross-validated like all others; what files tell comes back."""
    x, y = noisy(150)
    model = early(holdout="20%").fit(x, y)
    assert clone(model).get_params() == model.get_params()
    assert {"patience", "holdout"} <= set(inspect.signature(MulticlassSSVM).parameters)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), model.predict(x))
    assert len(cross_val_score(early(holdout="20%"), x, y, cv=3)) == 3
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").patience == 3
    again = early(holdout="20%", warm_start=True).fit(x, y).fit(x, y)
    lost = {name: again.summary_[name] for name in ("train_loss", "test_loss")}
    assert again.summary_["n"] == 120 and again.summary_["early_stopping"]["loss"] == lost["test_loss"]
    assert 150 * (1 - again.score(x, y)) == pytest.approx(120 * lost["train_loss"] + 30 * lost["test_loss"])


def test_nonsense_is_refused():
    """Nothing held out, test data from two places, numbers that are none, and what has no single model."""
    x, y = noisy(60)
    for estimator, given, message in [
        (early(), {}, r"patience = 3: nothing is held out to be watched: give fit test data .*, or holdout=\"20%\""),
        (early(holdout="20%"), {"X_test": x, "y_test": y}, "holdout = '20%', and test data were given to fit"),
        (early(holdout="20%", patience=0), {}, "stop.patience = 0: must be at least 1"),
        (early(holdout="20%", patience=2.5), {}, "patience"),
        (early(holdout=0.2), {}, "data.holdout = 0.2: must be a share"),
        (early(holdout="20%", params={"stop.patience": 2}), {}, "give one of them"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(x, y, **given)
    for changes, message in [({}, "patience: not for a path"), ({"patience": None, "holdout": 5}, "holdout: not for a path")]:
        with pytest.raises(ValueError, match=message):
            early(**changes).path(x, y, X_test=x, y_test=y)


@pytest.mark.parametrize(
    ("word", "value", "message"),
    [
        ("early_stopping", True, "write patience=5, and test data among the arguments of `fit`"),
        ("validation_fraction", 0.1, 'write holdout="20%", or a number of examples'),
    ],
)
def test_words_of_others(word, value, message):
    """Words of scikit-learn are told what to write."""
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{word}': ") as caught:
        MulticlassSSVM(**{word: value})
    assert message in str(caught.value)
