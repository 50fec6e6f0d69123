"""Integer programmes as sets of feasible vectors."""

from __future__ import annotations

import math
import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from multiplane import _core
from multiplane.ilp._feasible import FeasibleSet, Infeasible, Least, Slack, Vector, decided, no_slack, numbers
from multiplane.ilp._solver import Rows, Solver, opened

SMALL = 64
"""Components of fewer variables are put together to about as many."""


class IntegerProgramme(FeasibleSet):
    """Vectors with ``row_lower <= matrix @ y <= row_upper`` and ``lower <= y <= upper``; some variables are whole.

    Solved by HiGHS: through ``highspy`` where it is installed (``pip install multiplane[ilp]``), which keeps its state between
    calls, else through SciPy.

    Args:
        matrix: ``[rows, variables]``, dense or SciPy sparse.
        row_lower: The least value of each row, or one for all; -inf where there is none.
        row_upper: The largest; inf where there is none.
        lower: The least value of each variable, or one for all. Finite.
        upper: The largest. Finite.
        integral: If a variable is whole: one bool for each, or one for all.

    Attributes:
        names: The names of the variables, in order, if the programme was read from a file.
    """

    quality = "upper-bound"
    names: list[str] | None = None

    def __init__(
        self, matrix: Any, row_lower: Any = -np.inf, row_upper: Any = np.inf, *, lower: Any = 0.0, upper: Any = 1.0,
        integral: Any = True,
    ) -> None:  # fmt: skip
        try:
            matrix = csr_array(matrix if issparse(matrix) else np.atleast_2d(np.asarray(matrix, dtype=np.float64)), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"matrix: expected numbers [rows, variables] ({error})") from None
        matrix.sum_duplicates()
        if not matrix.shape[1]:
            raise ValueError("matrix has no columns: expected one for each variable")
        if not np.isfinite(matrix.data).all():
            raise ValueError("matrix holds a number that is not finite")
        rows, variables = matrix.shape
        self.matrix = matrix
        self.row_lower, self.row_upper = numbers(row_lower, rows, "row_lower"), numbers(row_upper, rows, "row_upper")
        self.lower, self.upper = numbers(lower, variables, "lower"), numbers(upper, variables, "upper")
        self.integral = numbers(integral, variables, "integral") != 0.0
        self.lower = np.where(self.integral, np.ceil(self.lower), self.lower)
        self.upper = np.where(self.integral, np.floor(self.upper), self.upper)
        for name in ("lower", "upper"):
            wrong = np.flatnonzero(np.isinf(getattr(self, name)))
            if len(wrong):
                raise ValueError(f"{name}[{wrong[0]}] is infinite: costs that are learned need finite bounds of every variable")
        for what, low, high in (("variable", self.lower, self.upper), ("row", self.row_lower, self.row_upper)):
            wrong = np.flatnonzero((low > high) | (low == np.inf) | (high == -np.inf))
            if len(wrong):
                raise ValueError(f"{what} {wrong[0]} is between {low[wrong[0]]:g} and {high[wrong[0]]:g}: nothing is")
        self._solver: Solver | None = None
        self._kept: _core.Programme | None = None
        self._parts: list[tuple[NDArray[np.int64], FeasibleSet]] | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> tuple[Self, Vector]:
        """Reads an MPS or LP file, which highspy must be installed for. Returns the programme, with ``names``, and its costs, to be
        minimised.

        Raises ValueError if HiGHS cannot read the file, or if it has quadratic terms.
        """
        import highspy

        highs = opened()
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{os.fspath(path)}: no such file")
        if highs.readModel(os.fspath(path)) == highspy.HighsStatus.kError:
            raise ValueError(f"{os.fspath(path)}: HiGHS cannot read it: expected an .mps or .lp file of linear rows and costs")
        if highs.getHessianNumNz():
            raise ValueError(f"{os.fspath(path)}: it has quadratic terms: expected linear costs")
        model = highs.getLp()
        model.a_matrix_.ensureColwise() if hasattr(model.a_matrix_, "ensureColwise") else highs.ensureColwise()
        model = highs.getLp()
        starts, rows = np.array(model.a_matrix_.start_), model.num_row_
        columns = np.repeat(np.arange(model.num_col_), np.diff(starts))
        matrix = csr_array((model.a_matrix_.value_, (model.a_matrix_.index_, columns)), (rows, model.num_col_))
        kinds = list(model.integrality_) or [highspy.HighsVarType.kContinuous] * model.num_col_
        sign = -1.0 if model.sense_ == highspy.ObjSense.kMaximize else 1.0
        names = list(model.col_names_) if len(model.col_names_) == model.num_col_ else [f"C{v}" for v in range(model.num_col_)]
        for name, ends in (("lower", model.col_lower_), ("upper", model.col_upper_)):
            wrong = np.flatnonzero(np.isinf(ends))
            if len(wrong):
                raise ValueError(
                    f"{os.fspath(path)}: variable {names[wrong[0]]} has no {name} bound: costs that are learned need finite bounds of "
                    "every variable"
                )
        found = cls(
            matrix, model.row_lower_, model.row_upper_, lower=model.col_lower_, upper=model.col_upper_,
            integral=[kind != highspy.HighsVarType.kContinuous for kind in kinds],
        )  # fmt: skip
        found.names = names
        return found, sign * np.array(model.col_cost_)

    @property
    def solver(self) -> Solver:
        """What solves it, with its counts of calls."""
        if self._solver is None:
            self._solver = Solver(Rows(self._core().closer()))
        return self._solver

    def _core(self) -> _core.Programme:
        if self._kept is None:
            matrix = self.matrix.indptr, self.matrix.indices, self.matrix.data
            self._kept = _core.Programme(matrix, (self.row_lower, self.row_upper), (self.lower, self.upper), self.integral.tolist())
        return self._kept

    def minimise(self, costs: Vector, slack: Slack = no_slack, seconds: float = math.inf) -> Least:
        return self.solver.minimise(numbers(costs, len(self), "costs"), slack, seconds)

    def fault(self, y: Vector) -> str | None:
        return self._core().fault(y)

    def parts(self) -> list[tuple[NDArray[np.int64], FeasibleSet]]:
        """As for every set: components of the variables that rows connect. Those of few variables are put together."""
        if self._parts is None:
            self._parts = self._parted() if type(self).minimise is IntegerProgramme.minimise else super().parts()
        return self._parts

    def _parted(self) -> list[tuple[NDArray[np.int64], FeasibleSet]]:
        found = self._core().components(SMALL)
        return super().parts() if len(found) == 1 else [(np.array(own), self._of(Rows(part))) for own, part in found]

    @classmethod
    def _of(cls, rows: Rows) -> IntegerProgramme:
        """A programme of rows that were checked."""
        found = object.__new__(IntegerProgramme)
        for name in ("matrix", "row_lower", "row_upper", "lower", "upper", "integral"):
            setattr(found, name, getattr(rows, name))
        found._solver, found._parts, found._kept = None, None, rows.core
        return found

    def nearest(self, costs: Vector, values: Vector, weights: Vector, seconds: float = math.inf) -> Vector:
        """As for every set, with values between the bounds: held where that is feasible, else nearest."""
        known = weights > 0.0
        lower, upper = np.where(known, values, self.lower), np.where(known, values, self.upper)
        try:
            found = self.solver.minimise(numbers(costs, len(self), "costs"), no_slack, seconds, lower, upper)
        except Infeasible:
            return super().nearest(costs, values, weights, seconds)
        return decided(found)

    def with_distances(self, inside: NDArray[np.int64], values: Vector) -> IntegerProgramme:
        """Returns the programme with two more variables for each variable ``inside``: its distance from its value, which is strictly
        between its bounds, and the side it is on. Distances are the first ``len(inside)`` of the new variables. The rows only limit
        them from above, so costs on them must be negative.
        """
        return self._of(Rows(self._core().with_distances(list(zip(inside.tolist(), values.tolist(), strict=True)))))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_solver": None, "_parts": None, "_kept": None}
