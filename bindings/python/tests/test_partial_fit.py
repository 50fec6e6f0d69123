"""``partial_fit``: the learner of streams behind the classifiers on rows."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import blobs
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimators_partial_fit_n_features

from multiplane import BinarySSVM, MulticlassSSVM

ONLINE = [
    BinarySSVM(solver="ssg", lam=0.01),
    BinarySSVM(solver="pegasos-avg", lam=0.01, params={"task.bias": True}),
    BinarySSVM(),
    MulticlassSSVM(solver="ssg-avg", lam=0.01),
    MulticlassSSVM(solver="sfd1"),
]


def pieces(n, size):
    return [slice(begin, min(n, begin + size)) for begin in range(0, n, size)]


@pytest.mark.parametrize("estimator", ONLINE)
def test_pieces_are_learned(estimator):
    """All kinds of labels come back, sparse and dense are the same, and windows decide, not calls, where both are the same."""
    x, y = blobs(3 if isinstance(estimator, MulticlassSSVM) else 2, n=300)
    for names in (np.array([2, 5, 9]), np.array(["a", "b", "c"])):
        named = names[y]
        dense, sparse, whole = (copy.deepcopy(estimator) for _ in range(3))
        for one in (dense, sparse, whole):
            one.params = {**(one.params or {}), "stream.window": 60}
        for part in pieces(len(x), 60):
            assert dense.partial_fit(x[part], named[part], classes=np.unique(named)) is dense
            sparse.partial_fit(scipy.sparse.csr_matrix(x[part]), named[part], classes=np.unique(named))
        whole.partial_fit(x, named, classes=np.unique(named))
        assert dense.score(x, named) > 0.7
        assert dense.predict(x).dtype == named.dtype
        assert np.array_equal(dense.coef_, sparse.coef_) and np.array_equal(dense.coef_, whole.coef_)
        assert np.isnan(dense.primal_) and not dense.certified_
        assert dense.summary_["n"] == 300 and 0 <= dense.summary_["progressive_loss"] <= 1


def test_copies_and_pickles_go_on():
    """A copy, and a pickle, go on to the same bits as the original."""
    x, y = blobs(3, n=200)
    model = MulticlassSSVM(solver="pegasos-avg", lam=0.01).partial_fit(x[:100], y[:100], classes=[0, 1, 2])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for one in [model, *others]:
        one.partial_fit(x[100:], y[100:])
    assert all(np.array_equal(one.coef_, model.coef_) for one in others)


def test_what_does_not_fit_is_refused():
    """Classes that are missing, unknown or others than before, and columns that differ: the estimator stays what it was."""
    x, y = blobs(3, n=60)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MulticlassSSVM().partial_fit(x, y)
    with pytest.raises(ValueError, match="lambda = 1/n or c:X: of a stream must be a number"):
        BinarySSVM(solver="pegasos").partial_fit(x, y > 0)
    with pytest.raises(ValueError, match="solver `bcfw` does not learn from streams"):
        BinarySSVM(solver="bcfw").partial_fit(x, y > 0)
    model = MulticlassSSVM(solver="ssg", lam=0.1).partial_fit(x, y, classes=[0, 1, 2])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="y has the label"):
        model.partial_fit(x, y + 1)
    with pytest.raises(ValueError, match="is not the same as on the last call"):
        model.partial_fit(x, y, classes=[0, 1])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(x[:, 1:], y)
    assert np.array_equal(model.coef_, before)
    model.partial_fit(x, y)
    assert not hasattr(BinarySSVM(kernel="rbf"), "partial_fit")


def test_fit_ends_a_stream():
    """After ``fit`` a stream begins anew, as if nothing had been."""
    x, y = blobs(2, n=100)
    model = BinarySSVM(solver="ssg", lam=0.1, passes=3).partial_fit(x, y)
    first = model.coef_.copy()
    model.fit(x, y)
    assert not np.array_equal(model.coef_, first) and model.history_
    assert np.array_equal(model.partial_fit(x, y).coef_, first)


@pytest.mark.parametrize("estimator", ONLINE)
@pytest.mark.parametrize("bad", [np.nan, 1e300])
def test_a_call_that_fails_teaches_nothing(estimator, bad):
    """A row in a late window that cannot be learned: the estimator is what it was, and goes on as if there had been no such call."""
    x, y = blobs(3 if isinstance(estimator, MulticlassSSVM) else 2, n=200)
    model = copy.deepcopy(estimator)
    model.params = {**(model.params or {}), "stream.window": 20}
    model.partial_fit(x[:100], y[:100], classes=np.unique(y))
    other, before, summary = copy.deepcopy(model), model.coef_.copy(), dict(model.summary_)
    broken = x[100:].copy()
    broken[75:] = bad
    with pytest.raises((ValueError, RuntimeError)):
        model.partial_fit(broken, y[100:])
    assert np.array_equal(model.coef_, before) and model.summary_["n"] == summary["n"] == 100
    for one in (model, other):
        one.partial_fit(x[100:], y[100:])
    assert np.array_equal(model.coef_, other.coef_) and model.summary_["n"] == 200


def test_parameters_are_those_of_the_first_call():
    """A parameter that has changed since is refused by its name; stops and workers may change; ``fit`` and clones begin anew."""
    x, y = blobs(2, n=100)
    model = BinarySSVM(solver="pegasos", lam=0.1, params={"stream.window": 50}).partial_fit(x, y)
    before = model.coef_.copy()
    for changed, told in [
        ({"lam": 0.5}, r"^lambda \(was 0.1, is 0.5\): changed since the first call"),
        ({"solver": "ssg"}, r"solver.name \(was 'pegasos', is 'ssg'\)"),
        ({"seed": 3}, r"seed \(was 0, is 3\)"),
        ({"params": {"stream.window": 5}}, r"stream.window \(was 50, is 5\)"),
        ({"params": None}, r"stream.window \(was 50, is None\)"),
    ]:
        usual = {name: getattr(model, name) for name in changed}
        model.set_params(**changed)
        with pytest.raises(ValueError, match=told):
            model.partial_fit(x, y)
        assert np.array_equal(model.coef_, before)
        clone(model).partial_fit(x, y)
        model.set_params(**usual)
    model.set_params(passes=7, threads=2, progress=False).partial_fit(x, y)
    assert not np.array_equal(model.coef_, before)
    model.set_params(lam=0.5, passes=2, params=None).fit(x, y).partial_fit(x, y)
    assert model.lam_ == 0.5


def test_more_rows_than_announced_are_told():
    """``stream.n`` is what lambda = 1/n goes by: more rows than that are told, with both numbers."""
    x, y = blobs(2, n=100)
    model = BinarySSVM(solver="pegasos", params={"stream.n": 150})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(x, y)
    with pytest.warns(UserWarning, match="stream.n = 150, but 200 rows were read: lambda was that of 150 rows"):
        model.partial_fit(x, y)


def test_parameters_without_a_say_are_refused():
    """Sizes and samplings of functional descent, and orders, are nothing on a stream."""
    x, y = blobs(2, n=50)
    for solver, name in [("sfd1", "size"), ("sfd2", "size")]:
        with pytest.raises(ValueError, match=f"solver.{name} = 7: has no say"):
            BinarySSVM(solver=solver, params={f"solver.{name}": 7, "stream.n": 50}).partial_fit(x, y)


@pytest.mark.parametrize("estimator", ONLINE)
def test_checks_of_scikit_learn(estimator):
    """Its own checks of ``partial_fit``."""
    name = type(estimator).__name__
    check_estimators_partial_fit_n_features(name, estimator)
