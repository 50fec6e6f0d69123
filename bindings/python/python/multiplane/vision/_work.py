"""Work on many images: in order, on one process or several, with a line that says how far it is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from multiplane._progress import Line as Status

Item = TypeVar("Item")
Result = TypeVar("Result")


def _alone() -> None:
    """A worker's beginning: Ctrl-C is left to the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_one_thread(function: Callable[[Item], Result], item: Item) -> Result:
    """Runs a worker's function with linear algebra on one thread, so that sums do not depend on the number of cores."""
    threadpool_limits(1)
    return function(item)


@contextmanager
def _held_back() -> Iterator[None]:
    """Holds back Ctrl-C and the request to end, so that a process that starts meanwhile starts completely and ignores
    Ctrl-C.
    """
    heard: list[tuple[int, Any]] = []
    before: dict[int, Callable[..., Any]] = {}

    def hear(number: int, frame: Any) -> None:
        heard.append((number, frame))

    if threading.current_thread() is threading.main_thread():  # others are not interrupted
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, hear)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for held, handler in before.items():
            signal.signal(held, handler)
        for held, frame in heard:
            before[held](held, frame)


class Crew(ExitStack):
    """Calls of a function for every item, on ``jobs`` processes (0: one per core; 1: this one)."""

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self.jobs = jobs or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None
        self.callback(threadpool_limits(1).restore_original_limits)

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """The results, in the order of the items. Few are computed ahead, so memory does not follow their number.
        Raises ``ChildProcessError`` where a process ends before its work.
        """
        if self.jobs == 1 or len(items) < 2:
            yield from map(function, items)
            return
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.jobs, mp_context=context, initializer=_alone)
            self.callback(self._pool.shutdown, cancel_futures=True)
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                with _held_back():  # a process may begin here
                    ahead.append(self._pool.submit(_on_one_thread, function, item))
                if len(ahead) > 2 * self.jobs:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process ended before its work: out of memory, or a script that calls this with jobs > 1 "
                'outside `if __name__ == "__main__":`'
            ) from None
        finally:
            for future in ahead:
                future.cancel()


class Line(Status):
    """The line of work that goes over many things."""

    def over(self, what: str, items: Iterator[Item], count: int) -> Iterator[Item]:
        """Passes the items on, and shows how many have come."""
        start = time.monotonic()
        for number, item in enumerate(items, 1):
            yield item
            passed = time.monotonic() - start
            left = passed / number * (count - number)
            self.show(f"{what}: {number} of {count}", f"{left:.0f} s to go", f"{passed:.0f} s")
