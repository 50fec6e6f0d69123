"""Classifiers on rows: results, warm starts, labels of every kind, names of columns."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import blobs

from multiplane import BinarySSVM, MulticlassSSVM, solvers


def test_binary_weights_are_the_optimum():
    """P at the weights is what a plain computation of the objective gives, and F is below it."""
    x, y = blobs(2)
    model = BinarySSVM(lam=0.1, gap=1e-4).fit(x, y)
    w = model.coef_.ravel()
    margins = np.where(y == 1, 1.0, -1.0) * (x @ w)
    primal = 0.05 * w @ w + np.maximum(0, 1 - margins).mean()
    assert primal == pytest.approx(model.primal_, abs=1e-12)
    assert model.dual_ <= primal <= model.dual_ + 1e-4


def test_multiclass_weights_are_the_optimum():
    """The same for several classes, in the layout [class][feature]."""
    x, y = blobs(3)
    model = MulticlassSSVM(lam=0.1, gap=1e-4).fit(x, y)
    scores = x @ model.coef_.T
    hinge = (scores + (np.arange(3) != y[:, None])).max(axis=1) - scores[np.arange(len(y)), y]
    assert 0.05 * (model.coef_**2).sum() + hinge.mean() == pytest.approx(model.primal_, abs=1e-12)


@pytest.mark.parametrize(
    "names",
    [[3, 7], ["no", "yes"], [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object), [-5, 2**40]],
    ids=str,
)
def test_labels_of_every_kind_come_back(names):
    """Predictions are the labels of y, of their type."""
    x, y = blobs(2)
    named = np.asarray(names)[y]
    for kind in (BinarySSVM, MulticlassSSVM):
        model = kind(gap="5%").fit(x, named)
        assert model.predict(x).dtype == named.dtype
        assert set(model.predict(x)) == set(named) and model.score(x, named) > 0.7
        assert model.score(x, named.tolist()) == model.score(x, named)
        again = pickle.loads(pickle.dumps(model))
        assert again.predict(x).tolist() == model.predict(x).tolist()


def test_decision_values():
    """One column per class, or one number with two classes, positive for the greater one."""
    x, y = blobs(3)
    model = MulticlassSSVM(gap="5%").fit(x, y)
    assert model.decision_function(x).shape == (90, 3)
    assert np.array_equal(model.decision_function(x).argmax(axis=1), model.predict(x))
    x, y = blobs(2)
    for kind in (BinarySSVM, MulticlassSSVM):
        model = kind(gap="5%").fit(x, y)
        values = model.decision_function(x)
        assert values.shape == (90,) and np.array_equal(values > 0, model.predict(x) == 1)


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM])
def test_bias(kind):
    """With task.bias there is one more weight per class, which data does not have."""
    x, y = blobs(2)
    x = x + 3.0
    model = kind(params={"task.bias": True}, lam=0.01, gap="5%").fit(x, y)
    assert model.coef_.shape[1] == 5 and model.n_features_in_ == 4
    assert model.predict(x[0:1]).shape == (1,)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(np.ones((1, 5)))


class Frame:
    """As much of a data frame as the estimators look at."""

    def __init__(self, array, columns):
        self.array, self.columns, self.shape = array, columns, array.shape

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype=dtype)


def test_names_of_columns(tmp_path):
    """feature_names_in_ follows the data, goes away with plain arrays, and other names are refused."""
    x, y = blobs(2)
    model = BinarySSVM(gap="5%").fit(Frame(x, ["a", "b", "c", "d"]), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    model.predict(Frame(x, ["a", "b", "c", "d"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Frame(x, ["a", "b", "d", "c"]))
    wider = np.column_stack([x.astype(object), np.full(len(x), "C00450", dtype=object)])
    with pytest.raises(ValueError, match="unseen at fit time:\n- id"):  # what the column holds is not looked at
        model.predict(Frame(wider, ["a", "b", "c", "d", "id"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(x)
    model.save(tmp_path / "m")
    assert BinarySSVM.load(tmp_path / "m").feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert not hasattr(model.fit(x, y), "feature_names_in_")
    model.save(tmp_path / "m")
    assert not hasattr(BinarySSVM.load(tmp_path / "m"), "feature_names_in_")


def test_warm_start_goes_on():
    """A second fit on the same data goes on where the first ended; on other data it starts anew."""
    x, y = blobs(3)
    model = MulticlassSSVM(passes=2, clock="work", warm_start=True).fit(x, y)
    first, dual = model.gap_, model.dual_
    cold = model.fit(x, y).gap_
    assert cold < first
    # Planes are handed over and bounds are made anew: the dual value is no lower, the primal known first that of w = 0.
    assert model.history_[0]["dual"] >= dual * (1 - 1e-9) and model.history_[0]["primal"] == pytest.approx(1.0)
    other, labels = blobs(3, seed=1)
    fresh = MulticlassSSVM(passes=2, clock="work").fit(other, labels)
    assert model.fit(other, labels).primal_ == fresh.primal_


def test_without_warm_start_fits_do_not_depend_on_each_other():
    """The same fit twice gives the same bits under the work clock."""
    x, y = blobs(3)
    model = MulticlassSSVM(clock="work").fit(x, y)
    first = model.coef_.copy()
    assert np.array_equal(model.fit(x, y).coef_, first)


def test_history_has_losses_of_test_data():
    """With X_test every entry has both losses, the summary those of the weights kept; without, neither is measured."""
    x, y = blobs(3)
    model = MulticlassSSVM(gap="1%").fit(x[:60], y[:60], X_test=x[60:], y_test=y[60:])
    assert all(record["test_loss"] is not None for record in model.history_)
    assert model.summary_["test_loss"] == pytest.approx(1 - model.score(x[60:], y[60:]))
    with pytest.raises(ValueError, match="y_test"):
        model.fit(x, y, X_test=x)
    assert all(record["test_loss"] is None for record in model.fit(x, y).history_)


def test_labels_that_training_never_saw_are_errors_of_test_data():
    """Numbers and names alike: a row of a class of its own counts as an error."""
    x, y = blobs(3)
    few = y[:60] % 2
    for names in (np.arange(3), np.array(["a", "b", "c"]), np.array(["b", "c", "a"])):
        model = MulticlassSSVM(gap="5%").fit(x[:60], names[few], X_test=x[60:], y_test=names[y[60:]])
        assert model.summary_["test_loss"] == pytest.approx(1 - model.score(x[60:], names[y[60:]]))
        assert model.summary_["test_loss"] >= 1 / 3


def test_sample_weights_of_scores():
    """score weighs rows where weights are given."""
    x, y = blobs(2)
    model = BinarySSVM(gap="5%").fit(x, y)
    right = model.predict(x) == y
    assert model.score(x, y, sample_weight=right.astype(float)) == 1.0


def test_wrong_parameters_name_themselves():
    """Values that cannot be are refused with the name, the value and the rule; nothing is trained."""
    x, y = blobs(2)
    cases = [
        ({"lam": -1.0}, "-1"),
        ({"lam": float("nan")}, "lam = nan"),
        ({"lam": "often"}, "often"),
        ({"gap": "much"}, "much"),
        ({"gap": -0.5}, "-0.5"),
        ({"passes": -1}, "passes"),
        ({"threads": -1}, "threads = -1"),
        ({"threads": 257}, "threads = 257"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"n_jobs": 1.5}, "n_jobs = 1.5"),
        ({"n_jobs": 2, "threads": 2}, "give one of them"),
        ({"clock": "sun"}, "sun"),
        ({"solver": "bcfww"}, "bcfww"),
        ({"solver": object()}, "solver"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
        ({"params": {"solver.ordr": "gap"}}, "ordr"),
        ({"params": {"task.bia": True}}, "bia"),
        ({"params": {"": 1}}, "no dotted name"),
        ({"params": ["task.bias"]}, "params"),
        ({"calls": 2.5}, "calls"),
    ]
    for params, part in cases:
        model = BinarySSVM(**params)
        with pytest.raises(ValueError) as error:
            model.fit(x, y)
        assert part in str(error.value), (params, str(error.value))
        assert not hasattr(model, "coef_")


def test_numpy_numbers_are_numbers():
    """Values from np.logspace and np.arange are taken as they are."""
    x, y = blobs(2)
    model = BinarySSVM(lam=np.float64(0.1), passes=np.int64(5), seed=np.uint8(1), threads=np.int32(1)).fit(x, y)
    assert model.lam_ == 0.1
    assert BinarySSVM(lam=np.float32(0.5)).fit(x, y).lam_ == 0.5


def test_a_solver_is_a_name_or_an_object():
    """Both ways give the same bits."""
    x, y = blobs(3)
    by_name = MulticlassSSVM(solver="mp-bcfw", clock="work", params={"solver.planes.max_idle": 5}).fit(x, y)
    by_class = MulticlassSSVM(solver=solvers.MPBCFW(planes={"max_idle": 5}), clock="work").fit(x, y)
    assert np.array_equal(by_name.coef_, by_class.coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(by_class.solver) == "MPBCFW(planes={'max_idle': 5})"



def rings(n, classes, seed=0):
    """Rings that no line separates, or sectors of the plane."""
    rng = np.random.default_rng(seed)
    ring, angle = rng.integers(0, 2, n), rng.uniform(0, 2 * np.pi, n)
    radius = ring + 0.2 + 0.6 * rng.uniform(size=n)
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return x, ring if classes == 2 else (classes * angle / (2 * np.pi)).astype(int)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_kernels(kernel, tmp_path):
    """Scores are those of the kernel's expansion, computed here; files, pickles and names of classes come back."""
    for estimator, classes in [(BinarySSVM, 2), (MulticlassSSVM, 3)]:
        (x, y), (unseen, truth) = rings(150, classes), rings(100, classes, 1)
        names = np.array(["a", "b", "c"])[y]
        model = estimator(kernel=kernel, gamma=1.5, degree=2, coef0=1.0, lam="c:10", gap="1%").fit(
            x, names, X_test=unseen, y_test=np.array(["a", "b", "c"])[truth]
        )
        assert model.certified_ and model.gap_ <= 0.0101 * model.primal_
        assert model.summary_["support_vectors"] == model.coef_.shape[1]
        scores = model.decision_function(unseen)
        assert scores.shape == ((100,) if classes == 2 else (100, 3))
        if kernel != "linear":
            assert model.score(unseen, np.array(["a", "b", "c"])[truth]) >= 0.9
        assert model.summary_["test_loss"] == pytest.approx(1 - model.score(unseen, np.array(["a", "b", "c"])[truth]))
        path = tmp_path / "m.safetensors"
        model.save(path)
        for other in [type(model).load(path), pickle.loads(pickle.dumps(model))]:
            assert np.array_equal(other.decision_function(unseen), scores)
    assert estimator().get_params()["kernel"] is None


