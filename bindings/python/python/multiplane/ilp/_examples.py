"""Examples and solutions as users give them, checked and made what the task takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from multiplane._labeller import listed
from multiplane.ilp._feasible import Budget, FeasibleSet, Infeasible, Unsolved, Vector, numbers
from multiplane.ilp._programme import IntegerProgramme
from multiplane.ilp._solver import WHOLE
from multiplane.ilp._task import Instance, Truth


@dataclass(frozen=True)
class Target:
    """A true vector with a loss of its own.

    Attributes:
        values: The vector, ``[variables]``; NaN or masked where the truth is not known.
        weights: What one unit of error of each variable costs, or one number for all.
        costs: In place of weights: the loss of ``y`` is ``costs @ (y - values)``, which no feasible vector may have below 0.
    """

    values: Any
    weights: Any = None
    costs: Any = None


class Given(NamedTuple):
    """What is given of a truth: values, NaN where they are not known, the costs of errors, 0 there, and those of a linear loss."""

    values: Vector
    weights: Vector
    linear: Vector | None

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which values are known."""
        return ~np.isnan(self.values)

    def completed(self, values: Vector, x: Instance, what: str) -> Truth:
        """The truth with these values. A loss between bounds becomes variables of a programme of its own."""
        lower, upper = x.feasible.lower, x.feasible.upper
        if self.linear is not None:
            return Truth(values, np.where(self.known, self.linear, 0.0))
        inside = np.flatnonzero((self.weights > 0.0) & (values > lower) & (values < upper))
        costs = np.where(values == lower, self.weights, np.where(values == upper, -self.weights, 0.0))
        if not len(inside):
            return Truth(values, costs)
        if not isinstance(x.feasible, IntegerProgramme):
            v = inside[0]
            raise ValueError(f"{what}[{v}] is {values[v]:g}, between its bounds: expected an IntegerProgramme, or Target(costs=...)")
        return Truth(values, costs, inside, self.weights[inside], x.feasible.with_distances(inside, values[inside]))


def instances_of(X: Any, sign: float) -> list[Instance]:
    """Examples, with costs that are to be minimised once they are multiplied by the sign. Raises ValueError for the first fault."""
    found = [_instance(x, sign, f"X[{i}]") for i, x in enumerate(listed(X, "X"))]
    widths = [instance.features.shape[1] for instance in found]
    odd = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        raise ValueError(f"X[{odd}] has {widths[odd]} features, X[0] has {widths[0]}: expected as many")
    return found


