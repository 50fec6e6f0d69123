"""Tasks in Python that fail or answer what cannot be: exceptions keep their place, answers are named."""

import traceback

import numpy as np
import pytest
from conftest import blobs
from problems import Batched, Multiclass

from multiplane import StructuredSVM

X, Y = blobs()
X, Y = list(X), Y.tolist()


def fitted(task):
    return StructuredSVM(task, clock="work", gap="2%").fit(X, Y)


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
        ({"dim": "many"}, ["dim() returned 'many'"]),
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


def test_a_failure_hands_out_what_was_learned():
    """An exception of the task is raised with the estimator, which predicts."""
    model = StructuredSVM(Multiclass(), gap="5%").fit(X, Y)
    model.task = Failing("decode", KeyError("x"))
    with pytest.raises(KeyError) as raised:
        model.fit(X, Y)
    assert raised.value.estimator is model and model.stop_reason_ == "interrupt"
    model.task = Multiclass()
    assert len(model.predict(X)) == len(X)
