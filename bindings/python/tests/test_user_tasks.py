"""Tasks in Python: forms of features, what decoders promise, batches, executors, errors."""

import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import blobs
from problems import Batched, Loose, Multiclass, Undeclared

from multiplane import Bounded, HeuristicWarning, MulticlassSSVM, Pooled, StructuredSVM, Task

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
        warnings.simplefilter("error")
        assert not fitted(task, passes=5).certified_
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

    with pytest.raises((ValueError, RuntimeError), match="bound"):
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


class Failing(Multiclass):
    """Raises in one method after some calls."""

    def __init__(self, method, error):
        super().__init__()
        self.method, self.error, self.calls = method, error, 0

    def fail(self, method):
        if method == self.method:
            self.calls += 1
            if self.calls > 3:
                raise self.error

    def features(self, x, y):
        self.fail("features")
        return super().features(x, y)

    def loss(self, truth, y):
        self.fail("loss")
        return super().loss(truth, y)

    def decode(self, x, w, truth=None):
        self.fail("decode")
        return super().decode(x, w, truth)


@pytest.mark.parametrize("method", ["features", "loss", "decode"])
@pytest.mark.parametrize("error", [KeyError("flat"), ZeroDivisionError("0"), ValueError("my own")], ids=repr)
def test_exceptions_keep_type_and_traceback(method, error):
    """The user's exception comes out as it is, with the line that raised it and the example."""
    task = Failing(method, error)
    with pytest.raises(type(error)) as info:
        fitted(task)
    assert info.value is error
    assert "fail" in [frame.name for frame in traceback.extract_tb(info.value.__traceback__)]
    if hasattr(error, "__notes__"):
        assert any("example" in note for note in error.__notes__)


class Answering(Multiclass):
    """Gives one answer in place of its own."""

    def __init__(self, **answers):
        super().__init__()
        self.answers = answers

    def dim(self):
        return self.answers.get("dim", super().dim())

    def features(self, x, y):
        return self.answers.get("features", super().features(x, y))

    def loss(self, truth, y):
        return self.answers.get("loss", super().loss(truth, y))


NAN = float("nan")


@pytest.mark.parametrize(
    ("answers", "parts"),
    [
        ({"features": [1.0, 2.0]}, ["example ", "features(x, y)", "2", "12"]),
        ({"features": np.zeros((3, 4))}, ["example ", "[3, 4]", "[12]"]),
        ({"features": np.full(12, NAN)}, ["example ", "NaN"]),
        ({"features": ([12], [1.0])}, ["example ", "12"]),
        ({"features": ([-1], [1.0])}, ["example ", "-1"]),
        ({"features": ([0, 1], [1.0])}, ["example ", "2 indices with 1 values"]),
        ({"features": ([0.5], [1.0])}, ["example ", "float64", "whole numbers"]),
        ({"features": {"a": 1.0}}, ["example ", "index a"]),
        ({"features": {0: "b"}}, ["example ", "value b"]),
        ({"features": "text"}, ["example ", "str", "length 12"]),
        ({"features": None}, ["example ", "NoneType"]),
        ({"loss": -1.0}, ["example ", "loss(truth, y) returned -1", ">= 0"]),
        ({"loss": NAN}, ["example ", "loss(truth, y) returned NaN"]),
        ({"loss": "big"}, ["example ", "big", "a number"]),
        ({"dim": 0}, ["0"]),
        ({"dim": -1}, ["dim() returned -1"]),
        ({"dim": "many"}, ["dim() returned many"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_unusable_answers_are_named(answers, parts):
    """ValueError with the example, the method and the value."""
    with pytest.raises(ValueError) as info:
        fitted(Answering(**answers))
    text = str(info.value).replace("nan", "NaN")
    assert all(part in text for part in parts), text


def test_unusable_tasks_are_named():
    """A missing method, a quality or constraint that does not exist."""
    cases = [
        (object(), "has no method `dim`"),
        (Multiclass, "task is the class Multiclass"),
        ("multiclass", "has no method `dim`"),
    ]
    for task, part in cases:
        with pytest.raises(ValueError, match=part):
            fitted(task)
    task = Multiclass()
    task.quality = "perfect"
    with pytest.raises(ValueError, match='quality is perfect: expected "exact"'):
        fitted(task)
    task = Multiclass()
    task.nonnegative = [(0, 99)]
    with pytest.raises(ValueError, match="99"):
        fitted(task)
    task = Batched()
    task.decode_many = lambda xs, w, truths: [0]
    with pytest.raises(ValueError, match="decode_many returned 1 labellings for"):
        fitted(task)


def test_lists_that_do_not_fit():
    """Empty lists, lists of different lengths, things that are no lists."""
    model = StructuredSVM(Multiclass())
    for x, y, part in [([], [], "X is empty"), (X, Y[:3], "X has 90 examples, Y has 3"), (3, Y, "X is a int")]:
        with pytest.raises(ValueError, match=part):
            model.fit(x, y)
    model.fit(X, Y)
    assert model.predict([]) == []
    with pytest.raises(ValueError, match="X has 90 examples, Y has 1"):
        model.score(X, Y[:1])
    with pytest.raises(ValueError, match="X has 90 examples, Y has 2"):
        model.decision_values(X, Y[:2])


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


def test_a_failure_leaves_the_last_fit():
    """An exception of the task leaves the estimator as it was."""
    model = StructuredSVM(Multiclass(), gap="5%").fit(X, Y)
    before = model.coef_.copy()
    model.task = Failing("decode", KeyError("x"))
    with pytest.raises(KeyError):
        model.fit(X, Y)
    assert np.array_equal(model.coef_, before)


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
    assert set(model.predict(X)) == {"a", "b", "c"} and model.score(X, names) > 0.8
