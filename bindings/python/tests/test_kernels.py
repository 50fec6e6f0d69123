"""Kernels as users see them: keywords, the rows that carry weight, files, functions, sequences."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import blobs, sequences
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import multiplane
from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, UnusedParameterWarning, solvers

X, Y = blobs(2, n=60)


def linear(a, b):
    """A kernel that is a function."""
    return a @ b.T


def rbf(a, b, gamma):
    """Values of the Gaussian kernel."""
    return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    ("keywords", "params"),
    [
        ({"kernel": "rbf", "gamma": 0.1}, {"task.kernel.gamma": 0.3}),
        ({"kernel": "rbf", "gamma": 0.1}, {"task.kernel": {"gamma": 0.3}}),
        ({"kernel": "rbf"}, {"task.kernel.name": "linear"}),
        ({"kernel": "poly", "degree": 2}, {"task.kernel.degree": 4}),
        ({"kernel": "poly", "coef0": 1.0}, {"task.kernel.coef0": 2.0}),
        ({"lam": 0.1}, {"lambda": 0.2}),
        ({"gap": 0.1}, {"stop.gap": 0.2}),
        ({"passes": 3}, {"stop": {"passes": 4}}),
        ({"seed": 3}, {"seed": 4}),
        ({"clock": "work"}, {"clock": "wall"}),
        ({"threads": 2}, {"threads": 1}),
        ({"n_jobs": 2}, {"threads": 1}),
        ({"solver": "bcfw"}, {"solver": "fw"}),
        ({"solver": "bcfw"}, {"solver.name": "fw"}),
        ({"solver": solvers.MPBCFW(order="gap")}, {"solver.order": "uniform"}),
        ({"solver": solvers.MPBCFW(planes={"max_idle": 5})}, {"solver.planes.max_idle": 6}),
    ],
)
def test_what_is_given_twice_is_refused(keywords, params):
    """A keyword and the same among params: an error that names both."""
    (keyword, value) = list(keywords.items())[-1]
    for kind in (BinarySSVM, ChainSSVM):
        with pytest.raises(ValueError) as error:
            kind(**keywords, params=params).fit(*(sequences() if kind is ChainSSVM else (X, Y)))
        assert str(error.value) == f"{keyword} = {value!r} and params[{next(iter(params))!r}]: give one of them"


def test_what_is_given_once_counts():
    """A parameter beside a keyword that was left alone, in either place."""
    by_keyword = BinarySSVM(kernel="rbf", gamma=0.3, clock="work").fit(X, Y)
    for other in (
        BinarySSVM(kernel="rbf", params={"task.kernel.gamma": 0.3}, clock="work"),
        BinarySSVM(gamma=0.3, params={"task.kernel": "rbf"}, clock="work"),
    ):
        assert np.array_equal(other.fit(X, Y).coef_, by_keyword.coef_)
    both = solvers.MPBCFW(planes={"max_idle": 5})
    assert BinarySSVM(solver=both, params={"solver.planes.max_planes": 9, "solver.order": "uniform"}).fit(X, Y).n_iter_


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"gamma": 0.1}, "gamma = 0.1: no effect without a kernel"),
        ({"degree": 2}, "degree = 2: no effect without a kernel"),
        ({"kernel": "linear", "gamma": 0.1}, "gamma = 0.1: no effect with kernel `linear`"),
        ({"kernel": "rbf", "coef0": 1.0}, "coef0 = 1.0: no effect with kernel `rbf`"),
        ({"kernel": linear, "gamma": 0.1}, r"gamma = 0.1: no effect with kernel `linear` \(a function\)"),
    ],
)
def test_what_has_no_effect_is_told(keywords, told):
    """By a warning of a class of its own, at fit; where all has an effect there is none."""
    with pytest.warns(UnusedParameterWarning, match=told):
        BinarySSVM(**keywords).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BinarySSVM(kernel="rbf", gamma=0.1).fit(X, Y)
        BinarySSVM(kernel="poly", gamma=0.1, degree=2, coef0=1.0).fit(X, Y)
        BinarySSVM(kernel="linear").fit(X, Y)


@pytest.mark.parametrize("params", [{}, {"task.bias": True}, {"task.scale": "max-abs"}], ids=str)
@pytest.mark.parametrize(("kind", "classes"), [(BinarySSVM, 2), (MulticlassSSVM, 3)])
def test_rows_that_carry_weight(kind, classes, params):
    """Scores are the expansion over support_ with dual_coef_, computed here; the signs are those of the labels."""
    x, y = blobs(classes, n=80)
    names = np.array(["a", "b", "c"])[y]
    model = kind(kernel="rbf", gamma=0.5, lam="c:1", params={**params, "task.kernel_rows.storage": "f64"}).fit(x, names)
    support = model.support_
    bias = int("task.bias" in params)
    assert 0 < len(support) < 80 and len(set(support.tolist())) == len(support)
    assert model.dual_coef_.shape == (1 if classes == 2 else 3, len(support))
    assert np.array_equal(model.dual_coef_, model.coef_[:, : len(support)])
    assert model.coef_.shape[1] == len(support) + bias
    rows = x / np.abs(x).max(axis=0) if "task.scale" in params else x
    scores = rbf(rows, rows[support], 0.5) @ model.dual_coef_.T + (model.coef_[:, -1] if bias else 0.0)
    expected = model.decision_function(x)
    assert (scores[:, 0] if classes == 2 else scores) == pytest.approx(expected, abs=1e-9)
    assert model.n_support_.tolist() == np.bincount(y[support], minlength=classes).tolist()
    own = model.dual_coef_[0] > 0 if classes == 2 else model.dual_coef_.argmax(axis=0)
    clear = np.abs(model.dual_coef_).max(axis=0) > 1e-12  # what rounding left of a weight may have any sign
    assert clear.sum() > 10 and np.array_equal(own.astype(int)[clear], y[support][clear])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.support_, support) and np.array_equal(again.dual_coef_, model.dual_coef_)


def test_equal_rows_are_told_apart_by_their_labels():
    """Every row twice, once with each label, and once more: names of rows have the labels that the coefficients speak for."""
    x, y = np.repeat(X[:20], 3, axis=0), np.tile([0, 1, 1], 20)
    model = BinarySSVM(kernel="rbf", gamma=0.5, lam="c:1", gap="0.1%").fit(x, y)
    assert np.array_equal(model.dual_coef_[0] > 0, y[model.support_] == 1)
    assert len(set(model.support_.tolist())) == len(model.support_)
    gram = rbf(x, x[model.support_], 0.5)
    assert gram @ model.dual_coef_[0] == pytest.approx(model.decision_function(x), abs=1e-5)


def test_rows_of_a_matrix_are_known_by_their_numbers(tmp_path):
    """Functions and matrices: the same numbers, of a file too."""
    function = BinarySSVM(kernel=linear, clock="work").fit(X, Y)
    matrix = BinarySSVM(kernel="precomputed", clock="work").fit(linear(X, X), Y)
    assert np.array_equal(function.support_, matrix.support_) and function.n_support_.sum() == len(function.support_)
    assert X @ X[function.support_].T @ function.dual_coef_[0] == pytest.approx(function.decision_function(X), abs=1e-4)
    function.save(tmp_path / "m")
    assert np.array_equal(multiplane.load(tmp_path / "m").support_, function.support_)


def test_results_that_are_not_there_say_why(tmp_path):
    """Files, models without kernels, estimators without models; weights of features."""
    model = BinarySSVM(kernel="rbf", gamma=0.5, lam="c:1").fit(X, Y)
    model.save(tmp_path / "m")
    for other, why in [
        (BinarySSVM(), "it is not fitted yet"),
        (BinarySSVM().fit(X, Y), "it has no kernel"),
        (multiplane.load(tmp_path / "m"), "but not their numbers"),
    ]:
        for name in ("support_", "n_support_"):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}': .*{why}"):
                getattr(other, name)
    assert np.array_equal(multiplane.load(tmp_path / "m").dual_coef_, model.dual_coef_)
    with pytest.raises(ValueError, match="there are no weights of features"):
        model.unscaled_coef()
    assert not hasattr(model.set_params(kernel=None, gamma="scale").fit(X, Y), "dual_coef_")
    assert model.unscaled_coef().shape == (1, 4)


@pytest.mark.parametrize(
    "keywords",
    [
        {"kernel": "rbf", "gamma": 0.25},
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2, "gamma": "auto", "coef0": 1.5},
        {"kernel": "chi-square", "gamma": 0.5},
        {"kernel": "linear"},
        {"kernel": "intersection"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [BinarySSVM, ChainSSVM])
def test_keywords_come_back_from_files(kind, keywords, tmp_path):
    """kernel and its parameters are keywords again, and fits with them are the same to the bit."""
    x, y = sequences() if kind is ChainSSVM else (X, Y)
    x = [np.abs(row) for row in x] if kind is ChainSSVM else np.abs(x)
    params = {"task.kernel_rows.storage": "f64"}
    model = kind(**keywords, lam=0.1, gap="5%", clock="work", params=params).fit(x, y)
    model.save(tmp_path / "m")
    again = multiplane.load(tmp_path / "m")
    found = again.get_params()
    assert all(found[name] == getattr(model, name) for name in ("kernel", "gamma", "degree", "coef0"))
    assert found["params"] is None and found["kernel_rows"]["storage"] == "f64"
    assert np.array_equal(clone(again).fit(x, y).coef_, model.coef_)


def test_models_of_functions_ask_for_the_matrix(tmp_path):
    """Read from a file, the model says what X is where rows of features are given."""
    BinarySSVM(kernel=linear).fit(X, Y).save(tmp_path / "m")
    again = multiplane.load(tmp_path / "m")
    with pytest.raises(ValueError, match=r"X has 4 features, but BinarySSVM is expecting 60 .*pass K\(X, X_fit\)"):
        again.predict(X)
    assert again.predict(linear(X, X)).shape == (60,)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda k: np.triu(k), "the matrix must be symmetric"),
        (lambda k: k - 1e6, "on the diagonal"),
        (lambda k: np.where(np.eye(len(k)), 1.0, 2.0), "positive semidefinite"),
        (lambda k: 1.5 * np.eye(len(k)) - 0.5, "positive semidefinite"),
        (lambda k: k.astype(str), "found values of type <U.*, expected numbers"),
        (lambda k: k * 1j, "found complex numbers, expected real ones"),
        (lambda k: k[:, :3], "shape"),
        (lambda k: [["far"] * len(k)] * len(k), "expected numbers"),
        (lambda k: [[1.0], [2.0, 3.0]], "inhomogeneous"),
        (lambda k: np.full(k.shape, "near", dtype=object), "could not convert"),
        (lambda k: np.full(k.shape, np.nan), "found nan for row 0 and training row 0"),
    ],
)
def test_faults_of_functions_speak_of_the_function(made, told):
    """By its name, and never of `precomputed`, which the user has not chosen."""

    def similarity(a, b):
        return made(a @ b.T)

    with pytest.raises(ValueError, match=told) as error:
        BinarySSVM(kernel=similarity).fit(X, Y)
    assert str(error.value).startswith("kernel `similarity` (a function)") and "precomputed" not in str(error.value)


def test_paths_with_kernels():
    """Of every estimator that has kernels; a point of a function's path takes rows of features, and knows which rows carry weight."""

    def similarity(a, b):
        return rbf(a, b, 0.5)

    for kernel in ("rbf", similarity):
        path = BinarySSVM(kernel=kernel, gamma=0.5 if kernel == "rbf" else "scale").path(X, Y, lambda_min=0.02, eps=0.2)
        model = path.at(path.lambdas_[0])
        assert model.predict(X).shape == (60,) and model.score(X, Y) > 0.7
        assert model.dual_coef_.shape == model.coef_.shape
    assert model.dual_coef_.shape == (1, len(model.support_))
    with pytest.raises(AttributeError, match="but not their numbers"):
        _ = model.n_support_
    words, labels = sequences()
    assert ChainSSVM(kernel="rbf").path(words, labels, lambda_min=1.0).at(2.0).score(words, labels) > 0.5
    similarity = lambda a, b: np.triu(a @ b.T)  # noqa: E731
    for ask in (BinarySSVM(kernel=similarity).path, BinarySSVM(kernel=similarity).check):
        with pytest.raises(ValueError, match=r"kernel `<lambda>` \(a function\): .* symmetric"):
            ask(X, Y)