def test_kernel_scores_are_the_expansion():
    """All training rows carry weight where lambda is large: with them at hand scores can be computed here."""
    x, y = rings(40, 2)
    model = BinarySSVM(kernel="rbf", gamma=0.7, lam=10.0, gap=1e-6, params={"task.kernel_rows.storage": "f64"}).fit(x, y)
    assert model.coef_.shape == (1, 40)
    unseen, _ = rings(10, 2, 1)
    k = np.exp(-0.7 * ((unseen[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))
    assert model.decision_function(unseen) == pytest.approx(k @ model.coef_[0], abs=1e-12)
    gram = np.exp(-0.7 * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))
    u, f = model.coef_[0], gram @ model.coef_[0]
    primal = 5.0 * u @ f + np.maximum(0, 1 - np.where(y == 1, 1, -1) * f).mean()
    assert primal == pytest.approx(model.primal_, abs=1e-7)


def gaussian(a, b):
    """The Gaussian kernel of two arrays of rows, gamma = 2."""
    return np.exp(-2.0 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize(("estimator", "classes"), [(BinarySSVM, 2), (MulticlassSSVM, 3)])
def test_functions_and_matrices_are_kernels(estimator, classes, tmp_path):
    """A function, its matrix and the built-in kernel make the same scores; files and pickles come back."""
    (x, y), (unseen, truth) = rings(120, classes), rings(60, classes, 1)
    exact = {"lam": "c:10", "gap": "0.01%", "params": {"task.kernel_rows.storage": "f64"}}
    built_in = estimator(kernel="rbf", gamma=2.0, **exact).fit(x, y)
    function = estimator(kernel=gaussian, **exact).fit(x, y, X_test=unseen, y_test=truth)
    matrix = estimator(kernel="precomputed", **exact).fit(gaussian(x, x), y)
    scores = function.decision_function(unseen)
    assert scores == pytest.approx(built_in.decision_function(unseen), abs=0.05)
    values = gaussian(unseen, x)
    assert np.array_equal(matrix.decision_function(values), scores)
    assert function.score(unseen, truth) == pytest.approx(1 - function.summary_["test_loss"])
    assert function.score(unseen, truth) >= 0.9
    assert np.array_equal(pickle.loads(pickle.dumps(function)).decision_function(unseen), scores)
    path = tmp_path / "m.safetensors"
    function.save(path)
    assert np.array_equal(estimator.load(path).decision_function(values), scores)  # a file holds no function
    assert np.array_equal(function.fit(x, y).predict(unseen), matrix.predict(values))
    with pytest.raises(ValueError, match="120"):
        matrix.predict(values[:, :50])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda a, b: np.ones((len(a), 3)), r"shape \(30, 3\), expected \(30, 30\)"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "found nan for row 0 and training row 0"),
        (lambda a, b: np.triu(np.ones((len(a), len(b)))), "the matrix must be symmetric"),
    ],
)
def test_bad_functions_are_refused(kernel, message):
    x, y = rings(30, 2)
    with pytest.raises(ValueError, match=message):
        BinarySSVM(kernel=kernel).fit(x, y)


