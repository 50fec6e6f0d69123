"""What is told while a learner trains: to loggers, of losses, and when passes ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Passes:
    """Counts training calls; n of them are a pass.

    Args:
        learner: Its ``logger`` is called after each pass, and its ``loss_curve_`` gets a value after every
            ``show_loss_every``-th, with the weights of the last call as ``w``.
        x, y: What it learns from.
    """

    def __init__(self, learner: Any, x: Sequence[Any], y: Sequence[Any]) -> None:
        self.learner, self.x, self.y, self.n = learner, x, y, len(x)
        self.told = learner.logger is not None or bool(learner.show_loss_every)
        self.calls = 0
        self.begin()

    def begin(self) -> None:
        """Counts passes for times from here on; loggers go on counting."""
        self.before, self.begun = self.calls, time.perf_counter()
        self.ends: list[float] = []

    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.begun

    def at(self, passes: Sequence[float]) -> list[float]:
        """When so many passes had been made."""
        last = len(self.ends) - 1
        return [self.ends[min(max(int(count) - 1, 0), last)] if last >= 0 else 0.0 for count in passes]

    def watch(self, w: NDArray[np.float64], calls: int) -> None:
        """Takes note of calls at these weights."""
        before, self.calls = self.calls, self.calls + calls
        self.ends += [self.seconds()] * ((self.calls - self.before) // self.n - len(self.ends))
        if self.told:
            for iteration in range(before // self.n, self.calls // self.n):
                self._tell(w, iteration)

    def _tell(self, w: NDArray[np.float64], iteration: int) -> None:
        learner = self.learner
        learner.w = np.array(w)
        if learner.show_loss_every and iteration % learner.show_loss_every == 0:
            learner.loss_curve_.append(1.0 - learner.score(self.x, self.y))
        if learner.logger is not None:
            learner.logger(learner, iteration)
