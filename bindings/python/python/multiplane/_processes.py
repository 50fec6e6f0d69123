"""Processes that hold a user's task with its examples and decode: weights and numbers of examples go out, labellings come
back as they are ready. What a process that died or hangs held is given to the others.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
import warnings
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._tasks import _declared

GRAIN = 2e-3
"""Seconds of work that a process is given at a time: much more than a message takes."""

LARGEST = 64
"""Most examples of a message."""

AHEAD = 2
"""Messages that a process has at a time, so that the next one lies ready."""

RESTARTS = 3
"""How often a place is filled again whose process broke down; earned back by answers about so many examples:"""

PROVEN = 100

LOSSES = 3
"""Processes that may be lost on the same examples."""


class LostWorkers(RuntimeError):
    """No process is left to decode."""


def refusal(task: Any, xs: Sequence[Any], ys: Sequence[Any] | None) -> str | None:
    """Why the task cannot be sent to processes, if so."""
    if multiprocessing.get_start_method() == "fork":
        return None  # they are born with it
    try:
        pickle.dumps((task, xs[0] if len(xs) else None, ys[0] if ys else None))
    except Exception as error:  # whatever the user's objects raise
        return f"{type(error).__name__}: {error}"
    return None


class _Place:
    """A process, or where one was."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: Any = None
        self.pipe: Any = None
        self.version = 0
        self.busy: deque[tuple[int, _Part]] = deque()
        self.since = 0.0
        self.restarts = RESTARTS
        self.answered = 0


class _Part:
    """Some examples of a request: their slots, and the processes that were lost on them."""

    def __init__(self, slots: list[int]) -> None:
        self.slots = slots
        self.losses = 0


