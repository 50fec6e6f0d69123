"""Weights of motile's trackers, learned with certificates from one movie or from many, without a commercial solver.

    pip install multiplane[ilp] motile

    import multiplane.motile

    fit = multiplane.motile.fit_weights([solver_1, solver_2], "gt")
    print(fit.weights, fit.gap, fit.certified)  # the weights are in both solvers, too

- ``fit_weights``: as the method ``fit_weights`` of a motile solver.
- ``example``: a motile solver as an example of :class:`multiplane.ilp.IlpSSVM`.
- ``SoftMarginLoss``: as structsvm's class, solved by HiGHS. ``fit_losses``: its minimiser.
- ``programme``: constraints of ilpy as a :class:`multiplane.ilp.IntegerProgramme`.

The objective is motile's: ``regularizer_weight / 2 |w|^2`` and the **sum** over the movies of their hinges. Several movies are thus
the same problem as their union in one graph.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from multiplane._history import History
from multiplane.ilp._estimator import IlpSSVM
from multiplane.ilp._examples import Target
from multiplane.ilp._feasible import Vector, numbers
from multiplane.ilp._programme import IntegerProgramme

_OF_SUMS = "primal", "dual", "gap", "gap_estimate"
"""Keys of records that are scaled from means to sums; the first two are also shifted."""


@dataclass(frozen=True)
class Fit:
    """The result of a fit. Bounds are those of ``regularizer_weight / 2 |w|^2`` plus the sum of the hinges of all movies.

    Attributes:
        estimator: The fitted :class:`multiplane.ilp.IlpSSVM`. Its own bounds are of the mean.
        weights: The weights by the names that the solvers have for them, such as ``("NodeSelectedCost", "weight")``; by their
            number if there are no solvers.
        primal: The objective at these weights.
        dual: A lower bound on the objective of any weights. With ``partial="masked"``, of the last completion.
        gap: ``primal - dual``.
        certified: True if the gap is proven.
        history: One dict per outer iteration with these bounds, ``history.plot()`` draws them. With ``partial="masked"`` the
            records are those of the last completion, and ``estimator.rounds_`` has one record for each.
    """

    estimator: IlpSSVM
    weights: dict[Hashable, float]
    primal: float
    dual: float
    gap: float
    certified: bool
    history: History


# -- from ilpy and motile --


def programme(constraints: Any, variables: int, types: dict[int, Any] | None = None) -> IntegerProgramme:
    """Returns the feasible vectors of an ``ilpy.Constraints``.

    Args:
        constraints: The constraints, linear.
        variables: How many variables there are.
        types: The ``ilpy.VariableType`` of variables, by their number. Those that are left out are binary.

    Raises ValueError if a constraint is quadratic or names a variable that does not exist, or if a variable that is not binary has no
    constraint of its own that bounds it.
    """
    kinds = {int(i): kind.name for i, kind in (types or {}).items()}
    free = np.array([i for i, kind in kinds.items() if kind != "Binary"], dtype=np.int64)
    lower, upper = np.zeros(variables), np.ones(variables)
    lower[free], upper[free] = -np.inf, np.inf
    rows = list(constraints)
    starts, columns, values = [0], list[int](), list[float]()
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for i, row in enumerate(rows):
        if row.get_quadratic_coefficients():
            raise ValueError(f"constraint {i} has quadratic terms: expected linear constraints")
        coefficients = row.get_coefficients()
        wrong = next((v for v in coefficients if not 0 <= v < variables), None)
        if wrong is not None:
            raise ValueError(f"constraint {i} has the variable {wrong}: there are {variables}")
        columns.extend(coefficients.keys())
        values.extend(coefficients.values())
        starts.append(len(columns))
        relation, end = row.get_relation().name, float(row.get_value())
        low[i] = -np.inf if relation == "LessEqual" else end
        high[i] = np.inf if relation == "GreaterEqual" else end
        if len(coefficients) == 1 and kinds.get(columns[-1], "Binary") != "Binary":
            v, ends = columns[-1], sorted((low[i] / values[-1], high[i] / values[-1]))
            lower[v], upper[v] = max(lower[v], ends[0]), min(upper[v], ends[1])
    wrong = next((v for v in free if not math.isfinite(upper[v] - lower[v])), None)
    if wrong is not None:
        raise ValueError(
            f"variable {wrong} is {kinds[wrong].lower()} and not bounded: add constraints with this variable alone, as in 0 <= y <= 5"
        )
    integral = np.ones(variables, dtype=bool)
    integral[[i for i in free if kinds[i] == "Continuous"]] = False
    matrix = csr_array((np.array(values), np.array(columns, dtype=np.int64), np.array(starts)), (len(rows), variables))
    return IntegerProgramme(matrix, low, high, lower=lower, upper=upper, integral=integral)


def example(solver: Any, gt_attribute: str) -> tuple[tuple[IntegerProgramme, csr_array], Vector]:
    """Returns a motile solver as an example for :class:`multiplane.ilp.IlpSSVM`: ``((programme, features), truth)``.

    The truth ``[variables]`` has the marks of nodes and edges, and NaN elsewhere: where an object has no mark, and for the variables that
    follow from others (appear, split, continuation and so on).

    Raises ValueError for marks other than 0, 1 and None.
    """
    from motile.variables import EdgeSelected, NodeSelected

    marks = []
    for kind, objects, what in ((NodeSelected, solver.graph.nodes, "node"), (EdgeSelected, solver.graph.edges, "edge")):
        for name, variable in solver.get_variables(kind).items():
            mark = objects[name].get(gt_attribute)
            if mark is not None:
                if mark not in (0, 1):
                    raise ValueError(f"{what} {name}: {gt_attribute} = {mark!r}: must be 0, 1 or None")
                marks.append((int(variable), float(mark)))
    truth = np.full(solver.num_variables, np.nan)
    for variable, mark in marks:
        truth[variable] = mark
    features = csr_array(np.asarray(solver.features.to_ndarray(), dtype=np.float64))
    return (programme(solver.constraints, solver.num_variables, solver.variable_types), features), truth


def _names(solver: Any) -> list[Hashable]:
    """The names of a solver's weights, in order."""
    return list(solver.weights._weights_by_name)  # motile has no public list of them


