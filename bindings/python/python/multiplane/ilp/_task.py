"""The task behind estimators of costs: features and fixed costs of variables, true vectors, and what errors cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._tasks import Bounded
from multiplane.ilp._feasible import Budget, FeasibleSet, Slack, Vector, no_slack
from multiplane.ilp._programme import IntegerProgramme


NEAR = 50
"""How many variables the doctor changes."""


@dataclass(frozen=True)
class Instance:
    """An example's input: its feasible vectors, the features ``[variables, d]`` and the fixed costs ``[variables]``."""

    feasible: FeasibleSet
    features: Any
    costs: Vector


@dataclass(frozen=True, eq=False)
class Truth:
    """An example's true vector, and the loss of others, ``costs @ (y - values) + weights @ |y[inside] - values[inside]|``.

    Attributes:
        values: The vector, ``[variables]``.
        costs: The linear part, of variables whose value is at a bound or that have a linear loss.
        inside: Variables whose true value is between its bounds.
        weights: What one unit of error costs there.
        feasible: The programme with these distances as variables; None without them.
    """

    values: Vector
    costs: Vector
    inside: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    weights: Vector = field(default_factory=lambda: np.zeros(0))
    feasible: IntegerProgramme | None = None

    def __eq__(self, other: object) -> bool:
        """Compares the vectors."""
        return isinstance(other, Truth) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def loss(self, y: Vector) -> float:
        """The loss of a vector; what rounding puts below 0 is 0."""
        change = y - self.values
        found = float(self.costs @ change) + float(self.weights @ np.abs(change[self.inside]))
        size = float(np.abs(self.costs) @ np.abs(change))
        return 0.0 if -1e-9 * size <= found < 0.0 else found


class StandIn(np.ndarray[Any, np.dtype[np.float64]]):
    """A true vector in the place of an answer that a solver did not find in its time; it says so wherever it travels."""


class LinearTask:
    """Finds the feasible ``y`` that minimises ``(features @ w + costs) @ y``: the max-oracle of ``StructuredSVM``.

    Args:
        width: d, the number of weights.
        quality: What the feasible sets promise.
        nonnegative: Weights that stay >= 0, as (start, stop).
        accuracy: What share of an example's hinge the solver may leave open.
        gap: The same relative to the cost of its answer.
        budget: Time for solutions.
    """

    def __init__(
        self, width: int, quality: str, nonnegative: list[tuple[int, int]], accuracy: float, gap: float, budget: Budget
    ) -> None:  # fmt: skip
        self.width, self.quality, self.nonnegative = width, quality, nonnegative
        self.accuracy, self.gap, self.budget = accuracy, gap, budget
        self.releases_gil = False  # solvers do; answers of one that several examples share depend on the order of calls
        self.without: set[int] = set()  # examples for which a solver had no vector in its time, here or in a worker

    def fingerprint(self) -> Any:
        """What tells a task from others, for warm starts."""
        return self.width, self.quality, self.nonnegative, self.accuracy, self.gap

    def dim(self) -> int:
        return self.width

    def features(self, x: Instance, y: Any) -> Vector:
        found: Vector = -(x.features.T @ vector(y))
        return found

    def fixed_score(self, x: Instance, y: Any) -> float:
        """The score that is not learned; every answer comes by here, wherever it was found."""
        if isinstance(y, StandIn):
            self.without.add(id(x))
        return -float(x.costs @ vector(y))

    def loss(self, truth: Truth, y: Any) -> float:
        return truth.loss(vector(y))

    def neighbours(self, x: Instance, y: Any) -> list[Vector]:
        """Feasible vectors that differ in one variable, for the doctor."""
        found, values = [], vector(y)
        for v in range(min(len(values), NEAR)):
            for end in (x.feasible.lower[v], x.feasible.upper[v]):
                other = values.copy()
                other[v] = end
                if end != values[v] and x.feasible.fault(other) is None:
                    found.append(other)
        return found

    def decode(self, x: Instance, w: Vector, truth: Truth | None = None) -> Any:
        costs = x.features @ w + x.costs
        if truth is None:
            least = x.feasible.minimise(costs, self._slack(math.inf), self.budget.share())
            return self._answer(x, least.y, -least.bound, None)
        offset = float(truth.costs @ truth.values)
        slack = self._slack(float(costs @ truth.values) - offset)
        costs = costs - truth.costs
        if truth.feasible is not None:
            costs = np.concatenate([costs, -truth.weights, np.zeros(len(truth.inside))])
        with self.budget.patience(x) as seconds:
            least = (truth.feasible or x.feasible).minimise(costs, slack, seconds)
        y = None if least.y is None else least.y[: len(x.costs)]
        return self._answer(x, y, -least.bound - offset, truth)

    def _slack(self, at_truth: float) -> Slack:
        """What may be left open, where the truth costs ``at_truth``."""
        if self.gap == self.accuracy == 0.0:
            return no_slack
        share = 0.0 if math.isinf(at_truth) else self.accuracy
        return lambda bound: max(self.gap * abs(bound), share * max(0.0, at_truth - bound) if share else 0.0)

    def _answer(self, x: Instance, y: Vector | None, bound: float, truth: Truth | None) -> Any:
        if y is None:
            if truth is None:
                raise ValueError("the solver found no feasible vector in its time: oracle_seconds gives it more")
            y = truth.values.view(StandIn)
        return Bounded(y, bound) if self.quality == "upper-bound" else y


class Labelled:
    """A task whose answers are of the kind of its truths, as the doctor expects."""

    def __init__(self, task: LinearTask) -> None:
        self._task = task

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    def decode(self, x: Instance, w: Vector, truth: Truth | None = None) -> Any:
        found = self._task.decode(x, w, truth)
        return Bounded(_labelled(found.y), found.bound) if isinstance(found, Bounded) else _labelled(found)

    def neighbours(self, x: Instance, y: Any) -> list[Truth]:
        return [_labelled(near) for near in self._task.neighbours(x, y)]


def _labelled(y: Any) -> Truth:
    return y if isinstance(y, Truth) else Truth(y, np.zeros(len(y)))


def vector(y: Any) -> Vector:
    """The values of a truth, or the vector itself."""
    return y.values if isinstance(y, Truth) else y
