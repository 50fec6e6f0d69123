"""Predict, then optimise: costs predicted such that the decisions that they lead to are good."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._errors import warn
from multiplane._fit_options import FitOptions
from multiplane._path import PathResult
from multiplane._structured import OracleEstimator, are_given, explained, parameters_of, with_parameters
from multiplane._tasks import Bounded
from multiplane._validation import column_names
from multiplane.ilp._feasible import Budget, FeasibleSet, Least, Vector, decided, no_slack
from multiplane.ilp._shortcuts import FromFunction
from multiplane.solvers import Bundle

Table = NDArray[np.float64]

DENSE = 0.3
"""The share of variables that are not 0 from which on features are a dense vector."""

DESCRIBED = 2**22
"""Numbers that the features of a batch of decisions have at most."""

QUICK = Bundle(master={"accuracy": 0.5})
"""``solver="auto"`` of sets that are quick, if the gap is in percent: saving calls would take longer than the calls."""

LOOKED_AT = 50
"""The examples whose best decisions are compared under each other's costs."""


@dataclass(frozen=True)
class Best:
    """An example's costs ``[variables]``, to be minimised, the best decision and what it costs."""

    costs: Vector
    decision: Vector
    cost: float


class RegretTask:
    """The max-oracle of SPO+: the features of a decision ``z`` are ``-2 z x'``, its loss is its regret.

    Args:
        feasible: The decisions.
        variables: Their number of variables.
        columns: The number of inputs, with the constant 1 if there is an intercept.
    """

    def __init__(self, feasible: FeasibleSet, variables: int, columns: int) -> None:
        self.feasible, self.variables, self.columns = feasible, variables, columns
        self.quality, self.budget = feasible.quality, Budget()
        self.names: NDArray[Any] | None = None  # of the columns of X
        self._range = np.arange(columns)

    def fingerprint(self) -> Any:
        """What tells a task from others, for warm starts."""
        return self.feasible, self.variables, self.columns

    def dim(self) -> int:
        return self.variables * self.columns

    def features(self, x: Vector, z: Any) -> Any:
        z = _decision(z)
        chosen = z.nonzero()[0]
        if len(chosen) > DENSE * len(z):
            return (-2.0 * z[:, None] * x).ravel()
        return (chosen[:, None] * self.columns + self._range).ravel(), (-2.0 * z[chosen, None] * x).ravel()

    def loss(self, truth: Best, z: Any) -> float:
        """The regret: how much more the decision costs than the best. Rounding and heuristics do not put it below 0."""
        z = _decision(z)
        found = float(_costs_of(z[None], truth.costs[None])[0]) - truth.cost
        return found if found >= 0.0 else self._rounded(found, truth, z)

    def _rounded(self, found: float, truth: Best, z: Vector) -> float:
        """A regret below 0: 0 if rounding or a heuristic explains it."""
        size = float(np.abs(truth.costs) @ (np.abs(z) + np.abs(truth.decision)))
        return 0.0 if self.quality == "heuristic" or -found <= 1e-9 * size else found

    def describe_many(self, xs: list[Vector], truths: list[Best], zs: list[Any]) -> tuple[Table, Vector]:
        """Features ``[n, dim]`` and losses ``[n]`` of a decision for each example, the same bits as one by one."""
        decisions = np.array([_decision(z) for z in zs])
        features = (-2.0 * decisions)[:, :, None] * np.array(xs)[:, None, :]
        losses = _costs_of(decisions, np.array([truth.costs for truth in truths])) - [truth.cost for truth in truths]
        for i in np.flatnonzero(losses < 0.0):
            losses[i] = self._rounded(losses[i], truths[i], decisions[i])
        return features.reshape(len(zs), -1), losses

    def decode(self, x: Vector, w: Vector, truth: Best | None = None) -> Any:
        return self.decode_many([x], w, None if truth is None else [truth])[0]

    def decode_many(self, xs: list[Vector], w: Vector, truths: list[Best] | None) -> list[Any]:
        costs = np.asarray(xs) @ (2.0 * w.reshape(self.variables, self.columns).T)
        if truths is None:
            return [self._answer(least, None) for least in self.feasible.minimise_many(costs, no_slack, self.budget.share())]
        found = self.feasible.minimise_many(costs - np.array([truth.costs for truth in truths]), no_slack, self.budget.share())
        return [self._answer(least, truth) for least, truth in zip(found, truths, strict=True)]

    def _answer(self, least: Least, truth: Best | None) -> Any:
        y = truth.decision if truth is not None and least.y is None else decided(least)
        return Bounded(y, -least.bound - (truth.cost if truth else 0.0)) if self.quality == "upper-bound" else y


