"""The oracle doctor: every planted fault is named with its cause, sound tasks have none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from conftest import blobs, sequences

import multiplane
from multiplane import Bounded, StructuredSVM

K, F = 4, 5


class Multiclass:
    """A sound task, written out."""

    quality = "exact"

    def dim(self):
        return K * F

    def features(self, x, y):
        return (np.arange(F) + y * F, x)

    def loss(self, truth, y):
        return float(truth != y)

    def scores(self, x, w, truth):
        scores = w.reshape(K, F) @ x
        if truth is not None:
            scores = scores + 1.0
            scores[truth] -= 1.0
        return scores

    def decode(self, x, w, truth=None):
        return int(self.scores(x, w, truth).argmax())


class Nan(Multiclass):
    def features(self, x, y):
        values = np.array(x)
        values[2] = np.nan
        return (np.arange(F) + y * F, values)


class WrongLength(Multiclass):
    def features(self, x, y):
        return np.zeros(K * F - 1)


class OffByOne(Multiclass):
    def features(self, x, y):
        return (np.arange(F) + y * F + 1, x)


class NegativeLoss(Multiclass):
    def loss(self, truth, y):
        return -1.0 if truth != y else 0.0


class NoLoss(Multiclass):
    def loss(self, truth, y):
        return 0.0

    def decode(self, x, w, truth=None):
        return super().decode(x, w)  # no loss to add


class LossOfTruth(Multiclass):
    def loss(self, truth, y):
        return 1.0


class SubOptimal(Multiclass):
    """The second best in one call of ten."""

    def decode(self, x, w, truth=None):
        order = np.argsort(-self.scores(x, w, truth), kind="stable")
        unlucky = abs(hash(np.asarray(x).tobytes() + w.tobytes())) % 10 == 0
        return int(order[1 if unlucky else 0])


class LossLeftOut(Multiclass):
    def decode(self, x, w, truth=None):
        return int(self.scores(x, w, None).argmax())


class ScoreMismatch(Multiclass):
    """Decodes with the weights of another layout."""

    def scores(self, x, w, truth):
        scores = w.reshape(F, K).T @ x
        if truth is not None:
            scores = scores + 1.0
            scores[truth] -= 1.0
        return scores


class NonDeterministic(Multiclass):
    def __init__(self):
        self.chance = np.random.default_rng(0)

    def decode(self, x, w, truth=None):
        return int(self.chance.integers(K))


class Raises(Multiclass):
    def decode(self, x, w, truth=None):
        if x[0] > 0.5:
            raise RuntimeError("the solver gave up")
        return super().decode(x, w, truth)


class WrongType(Multiclass):
    def decode(self, x, w, truth=None):
        return [super().decode(x, w, truth)]


class UnsoundBound(Multiclass):
    quality = "upper-bound"

    def decode(self, x, w, truth=None):
        scores = self.scores(x, w, truth)
        return Bounded(int(scores.argmax()), float(scores.max()) - 0.5)


def data(n=40, seed=0):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(n, F))
    return list(x), [int(y) for y in (x @ chance.normal(size=(F, K))).argmax(axis=1)]


PLANTED = [
    (Nan, {"feature-not-finite"}),
    (WrongLength, {"feature-length"}),
    (OffByOne, {"index-out-of-range"}),
    (NegativeLoss, {"negative-loss"}),
    (NoLoss, {"no-loss"}),
    (LossOfTruth, {"loss-of-truth"}),
    (SubOptimal, {"sub-optimal"}),
    (LossLeftOut, {"loss-ignored"}),
    (ScoreMismatch, {"score-mismatch"}),
    (NonDeterministic, {"non-deterministic"}),
    (Raises, {"oracle-error"}),
    (WrongType, {"wrong-label-type", "label-refused"}),
    (UnsoundBound, {"unsound-bound"}),
]


@pytest.mark.parametrize(("task", "kinds"), PLANTED, ids=lambda value: getattr(value, "__name__", None))
def test_planted_faults_are_named(task, kinds):
    """Each of these mistakes is reported as what it is, with example, numbers and cause."""
    findings = StructuredSVM(task()).check(*data())
    found = {finding.kind for finding in findings}
    assert found & kinds, f"{found}\n{findings}"
    first = next(finding for finding in findings if finding.kind in kinds)
    assert first.message and first.cause and first["kind"] == first.kind
    assert first.example is None or 0 <= first.example < 40


@pytest.mark.parametrize("seed", range(8))
def test_sound_tasks_have_no_findings(seed):
    """No false alarm: rows, chains, permutations, upper bounds, heuristics that say so."""
    findings = StructuredSVM(Multiclass()).check(*data(seed=seed))
    assert findings == [], str(findings)
    assert findings.profile["decodes_per_second"] > 0

    class Sorting(Multiclass):
        """Permutations: a change of one variable would be no labelling."""

        def dim(self):
            return 9

        def features(self, x, y):
            phi = np.zeros((3, 3))
            phi[np.arange(3), y] = x
            return phi.ravel()

        def loss(self, truth, y):
            return float(np.mean(np.asarray(truth) != np.asarray(y)))

        def decode(self, x, w, truth=None):
            from itertools import permutations

            w = w.reshape(3, 3)
            gain = w * np.asarray(x)[:, None]
            if truth is not None:
                gain = gain + 1 / 3
                gain[np.arange(3), truth] -= 1 / 3
            return max(permutations(range(3)), key=lambda y: gain[np.arange(3), y].sum())

    chance = np.random.default_rng(seed)
    x = [chance.normal(size=3) for _ in range(20)]
    findings = StructuredSVM(Sorting()).check(x, [tuple(int(i) for i in chance.permutation(3)) for _ in x])
    assert findings == [], str(findings)


def test_constrained_labellings_are_no_fault():
    """Parts of a row, start before stop: a change of one end alone may be no part."""

    class Intervals:
        quality = "exact"

        def dim(self):
            return 2

        def features(self, x, y):
            return np.array([x[y[0] : y[1]].sum(), y[1] - y[0]])

        def loss(self, truth, y):
            return 0.5 * (truth[0] != y[0]) + 0.5 * (truth[1] != y[1])

        def decode(self, x, w, truth=None):
            def value(y):
                return w @ self.features(x, y) + (0 if truth is None else self.loss(truth, y))

            return max(((a, b) for a in range(len(x)) for b in range(a + 1, len(x) + 1)), key=value)

    class Forgetful(Intervals):
        def decode(self, x, w, truth=None):
            return super().decode(x, w)

    class Informed(Intervals):
        """Finds the best but one, and says what is near."""

        def decode(self, x, w, truth=None):
            best = super().decode(x, w, truth)
            return (best[0], best[1] - 1) if best[1] - best[0] > 1 else best

        def neighbours(self, x, y):
            return [(a, y[1]) for a in range(y[1])] + [(y[0], b) for b in range(y[0] + 1, len(x) + 1)]

    chance = np.random.default_rng(0)
    x = [chance.normal(size=8) for _ in range(20)]
    y = [(int(a), int(a) + 3) for a in chance.integers(0, 5, size=20)]
    findings = StructuredSVM(Intervals()).check(x, y)
    assert findings == [], str(findings)
    assert {finding.kind for finding in StructuredSVM(Forgetful()).check(x, y)} == {"loss-ignored"}
    assert StructuredSVM(Informed()).check(x, y)


class Knapsack:
    """x: values, sizes and a capacity of its own; y: what is packed. What fits into one sack may not fit into another."""

    quality = "exact"
    sign = 1

    def dim(self):
        return 4

    def features(self, x, y):
        return np.array(y) @ x[0]

    def loss(self, truth, y):
        return float(np.mean(np.array(truth) != np.array(y)))

    def packed(self, x):
        every = np.array(list(product((0, 1), repeat=5)))
        return every[every @ x[1] <= x[2]]

    def decode(self, x, w, truth=None):
        every = self.packed(x)
        losses = 0 if truth is None else (every != np.array(truth)).mean(axis=1)
        return tuple(every[(self.sign * every @ x[0] @ w + losses).argmax()].tolist())


class FlippedKnapsack(Knapsack):
    sign = -1


class ForgetfulKnapsack(Knapsack):
    def decode(self, x, w, truth=None):
        return super().decode(x, w)


class GreedyKnapsack(Knapsack):
    def decode(self, x, w, truth=None):
        values, sizes, left = x
        gains = values @ w + (0 if truth is None else (1 - 2 * np.array(truth)) / len(sizes))
        y = [0] * len(sizes)
        for i in np.argsort(-gains / sizes):
            if gains[i] > 0 and sizes[i] <= left:
                y[i], left = 1, left - sizes[i]
        return tuple(y)


class NarrowKnapsack(Knapsack):
    """Never packs the first two things together."""

    def packed(self, x):
        every = super().packed(x)
        return every[every[:, 0] + every[:, 1] < 2]


def knapsacks(seed):
    chance = np.random.default_rng(seed)
    w = chance.normal(size=4) + 1
    x = [(chance.normal(size=(5, 4)), chance.integers(1, 6, size=5), int(chance.integers(3, 14))) for _ in range(30)]
    return x, [Knapsack().decode(sack, w) for sack in x]


@pytest.mark.parametrize("seed", range(4))
def test_what_fits_another_example_is_no_fault(seed):
    """Labellings of other examples count where decode returns them for this one; real faults are told by their names."""
    x, y = knapsacks(seed)
    findings = StructuredSVM(Knapsack()).check(x, y)
    assert findings == [], str(findings)
    shared = {label: label for label in y}  # equal truths are one object: no example is known by it
    findings = StructuredSVM(Knapsack()).check(x, [shared[label] for label in y])
    assert findings == [], str(findings)
    named = {FlippedKnapsack: "score-mismatch", ForgetfulKnapsack: "loss-ignored"}
    named |= {GreedyKnapsack: "sub-optimal", NarrowKnapsack: "sub-optimal"}
    for task, kind in named.items():
        assert {finding.kind for finding in StructuredSVM(task()).check(x, y)} == {kind}


def test_a_loss_that_is_always_zero_is_told():
    """How often it was seen, and what follows; not where decode returned nothing but truths."""

    class Truths(NoLoss):
        def decode(self, x, w, truth=None):
            return int(x[0])

    (finding,) = StructuredSVM(NoLoss()).check(*data())
    assert finding.message.startswith("loss returned 0 for every labelling seen, ") and finding.example is None
    assert "nothing can be learned" in finding.cause
    assert StructuredSVM(Truths()).check([np.array([2, 0, 0, 0, 0.0])] * 3, [2] * 3) == []


def test_interrupts_pass_through():
    """Ctrl-C in an examination is no finding."""

    class Interrupted(Multiclass):
        def decode(self, x, w, truth=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(Interrupted()).check(*data())


def test_bad_input_is_refused():
    """Lengths and empty lists, with numbers."""
    with pytest.raises(ValueError, match="X has 40 examples, Y has 39"):
        StructuredSVM(Multiclass()).check(data()[0], data()[1][:-1])
    with pytest.raises(ValueError, match="empty"):
        StructuredSVM(Multiclass()).check([], [])


@pytest.mark.parametrize("name", ["BinarySSVM", "MulticlassSSVM", "ChainSSVM"])
def test_estimators_of_rows_and_chains_have_it_too(name):
    """No fault is found in the built-in tasks, and bad labels are refused as by ``fit``."""
    x, y = sequences() if name == "ChainSSVM" else blobs(classes=2)
    found = getattr(multiplane, name)().check(x, y)
    assert found == [] and found.profile["decodes_per_second"] > 0
    with pytest.raises(ValueError):
        getattr(multiplane, name)().check(x, y[:-1])