class Processes:
    """A task whose decoding is spread over processes. ``close`` ends them.

    Args:
        task: The task.
        xs: The inputs that decoding will be asked for; others are sent along.
        ys: Their truths.
        workers: How many processes.
        timeout: Seconds after which a process that does not answer is ended, and its examples are given to others.
    """

    def __init__(
        self, task: Any, xs: Sequence[Any], ys: Sequence[Any] | None, workers: int, timeout: float = 600.0
    ) -> None:
        self.task = task
        self.xs, self.ys = xs, ys
        self.timeout = timeout
        self.quality = _declared(task, "quality")
        self.nonnegative = _declared(task, "nonnegative")
        self.batch = 32 * workers
        self.lost = self.retried = 0
        self.reason = ""
        self._of_input = {id(x): i for i, x in enumerate(xs)}
        self._of_pair = {} if ys is None else {(id(x), id(y)): i for i, (x, y) in enumerate(zip(xs, ys, strict=True))}
        self._places = [_Place(number) for number in range(workers)]
        self._version = 0
        self._weights: NDArray[np.float64] | None = None
        self._request = 0
        self._call: float | None = None
        for place in self._places:
            self._start(place)

    # -- a task --

    def dim(self) -> int:
        return int(self.task.dim())

    def features(self, x: Any, y: Any) -> Any:
        return self.task.features(x, y)

    def loss(self, truth: Any, y: Any) -> float:
        return float(self.task.loss(truth, y))

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        return self.task.decode(x, w, truth)

    def decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        if self._weights is None or not np.array_equal(self._weights, w):
            self._version, self._weights = self._version + 1, np.array(w)
        items = [self._item(x, None if truths is None else truths[k]) for k, x in enumerate(xs)]
        found: list[Any] = [None] * len(items)
        waiting = deque([_Part(list(range(len(items))))] if items else [])
        self._request += 1
        left = len(items)
        for place in self._places:
            place.busy.clear()  # of a request that was broken off: its answers are passed over
        while left:
            self._hand_out(items, truths is not None, waiting)
            for place in self._ready(waiting):
                try:
                    request, labels, failed, seconds = place.pipe.recv()
                except (EOFError, OSError, pickle.UnpicklingError):
                    self._lose(place, "it ended", waiting)
                    continue
                if request[0] != self._request or request[1] != self._version:
                    continue  # an answer to what nobody asks any more, or at other weights
                if failed is not None:
                    raise failed
                _, part = place.busy.popleft()
                place.since = time.monotonic()
                place.answered += len(part.slots)
                if place.answered >= PROVEN:
                    place.restarts = RESTARTS
                call = seconds / len(part.slots)
                self._call = call if self._call is None else 0.8 * self._call + 0.2 * call
                for slot, label in zip(part.slots, labels, strict=True):
                    found[slot] = label
                left -= len(part.slots)
        return found

    # -- processes --

    def _item(self, x: Any, truth: Any) -> Any:
        """The number of an example, or what it consists of."""
        number = self._of_input.get(id(x)) if truth is None else self._of_pair.get((id(x), id(truth)))
        return (x, truth) if number is None else number

    def _start(self, place: _Place) -> None:
        own, theirs = multiprocessing.Pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: ours hold no locks here
            others = [other.pipe for other in self._places if other.pipe is not None] + [own]
            forked = multiprocessing.get_start_method() == "fork"
            place.process = multiprocessing.Process(
                target=_work, args=(theirs, others if forked else [], self.task, self.xs, self.ys), daemon=True
            )
            place.process.start()
        theirs.close()
        place.pipe, place.version, place.answered = own, 0, 0
        place.busy.clear()

    def _hand_out(self, items: list[Any], augmented: bool, waiting: deque[_Part]) -> None:
        """Gives every process something to do, little by little, so that all end at about the same time."""
        for _ in range(AHEAD):
            for place in self._places:
                if place.process is None or not waiting or len(place.busy) >= AHEAD:
                    continue
                part = self._cut(waiting)
                if not place.busy:
                    place.since = time.monotonic()
                place.busy.append((self._request, part))
                try:
                    if place.version != self._version:
                        place.pipe.send(("weights", self._version, self._weights))
                        place.version = self._version
                    asked = [items[slot] for slot in part.slots]
                    place.pipe.send(("decode", (self._request, self._version), asked, augmented))
                except OSError:
                    self._lose(place, "it ended", waiting)
        if all(place.process is None for place in self._places):
            raise LostWorkers(f"no process is left to decode: {self.reason}")

    def _cut(self, waiting: deque[_Part]) -> _Part:
        most = LARGEST if self._call is None else max(1, min(LARGEST, int(GRAIN / max(self._call, 1e-9))))
        part = waiting[0]
        there = sum(place.process is not None for place in self._places)
        count = max(1, min(1 if self._call is None else most, -(-len(part.slots) // (2 * there))))
        if count >= len(part.slots):
            return waiting.popleft()
        cut = _Part(part.slots[:count])
        cut.losses, part.slots = part.losses, part.slots[count:]
        return cut

    def _ready(self, waiting: deque[_Part]) -> list[_Place]:
        """Waits for answers; ends processes that do not answer in time."""
        busy = {place.pipe: place for place in self._places if place.process is not None and place.busy}
        if not busy:
            return []
        now = time.monotonic()
        limit = min(place.since for place in busy.values()) + self.timeout - now
        ready = [busy[pipe] for pipe in wait(list(busy), timeout=max(0.0, limit))]
        if not ready:
            for place in busy.values():
                if time.monotonic() - place.since >= self.timeout:
                    self._lose(place, f"no answer came within {self.timeout:g} s", waiting)
        return ready

    def _lose(self, place: _Place, reason: str, waiting: deque[_Part]) -> None:
        """Gives what a process held to the others, and fills its place."""
        parts = [part for _, part in place.busy]
        place.process.kill()
        place.process.join()
        code = place.process.exitcode
        self.reason = f"{reason} (exit code {code})" if reason == "it ended" else reason
        place.pipe.close()
        place.process = place.pipe = None
        place.busy.clear()
        self.lost += 1
        for part in parts[:1]:  # the one in hand
            part.losses += 1
            if part.losses >= LOSSES:
                raise LostWorkers(f"{LOSSES} processes were lost on the same examples: {self.reason}")
        self.retried += sum(len(part.slots) for part in parts)
        waiting.extendleft(reversed(parts))
        if place.restarts > 0:
            place.restarts -= 1
            self._start(place)

    def told(self) -> str | None:
        """What went wrong and was made good, in one line."""
        if not self.lost:
            return None
        return f"{self.lost} processes were lost, {self.retried} examples were given to others; the last: {self.reason}"

    def close(self) -> None:
        """Ends the processes."""
        for place in self._places:
            if place.process is None:
                continue
            with contextlib.suppress(OSError):
                place.pipe.send(None)
            place.pipe.close()
        for place in self._places:
            if place.process is not None:
                place.process.join(0.5 if not place.busy else 0.0)
                place.process.kill()
                place.process.join()
                place.process = place.pipe = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Processes:
        return self


def _work(pipe: Any, others: list[Any], task: Any, xs: Sequence[Any], ys: Sequence[Any] | None) -> None:
    """Runs in a process: decodes until it is told to end, or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the parent alone
    for other in others:
        other.close()  # or nobody sees the end of them
    version, w = 0, np.zeros(0)
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        if message[0] == "weights":
            version, w = message[1:]
            w.flags.writeable = False
            continue
        _, (request, _asked), items, augmented = message
        started = time.perf_counter()
        labels, failed = [], None
        try:
            for item in items:
                x, truth = item if isinstance(item, tuple) else (xs[item], ys[item] if augmented and ys else None)
                labels.append(task.decode(x, w, truth) if augmented else task.decode(x, w))
        except Exception as error:  # goes to the caller of fit
            labels, failed = [], error
        answer = ((request, version), labels, failed, time.perf_counter() - started)
        try:
            pipe.send(answer)
        except OSError:
            return
        except Exception as error:  # what cannot be pickled
            what = "the exception" if failed is not None else "a labelling"
            told = TypeError(f"{what} cannot be sent from a process: {type(error).__name__}: {error}: {failed or ''}")
            pipe.send(((request, version), [], told, 0.0))