def test_faults_of_matrices_speak_of_matrices():
    """What the user has chosen is named as it is."""
    with pytest.raises(ValueError, match="kernel `precomputed`: .* must be symmetric"):
        BinarySSVM(kernel="precomputed").fit(np.triu(X @ X.T), Y)


def test_chains_take_kernels():
    """The linear kernel's expansion has the weights of no kernel, and the same bracket."""
    x, y = sequences()
    tight = {"lam": 0.1, "gap": 1e-5}
    plain = ChainSSVM(**tight).fit(x, y)
    model = ChainSSVM(kernel="linear", params={"task.kernel_rows.storage": "f64"}, **tight).fit(x, y)
    assert model.dual_ <= plain.primal_ + 1e-9 and plain.dual_ <= model.primal_ + 1e-9
    rows, labels = np.concatenate(x), np.concatenate(y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    unary = (model.dual_coef_ @ rows[model.support_]).ravel()
    distance = np.linalg.norm(np.concatenate([unary, model.coef_[model.dual_coef_.size :]]) - plain.coef_)
    assert distance <= 2 * np.sqrt(2 * 1e-5 / 0.1)  # both are within sqrt(2 gap / lambda) of the optimum
    assert model.n_support_.tolist() == np.bincount(labels[model.support_], minlength=3).tolist()


def test_kernels_of_chains_are_searched(tmp_path):
    """Keywords are parameters as all others: clones, searches, files."""
    x, y = sequences()
    assert {"kernel", "gamma", "degree", "coef0"} <= set(ChainSSVM().get_params())
    assert clone(ChainSSVM(kernel="poly", degree=2)).degree == 2
    search = GridSearchCV(ChainSSVM(kernel="rbf", lam=0.1, gap="5%"), {"gamma": [0.1, 1.0]}, cv=3).fit(x, y)
    assert search.best_estimator_.gamma in (0.1, 1.0) and search.best_score_ > 0.6
    by_params = ChainSSVM(params={"task.kernel": "rbf", "task.kernel.gamma": 0.5}, clock="work").fit(x, y)
    by_keyword = ChainSSVM(kernel="rbf", gamma=0.5, clock="work").fit(x, y)
    assert np.array_equal(by_params.coef_, by_keyword.coef_)
    text = [["the", "cat"], ["a", "dog"], ["cat", "the"]], [["d", "n"], ["d", "n"], ["n", "d"]]
    model = ChainSSVM(kernel="linear").fit(*text)
    assert model.score(*text) == 1.0
    with pytest.raises(AttributeError, match="made of text"):
        _ = model.support_


@pytest.mark.parametrize("kernel", [linear, "precomputed", "gauss"])
def test_kernels_that_chains_have_not(kernel):
    """Functions and matrices are refused with the reason, other names with those that there are."""
    told = "expected None, 'poly' or one of 'linear', 'rbf'" if kernel == "gauss" else "a list of sequences has no matrix"
    with pytest.raises(ValueError, match=told):
        ChainSSVM(kernel=kernel).fit(*sequences())


def test_subclasses_may_have_fewer_keywords() -> None:
    """A subclass with a constructor of its own is fitted, and parameters of streams do not stand in the way of fit."""

    class Mine(BinarySSVM):
        def __init__(self, *, lam: float = 0.1) -> None:
            super().__init__(lam=lam, params={"stream.window": 50})

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    assert Mine().fit(X, y).certified_


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM])
def test_rows_of_a_matrix_are_not_held_out(kind):
    """A function's matrix and a given one cannot be divided: the error says so in words of Python, and what to give."""
    x, y = X[:40], Y[:40]
    for kernel, rows, called, given in (
        (linear, x, r"`linear` \(a function\)", "rows of features"),
        ("precomputed", x @ x.T, "`precomputed`", "a column for every training row"),
    ):
        told = rf"^holdout = '20%': not with kernel {called}, whose matrix .*; give fit X_test \({given}\) and y_test$"
        with pytest.raises(ValueError, match=told):
            kind(kernel=kernel, holdout="20%").fit(rows, y)


@pytest.mark.parametrize("solver", ["one-slack", "bundle", "div-m-best"])
@pytest.mark.parametrize("gap", [1e-3, 1e-5])
def test_a_bracket_that_is_narrow_enough_is_certified(solver, gap):
    """Rounding of a kernel's images may be most of what is left of the gap: the bracket holds all of it."""
    rng = np.random.default_rng(3)
    X = np.abs(rng.normal(size=(40, 4)))
    y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    model = BinarySSVM(solver=solver, lam="c:5.1925", gap=gap, passes=400, clock="work", kernel="linear").fit(X, y)
    assert model.certified_ and model.stop_reason_ == "gap" and model.gap_ <= gap