# -- structsvm's loss --


class SoftMarginLoss:
    """The loss of structsvm's class of this name: ``max over feasible y of <w, features (y' - y)> + costs(y)``.

    The truth y' need not be feasible. ``value_and_gradient`` may be given to structsvm's ``BundleMethod``; :func:`fit_losses` needs
    fewer calls, and proves a gap.

    Args:
        constraints: An ``ilpy.Constraints``, or an :class:`multiplane.ilp.IntegerProgramme`.
        features: ``[d, variables]``, dense or SciPy sparse: one column for each variable, as in structsvm.
        ground_truth: y', ``[variables]``.
        costs: What errors cost, as structsvm's ``HammingCosts``: an object with ``get_coefficients()``, ``[variables]``, and
            ``get_offset()``. By default the number of values that differ from the truth, which must then be 0 or 1.
    """

    def __init__(self, constraints: Any, features: Any, ground_truth: Any, costs: Any = None) -> None:
        truth = np.array(ground_truth, dtype=np.float64)
        if truth.ndim != 1 or not np.isfinite(truth).all():
            raise ValueError(f"ground_truth has the shape {truth.shape}: expected finite numbers [variables]")
        try:
            self.features = csr_array(csr_array(features, dtype=np.float64).T)
        except (TypeError, ValueError):
            raise ValueError("features: expected numbers [d, variables]") from None
        if self.features.shape[0] != len(truth):
            raise ValueError(f"features have {self.features.shape[0]} columns: expected one for each of {len(truth)} variables")
        if not np.isfinite(self.features.data).all():
            raise ValueError("features hold a number that is not finite")
        is_made = isinstance(constraints, IntegerProgramme)
        self.programme = constraints if is_made else programme(constraints, len(truth))
        if len(self.programme) != len(truth):
            raise ValueError(f"ground_truth has {len(truth)} values: the programme has {len(self.programme)} variables")
        self.truth = truth
        if costs is None:
            wrong = np.flatnonzero((truth != 0.0) & (truth != 1.0))
            if len(wrong):
                raise ValueError(f"ground_truth[{wrong[0]}] is {truth[wrong[0]]:g}: must be 0 or 1, or give costs")
        self.coefficients = 1.0 - 2.0 * truth if costs is None else numbers(costs.get_coefficients(), len(truth), "costs")
        self.offset = float(truth.sum()) if costs is None else float(costs.get_offset())

    def value_and_gradient(self, w: Any) -> tuple[float, Vector]:
        """Returns the loss at ``w``, ``[d]``, and a subgradient, ``[d]``."""
        weights = numbers(w, self.features.shape[1], "w")
        costs = self.features @ weights
        least = self.programme.minimise(costs - self.coefficients)
        assert least.y is not None  # no time limit
        gradient: Vector = self.features.T @ (self.truth - least.y)
        return float(weights @ gradient + self.coefficients @ least.y) + self.offset, gradient

    def fit(self, regularizer_weight: float = 0.1, max_iterations: int = 1000, eps: float = 1e-6, **options: Any) -> Fit:
        """Minimises ``regularizer_weight / 2 |w|^2`` plus the loss; see :func:`fit_losses`."""
        return fit_losses([self], regularizer_weight, max_iterations, eps, **options)


