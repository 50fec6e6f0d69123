"""Arrays of every kind give the same weights; unusable ones are refused with the place and the value."""

import warnings

import numpy as np
import pytest
from conftest import blobs, sequences
from scipy.sparse import coo_matrix, csc_array, csr_array, csr_matrix

from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM

X, Y = blobs(3)
WIDE = np.zeros((180, 8))
WIDE[::2, ::2] = X
READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False

KINDS = {
    "C order": np.ascontiguousarray(X),
    "Fortran order": np.asfortranarray(X),
    "strided": WIDE[::2, ::2],
    "backward": X[::-1][::-1],
    "read-only": READ_ONLY,
    "big endian": X.astype(">f8"),
    "lists": X.tolist(),
    "objects": X.astype(object),
    "longdouble": X.astype(np.longdouble),
    "memory map": np.memmap,
    "CSR matrix": csr_matrix(X),
    "CSC array": csc_array(X),
    "COO matrix": coo_matrix(X),
    "CSR array, 64-bit indices": csr_array(X),
}
KINDS["CSR array, 64-bit indices"].indices = KINDS["CSR array, 64-bit indices"].indices.astype(np.int64)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arrays(kind, tmp_path):
    """The same numbers give the same bits, whatever holds them, and are left as they were."""
    expected = MulticlassSSVM(clock="work").fit(X, Y).coef_
    x = KINDS[kind]
    if kind == "memory map":
        x = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=X.shape)
        x[:] = X
    model = MulticlassSSVM(clock="work").fit(x, Y)
    assert np.array_equal(model.coef_, expected)
    assert np.allclose(model.decision_function(x), X @ expected.T)
    if kind not in ("lists", "memory map") and not hasattr(x, "tocsr"):
        assert np.array_equal(x.astype(float), X)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint8, bool])
def test_kinds_of_numbers(kind):
    """Other numbers are taken as the float64 that they are."""
    x = (np.abs(X) * 3).astype(kind)
    expected = MulticlassSSVM(clock="work").fit(x.astype(np.float64), Y).coef_
    assert np.array_equal(MulticlassSSVM(clock="work").fit(x, Y).coef_, expected)
    if kind is not np.float16:  # which SciPy has no matrices of
        assert np.array_equal(MulticlassSSVM(clock="work").fit(csr_matrix(x), Y).coef_, expected)
    assert np.array_equal(MulticlassSSVM(clock="work").fit(x, Y.astype(np.uint8)).coef_, expected)


def test_matrices_are_not_changed():
    """Unsorted indices and duplicates of the caller's matrix stay as they are."""
    x = csr_matrix(X)
    x.indices[:2] = x.indices[:2][::-1].copy()
    x.data[:2] = x.data[:2][::-1].copy()
    x.has_sorted_indices = False
    before = x.indices.copy(), x.data.copy()
    model = MulticlassSSVM(clock="work").fit(x, Y)
    assert np.array_equal(x.indices, before[0]) and np.array_equal(x.data, before[1])
    assert np.array_equal(model.coef_, MulticlassSSVM(clock="work").fit(X, Y).coef_)
    read_only = csr_matrix(X)
    for part in (read_only.data, read_only.indices, read_only.indptr):
        part.flags.writeable = False
    assert np.array_equal(MulticlassSSVM(clock="work").fit(read_only, Y).coef_, model.coef_)


def with_value(value, sparse=False):
    x = X.copy()
    x[7, 2] = value
    return csr_matrix(x) if sparse else x


def with_object(value):
    x = X.astype(object)
    x[7, 2] = value
    return x


class NAType:
    """What pandas has for missing values."""

    def __repr__(self):
        return "<NA>"


class Table:
    """What a data frame offers."""

    columns = ("a", "b", "c", "d")

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


