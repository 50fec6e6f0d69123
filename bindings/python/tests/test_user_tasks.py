"""Tasks in Python: forms of features, what decoders promise, batches, executors."""

import copy
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import blobs
from problems import Batched, Described, Loose, Multiclass, Undeclared
from scipy.sparse import csr_array

from multiplane import Bounded, BrokenPromiseWarning, HeuristicWarning, MulticlassSSVM, Pooled, StructuredSVM, Task, _structured

X, Y = blobs()
X, Y = list(X), Y.tolist()


def fitted(task, **params):
    return StructuredSVM(task, clock="work", **{"gap": "2%", **params}).fit(X, Y)


@pytest.fixture(scope="module")
def usual():
    """The weights of the plain task."""
    return fitted(Multiclass()).coef_


@pytest.mark.parametrize("form", ["dense", "pairs", "dict", "list of pairs", "list", "csr", "coo array"])
def test_forms_of_features(form, usual):
    """Dense, sparse, (indices, values), dicts and lists say the same and give the same weights."""
    model = fitted(Multiclass(form=form))
    assert np.allclose(model.coef_, usual, atol=1e-9) and model.certified_
    assert model.predict(X) == fitted(Multiclass()).predict(X)


def test_float32_features(usual):
    """float32 features are taken; they are as exact as they are."""
    assert np.allclose(fitted(Multiclass(form="float32")).coef_, usual, atol=0.1)


def test_same_problem_as_the_built_in_task(usual):
    """A task in Python and the built-in one bracket the same optimum."""
    ours = fitted(Multiclass())
    theirs = MulticlassSSVM(gap="2%").fit(X, Y)
    assert ours.dual_ <= theirs.primal_ and theirs.dual_ <= ours.primal_
    assert isinstance(Multiclass(), Task)


def test_decode_many(usual):
    """Batches of at most `batch` examples; the same bits as one by one."""
    task = Batched()
    model = fitted(task)
    assert np.array_equal(model.coef_, usual)
    assert 1 < max(task.batches) <= 7
    assert model.predict(X) == fitted(Multiclass()).predict(X)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_describe_many(is_sparse, usual):
    """The same bits from features and losses of many answers at once."""
    task = Described((lambda features, losses: (csr_array(features), losses.tolist())) if is_sparse else lambda *both: both)
    assert np.array_equal(fitted(task).coef_, usual)
    assert task.described >= sum(task.batches) > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda features, losses: (features[:, :-1], losses), r"returned (\d+) x 11 features and \1 losses: expected \1 x 12 and \1"),
        (lambda features, losses: (features, losses[1:]), r"returned (\d+) x 12 features and \d+ losses: expected \1 x 12 and \1"),
        (lambda features, losses: (features * np.nan, losses), r"describe_many: features\[0, 0\] is NaN"),
        (lambda features, losses: (features, losses - 2.0), r"example \d+: loss.truth, y. returned -\d: expected a finite number >= 0"),
        (lambda features, losses: (features, ["much"] * len(losses)), "could not convert string to float"),
    ],
)  # fmt: skip
def test_descriptions_that_cannot_be_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        fitted(Described(change))


def test_other_losses_at_once_than_one_by_one_certify_nothing():
    """Of an example whose answers are not compared with each other while the run lasts."""

    class Raised(Described):
        def describe_many(self, xs, truths, ys):
            features, losses = super().describe_many(xs, truths, ys)
            return features, np.where([x is X[29] for x in xs], 1.5 * losses, losses)

    with pytest.warns(BrokenPromiseWarning, match="describe_many gives the answer for example 29 the score"):
        assert not fitted(Raised(), lam=20.0).certified_


def test_an_undeclared_quality_is_heuristic():
    """A warning, a gap that is an estimate, no certificate."""
    with pytest.warns(HeuristicWarning, match="problems.Undeclared does not declare"):
        model = fitted(Undeclared(), passes=20)
    assert not model.certified_ and np.isfinite(model.gap_) and model.stop_reason_ == "passes"


def test_a_gap_that_nobody_certifies_does_not_stop_but_passes_do(quiet):
    """With a gap as the only stop a heuristic task ends after the usual number of passes."""
    model = StructuredSVM(Undeclared(), gap=0.5, solver="bcfw").fit(X[:5], Y[:5])
    assert model.stop_reason_ == "passes" and model.summary_["passes"] == 1000


def test_a_declared_heuristic_is_no_surprise():
    """Declared heuristics are not certified, without a warning."""
    import warnings

    task = Multiclass()
    task.quality = "heuristic"
    with warnings.catch_warnings():
        warnings.simplefilter("error", HeuristicWarning)
        assert not fitted(task, gap=None, passes=5).certified_
    task.quality = lambda: "exact"
    assert fitted(task).certified_


def test_upper_bounds_certify():
    """Bounded answers certify; a loose bound shows in the primal."""
    tight, loose = Loose(), Loose()
    loose.slack = 0.25
    tight, loose = fitted(tight), fitted(loose, gap=None, passes=30)
    assert tight.certified_ and loose.certified_
    assert loose.primal_ >= tight.dual_ + 0.2
    assert isinstance(tight.predict(X)[0], int)


def test_bounds_that_cannot_be_are_refused():
    """A bound below the score of its own labelling, or none at all."""

    class Low(Loose):
        def decode(self, x, w, truth=None):
            return Bounded(super().decode(x, w, truth).y, -100.0)

    class Missing(Loose):
        def decode(self, x, w, truth=None):
            return super().decode(x, w, truth).y

    with pytest.raises((ValueError, RuntimeError), match=r"example \d+: its upper bound is -100, below the score"):
        fitted(Low())
    assert not fitted(Missing(), gap=None, passes=3).certified_