def fit_losses(
    losses: Sequence[SoftMarginLoss], regularizer_weight: float = 0.1, max_iterations: int = 1000, eps: float = 1e-6, **options: Any
) -> Fit:
    """Minimises ``regularizer_weight / 2 |w|^2`` plus the sum of losses, to a proven gap.

    Args:
        losses: The losses, with as many features each.
        regularizer_weight: lambda, greater than 0.
        max_iterations: The most oracle calls for each loss.
        eps: The absolute gap to stop at.
        options: Further parameters of :class:`multiplane.ilp.IlpSSVM`, such as ``solver="bundle"``, ``threads`` and ``seconds``. Without
            ``seconds`` the clock is ``"work"``, so that equal input gives equal weights.
    """
    _check(regularizer_weight, max_iterations, eps, options)
    if not losses:
        raise ValueError("losses: expected at least one")
    for i, loss in enumerate(losses):
        if loss.features.shape[1] != losses[0].features.shape[1]:
            raise ValueError(f"losses[{i}] has {loss.features.shape[1]} features, losses[0] has {losses[0].features.shape[1]}: expected as many")
    count = len(losses)
    estimator = IlpSSVM(lam=regularizer_weight / count, gap=eps / count, passes=max_iterations, partial="fixed", **_clocked(options))
    estimator.fit([(loss.programme, loss.features) for loss in losses], [Target(loss.truth, costs=loss.coefficients) for loss in losses])
    at_truth = sum(float(loss.coefficients @ loss.truth) + loss.offset for loss in losses)
    return _result(estimator, list(range(losses[0].features.shape[1])), count, at_truth)


# -- motile's method --


