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

from multiplane import BinarySSVM, MulticlassSSVM, UnusedParameterWarning, load

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
    others = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for one in [model, *others]:
        one.partial_fit(x[100:], y[100:])
    assert all(np.array_equal(one.coef_, model.coef_) for one in others)


def test_what_does_not_fit_is_refused():
    """Classes that are missing, unknown or others than before, and columns that differ: the estimator stays what it was."""
    x, y = blobs(3, n=60)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MulticlassSSVM().partial_fit(x, y)
    for kind, none in ((MulticlassSSVM, []), (BinarySSVM, np.zeros(0))):
        with pytest.raises(ValueError, match="^classes is empty: expected all labels that may come$"):
            kind().partial_fit(x, y, classes=none)
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
    """Samplings of functional descent, and orders, are nothing on a stream."""
    x, y = blobs(2, n=50)
    for solver, name, value in [("sfd1", "sampling", "uniform"), ("ssg", "order", "permutation")]:
        with pytest.raises(ValueError, match=f"solver.{name} = {value}: has no say"):
            BinarySSVM(solver=solver, lam=0.1, params={f"solver.{name}": value}).partial_fit(x, y)


@pytest.mark.parametrize("estimator", ONLINE)
def test_checks_of_scikit_learn(estimator):
    """Its own checks of ``partial_fit``."""
    name = type(estimator).__name__
    check_estimators_partial_fit_n_features(name, estimator)


def test_streams_do_not_go_on_from_files(tmp_path):
    """A file holds weights, but not the state of the solver: refused with what to do; a pickle and a clone do what is said."""
    x, y = blobs(2, n=100)
    model = BinarySSVM(solver="pegasos", lam=0.1).partial_fit(x[:50], y[:50])
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    before = again.coef_.copy()
    with pytest.raises(ValueError, match="cannot go on from a model file.*pickle of the estimator holds it"):
        again.partial_fit(x[50:], y[50:])
    with pytest.raises(ValueError, match="cannot go on from a model file"):
        pickle.loads(pickle.dumps(again)).partial_fit(x[50:], y[50:])
    assert np.array_equal(again.coef_, before)
    assert clone(again).partial_fit(x[50:], y[50:]).summary_["n"] == 50
    assert pickle.loads(pickle.dumps(model)).partial_fit(x[50:], y[50:]).summary_["n"] == 100
    again.set_params(passes=2).fit(x, y)
    with pytest.warns(UserWarning, match="begins a stream from zero"):
        again.partial_fit(x, y)


def test_a_fit_that_is_forgotten_is_told():
    """fit, then partial_fit: a warning, once, and none where a stream goes on."""
    x, y = blobs(2, n=100)
    model = BinarySSVM(solver="pegasos", lam=0.1).fit(x, y)
    with pytest.warns(UserWarning, match="begins a stream from zero and forgets what fit has learned"):
        model.partial_fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(x, y)
        assert BinarySSVM(solver="pegasos", lam=0.1).partial_fit(x, y).partial_fit(x, y).summary_["n"] == 200


def test_classes_that_params_name():
    """stream.labels are classes like those of the argument: y must have them, and both must be the same."""
    x, y = blobs(2, n=60)
    signs = 2 * y - 1
    with pytest.raises(ValueError, match="y has the label -1, which is none of classes: \\[0, 1\\]"):
        BinarySSVM(params={"stream.labels": [0, 1]}).partial_fit(x, signs)
    with pytest.raises(ValueError, match="stream.labels = \\[0, 1\\], but the classes are \\[-1, 1\\]"):
        BinarySSVM(params={"stream.labels": [0, 1]}).partial_fit(x, signs, classes=[-1, 1])
    with pytest.raises(ValueError, match="stream.labels = 'a,b': expected a list of whole numbers"):
        BinarySSVM(params={"stream.labels": "a,b"}).partial_fit(x, signs)
    for labels in ([1, -1], "-1,1"):
        model = BinarySSVM(params={"stream.labels": labels}).partial_fit(x[::2], signs[::2])
        assert model.classes_.tolist() == [-1, 1]
    model.params = {"stream.labels": [0, 1]}
    with pytest.raises(ValueError, match="stream.labels"):
        model.partial_fit(x, signs)


@pytest.mark.parametrize("name", ["patience", "test_every"])
def test_looks_at_test_data_are_refused(name):
    """There are no test data to look at."""
    x, y = blobs(2, n=60)
    with pytest.raises(ValueError, match=f"stream.{name} = 3: partial_fit has no test data"):
        BinarySSVM(params={f"stream.{name}": 3}).partial_fit(x, y)


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"gap": "1%"}, "gap = '1%'"),
        ({"passes": 3}, "passes = 3"),
        ({"calls": 3}, "calls = 3"),
        ({"seconds": 3}, "seconds = 3"),
        ({"patience": 3}, "patience = 3"),
        ({"holdout": "20%"}, "holdout = '20%'"),
        ({"warm_start": True}, "warm_start = True"),
        ({"params": {"stop.calls": 3}}, r"params\['stop.calls'\]"),
        ({"params": {"evaluate": "pass"}}, r"params\['evaluate'\]"),
        ({"gamma": 0.5}, "gamma = 0.5"),
    ],
)
def test_what_has_no_effect_is_told(keywords, told):
    """By name, once for a stream."""
    x, y = blobs(2, n=60)
    with pytest.warns(UnusedParameterWarning, match=f"^{told}: no effect"):
        model = BinarySSVM(**keywords).partial_fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(x, y)


def test_a_stream_has_no_history():
    """The error says where to look."""
    x, y = blobs(2, n=60)
    model = BinarySSVM(solver="pegasos", lam=0.1, passes=3).fit(x, y)
    assert model.history_
    with pytest.warns(UserWarning):
        model.partial_fit(x, y)
    with pytest.raises(AttributeError, match="no attribute 'history_': partial_fit keeps no records; summary_ has"):
        _ = model.history_
