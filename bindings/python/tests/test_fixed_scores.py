"""Scores with a part that is not learned, bounds that are infinite, priors that go on with new words and tags."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest

from conftest import blobs
from multiplane import Bounded, ChainSSVM, ConvergenceWarning, GraphSSVM, MulticlassSSVM, Pooled, StructuredSVM
from graph_data import grids


class Smooth:
    """Three binary variables; the weight of the inputs is learned, equal neighbours score 0.4 at any weights."""

    quality = "exact"
    labellings = tuple(itertools.product((0, 1), repeat=3))

    def dim(self):
        return 1

    def features(self, x, y):
        return np.array([x @ (2 * np.array(y) - 1)])

    def fixed_score(self, x, y):
        return 0.4 * sum(a == b for a, b in itertools.pairwise(y))

    def loss(self, truth, y):
        return float(np.mean(np.array(truth) != np.array(y)))

    def score(self, x, y, w, truth):
        return w @ self.features(x, y) + self.fixed_score(x, y) + (0.0 if truth is None else self.loss(truth, y))

    def decode(self, x, w, truth=None):
        return max(self.labellings, key=lambda y: self.score(x, y, w, truth))

    def fingerprint(self):
        return "smooth"


class Bounding(Smooth):
    """Answers with bounds, loose by 0.01; every so many calls without one."""

    quality = "upper-bound"

    def __init__(self, without=0, loose=0.01):
        self.without, self.loose, self.calls = without, loose, 0

    def decode(self, x, w, truth=None):
        self.calls += 1
        y = super().decode(x, w, truth)
        bound = np.inf if self.without and self.calls % self.without == 0 else self.score(x, y, w, truth) + self.loose
        return Bounded(y, bound)


def data():
    chance = np.random.default_rng(0)
    X = [chance.normal(size=3) for _ in range(30)]
    return X, [tuple(int(v > 0) for v in x + 0.7 * chance.normal(size=3)) for x in X]


def primal(w, lam, X, Y, task=Smooth()):
    """The objective by enumeration."""
    hinges = [
        max(task.score(x, z, w, y) for z in task.labellings) - task.score(x, y, w, None) for x, y in zip(X, Y, strict=True)
    ]
    return lam / 2 * w @ w + np.mean(hinges)


@functools.cache
def optimum():
    """The least objective of a fine grid of weights."""
    return min(primal(np.array([v]), 0.05, *data()) for v in np.linspace(0, 2, 201))


@pytest.mark.parametrize("solver", ["auto", "bcfw", "fw", "one-slack", "ssg"])
@pytest.mark.parametrize("task", [Smooth, Bounding, lambda: Pooled(Smooth(), None)], ids=["exact", "bounds", "pooled"])
def test_a_fixed_score_is_part_of_the_objective(solver, task):
    """Bounds hold the optimum over all labellings and weights, found by enumeration."""
    X, Y = data()
    made = task()
    if isinstance(made, Pooled):
        made.decode_many = lambda xs, w, ys: [made.task.decode(x, w, y) for x, y in zip(xs, ys or [None] * len(xs), strict=True)]
    model = StructuredSVM(made, lam=0.05, gap=0.011 if task is Bounding else "0.1%", passes=300, clock="work", solver=solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, Y)
    loose = 0.01 if task is Bounding else 0.0
    assert model.primal_ - loose <= primal(model.coef_, 0.05, X, Y) + 1e-9 <= model.primal_ + 1e-6
    assert optimum() <= model.primal_ + 1e-4, "the grid is that fine"
    if solver != "ssg":
        assert model.certified_ and model.dual_ <= optimum() + 1e-9
    assert model.decision_values(X, Y)[0] == pytest.approx(Smooth().score(X[0], Y[0], model.coef_, None))


def test_the_doctor_knows_of_fixed_scores():
    """The task is sound; without the method its decoder is not that of its features."""
    X, Y = data()
    assert StructuredSVM(Smooth()).check(X, Y) == []

    class Hidden(Smooth):
        fixed_score = None

        def score(self, x, y, w, truth):
            return w @ self.features(x, y) + Smooth().fixed_score(x, y) + (0.0 if truth is None else self.loss(truth, y))

    assert StructuredSVM(Hidden()).check(X, Y)


def test_fixed_scores_in_processes_and_checkpoints(tmp_path):
    """Workers elsewhere, and a resumed fit, have the same bits."""
    X, Y = data()
    whole = StructuredSVM(Smooth(), lam=0.05, gap="0.1%", clock="work").fit(X, Y)
    spread = StructuredSVM(Smooth(), lam=0.05, gap="0.1%", clock="work", n_jobs=2).fit(X, Y)
    assert np.array_equal(spread.coef_, whole.coef_) and spread.primal_ == whole.primal_
    path = tmp_path / "f.ckpt"
    StructuredSVM(Smooth(), lam=0.05, gap="0.1%", clock="work").fit(X, Y, callbacks=lambda record: True, checkpoint=path)
    again = StructuredSVM(Smooth(), lam=0.05, gap="0.1%", clock="work").fit(X, Y, resume=path)
    assert np.array_equal(again.coef_, whole.coef_)


def test_wrong_fixed_scores_are_refused():
    """Numbers that are none, and slack rescaling, whose weights would not scale them."""
    X, Y = data()
    for wrong in (np.nan, "high", None):
        task = Smooth()
        task.score = Smooth().score  # its decoder goes on
        task.fixed_score = lambda x, y, wrong=wrong: wrong
        with pytest.raises(ValueError, match=r"fixed_score\(x, y\) returned .*: expected a finite number"):
            StructuredSVM(task).fit(X, Y)
    with pytest.raises(ValueError, match="a part without a weight"):
        StructuredSVM(Smooth(), rescaling="slack").fit(X, Y)


def test_an_infinite_bound_is_no_bound():
    """The fit goes on, asks again, and ends certified."""
    X, Y = data()
    task = Bounding(without=97)
    model = StructuredSVM(task, lam=0.05, gap=0.02, passes=300, clock="work").fit(X, Y)
    assert model.certified_ and model.stop_reason_ == "gap" and model.gap_ <= 0.02
    assert max(model.history_.column("without_bound")) > 0, "some answers had none"
    assert 0 < model.summary_["bound_gap"] <= 0.0101 and model.summary_["without_bound"] == []
    assert 0 < model.history_[-1]["bound_gap"] <= 0.0101
    assert not [found for found in StructuredSVM(Bounding(without=3)).check(X, Y) if found.kind == "unsound-bound"]


def test_examples_that_never_have_a_bound_are_named():
    """Nothing is certified, the weights are there, and a warning says which example it is."""
    X, Y = data()

    class Never(Bounding):
        def decode(self, x, w, truth=None):
            y, bound = super().decode(x, w, truth)
            return Bounded(y, np.inf if x is X[4] else bound)

    with pytest.warns(UserWarning, match=r"no bound \(inf\) in its last answer for example 4 of 30"):
        model = StructuredSVM(Never(), lam=0.05, gap=0.02, passes=20, clock="work").fit(X, Y)
    assert not model.certified_ and model.summary_["without_bound"] == [4] and np.isfinite(model.coef_).all()


def test_loose_bounds_are_blamed_for_the_gap():
    """Where they are most of it, the warning says so."""
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match=r"\d+ % of it are due to decode's bounds"):
        model = StructuredSVM(Bounding(loose=0.3), lam=0.05, gap="1%", passes=60, clock="work").fit(X, Y)
    assert model.summary_["bound_gap"] == pytest.approx(0.3) and model.gap_ >= 0.3 - 1e-9
    for wrong in (np.nan, -np.inf):
        with pytest.raises(ValueError, match="its upper bound is"):
            StructuredSVM(Bounding(loose=wrong)).fit(X, Y)


TEXT = [["the", "cat", "sat"], ["a", "dog", "ran"], ["the", "dog", "sat"]] * 4
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]] * 4
MORE = [["the", "bird", "sang", "loudly"], ["a", "bird", "ran", "away"]] * 4
MORE_TAGS = [["D", "N", "V", "R"], ["D", "N", "V", "R"]] * 4


@pytest.mark.parametrize("kind", ["estimator", "path"])
def test_a_tagger_goes_on_with_new_words_and_tags(kind, tmp_path):
    """Weights are matched by name: with a large lambda those of before stay, and what is new begins at 0."""
    old = ChainSSVM(template="%x[0,0]").fit([[(w,) for w in s] for s in TEXT], TAGS)
    old.save(tmp_path / "old.st")
    prior = old if kind == "estimator" else tmp_path / "old.st"
    new = ChainSSVM(template="%x[0,0]", prior=prior, lam=1e6)
    with pytest.warns(UserWarning, match=r"1 labels \(such as `R`\) and 4 features .* of the data is new and begins at 0"):
        new.fit([[(w,) for w in s] for s in MORE], MORE_TAGS)
    names, before = new.get_feature_names_out().tolist(), old.get_feature_names_out().tolist()
    labels = new.classes_.tolist()
    for j, label in enumerate(labels):
        for k, name in enumerate(names):
            known = label in old.classes_ and name in before
            expected = old.unary_[old.classes_.tolist().index(label), before.index(name)] if known else 0.0
            assert new.unary_[j, k] == pytest.approx(expected, abs=1e-4), (label, name)
    assert new.pair_[labels.index("D"), labels.index("N")] == pytest.approx(old.pair_[0, 1], abs=1e-4)


def test_classes_with_names_are_matched():
    """Rows and graphs know their classes by numbers inside."""
    x, y = blobs()
    names = np.array(["ash", "elm", "oak"])
    old = MulticlassSSVM(gap="1%").fit(x, names[y])
    more = np.array(["zelkova", "oak", "ash"])[y]
    with pytest.warns(UserWarning, match=r"does not have 1 labels \(such as `elm`\).*1 labels \(such as `zelkova`\)"):
        new = MulticlassSSVM(prior=old, lam=1e6).fit(x, more)
    assert new.classes_.tolist() == ["ash", "oak", "zelkova"]
    assert new.coef_ == pytest.approx(np.stack([old.coef_[0], old.coef_[2], np.zeros(4)]), abs=1e-4)
    same = MulticlassSSVM(prior=old, lam=1e6).fit(x, names[y])
    assert same.coef_ == pytest.approx(old.coef_, abs=1e-4)
    x, y = grids()
    old = GraphSSVM(passes=5).fit(x, [np.array(["a", "b"])[one] for one in y])
    new = GraphSSVM(passes=5, prior=old, lam=1e6).fit(x, [np.array(["a", "b"])[one] for one in y])
    assert new.coef_ == pytest.approx(old.coef_, abs=1e-4)


def test_priors_that_do_not_fit_are_refused():
    """Another task, other features, no model, an estimator that is not fitted, a path."""
    x, y = blobs()
    old = MulticlassSSVM(gap="5%").fit(x, y)
    with pytest.raises(ValueError, match="^prior: its features are not those of the training data"):
        MulticlassSSVM(prior=old).fit(x[:, :3], y)
    with pytest.raises(ValueError, match="^prior: it is a model of task `multiclass`"):
        ChainSSVM(prior=old).fit([x], [y])
    with pytest.raises(ValueError, match="the estimator is not fitted"):
        MulticlassSSVM(prior=MulticlassSSVM()).fit(x, y)
    with pytest.raises(ValueError, match="expected a fitted estimator, or the path"):
        MulticlassSSVM(prior=3).fit(x, y)
    with pytest.raises(ValueError, match="prior: not for a path"):
        MulticlassSSVM(prior=old).path(x, y)


def test_a_warm_start_that_begins_anew_says_so(tmp_path):
    """On other data, with other parameters, after loading; not where it goes on, nor at first."""
    x, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MulticlassSSVM(warm_start=True, gap="5%").fit(x, y)
        model.set_params(gap="1%", lam=0.02).fit(x, y)
    with pytest.warns(UserWarning, match="starts from zero: its data is not that of the last fit; prior=model"):
        model.fit(x[1:], y[1:])
    with pytest.warns(UserWarning, match="starts from zero: other parameters"):
        model.set_params(bias=True).fit(x[1:], y[1:])
    model.save(tmp_path / "m.st")
    loaded = MulticlassSSVM.load(tmp_path / "m.st").set_params(warm_start=True)
    with pytest.warns(UserWarning, match="starts from zero: there is no state"):
        loaded.fit(x, y)


def test_words_of_other_packages_lead_on():
    """Attributes, losses, kernels, and keywords in the wrong place."""
    x, y = blobs()
    model = MulticlassSSVM(gap="5%").fit(x, y)
    for name in ("w", "weights_"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': coef_ has the weights"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="loss_curve_.*history_"):
        _ = StructuredSVM(Smooth()).loss_curve_
    assert not hasattr(GraphSSVM(), "weights_")
    with pytest.raises(ValueError, match="loss = 'zero_one': write loss='hamming'"):
        MulticlassSSVM(loss="zero_one").fit(x, y)
    with pytest.raises(ValueError, match="kernel = 'gaussian': write kernel='rbf'"):
        MulticlassSSVM(kernel="gaussian").fit(x, y)
    with pytest.raises(TypeError, match=r"it is an argument of `fit`: write fit\(X, y, checkpoint='f'\)"):
        MulticlassSSVM(checkpoint="f")