NAN, INF = float("nan"), float("inf")
BAD_ROWS = [
    ("NaN", with_value(NAN), Y, ["NaN", "X[7, 2]"]),
    ("infinity", with_value(-INF), Y, ["infinity", "X[7, 2]", "-inf"]),
    ("NaN in a sparse matrix", with_value(NAN, True), Y, ["NaN", "X[7, 2]"]),
    ("complex", X.astype(complex), Y, ["Complex data not supported"]),
    ("text", np.array([["a", "b"]] * 90), Y, ["X[0, 0]", "could not convert string to float: 'a'"]),
    ("text among numbers", with_object("C00450"), Y, ["X[7, 2]", "could not convert string to float: 'C00450'", "OneHotEncoder"]),
    ("None", with_object(None), Y, ["X[7, 2]", "SimpleImputer"]),
    ("NA of pandas", with_object(NAType()), Y, ["X[7, 2] is <NA>", "missing values must be filled", "SimpleImputer"]),
    ("text in a table", Table(with_object("C00450")), Y, ["X[7, 2] (column 'c')", "'C00450'"]),
    ("NA in a table", Table(with_object(NAType())), Y, ["X[7, 2] (column 'c') is <NA>"]),
    ("NaN in a table", Table(with_value(float("nan"))), Y, ["X[7, 2] (column 'c') is nan", "SimpleImputer"]),
    ("one dimension", X[0], Y[:4], ["Expected 2D array, got 1D array", "reshape"]),
    ("three dimensions", X[None], Y[:1], ["dim 3"]),
    ("a scalar", 3.0, Y, ["Expected 2D array, got scalar"]),
    ("no rows", X[:0], Y[:0], ["0 sample(s)", "(0, 4)"]),
    ("no columns", X[:, :0], Y, ["0 feature(s)", "(90, 0)"]),
    ("ragged", [[1.0, 2.0], [3.0]], [0, 1], ["inhomogeneous"]),
    ("fewer labels", X, Y[:5], ["[90, 5]"]),
    ("more labels", X[:5], Y, ["[5, 90]"]),
    ("no labels", X, None, ["y to be passed"]),
    ("matrix of labels", X, np.zeros((90, 2)), ["(90, 2)"]),
    ("NaN label", X, np.where(np.arange(90) == 4, NAN, Y), ["NaN", "y[4]"]),
    ("fractions", X, Y + 0.5, ["continuous", "y[0] is 0.5"]),
    ("one class", X, Y * 0, ["one class", "0"]),
    ("mixed labels", X, np.array([0, "a", 1] * 30, dtype=object), ["several types"]),
    ("None among labels", X, np.array([0, "a", None] * 30, dtype=object), ["y[2] is None, a missing label"]),
    ("NaN among texts", X, ["a", "b", NAN] * 30, ["y[2] is nan, a missing label"]),
    ("NaN among objects", X, np.array(["a", "b", NAN] * 30, dtype=object), ["y[2] is nan, a missing label"]),
    ("NA among labels", X, np.array([0, 1, NAType()] * 30, dtype=object), ["y[2] is <NA>, a missing label"]),
]


@pytest.mark.parametrize(("x", "y", "parts"), [row[1:] for row in BAD_ROWS], ids=[row[0] for row in BAD_ROWS])
def test_unusable_rows(x, y, parts):
    """ValueError with the place and the value; nothing is fitted."""
    model = MulticlassSSVM()
    with pytest.raises(ValueError) as info:
        model.fit(x, y)
    assert all(part in str(info.value) for part in parts), str(info.value)
    assert not hasattr(model, "coef_")


def test_rows_to_predict():
    """Prediction refuses other widths and NaN, too."""
    model = MulticlassSSVM(gap="5%").fit(X, Y)
    for x, part in [(X[:, :3], "X has 3 features"), (with_value(NAN), "X[7, 2]"), (X[0], "2D"), (X[:0], "0 sample")]:
        with pytest.raises(ValueError) as info:
            model.predict(x)
        assert part in str(info.value)
    with pytest.raises(ValueError, match="3 classes"):
        BinarySSVM().fit(X, Y)


XS, YS = sequences()
BAD_SEQUENCES = [
    ("nothing", [], [], ["X is empty"]),
    ("no list", 3, YS, ["X is a int", "list"]),
    ("a string", "word", YS, ["X is a str"]),
    ("a dict", {0: XS[0]}, YS, ["X is a dict"]),
    ("fewer labellings", XS, YS[:4], ["X has 30 examples, y has 4"]),
    ("a label short", XS, [YS[0][:-1], *YS[1:]], ["X[0] has", "y[0] has"]),
    ("no labels at all", XS, None, ["y is a NoneType"]),
    ("labels without sequences", XS, [0] * 30, ["y[0] is 0"]),
    ("empty sequence", [XS[0], np.zeros((0, 4))], [YS[0], []], ["X[1] is an empty sequence"]),
    ("other width", [XS[0], np.zeros((1, 5))], [YS[0], [0]], ["X[1] has 5 features", "X[0] has 4"]),
    ("one dimension", [XS[0], np.zeros(4)], [YS[0], [0]], ["X[1]", "2D"]),
    ("NaN", [XS[0], np.array([[0, 0, NAN, 0]])], [YS[0], [0]], ["X[1][0, 2] is NaN"]),
    ("infinity, sparse", [XS[0], csr_matrix([[0, INF, 0, 0]])], [YS[0], [0]], ["X[1][0, 1] is inf"]),
    ("text among numbers", [XS[0], [["a", "b", "c", "d"]]], [YS[0], [0]], ["X[1]", "numbers"]),
    ("labels that look the same", XS[:1], [[1, "1", *YS[0][2:]]], ["y[0][1] is '1'", "expected labels of one kind"]),
    ("columns of several widths", [[("a", "b")], [("a",)]], [["x"], ["y"]], ["X[1][0] has 1 columns"]),
    ("empty label", [[("a", "b")]], [[""]], ["y[0]", "''"]),
]


@pytest.mark.parametrize(("x", "y", "parts"), [row[1:] for row in BAD_SEQUENCES], ids=[row[0] for row in BAD_SEQUENCES])
def test_unusable_sequences(x, y, parts):
    """ValueError with the sequence, the place and the value."""
    model = ChainSSVM()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as info:
            model.fit(x, y)
    assert all(part in str(info.value) for part in parts), str(info.value)
    assert not hasattr(model, "coef_")
