"""PyStruct's learners by their names: existing code changes one import.

``from multiplane.pystruct import FrankWolfeSSVM`` takes the models and the arguments that PyStruct's class takes. C is
PyStruct's: it minimises ``1/2 |w|^2 + C * sum of hinges``, which is this package's problem at lambda = 1/(C n).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from multiplane._base import _number
from multiplane._params import Parameters
from multiplane._pystruct import PyStructTask
from multiplane._structured import HeuristicWarning, StructuredSVM

__all__ = ["FrankWolfeSSVM", "NSlackSSVM", "OneSlackSSVM", "PyStructTask", "SubgradientSSVM"]

class _Learner(Parameters):
    """What PyStruct's learners share."""

    model: Any
    max_iter: int
    C: float
    verbose: int
    random_state: Any

    def _keep(self, arguments: dict[str, Any]) -> None:
        for name in self._names():
            setattr(self, name, arguments[name])

    def _fit(self, X: Any, Y: Any, solver: str, gap: float | None, params: dict[str, Any] | None = None) -> Self:
        estimator = StructuredSVM(
            PyStructTask(self.model),
            solver=solver,
            lam=f"c:{float(self.C)!r}",
            passes=self.max_iter,
            gap=gap,
            params={"stop.estimated": True, **(params or {})},  # PyStruct's learners take the gap at its word
            seed=_seed(self.random_state),
            progress=bool(self.verbose),
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HeuristicWarning)
                estimator.fit(list(X), list(Y))
        finally:
            if hasattr(estimator, "coef_"):
                self._take(estimator, len(X))
        return self

    def _take(self, estimator: StructuredSVM, n: int) -> None:
        scale = self.C * n  # PyStruct's objective is this many times ours
        self.estimator_ = estimator
        self.w = estimator.coef_
        records = estimator.history_
        # Before the first evaluation there is no primal value: NaN, which plots leave out.
        self.primal_objective_curve_ = [scale * _number(value) for value in records.column("primal")]
        self.objective_curve_ = [scale * value for value in records.column("dual") if value is not None]
        self.timestamps_ = records.at("seconds")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags(two_d_array=False))

    def predict(self, X: Any) -> list[Any]:
        """The predicted labelling of every input."""
        return self.estimator_.predict(list(X))

    def score(self, X: Any, Y: Any) -> float:
        """1 minus the summed loss over the summed largest losses, as PyStruct's."""
        losses = [self.model.loss(y, found) for y, found in zip(Y, self.predict(X), strict=True)]
        most = [self.model.max_loss(y) if hasattr(self.model, "max_loss") else 1.0 for y in Y]
        return 1.0 - float(np.sum(losses)) / float(np.sum(most))


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(random_state.randint(2**31))


class FrankWolfeSSVM(_Learner):
    """Block-coordinate Frank-Wolfe, or batch Frank-Wolfe with ``batch_mode``.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        batch_mode: Steps on all examples together.
        tol: The duality gap to stop at, on PyStruct's scale: C n times this package's, but in batch mode this
            package's.
        do_averaging: Averages the iterates.
        random_state: Seed, or a NumPy RandomState.
        Others are accepted for compatibility and have no effect: the line search is always exact.
    """

    def __init__(
        self,
        model: Any,
        max_iter: int = 1000,
        C: float = 1.0,
        verbose: int = 0,
        n_jobs: int = 1,
        show_loss_every: int = 0,
        logger: Any = None,
        batch_mode: bool = False,
        line_search: bool = True,
        check_dual_every: int = 10,
        tol: float = 0.001,
        do_averaging: bool = True,
        sample_method: str = "perm",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    batch_mode: bool
    tol: float
    do_averaging: bool

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        solver = "fw" if self.batch_mode else "bcfw-avg" if self.do_averaging else "bcfw"
        return self._fit(X, Y, solver, self.tol if self.batch_mode else self.tol / (self.C * len(X)))


class SubgradientSSVM(_Learner):
    """Stochastic subgradient descent; its step sizes are this package's.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        averaging: ``"linear"`` averages the iterates, None does not.
        random_state: Seed, or a NumPy RandomState.
        Others are accepted for compatibility and have no effect.
    """

    def __init__(
        self,
        model: Any,
        max_iter: int = 100,
        C: float = 1.0,
        verbose: int = 0,
        momentum: float = 0.0,
        learning_rate: Any = "auto",
        n_jobs: int = 1,
        show_loss_every: int = 0,
        decay_exponent: float = 1,
        break_on_no_constraints: bool = True,
        logger: Any = None,
        batch_size: Any = None,
        decay_t0: float = 10,
        averaging: str | None = None,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    averaging: str | None

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        return self._fit(X, Y, "ssg" if self.averaging is None else "ssg-avg", None)


class _CuttingPlanes(_Learner):
    """What PyStruct's learners by cutting planes share."""

    tol: float
    inactive_window: int
    negativity_constraint: Any

    def _planes(self, X: Any, Y: Any, solver: str, params: dict[str, Any]) -> Self:
        if self.negativity_constraint is not None and len(self.negativity_constraint) > 0:
            raise ValueError(
                "negativity_constraint: weights are kept at 0 or above here, never below: write the features with the other "
                "sign and name them in the task's `nonnegative`"
            )
        return self._fit(X, Y, solver, self.tol, {"solver.master.max_idle": int(self.inactive_window), **params})


class OneSlackSSVM(_CuttingPlanes):
    """The 1-slack cutting-plane method.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        negativity_constraint: Refused where it names a weight.
        tol: The duality gap to stop at, on the scale of the mean hinge. PyStruct's is the violation of the newest
            constraint on that scale.
        inference_cache: Planes kept per example; 0 leaves this package's default, as they change no result.
        inactive_window: Solutions of the master after which an unused plane is dropped.
        Others are accepted for compatibility and have no effect.
    """

    def __init__(
        self,
        model: Any,
        max_iter: int = 10000,
        C: float = 1.0,
        check_constraints: bool = False,
        verbose: int = 0,
        negativity_constraint: Any = None,
        n_jobs: int = 1,
        break_on_bad: bool = False,
        show_loss_every: int = 0,
        tol: float = 1e-3,
        inference_cache: int = 0,
        inactive_threshold: float = 1e-5,
        inactive_window: int = 50,
        logger: Any = None,
        cache_tol: Any = "auto",
        switch_to: Any = None,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    inference_cache: int

    def fit(self, X: Any, Y: Any, constraints: Any = None, warm_start: bool = False, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        kept = {"solver.cache.max_planes": int(self.inference_cache)} if self.inference_cache else {}
        return self._planes(X, Y, "one-slack", kept)


class NSlackSSVM(_CuttingPlanes):
    """The n-slack cutting-plane method.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        negativity_constraint: Refused where it names a weight.
        tol: The duality gap to stop at, on this package's scale: of the mean hinge.
        inactive_window: Solutions of the master after which an unused plane is dropped.
        Others are accepted for compatibility and have no effect.
    """

    def __init__(
        self,
        model: Any,
        max_iter: int = 100,
        C: float = 1.0,
        check_constraints: bool = True,
        verbose: int = 0,
        negativity_constraint: Any = None,
        n_jobs: int = 1,
        show_loss_every: int = 0,
        batch_size: int = 100,
        tol: float = 1e-3,
        inactive_threshold: float = 1e-5,
        inactive_window: int = 50,
        logger: Any = None,
        switch_to: Any = None,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    def fit(self, X: Any, Y: Any, constraints: Any = None, warm_start: bool = False, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        return self._planes(X, Y, "n-slack", {})
