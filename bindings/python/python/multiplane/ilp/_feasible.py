"""Sets of feasible vectors that find one of low cost: the base of integer programmes and their shortcuts."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Least(NamedTuple):
    """A feasible vector of low cost.

    Attributes:
        y: The vector, ``[variables]``; None where the solver found none in its time.
        bound: A lower bound on the cost of every feasible vector.
    """

    y: Vector | None
    bound: float


class Infeasible(ValueError):
    """No vector is feasible."""


class Unsolved(ValueError):
    """The solver found no vector in its time."""


FIRST = 0.01
"""The share of a fit's seconds that the first solution of an example may take."""

Slack = Callable[[float], float]
"""How far above the least cost a vector may be, given a lower bound on that."""


def no_slack(bound: float) -> float:
    """Asks for a vector of the least cost."""
    return 0.0


class Budget:
    """The seconds of a fit, of which one solution may take half of those that are left, and at first :data:`FIRST`: far from the
    best weights bounds need not be close.

    Args:
        seconds: How many there are; inf without a limit.
        each: The most for one solution.
    """

    def __init__(self, seconds: float = math.inf, each: float = math.inf) -> None:
        self._until, self._first, self._each = time.time() + seconds, FIRST * seconds, each  # a clock that other machines have, too
        self._missed: dict[int, int] = {}

    def left(self) -> float:
        """Returns the seconds that are left, at least 0."""
        return max(0.0, self._until - time.time())

    def share(self) -> float:
        """Returns the seconds for one solution."""
        return min(self._each, 0.5 * self.left())

    @contextmanager
    def patience(self, example: Any) -> Iterator[float]:
        """The seconds for a solution of an example: after each that took them all, twice as many."""
        seconds, begun = min(self.share(), self._first * 2.0 ** self._missed.get(id(example), 0)), time.time()
        yield seconds
        if time.time() - begun >= seconds:
            self._missed[id(example)] = self._missed.get(id(example), 0) + 1

    @classmethod
    def of(cls, estimator: Any, each: float | None = None) -> Self:
        """The budget of an estimator's fit, which begins. With ``clock="work"``, whose fits repeat, none; where lambda is chosen by
        several fits, one of each solution.
        """
        if not isinstance(estimator.seconds, Real) or estimator.clock != "wall":
            return cls(each=each or math.inf)
        if isinstance(estimator.lam, str) and estimator.lam.startswith("cv"):
            return cls(each=min(each or math.inf, 0.5 * float(estimator.seconds)))
        return cls(float(estimator.seconds), each or math.inf)


class FeasibleSet(ABC):
    """Feasible vectors, between ``lower`` and ``upper``. A subclass sets these and has the methods ``minimise`` and ``fault``.

    Attributes:
        lower: The least value of each variable, ``[variables]``.
        upper: The largest value of each.
        quality: ``"exact"`` if ``minimise`` always finds a vector of the least cost, else ``"upper-bound"``.
        is_quick: If ``minimise_many`` takes about as long as multiplying its answers by inputs.
    """

    lower: Vector
    upper: Vector
    quality: str = "exact"
    is_quick: bool = False

    def __len__(self) -> int:
        return len(self.lower)

    @abstractmethod
    def minimise(self, costs: Vector, slack: Slack = no_slack, seconds: float = math.inf) -> Least:
        """Returns a feasible ``y`` with ``costs @ y`` at most the slack above the least, if the seconds suffice, and a lower bound.
        Both may be ignored by what is exact.
        """

    def minimise_many(self, costs: NDArray[np.float64], slack: Slack = no_slack, seconds: float = math.inf) -> list[Least]:
        """Answers for each row of ``costs``, ``[n, variables]``, in so many seconds: one by one, unless a subclass knows better."""
        budget = Budget(seconds)
        return [self.minimise(row, slack, budget.left()) for row in costs]

    @abstractmethod
    def fault(self, y: Vector) -> str | None:
        """Returns which rule a vector between the bounds breaks, or None if it is feasible."""

    def parts(self) -> list[tuple[NDArray[np.int64], FeasibleSet]]:
        """Returns sets that nothing ties to each other, with the variables of each in order; the set alone if there are no such."""
        return [(np.arange(len(self)), self)]

    def nearest(self, costs: Vector, values: Vector, weights: Vector, seconds: float = math.inf) -> Vector:
        """Returns, of the feasible vectors that differ least from ``values`` (the sum of ``weights`` times the difference), one of
        the least cost, or of low cost if the seconds end. Variables of weight 0 are free. Values between the bounds are only known to
        integer programmes. Raises Unsolved if no vector was found in time.
        """
        known = weights > 0.0
        if np.any(known & (values != self.lower) & (values != self.upper)):
            raise ValueError(f"{type(self).__name__}: a value that is known must be {self.lower.min():g} or {self.upper.max():g}")
        reach = float(np.abs(costs) @ (self.upper - self.lower))
        penalties = np.where(values == self.lower, weights, -weights) * (1.0 + 2.0 * reach) / weights[known].min(initial=np.inf)
        return decided(self.minimise(costs + np.where(known, penalties, 0.0), no_slack, seconds))


def decided(least: Least) -> Vector:
    """Returns the vector, or raises Unsolved if the solver found none."""
    if least.y is None:
        raise Unsolved("the solver found no feasible vector in its time")
    return least.y


class Box(FeasibleSet):
    """All vectors between bounds: variables that nothing ties to each other.

    Args:
        lower: The least value of each variable, ``[variables]``.
        upper: The largest.
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        size = len(np.atleast_1d(lower))
        self.lower, self.upper = numbers(lower, size, "lower"), numbers(upper, size, "upper")

    def minimise(self, costs: Vector, slack: Slack = no_slack, seconds: float = math.inf) -> Least:
        y = np.where(costs > 0.0, self.lower, self.upper)
        return Least(y, float(costs @ y))

    def fault(self, y: Vector) -> str | None:
        return None


def numbers(values: Any, count: int, what: str) -> Vector:
    """Returns one number for each of ``count``; a single one is for all. NaN is refused."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, found {values!r:.60}") from None
    if found.ndim > 1 or (found.ndim == 1 and len(found) != count):
        raise ValueError(f"{what} has the shape {found.shape}: expected ({count},), or one number")
    if np.isnan(found).any():
        raise ValueError(f"{what}[{int(np.argmax(np.isnan(found)))}] is NaN")
    return np.broadcast_to(found, (count,)).copy()
