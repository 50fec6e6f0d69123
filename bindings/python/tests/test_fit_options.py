"""Callbacks and checkpoints of fits, and estimators on the exceptions that end them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import multiplane
from conftest import blobs, sequences
from graph_data import grids
from multiplane import BinarySSVM, ChainSSVM, FitOptions, GraphSSVM, MulticlassSSVM, MultiLabelSSVM, StructuredSVM
from test_failed_fits import Broken, Task, data


def rows():
    x, y = blobs()
    return MulticlassSSVM(gap="1%", clock="work", lam=1e-3), x, y


def two_classes():
    x, y = blobs()
    return BinarySSVM(gap="1%", clock="work", lam=1e-3), x, (y > 0).astype(int)


def labels():
    x, y = blobs()
    return MultiLabelSSVM(passes=10, clock="work", lam=1e-3), x, np.eye(3, dtype=int)[y]


def chains():
    return ChainSSVM(passes=20, clock="work", lam=1e-3), *sequences()


def superpixels():
    return GraphSSVM(passes=20, clock="work", lam=1e-3), *grids()


def own():
    X, Y = data(60)
    return StructuredSVM(Task(), passes=10, clock="work", lam=1e-5), [1e2 * x for x in X], Y


EVERY = [rows, two_classes, labels, chains, superpixels, own]


@pytest.mark.parametrize("kind", EVERY)
def test_callbacks_hear_every_record(kind):
    """In order, as ``history_`` has them, and on the thread that called the fit; what they do to a record changes nothing."""
    model, X, y = kind()
    heard, threads = [], set()

    def spoil(record):
        record.clear()

    def hear(record):
        heard.append(record)
        threads.add(threading.get_ident())

    model.fit(X, y, callbacks=[spoil, hear])
    assert heard == list(model.history_) and len(heard) > 1
    assert threads == {threading.get_ident()}
    alone, _, _ = kind()
    assert np.array_equal(alone.fit(X, y, callbacks=None).coef_, model.coef_)


@pytest.mark.parametrize("kind", EVERY)
def test_a_callback_that_returns_true_ends_the_fit(kind):
    """With its bounds, and without an exception."""
    whole, X, y = kind()
    whole.fit(X, y)
    model, X, y = kind()
    model.fit(X, y, callbacks=lambda record: record["pass"] >= 1)
    assert model.stop_reason_ == model.summary_["stop_reason"] == "callback"
    assert model.history_.at("pass")[-1] < whole.history_.at("pass")[-1]
    assert len(model.predict(X)) == len(X) and np.isfinite(model.primal_) and model.dual_ <= whole.primal_
    model, X, y = kind()
    assert model.fit(X, y, callbacks=lambda record: "more").stop_reason_ in ("gap", "passes"), "True alone ends it"


@pytest.mark.parametrize("kind", EVERY)
def test_an_exception_of_a_callback_hands_the_estimator_out(kind):
    """Also where the estimator has no name."""

    def fail(record):
        if record["pass"] >= 2:
            raise Broken("the server is gone")

    model, X, y = kind()
    with pytest.raises(Broken, match="the server is gone") as raised:
        type(model)(**model.get_params(deep=False)).fit(X, y, callbacks=[fail])
    found = raised.value.estimator
    assert type(found) is type(model) and found.stop_reason_ == "interrupt" and len(found.predict(X)) == len(X)


def test_the_recipe_for_pruning():
    """As documented: a trial hears of test losses and ends the fit."""
    heard = []
    model, X, y = rows()

    def prune(record):
        heard.append((record["test_loss"], record["iterations"]))
        return np.bool_(len(heard) >= 2)

    assert model.fit(X, y, X_test=X, y_test=y, callbacks=prune).stop_reason_ == "callback"
    assert len(heard) in (2, 3) and all(0 <= loss <= 1 for loss, _ in heard)


def test_wrong_callbacks_are_refused():
    model, X, y = rows()
    for wrong in (3, "log", [print, None]):
        with pytest.raises(ValueError, match=r"callbacks = .*: expected a callable, or a list of them"):
            model.fit(X, y, callbacks=wrong)
    with pytest.raises(TypeError, match="did you mean 'callbacks'"):
        model.fit(X, y, callback=print)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("way", ["callback", "exception"])
def test_a_resumed_fit_is_the_one_that_was_not_interrupted(kind, way, tmp_path):
    """To the bit: weights, bounds, counts, and the records from there on."""
    whole, X, y = kind()
    whole.fit(X, y)
    path = tmp_path / "fit.ckpt"
    model, X, y = kind()

    def stop(record):
        if record["pass"] >= 2 and way == "exception":
            raise Broken
        return record["pass"] >= 2

    try:
        model.fit(X, y, callbacks=stop, checkpoint=path)
    except Broken as error:
        assert error.estimator is model
    assert model.n_iter_ < whole.n_iter_
    again, X, y = kind()
    again.fit(X, y, resume=path)
    assert np.array_equal(again.coef_, whole.coef_)
    assert (again.primal_, again.dual_, again.certified_) == (whole.primal_, whole.dual_, whole.certified_)
    assert again.summary_["oracle_calls"] == whole.summary_["oracle_calls"]
    last = len(again.history_)
    assert 0 < last < len(whole.history_) and list(again.history_) == list(whole.history_)[-last:]


@pytest.mark.parametrize("call", [75, 200, 333])
def test_a_task_that_fails_is_resumed(call, tmp_path):
    """The calls before the one that failed are not made again, and the answer is as good."""
    whole, X, y = own()
    whole.fit(X, y)
    path = tmp_path / "fit.ckpt"
    broken, X, y = own()
    broken.task.left = call
    with pytest.raises(Broken):
        broken.fit(X, y, checkpoint=path)
    again, X, y = own()
    again.fit(X, y, resume=path)
    assert again.dual_ <= whole.primal_ and whole.dual_ <= again.primal_
    assert again.history_[0]["oracle_calls"] + again.history_[0]["evaluation_calls"] >= call


def test_checkpoints_of_something_else_are_refused(tmp_path):
    """Another task, other data, other parameters, no file: with what differs."""
    path = tmp_path / "fit.ckpt"
    model, X, y = rows()
    model.fit(X, y, callbacks=lambda record: record["pass"] >= 2, checkpoint=path)
    with pytest.raises(ValueError, match="not the training data of the checkpoint"):
        rows()[0].fit(X[1:], y[1:], resume=path)
    with pytest.raises(ValueError, match="lambda: the checkpoint has"):
        rows()[0].set_params(lam=1.0).fit(X, y, resume=path)
    with pytest.raises(ValueError, match="nothing.ckpt"):
        rows()[0].fit(X, y, resume=tmp_path / "nothing.ckpt")
    with pytest.raises(ValueError, match="checkpoint says where"):
        rows()[0].fit(X, y, checkpoint_every=3)
    model, X, y = own()
    model.fit(X, y, callbacks=lambda record: record["pass"] >= 2, checkpoint=path)
    with pytest.raises(ValueError, match="checkpoint"):
        model.fit([2 * x for x in X], y, resume=path)


def test_a_chosen_lambda_is_not_chosen_again(tmp_path):
    """A resumed fit takes it from the checkpoint, with how it was chosen, which other folds would change."""
    path = tmp_path / "fit.ckpt"
    model, X, y = chains()
    model.set_params(lam="cv:2").fit(X, y, callbacks=lambda record: record["pass"] >= 2, checkpoint=path)
    again, X, y = chains()
    again.set_params(lam="cv:3").fit(X, y, resume=path)
    assert again.lam_ == model.lam_ and again.summary_["lambda_choice"] == model.summary_["lambda_choice"]
    assert again.summary_["lambda_choice"]["folds"] == 2
    whole, X, y = chains()
    assert np.array_equal(whole.set_params(lam="cv:2").fit(X, y).coef_, again.coef_)


def test_names_of_the_keywords():
    """Fits refuse what is like them with the right name."""
    assert set(FitOptions.__annotations__) == {"callbacks", "checkpoint", "checkpoint_every", "resume", "update_from"}
    model, X, y = own()
    with pytest.raises(TypeError, match="did you mean 'checkpoint'"):
        model.fit(X, y, checkpoints="f")
    assert "callbacks" in multiplane.ChainSSVM.fit.__doc__ and "estimator" in multiplane.GraphSSVM.fit.__doc__


@pytest.mark.parametrize("limit", [{"calls": 3000}, {"seconds": 0.05}], ids=["calls", "seconds"])
def test_a_choice_counts_in_a_fit_that_goes_on(limit, tmp_path):
    """What the choice of lambda took of a limit is not there for the resumed fit: it is the one that was not interrupted."""
    X, y = sequences(60)
    model = ChainSSVM(lam="cv", gap=0, clock="work", **limit)
    whole = model.fit(X, y)
    coef, calls, chosen = whole.coef_, whole.summary_["oracle_calls"], whole.summary_["lambda_choice"]
    assert chosen["calls"] > 0
    stopped = ChainSSVM(**model.get_params()).fit(X, y, checkpoint=tmp_path / "c", callbacks=[lambda record: record["iterations"] >= 2])
    assert stopped.summary_["oracle_calls"] < calls
    resumed = ChainSSVM(**model.get_params()).fit(X, y, resume=tmp_path / "c")
    assert (resumed.summary_["oracle_calls"], resumed.summary_["lambda_choice"]) == (calls, chosen)
    assert (resumed.coef_ == coef).all() and resumed.stop_reason_ == whole.stop_reason_
