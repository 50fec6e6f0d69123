"""Processes that hold a user's task with its examples and decode: weights and numbers of examples go out, labellings with
their features and losses come back as they are ready. What a process that died or hangs held is given to the others. The
process that asks is one of those that work: it decodes while it would have to wait.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._tasks import Bounded, _declared

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
"""Processes that may be lost on the same example."""


_Answer = tuple[Any, Any, Any, float]
"""What a process says of an example: labelling, features, loss, seconds."""


class LostWorkers(RuntimeError):
    """No process is left to decode, or several were lost on the same example. ``example`` is its number, or None where that
    is not known. A fit that it ends keeps the results so far.
    """

    keeps_results = True
    """What the core goes by."""

    def __init__(self, reason: str, example: int | None = None) -> None:
        super().__init__(reason if example is None else f"example {example}: {reason}")
        self.example = example


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
        """What it has been sent and has not answered: the number of the request, and the examples."""
        self.since = 0.0
        self.restarts = RESTARTS
        self.answered = 0


class _Part:
    """Some examples of a request: their slots, and the processes that were lost on them; one only after the first loss, so
    that the example that is to blame is known.
    """

    def __init__(self, slots: list[int]) -> None:
        self.slots = slots
        self.losses = 0


class _Request:
    """Examples to decode at one w, and what has come of it."""

    def __init__(
        self, number: int, version: int, weights: NDArray[np.float64], items: list[Any], augmented: bool
    ) -> None:
        self.number, self.version, self.weights = number, version, weights
        self.items, self.augmented = items, augmented
        self.numbers = all(isinstance(item, int) for item in items)
        self.waiting = deque([_Part(list(range(len(items))))] if items else [])
        self.found: list[_Answer] = [(None, None, None, 0.0)] * len(items)
        self.left = len(items)


class Processes:
    """A task whose decoding is spread over processes. ``close`` ends them.

    Args:
        task: The task.
        xs: The inputs that decoding will be asked for; others are sent along.
        ys: Their truths.
        workers: How many decode: the process that asks, and others.
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
        self.workers = workers
        self.lost = self.restarted = self.retried = 0
        self.reason = ""
        self._of_input = {id(x): i for i, x in enumerate(xs)}
        self._of_pair = {} if ys is None else {(id(x), id(y)): i for i, (x, y) in enumerate(zip(xs, ys, strict=True))}
        self._places = [_Place(number) for number in range(max(1, workers - 1))]
        self._version = 0
        self._weights: NDArray[np.float64] | None = None
        self._requests = 0
        self._begun: _Request | None = None
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

    def begin(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> None:
        """Sends out what ``answers`` is going to be asked for, and does not wait: as much to each process. Where there
        is only one, some is left for whoever is free first then: approximate passes take three quarters of the time of calls.
        """
        self._begun = self._request_of(xs, w, truths)
        for place in self._places:
            while place.busy and place.pipe.poll():
                self._receive(place, self._begun)
        share = max(1, min(-(-len(xs) // len(self._places)), 3 * len(xs) // 4))
        self._hand_out(self._begun, ahead=1, count=share)

    def decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        return [answer[0] for answer in self.answers(xs, w, truths)]

    def answers(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[_Answer]:
        """Labellings with what they come to: features and loss, where truths are given, and seconds."""
        request, self._begun = self._begun, None
        if request is None or not self._is_for(request, xs, w, truths):
            request = self._request_of(xs, w, truths)
        while request.left:
            self._hand_out(request, AHEAD)
            ready = self._ready(request)
            for place in ready:
                self._receive(place, request)
            if not ready and request.waiting:
                self._work(request)
        return request.found

    # -- requests --

    def _request_of(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> _Request:
        """A new request. What is under way was broken off: its answers will be passed over."""
        if self._weights is None or not np.array_equal(self._weights, w):
            self._version, self._weights = self._version + 1, np.array(w)
            self._weights.flags.writeable = False
        self._requests += 1
        items = self._items(xs, truths)
        return _Request(self._requests, self._version, self._weights, items, truths is not None)

    def _is_for(
        self, request: _Request, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None
    ) -> bool:
        """Whether a request that was begun is this one."""
        if request.augmented != (truths is not None) or not np.array_equal(request.weights, w):
            return False
        return request.numbers and request.items == self._items(xs, truths)

    def _items(self, xs: Sequence[Any], truths: Sequence[Any] | None) -> list[Any]:
        return [self._item(x, None if truths is None else truths[k]) for k, x in enumerate(xs)]

    def _work(self, request: _Request) -> None:
        """Answers for one example here, but for one that a process was lost on: this process is not to be lost."""
        sound = next((part for part in request.waiting if not part.losses), None)
        if sound is None:
            self._ready(request, is_idle=True)
            return
        request.waiting.remove(sound)
        request.waiting.appendleft(sound)
        part = self._cut(request.waiting, 1)
        for slot in part.slots:
            item = request.items[slot]
            x, truth = _example(self.xs, self.ys, item, request.augmented)
            request.found[slot] = _answer(self.task, x, request.weights, truth, request.augmented, item)
        request.left -= len(part.slots)

    def _receive(self, place: _Place, request: _Request) -> None:
        """Takes one answer from a process that has one."""
        try:
            number, answers, failed = place.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._lose(place, "it ended", request)
            return
        _, part = place.busy.popleft()
        place.since = time.monotonic()
        place.answered += len(part.slots)
        if place.answered >= PROVEN:
            place.restarts = RESTARTS
        if number != (request.number, request.version):
            return  # nobody asks any more
        if failed is not None:
            raise failed
        call = sum(answer[3] for answer in answers) / len(part.slots)
        self._call = call if self._call is None else 0.8 * self._call + 0.2 * call
        for slot, answer in zip(part.slots, answers, strict=True):
            request.found[slot] = answer
        request.left -= len(part.slots)

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

    def _hand_out(self, request: _Request, ahead: int, count: int | None = None) -> None:
        """Gives every process something to do, so many messages at most: of ``count`` examples, or else little by little,
        so that all end at about the same time.

        One that still works for a request that was broken off gets nothing: while it waits for its answer to be taken
        it reads no message. For the same reason messages with whole examples are sent one at a time.
        """
        waiting = request.waiting
        ahead = ahead if request.numbers else 1
        for _ in range(ahead):
            for place in self._places:
                if place.process is None or not waiting or len(place.busy) >= ahead:
                    continue
                if place.busy and place.busy[-1][0] != request.number:
                    continue
                if place.busy and count is None and sum(len(part.slots) for part in waiting) <= 1:
                    return  # whoever asks is free for the last one, and this process is not
                part = self._cut(waiting, count)
                if not place.busy:
                    place.since = time.monotonic()
                place.busy.append((request.number, part))
                asked = [request.items[slot] for slot in part.slots]
                known = place.version == request.version
                try:
                    place.pipe.send((
                        (request.number, request.version),
                        None if known else request.weights,
                        asked,
                        request.augmented,
                    ))
                    place.version = request.version
                except OSError:
                    self._lose(place, "it ended", request)
            if not waiting:
                break
        suspect = next((part for part in waiting if part.losses), None)
        if suspect is not None and not self._is_helped():
            self._give_up(f"no process is left to decode: {self.reason}", request, suspect)

    def _is_helped(self) -> bool:
        """Whether there is a process but this one."""
        return any(place.process is not None for place in self._places)

    def _cut(self, waiting: deque[_Part], count: int | None) -> _Part:
        part = waiting[0]
        if count is None:
            there = sum(place.process is not None for place in self._places)
            most = 1 if self._call is None else max(1, min(LARGEST, int(GRAIN / max(self._call, 1e-9))))
            count = max(1, min(most, -(-len(part.slots) // (2 * there + 2))))
        count = min(count, LARGEST)
        if count >= len(part.slots):
            return waiting.popleft()
        cut = _Part(part.slots[:count])
        cut.losses, part.slots = part.losses, part.slots[count:]
        return cut

    def _ready(self, request: _Request, is_idle: bool = False) -> list[_Place]:
        """The processes that have answered; waits for one where there is nothing else to do (or nothing that this process
        may do), and ends those that do not answer in time.
        """
        busy = {place.pipe: place for place in self._places if place.process is not None and place.busy}
        if not busy:
            return []
        now = time.monotonic()
        limit = min(place.since for place in busy.values()) + self.timeout - now
        patience = 0.0 if request.waiting and not is_idle else max(0.0, limit)
        ready = [busy[pipe] for pipe in wait(list(busy), timeout=patience)]
        if not ready:
            for place in busy.values():
                if time.monotonic() - place.since >= self.timeout:
                    self._lose(place, f"no answer came within {self.timeout:g} s", request)
        return ready

    def _lose(self, place: _Place, reason: str, request: _Request) -> None:
        """Gives what a process held to the others, and fills its place."""
        parts = [part for number, part in place.busy if number == request.number]
        place.process.kill()
        place.process.join()
        code = place.process.exitcode
        self.reason = f"{reason} (exit code {code})" if reason == "it ended" else reason
        place.pipe.close()
        place.process = place.pipe = None
        place.busy.clear()
        self.lost += 1
        self.retried += sum(len(part.slots) for part in parts)
        if parts:  # the first was in hand
            in_hand = [_Part([slot]) for slot in parts[0].slots]
            for part in in_hand:
                part.losses = parts[0].losses + 1
            if in_hand[0].losses >= LOSSES:
                self._give_up(f"{LOSSES} processes were lost on it: {self.reason}", request, in_hand[0])
            parts = in_hand + parts[1:]
        request.waiting.extendleft(reversed(parts))
        if place.restarts > 0:
            place.restarts -= 1
            self.restarted += 1
            self._start(place)

    def _give_up(self, reason: str, request: _Request, part: _Part) -> None:
        item = request.items[part.slots[0]]
        raise LostWorkers(reason, item if isinstance(item, int) else None)

    def told(self) -> str | None:
        """What went wrong and was made good, in one line."""
        if not self.lost:
            return None
        def times(number: int, one: str, more: str) -> str:
            return f"1 {one}" if number == 1 else f"{number} {more}"

        lost = times(self.lost, "process was lost", "processes were lost")
        retried = times(self.retried, "example was given to others", "examples were given to others")
        return f"{lost}, {retried}; the last: {self.reason}"

    def mishaps(self) -> dict[str, int]:
        """The same in numbers, by the names of ``train --json``."""
        lost = self.lost - self.restarted
        return {"restarted": self.restarted, "lost": lost, "asked_again": self.retried, "missed": 0}

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
    w = np.zeros(0)
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        number, weights, items, augmented = message
        if weights is not None:
            w = weights
            w.flags.writeable = False
        answers, failed = [], None
        try:
            for item in items:
                x, truth = _example(xs, ys, item, augmented)
                answers.append(_answer(task, x, w, truth, augmented, item))
        except Exception as error:  # goes to the caller of fit
            error.add_note("in the process that it was raised in:\n" + "".join(traceback.format_exception(error)).rstrip())
            answers, failed = [], error
        try:
            pipe.send((number, answers, failed))
        except OSError:
            return
        except Exception as error:  # what cannot be pickled
            what = "the exception" if failed is not None else "an answer"
            told = TypeError(f"{what} cannot be sent from a process: {type(error).__name__}: {error}: {failed or ''}")
            pipe.send((number, [], told))


def _example(xs: Sequence[Any], ys: Sequence[Any] | None, item: Any, augmented: bool) -> tuple[Any, Any]:
    """Input and truth of an item of a request."""
    if isinstance(item, tuple):
        return item
    return xs[item], ys[item] if augmented and ys else None


def _answer(task: Any, x: Any, w: NDArray[np.float64], truth: Any, augmented: bool, item: Any) -> _Answer:
    """Decodes and, where the loss was added, describes the labelling: as much as possible happens where it was made."""
    started = time.perf_counter(), time.process_time()
    if not augmented:
        return task.decode(x, w), None, None, _seconds(started)
    try:
        answer = task.decode(x, w, truth)
        y = answer.y if isinstance(answer, Bounded) and _declared(task, "quality") == "upper-bound" else answer
        features, loss = task.features(x, y), task.loss(truth, y)
    except Exception as error:
        if isinstance(item, int):
            error.add_note(f"while training on example {item}")
        raise
    if type(features) is np.ndarray and features.dtype == np.float64 and features.shape == w.shape:
        indices = np.flatnonzero(features)  # the rest need not travel
        features = indices, features[indices]
    return answer, features, loss, _seconds(started)


def _seconds(started: tuple[float, float]) -> float:
    """What was done since then took: where it computes, without the time in which other processes had the core."""
    wall, busy = time.perf_counter() - started[0], time.process_time() - started[1]
    return min(wall, busy) if 2 * busy >= wall else wall
