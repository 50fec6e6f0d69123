"""Threads change no bit; tasks of users run in threads where they say that they release the lock."""

import threading

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass

from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, StructuredSVM

X, Y = blobs(3)


@pytest.mark.parametrize("solver", ["auto", "mp-bcfw", "bcfw-gap", "fw"])
@pytest.mark.parametrize("kind", [MulticlassSSVM, ChainSSVM])
def test_threads_give_the_same_bits(kind, solver):
    """Weights and records of one thread and of three are equal under the work clock."""
    x, y = sequences() if kind is ChainSSVM else (X, Y)
    one, three = (kind(solver=solver, threads=t, clock="work", passes=8).fit(x, y) for t in (1, 3))
    assert np.array_equal(one.coef_, three.coef_) and one.history_ == three.history_
    assert all(np.array_equal(a, b) for a, b in zip(one.predict(x), three.predict(x), strict=True))


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM])
def test_defaults_give_the_same_bytes(kind):
    """Two default fits are one: by the wall clock, on one thread and on two, weights, dual and model file are equal."""
    x, y = sequences(n=60, labels=4) if kind is ChainSSVM else blobs(2 if kind is BinarySSVM else 4, n=400, features=8)
    first, *others = (kind(threads=threads).fit(x, y) for threads in (1, 1, 2, 2))
    assert first.certified_
    for other in others:
        assert other.coef_.tobytes() == first.coef_.tobytes()
        assert (other.primal_, other.dual_) == (first.primal_, first.dual_)
        assert other._model.to_bytes() == first._model.to_bytes()


class Releasing(Multiclass):
    """Says that it may be called by several threads, and notes which did."""

    releases_gil = True

    def __init__(self):
        super().__init__()
        self.callers = set()

    def decode(self, x, w, truth=None):
        self.callers.add(threading.get_ident())
        np.linalg.eigvalsh(np.eye(20))  # releases the lock
        return super().decode(x, w, truth)


def test_tasks_that_release_the_lock_run_in_threads():
    """Several threads call decode, and the bits are those of one."""
    task = Releasing()
    many = StructuredSVM(task, threads=3, clock="work", solver="fw", passes=4).fit(list(X), Y.tolist())
    assert len(task.callers) > 1
    one = StructuredSVM(Multiclass(), clock="work", solver="fw", passes=4).fit(list(X), Y.tolist())
    assert np.array_equal(many.coef_, one.coef_)


def test_errors_in_threads_reach_the_caller():
    """An exception in a thread of the library comes out with its type."""

    class Failing(Releasing):
        def decode(self, x, w, truth=None):
            raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"):
        StructuredSVM(Failing(), threads=3).fit(list(X), Y.tolist())


def test_other_tasks_are_told():
    """Threads without releases_gil are one thread, with a word on executors."""
    with pytest.warns(UserWarning, match="releases_gil"):
        StructuredSVM(Multiclass(), threads=2, gap="5%").fit(list(X), Y.tolist())


def test_estimators_in_threads_do_not_disturb_each_other():
    """Fits that run at once in several Python threads give the bits of fits one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    expected = MulticlassSSVM(clock="work").fit(X, Y).coef_
    user = StructuredSVM(Multiclass(), clock="work", gap="2%").fit(list(X), Y.tolist()).coef_
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(MulticlassSSVM(clock="work").fit, X, Y) for _ in range(8)]
        users = [
            pool.submit(StructuredSVM(Multiclass(), clock="work", gap="2%").fit, list(X), Y.tolist()) for _ in range(4)
        ]
        assert all(np.array_equal(fit.result(60).coef_, expected) for fit in fits)
        assert all(np.array_equal(fit.result(60).coef_, user) for fit in users)
