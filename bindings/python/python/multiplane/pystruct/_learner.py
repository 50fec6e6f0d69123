"""What PyStruct's learners share: the way from a model to an estimator, and back to ``w`` and curves."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from multiplane._base import _number
from multiplane._params import Parameters
from multiplane._pystruct import stacked
from multiplane._structured import HeuristicWarning, StructuredSVM
from multiplane.pystruct._face import Face
from multiplane.pystruct._inference import prepare
from multiplane.pystruct._task import Trained
from multiplane.pystruct._watch import Passes

REPEATABLE = {"one-slack": {"solver.cache.share": 0.01}}
"""Solvers that learn by the work clock, which makes a fit the same to the bit each time, as PyStruct's are, and what they
then need: that clock takes calls for cheap, and planes kept would not be used for long enough. ``auto`` is not of them, as
it may need many times the calls by that clock where inference is slow."""


class _Learner(Parameters):
    """What PyStruct's learners share."""

    model: Any
    max_iter: int
    C: float
    verbose: int
    show_loss_every: int
    logger: Any
    random_state: Any
    solver: Any

    def _keep(self, arguments: dict[str, Any]) -> None:
        for name in self._names():
            setattr(self, name, arguments[name])

    def _fit(self, X: Any, Y: Any, solver: Any, gap: float | str | None, initialize: bool) -> Self:
        x, y = self._begun(X, Y, initialize)
        self._train(x, y, Passes(self, x, y), solver, gap)
        self._end()
        return self

    def _begun(self, X: Any, Y: Any, initialize: bool) -> tuple[list[Any], list[Any]]:
        """Inputs and labellings as lists; the model knows them, unless it is not to."""
        x, y = list(X), list(Y)
        prepare(self.model)
        self.loss_curve_: list[float] = []
        if initialize and hasattr(self.model, "initialize"):
            self.model.initialize(stacked(x), stacked(y))
        return x, y

    def _end(self) -> None:
        if not self.show_loss_every:
            del self.loss_curve_
        if self.logger is not None:
            self.logger(self, "final")

    def _train(
        self,
        x: list[Any],
        y: list[Any],
        passes: Passes,
        solver: Any,
        gap: float | str | None,
        params: dict[str, Any] | None = None,
        face: Face | None = None,
    ) -> None:
        """Trains once, and takes what comes of it, also where that ends early."""
        task = Trained(self.model, passes.watch, face)
        repeatable = REPEATABLE.get(solver, {}) if isinstance(solver, str) else {}
        estimator = StructuredSVM(
            task,
            solver=solver,
            lam=f"c:{float(self.C)!r}",
            passes=self.max_iter,
            gap=gap,
            # PyStruct's learners take the gap at its word.
            params={"stop.estimated": True, **repeatable, **(params or {})},
            seed=_seed(self.random_state),
            progress=bool(self.verbose),
            clock="work" if repeatable else "wall",
        )
        passes.begin()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HeuristicWarning)
                estimator.fit(x, y)
        finally:
            if hasattr(estimator, "coef_"):
                self._take(estimator, task, passes)
            task.watch = None  # the estimator outlives training, and travels with the learner

    def _take(self, estimator: StructuredSVM, task: Trained, passes: Passes) -> None:
        scale = self.C * passes.n  # PyStruct's objective is this many times ours
        self.estimator_ = estimator
        self.w = task.weights(estimator.coef_).copy()
        records = estimator.history_
        # Before the first evaluation there is no primal value: NaN, which plots leave out. The last values are those of w.
        primals = [_number(value) for value in records.column("primal")] + [estimator.primal_]
        duals = [_number(value) for value in records.column("dual")] + [estimator.dual_]
        self.primal_objective_curve_ = [scale * value for value in primals]
        self.objective_curve_ = [scale * value for value in duals if value == value]
        seconds = records.at("seconds") if estimator.clock == "wall" else passes.at(records.column("pass"))
        self.timestamps_ = [*seconds, max([passes.seconds(), *seconds])]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags(two_d_array=False))

    def predict(self, X: Any) -> Any:
        """The predicted labelling of every input, at ``w``: a list, or what the model's ``batch_inference`` returns."""
        prepare(self.model)
        if hasattr(self.model, "batch_inference"):
            return self.model.batch_inference(stacked(list(X)), self.w)
        return [self.model.inference(x, self.w) for x in X]

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
