"""PyStruct's learners by their names: existing code changes one import.

``from multiplane.pystruct import FrankWolfeSSVM`` takes the models and the arguments that PyStruct's class takes. C is
PyStruct's: it minimises ``1/2 |w|^2 + C * sum of hinges``, which is this package's problem at lambda = 1/(C n).

All learners have these arguments; those that are not described are accepted and have no effect.

- ``model``: a PyStruct model, or an object with its methods. ``max_iter``: passes over the data, at most. ``C``: PyStruct's C.
- ``verbose``: shows a progress line. ``random_state``: a seed, or a NumPy RandomState.
- ``show_loss_every``: after every so many passes ``loss_curve_`` gets the training loss; it costs a prediction of all examples.
- ``logger``: is called as ``logger(learner, iteration)`` about once a pass (every n training calls), with the weights of the
  moment in ``learner.w``, and as ``logger(learner, "final")`` at the end.
- ``solver``: a name (``multiplane describe solver``) or an object of ``multiplane.solvers``. By default ``"auto"``; cutting
  planes are ``"one-slack"`` for models of at most 100 weights, and then every fit gives the same bits.

After ``fit`` there are ``w``; ``primal_objective_curve_`` and ``timestamps_``, with a value for each record of training and a
last one for the weights kept; ``objective_curve_``, which has the dual values, and of ``SubgradientSSVM`` the primal ones, as
there; with ``show_loss_every``, ``loss_curve_``; and ``estimator_``, the :class:`multiplane.StructuredSVM` with the certificate.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane._base import _number
from multiplane._params import Parameters
from multiplane._pystruct import PyStructTask, stacked
from multiplane._sklearn import tags
from multiplane._structured import HeuristicWarning, StructuredSVM

__all__ = ["FrankWolfeSSVM", "NSlackSSVM", "OneSlackSSVM", "PyStructTask", "SubgradientSSVM"]

FEW = 100
"""The most weights that cutting planes with one slack learn best: ADR 0051 has the measurements."""

REPEATABLE = {"one-slack": {"solver.cache.share": 0.01}}
"""Solvers that learn by the work clock, so that a fit repeats to the bit as PyStruct's does, with the parameters that they then
need: the work clock counts calls as cheap, and kept planes would not be used for long enough."""


class _Trained(PyStructTask):
    """A model in training: asked for relaxed answers, as PyStruct's learners ask. Counts calls; n calls are a pass."""

    def __init__(self, learner: Any, x: Sequence[Any], y: Sequence[Any]) -> None:
        super().__init__(learner.model)
        self.learner, self.x, self.y, self.calls = learner, x, y, 0
        self.ends = [time.perf_counter()]
        """The time at which training began, and those at which passes ended."""

    def initialize(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Only looks at the labels: the learner has initialised the model."""
        self._look(Y)

    def loss(self, truth: Any, y: Any) -> float:
        if isinstance(y, tuple) and hasattr(self.model, "continuous_loss"):  # a fractional labelling
            return float(self.model.continuous_loss(truth, y[0]))
        return super().loss(truth, y)

    def _augmented(self, method: str, x: Any, truth: Any, w: NDArray[np.float64]) -> Any:
        ask, learner = getattr(self.model, method), self.learner
        found = ask(x, truth, w, **({"relaxed": True} if "relaxed" in inspect.signature(ask).parameters else {}))
        if learner is None:
            return found
        before, n = self.calls, len(self.x)
        self.calls += len(found) if method.startswith("batch") else 1
        for iteration in range(before // n, self.calls // n):
            self.ends.append(time.perf_counter())
            if learner.show_loss_every or learner.logger is not None:
                learner.w = np.array(w)
            if learner.show_loss_every and iteration % learner.show_loss_every == 0:
                learner.loss_curve_.append(1.0 - learner.score(self.x, self.y))
            if learner.logger is not None:
                learner.logger(learner, iteration)
        return found


class _Learner(Parameters):
    """The common part of PyStruct's learners."""

    model: Any
    max_iter: int
    C: float
    verbose: int
    show_loss_every: int
    logger: Any
    random_state: Any
    solver: Any

    def _fit(
        self, X: Any, Y: Any, solver: Any, gap: float | str | None, initialize: bool, params: dict[str, Any] | None = None
    ) -> Self:
        x, y = list(X), list(Y)
        self.loss_curve_: list[float] = []
        if initialize and hasattr(self.model, "initialize"):
            self.model.initialize(stacked(x), stacked(y))
        if solver is None:
            solver = "one-slack" if int(self.model.size_joint_feature) <= FEW else "auto"
        task = _Trained(self, x, y)
        repeatable = REPEATABLE.get(solver, {}) if isinstance(solver, str) else {}
        seed = self.random_state or 0
        estimator = StructuredSVM(
            task,
            solver=solver,
            lam=f"c:{float(self.C)!r}",
            passes=self.max_iter,
            gap=gap,
            # PyStruct's learners take the gap at its word.
            params={"stop.estimated": True, **repeatable, **(params or {})},
            seed=int(seed.randint(2**31)) if hasattr(seed, "randint") else int(seed),
            progress=bool(self.verbose),
            clock="work" if repeatable else "wall",
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HeuristicWarning)
                estimator.fit(x, y)
        except BaseException as error:
            if getattr(error, "estimator", None) is estimator:
                error.estimator = self  # type: ignore[attr-defined]
            raise
        finally:
            if hasattr(estimator, "coef_"):
                self._take(estimator, task)
            task.learner, task.x, task.y = None, [], []  # the estimator stays with the learner, and is pickled with it
        if not self.show_loss_every:
            del self.loss_curve_
        if self.logger is not None:
            self.logger(self, "final")
        return self

    def _take(self, estimator: StructuredSVM, task: _Trained) -> None:
        scale = self.C * len(task.x)  # PyStruct's objective is this many times ours
        self.estimator_, self.w, records = estimator, estimator.coef_.copy(), estimator.history_
        # Before the first evaluation there is no primal value: NaN, which plots leave out. The last values are those of w.
        primals = [_number(value) for value in records.column("primal")] + [estimator.primal_]
        duals = [_number(value) for value in records.column("dual")] + [estimator.dual_]
        self.primal_objective_curve_ = [scale * value for value in primals]
        self.objective_curve_ = [scale * value for value in duals if value == value]
        seconds = records.at("seconds")
        if estimator.clock == "work":
            seconds = np.interp(records.column("pass"), range(len(task.ends)), np.subtract(task.ends, task.ends[0])).tolist()
        self.timestamps_ = [*seconds, max([time.perf_counter() - task.ends[0], *seconds])]

    def __sklearn_tags__(self) -> Any:
        return tags(False)

    def predict(self, X: Any) -> Any:
        """The predicted labelling of every input, at ``w``: a list, or what the model's ``batch_inference`` returns."""
        if hasattr(self.model, "batch_inference"):
            return self.model.batch_inference(stacked(list(X)), self.w)
        return [self.model.inference(x, self.w) for x in X]

    def score(self, X: Any, Y: Any) -> float:
        """1 minus the summed loss over the summed largest losses, as PyStruct's."""
        losses = [self.model.loss(y, found) for y, found in zip(Y, self.predict(X), strict=True)]
        most = [self.model.max_loss(y) if hasattr(self.model, "max_loss") else 1.0 for y in Y]
        return 1.0 - float(np.sum(losses)) / float(np.sum(most))


class FrankWolfeSSVM(_Learner):
    """PyStruct's Frank-Wolfe learner.

    ``batch_mode`` is batch Frank-Wolfe (``"fw"``); PyStruct's ``solver`` is ``"bcfw-avg"``, and ``do_averaging`` averages the
    iterates of ``"bcfw"``. ``tol`` is the duality gap to stop at, on PyStruct's scale: C n times this package's, but in batch
    mode this package's.
    """

    batch_mode: bool
    tol: float
    do_averaging: bool

    def __init__(
        self, model: Any, max_iter: int = 1000, C: float = 1.0, verbose: int = 0, n_jobs: int = 1, show_loss_every: int = 0,
        logger: Any = None, batch_mode: bool = False, line_search: bool = True, check_dual_every: int = 10, tol: float = 0.001,
        do_averaging: bool = True, sample_method: str = "perm", random_state: Any = None, solver: Any = None,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        solver = self.solver or ("fw" if self.batch_mode else "auto")
        solver = "bcfw-avg" if solver == "bcfw" and self.do_averaging else solver
        return self._fit(X, Y, solver, self.tol if self.batch_mode else self.tol / (self.C * len(X)), initialize)


class SubgradientSSVM(_Learner):
    """PyStruct's subgradient learner. The default solver needs no step sizes, and ends at a gap of 0.1 %.

    PyStruct's ``solver`` is ``"ssg"``, with this package's step sizes; ``averaging="linear"`` averages its iterates.
    """

    averaging: str | None

    def __init__(
        self, model: Any, max_iter: int = 100, C: float = 1.0, verbose: int = 0, momentum: float = 0.0,
        learning_rate: Any = "auto", n_jobs: int = 1, show_loss_every: int = 0, decay_exponent: float = 1,
        break_on_no_constraints: bool = True, logger: Any = None, batch_size: Any = None, decay_t0: float = 10,
        averaging: str | None = None, shuffle: bool = False, random_state: Any = None, solver: Any = None,
    ) -> None:  # fmt: skip
        self._keep(locals())

    def _take(self, estimator: StructuredSVM, task: _Trained) -> None:
        super()._take(estimator, task)
        self.objective_curve_ = list(self.primal_objective_curve_)  # a method of the primal: PyStruct's is that, too

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        if self.solver == "ssg":
            return self._fit(X, Y, "ssg" if self.averaging is None else "ssg-avg", None, initialize)
        return self._fit(X, Y, self.solver or "auto", "0.1%", initialize)


class _CuttingPlanes(_Learner):
    """The common part of PyStruct's learners by cutting planes."""

    tol: float
    inactive_window: int
    inference_cache = 0
    negativity_constraint: Any
    switch_to: Any
    _own: str

    def fit(self, X: Any, Y: Any, constraints: Any = None, warm_start: bool = False, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        if self.negativity_constraint is not None and len(self.negativity_constraint):
            raise ValueError(
                "negativity_constraint: not available here; GraphSSVM learns edges that attract, and a task of your own keeps "
                "weights at 0 or above by `nonnegative`"
            )
        given = {}
        if self.solver == self._own:
            given["solver.master.max_idle"] = int(self.inactive_window) or 2**31  # never
            given |= {"solver.cache.max_planes": int(self.inference_cache)} if self.inference_cache else {}
        self._fit(X, Y, self.solver, self.tol, initialize, given)
        if self.switch_to is not None:
            self.model.inference_method = self.switch_to
            self._fit(X, Y, self.solver, self.tol, False, given)
        return self


class OneSlackSSVM(_CuttingPlanes):
    """PyStruct's learner by cutting planes with one slack.

    ``tol`` is the duality gap to stop at, on the scale of the mean hinge; PyStruct's is the violation of the newest constraint on
    that scale. With ``solver="one-slack"``, ``inference_cache`` is the number of planes kept per example (0: the default) and
    ``inactive_window`` the solutions of the master problem after which an unused plane is dropped (0: never). ``switch_to`` is an
    ``inference_method`` that the model gets when training has ended; training then begins again with it.
    """

    _own = "one-slack"

    def __init__(
        self, model: Any, max_iter: int = 10000, C: float = 1.0, check_constraints: bool = False, verbose: int = 0,
        negativity_constraint: Any = None, n_jobs: int = 1, break_on_bad: bool = False, show_loss_every: int = 0,
        tol: float = 1e-3, inference_cache: int = 0, inactive_threshold: float = 1e-5, inactive_window: int = 50,
        logger: Any = None, cache_tol: Any = "auto", switch_to: Any = None, random_state: Any = None, solver: Any = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class NSlackSSVM(_CuttingPlanes):
    """PyStruct's learner by cutting planes with a slack for each example.

    As :class:`OneSlackSSVM`, which is the better algorithm here; PyStruct's own is ``solver="n-slack"``.
    """

    _own = "n-slack"

    def __init__(
        self, model: Any, max_iter: int = 100, C: float = 1.0, check_constraints: bool = True, verbose: int = 0,
        negativity_constraint: Any = None, n_jobs: int = 1, break_on_bad: bool = False, show_loss_every: int = 0,
        batch_size: int = 100, tol: float = 1e-3, inactive_threshold: float = 1e-5, inactive_window: int = 50,
        logger: Any = None, switch_to: Any = None, random_state: Any = None, solver: Any = None,
    ) -> None:  # fmt: skip
        self._keep(locals())
