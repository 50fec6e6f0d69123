"""Processes that hold a user's task with its examples and decode. The pool of the core hands out the work; here is how a
process is started, sent bytes, asked for bytes and ended.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._tasks import Bounded, _declared, kept

_starting = threading.Lock()
_pipes: set[Any] = set()
"""Our ends of all pipes. A forked process closes its copies: an open copy would hide that a pipe was closed."""


class LostWorkers(RuntimeError):
    """No process is left to decode, or several were lost on the same example. ``example`` is its number, or None if that is
    not known. A fit that it ends keeps the results so far.
    """

    def __init__(self, reason: str, example: int | None = None) -> None:
        super().__init__(reason if example is None else f"example {example}: {reason}")
        self.example = example


def refusal(task: Any, xs: Sequence[Any], ys: Sequence[Any] | None) -> str | None:
    """Returns why the task cannot be sent to processes, if so."""
    if multiprocessing.current_process().daemon:
        return "this process is a worker of a pool, which may start none"
    if multiprocessing.get_start_method() == "fork":
        return None  # they are born with it
    try:
        pickle.dumps((task, xs[0] if len(xs) else None, ys[0] if ys else None))
    except Exception as error:  # whatever the user's objects raise
        return f"{type(error).__name__}: {error}"
    return None


class Process:
    """A process that decodes examples of a task, by their numbers. Truths that are None are not known."""

    def __init__(self, task: Any, xs: Sequence[Any], ys: Sequence[Any]) -> None:
        self.open = 0  # messages without an answer
        with _starting, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: ours hold no locks here
            self.pipe, theirs = multiprocessing.Pipe()
            _pipes.add(self.pipe)
            inherited = list(_pipes) if multiprocessing.get_start_method() == "fork" else []
            self.process = multiprocessing.Process(target=_work, args=(theirs, inherited, task, xs, ys), daemon=True)
            self.process.start()
            theirs.close()

    def send(self, number: int, message: bytes) -> None:
        """Sends a message with its number."""
        try:
            self.pipe.send_bytes(number.to_bytes(8, "little") + message)
        except OSError:
            raise self._ended() from None
        self.open += 1

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Waits so long for an answer and returns it with the number of its message; None if there is none."""
        try:
            if not self.pipe.poll(seconds):
                return None
            answer = self.pipe.recv_bytes()
        except (EOFError, OSError):
            raise self._ended() from None
        self.open -= 1
        return int.from_bytes(answer[:8], "little"), answer[8:]

    def kill(self) -> None:
        """Ends the process: at once if it is busy."""
        with _starting:
            _pipes.discard(self.pipe)
            self.pipe.close()
        self.process.join(0.0 if self.open else 0.5)
        self.process.kill()
        self.process.join()

    def _ended(self) -> EOFError:
        self.process.join(1.0)
        self.process.kill()
        self.process.join()
        return EOFError(f"it ended (exit code {self.process.exitcode})")


def _work(pipe: Any, inherited: Sequence[Any], task: Any, xs: Sequence[Any], ys: Sequence[Any]) -> None:
    """Runs in a process: decodes until its parent closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the parent alone
    for other in inherited:
        other.close()
    decoder = Decoder(task, xs, ys)
    while True:
        try:
            message = pipe.recv_bytes()
            weights, examples, augmented = pickle.loads(message[8:])
            if weights is not None:
                decoder.w = np.frombuffer(weights, dtype="<f8")
            pipe.send_bytes(message[:8] + decoder.reply(examples, augmented))
        except (EOFError, OSError):
            return


class Decoder:
    """A task with its examples, in the process that decodes them at the weights ``w``."""

    def __init__(self, task: Any, xs: Sequence[Any], ys: Sequence[Any]) -> None:
        self.task, self.xs, self.ys = task, xs, ys
        self.w = np.zeros(0)
        self.example: int | None = None  # that is decoded now
        self._described = set[int]()

    def reply(self, examples: Sequence[int], augmented: bool) -> bytes:
        """Decodes some examples: the pickle of their answers and None, or of no answer and the exception of one."""
        answers, failed = [], None
        try:
            for i in examples:
                self.example = i
                first = augmented and i not in self._described
                answers.append(_answer(self.task, self.xs[i], self.w, self.ys[i], augmented, i, first))
                self._described.update([i] if first else [])
        except Exception as error:  # goes to the caller of fit
            error.add_note("in the process that it was raised in:\n" + "".join(traceback.format_exception(error)).rstrip())
            answers, failed = [], error
        finally:
            self.example = None
        try:
            return pickle.dumps((answers, failed))
        except Exception as error:  # what cannot be pickled
            what = "the exception" if failed is not None else "an answer"
            told = TypeError(f"{what} cannot be sent from a process: {type(error).__name__}: {error}: {failed or ''}")
            return pickle.dumps(([], told))


def _answer(task: Any, x: Any, w: NDArray[np.float64], truth: Any, augmented: bool, number: int, first: bool) -> Any:
    """Decodes and, if there is a truth, describes the labelling, and the truth if this is the first time: no method of
    the user runs elsewhere. Returns labelling, features, loss, seconds, and features and loss of the truth.
    """
    started = time.perf_counter(), time.process_time()
    try:
        answer = kept(task.decode(x, w, truth) if augmented else task.decode(x, w))
        if truth is None:
            return answer, None, None, _seconds(started), None
        y = answer.y if isinstance(answer, Bounded) and _declared(task, "quality") == "upper-bound" else answer
        features, loss = _sparse(task.features(x, y), w), task.loss(truth, y)
        seconds = _seconds(started)
        told = (_sparse(task.features(x, truth), w), task.loss(truth, truth)) if first else None
        return answer, features, loss, seconds, told
    except Exception as error:
        if truth is not None:
            error.add_note(f"while training on example {number}")
        raise


def _sparse(features: Any, w: NDArray[np.float64]) -> Any:
    """The entries of a dense vector that are not 0: the others need not travel. Of any other form a copy."""
    if type(features) is not np.ndarray or features.dtype != np.float64 or features.shape != w.shape:
        return kept(features)
    indices = np.flatnonzero(features)
    return indices, features[indices]


def _seconds(started: tuple[float, float]) -> float:
    """What was done since then took: where it computes, without the time in which other processes had the core."""
    wall, busy = time.perf_counter() - started[0], time.process_time() - started[1]
    return min(wall, busy) if 2 * busy >= wall else wall