def test_matrices_are_cut_by_cross_validation():
    """scikit-learn cuts rows and columns of a matrix alike."""
    model_selection = pytest.importorskip("sklearn.model_selection")
    x, y = rings(120, 2)
    given = model_selection.cross_val_score(BinarySSVM(kernel="precomputed", lam="c:10"), gaussian(x, x), y, cv=3)
    assert given.min() >= 0.85


def test_bad_kernels_are_refused():
    x, y = rings(30, 2)
    for estimator in [BinarySSVM, MulticlassSSVM]:
        for given, message in [
            ({"kernel": "gauss"}, "kernel = 'gauss': expected None, a function, 'poly' or one of 'linear', 'rbf'"),
            ({"kernel": "rbf", "gamma": 0.0}, "gamma"),
            ({"kernel": "rbf", "gamma": "wide"}, "gamma"),
            ({"kernel": "poly", "degree": 0}, "degree = 0: must be at least 1"),
            ({"kernel": "rbf", "params": {"task.kernel": "linear"}}, "give one of them"),
            ({"kernel": "chi-square"}, "in row .*, column .*, expected"),
        ]:
            with pytest.raises(ValueError, match=message):
                estimator(**given).fit(x, y)


def test_columns_that_no_row_has_cost_nothing(tmp_path):
    """Of very wide sparse rows only the columns that some row has get weights; predictions go by their numbers."""
    from scipy import sparse

    width = 1 << 28
    x = sparse.csr_matrix(([1.0, 2.0, 1.0, 2.0], ([0, 0, 1, 2], [2, width - 1, 69, 3])), shape=(3, width))
    for kind, names in ((BinarySSVM, ["no", "yes", "no"]), (MulticlassSSVM, ["a", "b", "c"])):
        model = kind(bias=True).fit(x, names)
        assert model.get_feature_names_out().tolist() == ["x2", "x3", "x69", f"x{width - 1}", "bias"]
        assert model.coef_.shape[1] == 5 and model.n_features_in_ == width
        model.save(tmp_path / "model")
        again = kind.load(tmp_path / "model")
        assert again.n_features_in_ == width
        other = sparse.csr_matrix(([5.0, 1.0], ([0, 1], [width - 1, 17])), shape=(2, width))
        for fitted in (model, again):
            assert list(fitted.predict(x)) == names
            assert fitted.predict(other)[0] == names[0]
        # The second row has no column that has weights: what is left is the bias.
        assert model.decision_function(other)[1] == pytest.approx(np.squeeze(model.coef_[:, -1]))


