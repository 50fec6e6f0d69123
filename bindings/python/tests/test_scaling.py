"""Scaling of features: the warning that says so, models that carry it, weights with and without."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest

import multiplane as mp


def raw(n=90):
    """Three classes; the last column is 10^4 times as large as the others."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 3
    x = np.eye(3)[y] + 0.5 * rng.normal(size=(n, 3))
    return x * [1.0, 1.0, 1e4], y


@pytest.mark.parametrize("scale", ["max-abs", "standard"])
@pytest.mark.parametrize("bias", [False, True])
def test_scaled_models_take_raw_rows(tmp_path, scale, bias):
    """Predictions, decision values, files and pickles take rows as they are; coef_ is of the scaled features, and
    unscaled_coef() of the raw ones. Sparse and dense rows give the same."""
    from scipy import sparse

    x, y = raw()
    params = {"task.scale": scale, "task.bias": bias}
    model = mp.MulticlassSSVM(clock="work", params=params).fit(x, y)
    divisors = np.abs(x).max(axis=0) if scale == "max-abs" else x.std(axis=0)
    np.testing.assert_allclose(model.unscaled_coef()[:, :3] * divisors, model.coef_[:, :3], rtol=1e-12)
    values = x @ model.unscaled_coef()[:, :3].T + (model.unscaled_coef()[:, 3] if bias else 0.0)
    np.testing.assert_allclose(model.decision_function(x), values, rtol=1e-9, atol=1e-12)
    assert model.score(x, y) > 0.5
    model.save(tmp_path / "m")
    for other in (mp.MulticlassSSVM.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(x), model.predict(x))
        np.testing.assert_array_equal(other.unscaled_coef(), model.unscaled_coef())
    thin = mp.MulticlassSSVM(clock="work", params=params).fit(sparse.csr_matrix(x), y)
    np.testing.assert_array_equal(thin.coef_, model.coef_)
    assert json.loads(model._model.info())["spec"]["task"]["scale"] == scale


def test_binary_and_unscaled():
    """A binary model has one row of weights; without a scale unscaled_coef() is coef_."""
    x, y = raw()
    x, y = x[y < 2], y[y < 2]
    model = mp.BinarySSVM(clock="work", params={"task.scale": "max-abs"}).fit(x, y)
    np.testing.assert_allclose(x @ model.unscaled_coef()[0], model.decision_function(x), rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = mp.BinarySSVM(clock="work", passes=3).fit(x, y)
    np.testing.assert_array_equal(plain.unscaled_coef(), plain.coef_)


def test_the_warning_says_what_helps():
    """Rows in raw units get one warning with the parameter that helps; scaled, and rows of one scale, get none."""
    x, y = raw()
    with pytest.warns(UserWarning, match=r"feature x2;.* scale=\"max-abs\"$"):
        mp.MulticlassSSVM(clock="work", passes=2).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mp.MulticlassSSVM(clock="work", params={"task.scale": "max-abs"}).fit(x, y).certified_
        mp.MulticlassSSVM(clock="work", passes=2, gap=None).fit(x / [1.0, 1.0, 1e4], y)


@pytest.mark.parametrize("kind", [mp.BinarySSVM, mp.MulticlassSSVM, mp.MultiLabelSSVM], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", ["max-abs", "standard"])
@pytest.mark.parametrize("size", [1e-300, 3e-310, 5e-322])
def test_columns_of_the_smallest_numbers(kind, scale, size):
    """Columns that no number can be divided by into 1 are scaled as others are; rows that are larger by far are refused."""
    from scipy import sparse

    rng = np.random.default_rng(2)
    y = rng.integers(2, size=40)
    x = np.column_stack([np.where(y == 1, size, -size) * rng.integers(1, 4, size=40), rng.normal(size=40)])
    model = kind(lam=0.01, gap="1%", scale=scale, bias=True).fit(x, y)
    assert model.score(x, y) == 1.0
    if kind is not mp.MultiLabelSSVM:
        assert np.isfinite(model.decision_function(x)).all()
        np.testing.assert_allclose(model.decision_function(sparse.csr_matrix(x)), model.decision_function(x), rtol=1e-12)
        twin = kind(lam=0.01, gap="1%", scale=scale, bias=True).fit(np.column_stack([x[:, 0] / size, x[:, 1]]), y)
        if size == 1e-300:
            assert np.allclose(model.coef_, twin.coef_, rtol=1e-6)
            return
        with pytest.raises(ValueError, match="after division by the scale of the features"):
            model.predict(np.ones((1, 2)))
        with pytest.raises(ValueError, match="multiply the feature"):
            model.unscaled_coef()