def _instance(x: Any, sign: float, what: str) -> Instance:
    if isinstance(x, Instance):
        return x
    if not isinstance(x, (tuple, list)) or len(x) not in (2, 3) or not isinstance(x[0], FeasibleSet):
        kinds = [type(one).__name__ for one in x] if isinstance(x, (tuple, list)) else [type(x).__name__]
        raise ValueError(f"{what}: expected (feasible, features) or (feasible, features, costs), found {', '.join(kinds)}")
    size = len(x[0])
    try:
        features: Any = csr_array(x[1], dtype=np.float64) if issparse(x[1]) else np.array(x[1], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: features are not numbers [variables, d]") from None
    if features.ndim != 2 or features.shape[0] != size or not features.shape[1]:
        raise ValueError(f"{what}: features have the shape {features.shape}: expected ({size}, d), a row for each variable, and d > 0")
    if not np.isfinite(features.data if issparse(features) else features).all():
        row, column = np.argwhere(~np.isfinite(features.toarray() if issparse(features) else features))[0]
        raise ValueError(f"{what}: features[{row}, {column}] is not finite")
    costs = numbers(0.0 if len(x) == 2 else x[2], size, f"{what}: costs")
    if not np.isfinite(costs).all():
        raise ValueError(f"{what}: costs[{int(np.argmin(np.isfinite(costs)))}] is not finite")
    return Instance(x[0], sign * features, sign * costs)


def solutions_of(instances: list[Instance], Y: Any, is_mean: bool, what: str = "Y") -> list[Given]:
    """What is given of each truth; with ``is_mean`` a loss is divided by how many variables are known."""
    y = listed(Y, what)
    if len(instances) != len(y) or not y:
        raise ValueError(f"{what.replace('Y', 'X')} has {len(instances)} examples, {what} has {len(y)}: expected as many, and at least one")
    return [_solution(one, x, is_mean, f"{what}[{i}]") for i, (one, x) in enumerate(zip(y, instances, strict=True))]


def _solution(y: Any, x: Instance, is_mean: bool, what: str) -> Given:
    target = y if isinstance(y, Target) else Target(y)
    size, lower, upper = len(x.feasible), x.feasible.lower, x.feasible.upper
    try:
        values = np.ma.filled(np.ma.asarray(target.values, dtype=np.float64), np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, one for each variable") from None
    if values.shape != (size,):
        raise ValueError(f"{what} has the shape {values.shape}: expected ({size},), as many as variables")
    known = ~np.isnan(values)
    wrong = np.flatnonzero(known & ((values < lower) | (values > upper)))
    if len(wrong):
        v = wrong[0]
        raise ValueError(f"{what}[{v}] is {values[v]:g}: the variable is between {lower[v]:g} and {upper[v]:g}")
    wrong = np.flatnonzero(known & (np.abs(values - np.round(values)) > WHOLE) & getattr(x.feasible, "integral", False))
    if len(wrong):
        raise ValueError(f"{what}[{wrong[0]}] is {values[wrong[0]]:g}: expected a whole number")
    if target.costs is not None and target.weights is not None:
        raise ValueError(f"{what}: weights and costs of a Target: give one of them")
    unit = 1.0 / max(1, int(known.sum())) if is_mean else 1.0
    weights = numbers(unit if target.weights is None else target.weights, size, f"{what}: weights")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise ValueError(f"{what}: weights[{wrong[0]}] is {weights[wrong[0]]:g}: expected a finite number >= 0")
    return Given(values, np.where(known, weights, 0.0), None if target.costs is None else numbers(target.costs, size, f"{what}: costs"))


def feasible(instances: list[Instance], given: list[Given]) -> list[Truth]:
    """Truths that are known altogether. Raises ValueError for one that is not feasible."""
    for i, (one, x) in enumerate(zip(given, instances, strict=True)):
        fault = x.feasible.fault(one.values)
        if fault:
            raise ValueError(f"Y[{i}] is not feasible: {fault}")
    return truths_with(given, [one.values for one in given], instances)


def truths_with(given: list[Given], values: list[Vector], instances: list[Instance], what: str = "Y") -> list[Truth]:
    """The truths with these values."""
    return [one.completed(y, x, f"{what}[{i}]") for i, (one, y, x) in enumerate(zip(given, values, instances, strict=True))]


def agreeing(
    instances: list[Instance], given: list[Given], w: Vector, budget: Budget, before: list[Vector] | None = None
) -> list[Vector]:
    """The best vectors at ``w`` that agree with what is known; those of ``before`` if none is found that costs less.

    Raises ValueError where none agrees, or none was found in time and there are none before.
    """
    found = []
    for i, (x, one) in enumerate(zip(instances, given, strict=True)):
        values, known = one.values, one.known
        costs, held = x.features @ w + x.costs, np.where(known, values, x.feasible.lower)
        try:
            y = x.feasible.nearest(costs, held, known.astype(float), budget.share())
        except Unsolved:
            if before is None:
                raise ValueError(f"Y[{i}]: no vector that agrees with what is known was found in time: seconds gives it more") from None
            y = before[i]
        except Infeasible:
            raise
        except ValueError as error:
            raise ValueError(f"Y[{i}]: {error}") from None
        if before is not None and costs @ before[i] <= costs @ y:
            y = before[i]
        wrong = np.flatnonzero(known & (y != values))
        if len(wrong):
            v = wrong[0]
            raise ValueError(
                f"what is known of Y[{i}] is not feasible: of the nearest feasible vector variable {v} is {y[v]:g}, and {values[v]:g} "
                f"was given ({len(wrong)} such)"
            )
        found.append(y)
    return found


def parts_of(x: Instance, truth: Truth, parts: list[tuple[NDArray[np.int64], FeasibleSet]], scale: float) -> list[tuple[Instance, Truth]]:
    """Divides an example into those of its parts, whose hinges are scaled: the mean over all parts is then that over the examples."""
    if scale == 1.0:
        return [(x, truth)]
    found = []
    for own, of_part in parts:
        is_own = np.isin(truth.inside, own)
        inside, values = np.searchsorted(own, truth.inside[is_own]), truth.values[own]
        distances = None
        if len(inside):
            assert isinstance(of_part, IntegerProgramme)  # as the whole is
            distances = of_part.with_distances(inside, values[inside])
        labelled = Truth(values, scale * truth.costs[own], inside, scale * truth.weights[is_own], distances)
        found.append((Instance(of_part, scale * x.features[own], scale * x.costs[own]), labelled))
    return found


def changes(
    instances: list[Instance], before: list[Vector], truths: list[Truth], parts: list[list[tuple[NDArray[np.int64], FeasibleSet]]],
    scale: float,
) -> list[tuple[int, Vector, float]]:  # fmt: skip
    """Returns, for each part whose true vector changed, its number and the linear and the constant part to add to its planes."""
    found, number, count = [], 0, sum(map(len, parts))
    for x, old, truth, of_x in zip(instances, before, truths, parts, strict=True):
        change = (truth.values - old) * (scale / count)
        for own, _ in of_x:
            if np.any(change[own]):
                found.append((number, x.features[own].T @ change[own], float(x.costs[own] @ change[own])))
            number += 1
    return found
