"""path and PathResult: proven weights for every lambda, estimators from it, plots."""

import matplotlib
import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass, Undeclared

from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, PathResult, StructuredSVM

matplotlib.use("Agg")
X, Y = blobs(3)


@pytest.fixture(scope="module")
def path():
    return MulticlassSSVM(clock="work").path(X, Y, eps=0.1, lambda_min=0.01, X_test=X[:30], y_test=Y[:30])


def primal(w, lam, x, y):
    scores = x @ w.reshape(3, -1).T
    hinge = (scores + (np.arange(3) != y[:, None])).max(axis=1) - scores[np.arange(len(y)), y]
    return lam / 2 * (w @ w) + hinge.mean()


def test_a_path_brackets_the_optimum_everywhere(path):
    """At any lambda the path's weights are within eps of what training there finds."""
    assert isinstance(path, PathResult) and path.certified_ and path.stop_reason_ == "lambda-min"
    assert (np.diff(path.lambdas_) < 0).all() and len(path) == len(path.lambdas_) == len(path.coef_)
    assert (path.primal_ >= path.dual_).all()
    assert repr(path).endswith(" to 0.01)") and path.lambdas_[-1] > path.lambda_end_ == 0.01
    for lam in np.geomspace(0.011, path.lambdas_[0], 7):
        model = path.at(lam)
        assert model.lam == lam
        trained = MulticlassSSVM(lam=lam, gap=1e-4).fit(X, Y)
        assert primal(model.coef_.ravel(), lam, X, Y) <= trained.dual_ + 1e-4 + 0.1 + 1e-12


def test_relative_eps_and_a_beginning_of_ones_own():
    """With "20%" the objective is at most that share above the optimum, at every lambda from lambda_max down and above."""
    for lambda_max in (None, 3.0, "c:0.01"):
        path = MulticlassSSVM(clock="work").path(X, Y, eps="20%", lambda_min=0.01, lambda_max=lambda_max)
        first = {None: path.lambdas_[0], 3.0: 3.0, "c:0.01": 100 / len(X)}[lambda_max]
        assert path.lambdas_[0] == pytest.approx(first, rel=1e-15) and path.certified_
        assert path.summary_["eps"] is None and path.summary_["relative_eps"] == pytest.approx(0.2)
        assert (path.primal_ - path.dual_ <= 0.18 * path.primal_ * (1 + 1e-12)).all()
        top = 10 * path.lambdas_[0] if lambda_max is None else path.lambdas_[0]
        for lam in np.geomspace(0.011, top, 7):
            found = primal(path.at(lam).coef_.ravel(), lam, X, Y)
            trained = MulticlassSSVM(lam=lam, gap=1e-4).fit(X, Y)
            assert found - trained.primal_ <= 0.2 * found + 1e-12
    for wrong in ("0%", "100%", "x%"):
        with pytest.raises(ValueError, match="eps"):
            MulticlassSSVM().path(X, Y, eps=wrong)
    with pytest.raises(ValueError, match="must be greater than lambda_min = 0.5"):
        MulticlassSSVM().path(X, Y, lambda_min=0.5, lambda_max=0.1)


def test_predictions_and_the_best_lambda(path):
    """predict is that of at(lam); best has the smallest test loss, and needs one."""
    assert (path.predict(X, 0.05) == path.at(0.05).predict(X)).all()
    losses = [point["test_loss"] for point in path.summary_["breakpoints"]]
    assert 1 - path.best.score(X[:30], Y[:30]) == pytest.approx(min(losses))
    assert path.best.lam == path.lambdas_[losses.index(min(losses))]
    with pytest.raises(ValueError, match="no test loss was measured"):
        MulticlassSSVM().path(X, Y, eps=0.5, lambda_min=0.5).best


def test_estimators_of_a_path_are_whole(path):
    """They predict, score, have classes and weights in shape, and are saved."""
    model = path.at(0.05)
    assert model.coef_.shape == (3, 4) and model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, Y) > 0.7 and model.n_features_in_ == 4
    assert path.at(0.02) is not model
    with pytest.raises(ValueError, match="0.001"):
        path.at(0.001)