def test_executors(usual):
    """Threads and processes give the same bits as one thread."""
    with ThreadPoolExecutor(2) as pool:
        model = fitted(Multiclass(), executor=pool)
        assert np.array_equal(model.coef_, usual)
        assert model.predict(X) == fitted(Pooled(Multiclass(), pool)).predict(X)
    with ProcessPoolExecutor(2) as pool:
        model = StructuredSVM(Multiclass(), executor=pool, clock="work", solver="fw", passes=4).fit(X, Y)
        plain = StructuredSVM(Multiclass(), clock="work", solver="fw", passes=4).fit(X, Y)
        assert np.array_equal(model.coef_, plain.coef_)
        assert model.predict(X) == plain.predict(X)


class Reusing(Multiclass):
    """Answers with one array, a view of it, or a list that holds that, and writes over it in the next call."""

    def __init__(self, form):
        super().__init__(form=form)
        self.buffer = np.zeros(2, dtype=int)
        self.phi = np.zeros(self.dim())
        self.rows = np.zeros((len(X), 2), dtype=int)
        if form == "many":
            self.decode_many = self.decode_rows

    def features(self, x, y):
        self.phi[:] = super().features(x, np.ravel(y)[0])
        return np.arange(self.dim()), self.phi

    def loss(self, truth, y):
        return float(np.ravel(truth)[0] != np.ravel(y)[0])

    def formed(self, y):
        self.buffer[:] = y
        return {"view": self.buffer[:1], "list": [self.buffer[:1]]}.get(self.form, self.buffer)

    def decode_rows(self, xs, w, truths):
        for i, x in enumerate(xs):
            self.rows[i] = self.decode(x, w, None if truths is None else truths[i])
        return self.rows[: len(xs)]

    def decode(self, x, w, truth=None):
        return self.formed(super().decode(x, w, None if truth is None else np.ravel(truth)[0]))


@pytest.mark.parametrize("form", ["plain", "view", "list", "many", "threads", "processes"])
def test_an_answer_may_be_written_over(form, monkeypatch, usual):
    """A task that answers with the same array each time is trained, predicted and examined as one that makes new ones."""
    truths, expected = [copy.deepcopy(Reusing(form).formed(y)) for y in Y], fitted(Multiclass()).predict(X)
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(_structured, "SHORT", 0.0)
        workers = {"threads": {"executor": pool}, "processes": {"n_jobs": 2}}.get(form, {})
        model = StructuredSVM(Reusing(form), clock="work", gap="2%", **workers).fit(X, truths)
        found = model.predict(X)
        assert [np.ravel(y)[0] for y in found] == expected and len({id(y) for y in found}) == len(X)
        assert model.score(X, truths) == fitted(Multiclass()).score(X, Y)
    assert model.certified_ and np.array_equal(model.coef_, usual)
    assert not model.check(X, truths, seconds=5.0), "no fault is found"


def test_a_broken_promise_is_seen_through_one_buffer():
    """The answers that are compared after training are not made one by the array that they share."""

    class Half(Reusing):
        def decode(self, x, w, truth=None):
            known = None if truth is None else truth[0]
            return self.formed((self.scores(x, w, known) + self.scores(x, w)).argmax())  # half of the loss

    truths = [np.array([y, y]) for y in Y]
    model = StructuredSVM(Reusing("plain"), clock="work", gap="2%").fit(X, truths)
    assert model._broken_promise(model._model, 0, X, truths) is None
    model.task = Half("plain")
    assert "decode is declared exact, but its answer" in model._broken_promise(model._model, 0, X, truths)


def test_decision_values_and_score():
    """The score of a labelling is w . phi; score is 1 minus the mean loss."""
    for form in ("dense", "pairs", "csr"):
        task = Multiclass(form=form)
        model = fitted(task)
        expected = [model.coef_.reshape(3, 4)[y] @ x for x, y in zip(X, Y, strict=True)]
        assert np.allclose(model.decision_values(X, Y), expected)
    assert model.score(X, Y) == pytest.approx(np.mean(np.array(model.predict(X)) == Y))


def test_nonnegative_weights():
    """Weights that must not fall below 0 do not."""
    task = Multiclass()
    task.nonnegative = [(0, 4)]
    model = fitted(task)
    assert (model.coef_[:4] >= 0).all() and (model.coef_[4:] < 0).any() and model.certified_


def test_weights_are_read_only():
    """A decoder that writes into w is stopped; predictions too."""

    class Writing(Multiclass):
        def decode(self, x, w, truth=None):
            w[0] = 1.0

    with pytest.raises(ValueError, match="read-only"):
        fitted(Writing())
    model = fitted(Multiclass())
    model.task = Writing()
    with pytest.raises(ValueError, match="read-only"):
        model.predict(X)


def test_warm_start():
    """The same lists: training goes on."""
    model = StructuredSVM(Multiclass(), passes=2, warm_start=True, clock="work").fit(X, Y)
    first = model.gap_
    assert model.fit(X, Y).gap_ < first
    assert model.fit(X[:50], Y[:50]).summary_["n"] == 50


def test_labels_of_any_kind():
    """Labels are whatever the task makes of them: strings, tuples, arrays of objects."""

    class Named(Multiclass):
        names = ["a", "b", "c"]

        def features(self, x, y):
            return super().features(x, self.names.index(y))

        def decode(self, x, w, truth=None):
            return self.names[super().decode(x, w, None if truth is None else self.names.index(truth))]

    names = ["abc"[y] for y in Y]
    model = StructuredSVM(Named(), gap="5%").fit(np.array(X), np.array(names))
    assert set(model.predict(X)) == {"a", "b", "c"} and model.score(X, names) > 0.7