def test_sample_weights_are_copies():
    """Training with weights is training on as many copies: the same optimum, also at the default lambda and with C."""
    x, y = blobs(3)
    counts = np.arange(len(y)) // 3 % 3
    copies = np.repeat(np.arange(len(y)), counts)
    for lam in ("1/n", "c:2", 0.1):
        weighted = MulticlassSSVM(lam=lam, gap=1e-6).fit(x, y, sample_weight=counts)
        copied = MulticlassSSVM(lam=lam, gap=1e-6).fit(x[copies], y[copies])
        assert weighted.certified_ and weighted.lam_ == pytest.approx(copied.lam_, rel=1e-14)
        assert weighted.primal_ == pytest.approx(copied.primal_, abs=2e-6)
    alike = MulticlassSSVM(gap=1e-4).fit(x, y, sample_weight=1)
    assert alike.primal_ == pytest.approx(MulticlassSSVM(gap=1e-4).fit(x, y).primal_, abs=2e-4)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 weights for"),
        ([-1.0] * 60, "weight -1 of example 0"),
        ([[1.0]] * 60, r"expected \[n\], found shape"),
        (["a"] * 60, "expected numbers"),
        ([0.0] * 60, "sum up to 0"),
        ([1j] * 60, "expected real numbers"),
    ],
)
def test_bad_sample_weights(weights, message):
    """What is no weight is refused by name."""
    x, y = blobs(2)
    with pytest.raises(ValueError, match="sample_weight: .*" + message):
        BinarySSVM().fit(x[:60], y[:60], sample_weight=weights)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        BinarySSVM().fit(x, y, weights=weights)


def test_lambda_chosen_by_cross_validation():
    """``lam="cv"`` trains at the lambda of the smallest loss held out, and tells of the choice."""
    x, y = blobs(2)
    model = BinarySSVM(lam="cv", clock="work").fit(x, y)
    choice = model.summary_["lambda_choice"]
    losses = {row["lambda"]: row["mean_loss"] for row in choice["losses"]}
    assert model.lam_ == choice["lambda"] and losses[model.lam_] == min(losses.values())
    assert choice["folds"] == 5 and choice["held_out"] == len(y) and choice["calls"] > len(y)
    assert model.path(x, y, lambda_min=0.1).stop_reason_ == "lambda-min"
    assert model.check(x, y) == []