def fit_weights(
    solvers: Any, gt_attribute: str, regularizer_weight: float = 0.1, max_iterations: int = 1000, eps: float = 1e-6, *,
    partial: str = "masked", **options: Any,
) -> Fit:  # fmt: skip
    """Learns the weights of one motile solver, or of several with the same costs, from marked nodes and edges.

    The weights are written into each of the solvers.

    Args:
        solvers: A ``motile.Solver`` with its costs and constraints, or a list of them, one for each movie. The names of their weights
            must be the same, in the same order.
        gt_attribute: The attribute of nodes and edges that is 1 for what is true, 0 for what is not, and None or missing where this
            is not known.
        regularizer_weight: lambda, greater than 0.
        max_iterations: The most oracle calls for each movie.
        eps: The absolute gap to stop at, of the objective that has the sum over the movies.
        partial: ``"masked"`` completes what is not known by the best tracks that agree with the marks, at the weights, in turns with
            the training. Those marks must be feasible. ``"fixed"`` takes what is not known as 0, also the variables that follow from
            others (appear, split): motile's own objective, whose truth breaks its own constraints.
        options: Further parameters of :class:`multiplane.ilp.IlpSSVM`, such as ``solver="bundle"``, ``threads`` and ``seconds``. Without
            ``seconds`` the clock is ``"work"``, so that equal input gives equal weights.

    Raises ValueError for unusable input: also if a movie has no marks, or marks that are not feasible (``partial="masked"``).
    """
    _check(regularizer_weight, max_iterations, eps, options)
    if partial not in ("masked", "fixed"):
        raise ValueError(f"partial = {partial!r}: must be 'masked' or 'fixed'")
    movies = list(solvers) if isinstance(solvers, (list, tuple)) else [solvers]
    if not movies:
        raise ValueError("solvers: expected a motile solver, or a list of at least one")
    names = _names(movies[0])
    if not names:
        raise ValueError("solvers[0] has no costs: there are no weights to learn")
    for i, movie in enumerate(movies):
        if _names(movie) != names:
            raise ValueError(f"solvers[{i}] has the weights {_names(movie)}, solvers[0] has {names}: expected the same, in the same order")
    found = [_example(movie, gt_attribute, i) for i, movie in enumerate(movies)]
    if partial == "fixed":
        losses = [SoftMarginLoss(x[0], x[1].T, np.nan_to_num(y), _Marked(y)) for x, y in found]
        fit = fit_losses(losses, regularizer_weight, max_iterations, eps, **options)
    else:
        count = len(movies)
        estimator = IlpSSVM(lam=regularizer_weight / count, gap=eps / count, passes=max_iterations, **_clocked(options))
        estimator.fit([x for x, _ in found], [y for _, y in found])
        fit = _result(estimator, names, count, 0.0)
    for movie in movies:
        movie.weights.from_ndarray(float(weight) for weight in fit.estimator.coef_)
    return Fit(**{**fit.__dict__, "weights": dict(zip(names, fit.weights.values(), strict=True))})


def _example(movie: Any, gt_attribute: str, i: int) -> tuple[tuple[IntegerProgramme, csr_array], Vector]:
    try:
        x, truth = example(movie, gt_attribute)
    except ValueError as error:
        raise ValueError(f"solvers[{i}]: {error}") from None
    if np.isnan(truth).all():
        raise ValueError(f"solvers[{i}]: no node or edge has the attribute {gt_attribute!r}")
    return x, truth


class _Marked:
    """The number of errors among what is marked."""

    def __init__(self, truth: Vector) -> None:
        self.truth = truth

    def get_coefficients(self) -> Vector:
        return np.where(np.isnan(self.truth), 0.0, 1.0 - 2.0 * np.nan_to_num(self.truth))

    def get_offset(self) -> float:
        return float(np.nansum(self.truth))


def _clocked(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a fit, which repeats unless its time is limited."""
    return {"clock": "work" if options.get("seconds") is None else "wall", **options}


def _check(regularizer_weight: float, max_iterations: int, eps: float, options: dict[str, Any]) -> None:
    for name, value in (("regularizer_weight", regularizer_weight), ("max_iterations", max_iterations), ("eps", eps)):
        if isinstance(value, bool) or not 0.0 < value < math.inf:
            raise ValueError(f"{name} = {value!r}: must be a finite number > 0")
    for name, own in (("lam", "regularizer_weight"), ("gap", "eps"), ("passes", "max_iterations")):
        if name in options:
            raise ValueError(f"{name}: here this is {own}")


def _result(estimator: IlpSSVM, names: Sequence[Hashable], count: int, shift: float) -> Fit:
    """Puts bounds on means into those on sums."""

    def of_sum(record: dict[str, Any]) -> dict[str, Any]:
        found = {key: count * record[key] for key in _OF_SUMS if record.get(key) is not None}
        return record | {key: value + (shift if key in _OF_SUMS[:2] else 0.0) for key, value in found.items()}

    weights: NDArray[np.float64] = estimator.coef_
    return Fit(
        estimator,
        {name: float(weight) for name, weight in zip(names, weights, strict=True)},
        primal=count * estimator.primal_ + shift,
        dual=count * estimator.dual_ + shift,
        gap=count * estimator.gap_,
        certified=bool(estimator.certified_),
        history=History(of_sum(record) for record in estimator.history_),
    )