class DecisionSSVM(OracleEstimator):
    """Learns to predict costs for good decisions (SPO+: Elmachtoub and Grigas, Smart "Predict, then Optimize", 2022).

    ``X`` is ``[n, p]``; ``C``, ``[n, variables]``, has the costs that came true. Predicted costs are ``X @ coef_.T + intercept_``, and
    ``predict`` returns the decision of the least predicted cost. Training minimises ``lambda/2 |w|^2`` plus the mean SPO+ loss, an
    upper bound on the regret: how much more a decision costs than the best one would have. The intercept is part of ``w``.

    ``coef_``, ``[variables, p]``, and ``intercept_``, ``[variables]``, are laid out as the weight and bias of a network's linear layer,
    which can start from them.

    Args:
        feasible: The decisions: a :class:`FeasibleSet`, or a function that returns a decision ``[variables]`` of low cost for costs
            ``[variables]`` (high gain for gains, with ``sense="max"``).
        sense: ``"min"``, or ``"max"`` where ``C`` are gains.
        quality: What the function promises: ``"exact"`` or ``"heuristic"``, whose gaps are estimates, at which a fit stops too. Feasible
            sets know their own.
        fit_intercept: If False, predicted costs are ``X @ coef_.T``.

    On paths, assignments and top-k choices ``solver="auto"`` is a ``Bundle`` if the gap is in percent.
    """

    _task = "user"

    feasible: Any = field(kw_only=False)
    sense: str = "min"
    quality: str = "heuristic"
    fit_intercept: bool = True

    def _brought(self) -> Any:
        return self.__dict__.get("_regrets")  # there is none before the first fit

    # -- data --

    def _inputs(self, X: Any, what: str = "X") -> Table:
        found = table(X, what)
        return np.hstack([found, np.ones((len(found), 1))]) if self.fit_intercept else found

    def _costs(self, C: Any, rows: int, what: str = "C") -> Table:
        """The costs, to be minimised."""
        found = table(C, what)
        if len(found) != rows or not rows:
            raise ValueError(f"X has {rows} rows, {what} has {len(found)}: expected as many, and at least one")
        return self._sign() * found

    def _sign(self) -> float:
        if self.sense not in ("min", "max"):
            raise ValueError(f"sense = {self.sense!r}: must be 'min' or 'max'")
        return 1.0 if self.sense == "min" else -1.0

    def _set(self, variables: int) -> FeasibleSet:
        """The decisions, of costs to be minimised."""
        found, sign = self.feasible, self._sign()
        if isinstance(found, FeasibleSet):
            if len(found) != variables:
                raise ValueError(f"C has {variables} columns, feasible has {len(found)} variables: expected as many")
            return found
        if not callable(found):
            raise ValueError(f"feasible: expected a FeasibleSet or a function of costs, found {type(found).__name__}")
        if self.quality not in ("exact", "heuristic"):
            raise ValueError(f"quality = {self.quality!r}: must be 'exact' or 'heuristic'; FromFunction takes bounds as well")
        return FromFunction(found if sign > 0.0 else Negated(found), variables, -np.inf, np.inf, self.quality)

    def _best(self, feasible: FeasibleSet, costs: Table, budget: Budget | None = None) -> list[Best]:
        decisions = [decided(found) for found in feasible.minimise_many(costs, no_slack, (budget or Budget()).share())]
        some = costs[:LOOKED_AT] @ np.array(decisions[:LOOKED_AT]).T  # [costs, decisions]
        if np.count_nonzero(some < np.diag(some)[:, None]) > 0.5 * some.size:
            raise ValueError(
                "feasible: most decisions for other costs cost less than the decisions for their own: does it maximise where "
                f"sense = {self.sense!r} and the costs that it is given are to be minimised?"
            )
        return [Best(c, z, float(c @ z)) for c, z in zip(costs, decisions, strict=True)]

    def _examples(self, X: Any, C: Any) -> tuple[list[Vector], list[Best]]:
        """The examples as the task takes them; sets the task."""
        x = self._inputs(X)
        costs = self._costs(C, len(x))
        feasible = self._set(costs.shape[1])
        self._regrets = RegretTask(feasible, costs.shape[1], x.shape[1])
        self._regrets.budget = Budget.of(self)
        best = self._best(feasible, costs, self._regrets.budget)
        if len(best) > 1 and all(np.array_equal(one.decision, best[0].decision) for one in best) and np.ptp(costs, axis=0).any():
            warn(
                f"C: the best decision is the same for all {len(best)} examples, so there is nothing to learn: is sense = "
                f"{self.sense!r} right?"
            )  # fmt: skip
        return list(x), best

    # -- training --

    def fit(self, X: Any, C: Any, *, X_test: Any = None, C_test: Any = None, **options: Unpack[FitOptions]) -> Self:
        """Trains on inputs ``X``, ``[n, p]``, and costs ``C``, ``[n, variables]``. Returns self.

        ``lam="cv"`` chooses lambda by the regret of decisions for examples held out. With test data its mean regret is in every entry
        of ``history_``. Raises ValueError for unusable input.
        """
        with self._all_or_nothing():
            x, best = self._examples(X, C)
            test = {}
            if are_given(X_test, C_test, "C_test"):
                seen = self._inputs(X_test, "X_test")
                test = {"X_test": list(seen), "Y_test": self._best(self._regrets.feasible, self._costs(C_test, len(seen), "C_test"))}
            self._regrets.names = column_names(X)
            super().fit(x, best, **test, **options)
            self._regrets.budget = Budget()
        return self

    def path(self, X: Any, C: Any, **options: Any) -> PathResult:  # type: ignore[override]
        """Follows the regularisation path: see :meth:`StructuredSVM.path`. ``cv=5`` cross-validates it by regret."""
        own = self.__dict__.get("_regrets")
        try:
            x, best = self._examples(X, C)
            return super().path(x, best, **options)
        finally:  # the task of these data is the path's
            vars(self).pop("_regrets", None)
            vars(self).update({} if own is None else {"_regrets": own})

    def check(self, *arguments: Any, **options: Any) -> NoReturn:
        """Refused: the doctor compares answers with truths, which are costs here. ``feasible.fault`` examines decisions."""
        raise NotImplementedError("check: it compares answers with true labellings, and here the truths are costs; see feasible.fault")

    def _unfitted(self) -> Self:
        made = super()._unfitted()
        if "_regrets" in self.__dict__:
            made._regrets = self._regrets
        return made

    def _tree(self) -> dict[str, Any]:
        tree = super()._tree()
        if tree["solver"] == {"name": "auto"} and self._is_relative() and self._regrets.feasible.is_quick:
            tree["solver"] = QUICK._tree()
        if self._regrets.feasible.quality == "heuristic":
            tree.setdefault("stop", {}).setdefault("estimated", True)
        return tree

    def _worded(self, text: str) -> str:
        return explained(text, 'feasible misses the best decision: it has the other sense than C, or is a heuristic with quality="exact"')

    def _shaped(self, w: Vector) -> Vector:
        """Weights of the inputs, ``[variables, p]``."""
        found = self._sign() * w.reshape(self._regrets.variables, self._regrets.columns)
        return found[:, :-1].copy() if self.fit_intercept else found

    def _copied(self) -> Vector:
        self.n_features_in_ = self._regrets.columns - self.fit_intercept
        vars(self).pop("feature_names_in_", None)
        if self._regrets.names is not None:
            self.feature_names_in_ = self._regrets.names
        w = np.frombuffer(self._model.w(), dtype=np.float64).reshape(self._regrets.variables, -1)
        self.intercept_ = self._sign() * w[:, -1] if self.fit_intercept else np.zeros(len(w))
        return super()._copied()

    # -- results --

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of ``X``."""
        self._check_fitted()
        return np.array(self._feature_names(self.coef_.shape[1], input_features), dtype=object)

    def predict_costs(self, X: Any) -> Table:
        """The predicted costs (gains, with ``sense="max"``), ``[n, variables]``."""
        self._check_fitted()
        found = table(X, "X")
        if found.shape[1] != self.coef_.shape[1]:
            raise ValueError(f"X has {found.shape[1]} columns: expected {self.coef_.shape[1]}, as in training")
        costs: Table = found @ self.coef_.T + self.intercept_
        return costs

    def predict(self, X: Any) -> Table:  # type: ignore[override]
        """The decisions of the least predicted cost, ``[n, variables]``."""
        costs = self._sign() * self.predict_costs(X)
        found = [decided(least) for least in self._set(costs.shape[1]).minimise_many(costs)]
        return np.array(found).reshape(costs.shape)

    def decision_values(self, X: Any, Z: Any) -> Vector:
        """The predicted cost of each decision ``Z``, ``[n, variables]``: ``[n]``."""
        costs, decisions = self.predict_costs(X), table(Z, "Z")
        if decisions.shape != costs.shape:
            raise ValueError(f"Z has the shape {decisions.shape}: expected {costs.shape}")
        found: Vector = np.einsum("ij,ij->i", costs, decisions)
        return found

    def regret(self, X: Any, C: Any) -> Vector:
        """How much more the decision for each input costs than the best one, ``[n]``, at least 0."""
        return self._measured(X, C)[0]

    def score(self, X: Any, C: Any) -> float:
        """Minus the normalised regret: the sum of the regrets over the sum of the best decisions' absolute costs. 0 is the
        best; -inf where there are regrets and the best decisions cost nothing.
        """
        if isinstance(C, list) and C and isinstance(C[0], Best):  # examples as the report of a fit has them
            decisions = self._regrets.decode_many(X, np.frombuffer(self._model.w(), dtype=np.float64), None)
            return 1.0 - float(np.mean([self._regrets.loss(*pair) for pair in zip(C, map(unbounded, decisions), strict=True)]))
        regrets, best = self._measured(X, C)
        total = float(np.abs(best).sum())
        return -float(regrets.sum()) / total if total > 0.0 else (-math.inf if regrets.any() else 0.0)

    def _measured(self, X: Any, C: Any) -> tuple[Vector, Vector]:
        """The regrets, and what the best decisions cost."""
        self._check_fitted()
        decisions = self.predict(X)
        costs = self._costs(C, len(decisions))
        if costs.shape != decisions.shape:
            raise ValueError(f"C has {costs.shape[1]} columns: expected {decisions.shape[1]}, as in training")
        best = np.array([one.cost for one in self._best(self._set(costs.shape[1]), costs)])
        return np.maximum(0.0, np.einsum("ij,ij->i", costs, decisions) - best), best

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        kept = {"sense": self.sense, "fit_intercept": self.fit_intercept, "variables": self._regrets.variables}
        super()._take(with_parameters(model, DecisionSSVM, kept), summary)

    @classmethod
    def load(cls, path: str | os.PathLike[str], feasible: Any, **parameters: Any) -> Self:
        """Reads a model file, which holds the weights, ``sense`` and ``fit_intercept``; ``feasible`` and further ``parameters`` are
        those of training. Raises ValueError if it is no such file, or of another number of variables.
        """
        model, kept = parameters_of(path, DecisionSSVM)
        variables = kept.pop("variables")
        for name, value in kept.items():
            if parameters.setdefault(name, value) != value:
                raise ValueError(f"{name} = {parameters[name]!r}: {os.fspath(path)} was trained with {value!r}")
        if isinstance(feasible, FeasibleSet) and len(feasible) != variables:
            raise ValueError(f"{os.fspath(path)}: is of {variables} variables, feasible has {len(feasible)}")
        found = cls(feasible, **parameters)
        found._regrets = RegretTask(found._set(variables), variables, len(model.w()) // 8 // variables)
        found._from_model(model)
        return found


@dataclass(frozen=True)
class Negated:
    """A function of gains, asked with costs."""

    solve: Any

    def __call__(self, costs: Vector) -> Any:
        return self.solve(-costs)


def _costs_of(decisions: Table, costs: Table) -> Vector:
    """The cost of each decision, the same bits however many there are."""
    found: Vector = (costs[:, None, :] @ decisions[:, :, None])[:, 0, 0]
    return found


def _decision(z: Any) -> Vector:
    found: Vector = z.decision if isinstance(z, Best) else z
    return found


def unbounded(answer: Any) -> Vector:
    """The decision of an answer, which may come with a bound."""
    found: Vector = answer.y if isinstance(answer, Bounded) else answer
    return found


def table(values: Any, what: str) -> Table:
    """Returns finite numbers ``[n, columns]``, or raises ValueError with the place of one that is not."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, in rows of one length") from None
    if found.ndim != 2 or not found.shape[1]:
        raise ValueError(f"{what} has the shape {found.shape}: expected two dimensions, (examples, columns)")
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise ValueError(f"{what}[{row}, {column}] is {found[row, column]:g}: expected a finite number")
    return found