def test_labels_of_a_path_keep_their_names():
    """Text labels come out of a path's estimators."""
    names = np.array(["x", "y", "z"])[Y]
    path = MulticlassSSVM().path(X, names, eps=0.2, lambda_min=0.02)
    assert set(path.at(0.05).predict(X)) == {"x", "y", "z"}


def test_paths_plot(path):
    """Primal, dual and losses over lambda."""
    from matplotlib import pyplot

    axes = path.plot()
    assert {"primal", "dual", "test loss"} <= {line.get_label() for line in axes.get_lines()}
    low, high = axes.get_xlim()
    assert path.plot(axes) is axes and low < high, "lambda rises, as in the command line's pictures"
    assert repr(path).startswith("PathResult(")
    pyplot.close("all")


def test_paths_of_the_other_estimators():
    """Binary, chain, and a user's task with an exact decoder; a heuristic one is refused."""
    x, y = blobs(2)
    assert BinarySSVM().path(x, y, eps=0.2, lambda_min=0.05).at(0.1).score(x, y) > 0.7
    xs, ys = sequences()
    chain = ChainSSVM().path(xs, ys, eps=0.2, lambda_min=0.05)
    assert chain.at(0.1).score(xs, ys) > 0.6
    user = StructuredSVM(Multiclass()).path(list(X), Y.tolist(), eps=0.2, lambda_min=0.05)
    assert user.certified_ and user.at(0.1).score(list(X), Y.tolist()) > 0.7
    with pytest.raises((ValueError, RuntimeError)):
        StructuredSVM(Undeclared()).path(list(X), Y.tolist(), eps=0.2, lambda_min=0.05)


def test_wrong_arguments_of_a_path():
    """eps, lambda_min and kappa outside their ranges are refused with the value."""
    for arguments in ({"eps": -1.0}, {"lambda_min": 0.0}, {"kappa": 1.5}):
        with pytest.raises(ValueError) as info:
            MulticlassSSVM().path(X, Y, **arguments)
        assert str(next(iter(arguments.values()))).rstrip(".0") in str(info.value)


def test_arguments_of_a_path_are_read_as_on_the_command_line():
    """A number given as text is that number, not the default; what is none is refused with its name and the rule."""
    coarse = MulticlassSSVM(clock="work").path(X, Y, eps="0.5", lambda_min="0.05")
    assert coarse.summary_["eps"] == 0.5 and coarse.summary_["lambda_min"] == 0.05
    same = MulticlassSSVM(clock="work").path(X, Y, eps=np.float32(0.5), lambda_min=0.05)
    assert same.lambdas_.tolist() == coarse.lambdas_.tolist()
    for eps in ("half", [0.5], None, True):
        with pytest.raises(ValueError, match=r"path\.eps = .*: must be a number"):
            MulticlassSSVM().path(X, Y, eps=eps)
    with pytest.raises(ValueError, match="path.eps is an argument of path"):
        MulticlassSSVM(params={"path.eps": 0.2}).path(X, Y)
    with pytest.raises(ValueError, match="unknown parameter of path: `epsilon`"):
        MulticlassSSVM(params={"path.epsilon": 0.2}).path(X, Y)
    with pytest.raises(ValueError, match="unknown parameter `path`"):
        MulticlassSSVM(params={"path.eps": 0.2}).fit(X, Y)


def test_a_grid_is_asked_for_by_its_parameters():
    """grid.points makes a grid of the path, by the same names as on the command line."""
    grid = MulticlassSSVM(clock="work", gap=0.05, params={"grid.points": [1, 0.1]}).path(X, Y)
    assert grid.summary_["kind"] == "grid" and grid.lambdas_.tolist() == [1.0, 0.1] and grid.certified_
    even = MulticlassSSVM(clock="work", params={"grid.points": 3, "grid.lambda_max": "c:1"}).path(X, Y, lambda_min=0.001)
    assert len(even) == 3 and even.lambdas_[0] == pytest.approx(1 / len(X)) and even.lambdas_[-1] == 0.001
    with pytest.raises(ValueError, match=r"grid\.points\[1\] = x: must be a number"):
        MulticlassSSVM(params={"grid.points": [1, "x"]}).path(X, Y)
    with pytest.raises(ValueError, match="unknown warm start `keep`: did you mean"):
        MulticlassSSVM(params={"grid.points": 3, "grid.warm_start": "keep"}).path(X, Y)
