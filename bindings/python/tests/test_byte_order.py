"""Numbers of the other byte order mean the same; what is no plain number is refused by name."""

from typing import Any

import numpy as np
import pytest
from conftest import sequences

from multiplane import BinarySSVM, ChainSSVM, GraphSSVM, MultiLabelSSVM, StructuredSVM


class Pick:
    """Two labels of a vector, whose features come in a given type."""

    quality = "exact"

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def dim(self) -> int:
        return 6

    def features(self, x: Any, y: int) -> Any:
        found = np.zeros(6)
        found[3 * y : 3 * y + 3] = x
        return found.astype(self.dtype)

    def loss(self, truth: int, y: int) -> float:
        return float(truth != y)

    def decode(self, x: Any, w: Any, truth: int | None = None) -> int:
        scores = w.reshape(2, 3) @ x
        return int((scores if truth is None else scores + (np.arange(2) != truth)).argmax())

    def fingerprint(self) -> str:
        return "two labels"


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f4", ">i8", "i2", "f2"])
def test_any_byte_order_is_read(dtype: str) -> None:
    xs, ys = sequences()
    rounded = [np.round(4 * x) for x in xs]
    native, other = ([x.astype(kind) for x in rounded] for kind in ("f8", dtype))
    expected = ChainSSVM(clock="work", passes=5).fit(native, ys)
    found = ChainSSVM(clock="work", passes=5).fit(other, ys)
    assert np.array_equal(found.coef_, expected.coef_) and found.primal_ == expected.primal_


@pytest.mark.parametrize("dtype", [">f8", ">f4"])
def test_features_of_any_byte_order_are_read(dtype: str) -> None:
    rng = np.random.default_rng(0)
    X, y = list(rng.integers(-3, 4, size=(20, 3)).astype(float)), [int(k) for k in rng.integers(0, 2, size=20)]
    fits = [StructuredSVM(Pick(kind), clock="work", passes=5).fit(X, y) for kind in ("f8", dtype)]
    assert np.array_equal(fits[0].coef_, fits[1].coef_) and np.abs(fits[0].coef_).max() > 1e-3


@pytest.mark.parametrize("dtype", ["c16", "M8[ns]", "m8[s]"])
def test_what_is_no_number_is_refused(dtype: str) -> None:
    xs, ys = sequences()
    with pytest.raises(ValueError, match=f"found an array of {np.dtype(dtype)}".replace("[", r"\[")):
        ChainSSVM().fit([np.round(4 * x).astype("i8").astype(dtype) for x in xs], ys)


def test_masked_arrays_are_refused() -> None:
    xs, ys = sequences()
    masked = [np.ma.masked_array(x, mask=x > 1) for x in xs]
    with pytest.raises(ValueError, match="masked array"):
        ChainSSVM().fit(masked, ys)
    X, y = np.ma.masked_array(np.eye(4), mask=np.eye(4) > 0), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="masked array"):
        BinarySSVM().fit(X, y)


def test_masked_labels_are_unknown_or_refused() -> None:
    chance = np.random.default_rng(0)
    graphs = [(chance.normal(size=(6, 2)), np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])) for _ in range(8)]
    y = [(graph[0][:, 0] > 0).astype(int) for graph in graphs]
    hidden = [np.arange(6) % 3 == 0 for _ in graphs]
    masked = [np.ma.masked_array(one, mask=mask) for one, mask in zip(y, hidden, strict=True)]
    marked = [np.where(mask, -1, one) for one, mask in zip(y, hidden, strict=True)]
    found, expected = (GraphSSVM(lam=0.1, seed=1).fit(graphs, labels) for labels in (masked, marked))
    assert found.coef_.any() and np.array_equal(found.coef_, expected.coef_)
    with pytest.raises(ValueError, match=r"node_weights\[0\]: found a masked array of float64"):
        GraphSSVM().fit(graphs, y, node_weights=[np.ma.masked_array(np.ones(6), mask=mask) for mask in hidden])

    x, rows = chance.normal(size=(4, 2)), np.ma.masked_array([0, 1, 0, 1], mask=[False, False, True, False])
    with pytest.raises(ValueError, match=r"y\[2\] is masked, a missing label"):
        BinarySSVM().fit(x, rows)
    with pytest.raises(ValueError, match="y has masked places"):
        MultiLabelSSVM().fit(x, np.ma.masked_array(np.eye(4), mask=np.eye(4) > 0))
    masked, unknown = (ChainSSVM().fit([x], [labels]) for labels in (rows, [0, 1, None, 1]))
    assert masked.coef_.any() and np.array_equal(masked.coef_, unknown.coef_)
