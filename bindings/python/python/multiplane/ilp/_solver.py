"""Integer programmes solved again and again with other costs, by HiGHS."""

from __future__ import annotations

import copy
import ctypes
import importlib.util
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from multiplane import _core
from multiplane.ilp._feasible import Infeasible, Least, Slack, Vector

EXACT = 1e-10
"""How far HiGHS's reduced costs may have the wrong sign; its bounds are lowered by as much for each unit of each variable."""

WHOLE = 1e-6
"""How far from a whole number a value may be that stands for it. What it is rounded to must keep the rows."""

LARGEST = 1e4
"""About the largest cost that the solver of integer programmes is given."""

NEAR = 1e-7
"""How far a solution of the relaxation may be above its bound, relative to its costs."""

class Rows:
    """Rows and bounds: ``row_lower <= matrix @ y <= row_upper``, ``lower <= y <= upper``, the integral variables whole.

    Attributes:
        core: The same rows in the core, which examines vectors and proves bounds.
        matrix: By rows, a SciPy array ``[rows, variables]``.
    """

    def __init__(self, core: _core.Programme) -> None:
        self.core = core
        shape, numbers = core.shape(), core.numbers()
        starts, columns = (np.frombuffer(one, np.int32) for one in shape[:2])
        self.integral = np.frombuffer(shape[2], np.bool_)
        values, self.row_lower, self.row_upper, self.lower, self.upper = map(np.frombuffer, numbers)
        self.matrix = csr_array((values, columns, starts), (len(starts) - 1, len(self.integral)))

    def between(self, lower: Vector, upper: Vector) -> Self:
        """Returns the rows with further bounds on the variables. Raises Infeasible if bounds contradict each other."""
        found = copy.copy(self)
        found.lower, found.upper = np.maximum(lower, self.lower), np.minimum(upper, self.upper)
        if np.any(found.lower > found.upper):
            raise Infeasible("no vector is feasible")
        return found

    def rounded(self, y: Vector) -> Vector | None:
        """Returns ``y`` with whole numbers where they must be; None if they are too far away, or break a row."""
        found = self.core.rounded(y, (self.lower, self.upper))
        return None if found is None else np.frombuffer(found)

    def bound(self, costs: Vector, duals: Vector) -> tuple[float, Vector]:
        """Returns a lower bound on ``costs @ y``, and by how much one more of each variable raises it, ``[variables]``.

        By weak duality any multipliers of the rows prove one, so nothing depends on the tolerances of a solver; what rounding may
        have added is taken away.
        """
        bound, rest = self.core.bound(costs, duals, (self.lower, self.upper))
        return bound, np.frombuffer(rest)


@contextmanager
def silenced() -> Iterator[None]:
    """Drops what C libraries print meanwhile.

    The first object of HiGHS prints its version to the standard output before any option can be set.
    """
    try:
        sys.stdout.flush()
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    except (OSError, AttributeError):  # there is no standard output
        yield
        return
    library = ctypes.CDLL(None) if os.name == "posix" else ctypes.cdll.msvcrt
    try:
        library.fflush(None)
        os.dup2(nowhere, 1)
        yield
        library.fflush(None)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


class Relaxed(NamedTuple):
    """A solution of the relaxation, and multipliers of its rows. Where its time ended these are the last ones, or zeros."""

    y: Vector
    duals: Vector


class Found(NamedTuple):
    """A solution of an integer programme if there is one, and the solver's bound; ``inf`` if nothing is feasible."""

    y: Vector | None
    bound: float


class Engine(Protocol):
    """What solves one set of rows."""

    def relaxed(self, costs: Vector, lower: Vector, upper: Vector, seconds: float) -> Relaxed:
        """Solves between these bounds, without the rule that variables are whole. Raises Infeasible if nothing is feasible."""

    def branch_and_bound(self, costs: Vector, lower: Vector, upper: Vector, abs_gap: float, seconds: float) -> Found:
        """Solves the integer programme between these bounds until it is at most ``abs_gap`` from its bound."""


def opened() -> Any:
    """Returns an object of HiGHS that prints nothing."""
    import highspy

    with silenced():
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    return highs


def _limit(highs: Any, seconds: float) -> None:
    """Gives the next run so many seconds."""
    highs.setOptionValue("time_limit", highs.getRunTime() + seconds if math.isfinite(seconds) else math.inf)


class Highspy:
    """HiGHS through highspy: the basis of the relaxation is kept between calls."""

    @staticmethod
    def is_there() -> bool:
        """Returns if highspy is installed."""
        return importlib.util.find_spec("highspy") is not None

    def __init__(self, rows: Rows) -> None:
        import highspy

        self.highspy, self.rows = highspy, rows
        self._linear, self._integer = self._made(False), None
        self._columns = np.arange(len(rows.lower), dtype=np.int32)
        self._bounds = rows.lower, rows.upper  # of the relaxation

    def relaxed(self, costs: Vector, lower: Vector, upper: Vector, seconds: float) -> Relaxed:
        if lower is not self._bounds[0] or upper is not self._bounds[1]:
            self._linear.changeColsBounds(len(lower), self._columns, lower, upper)
            self._bounds = lower, upper
        _limit(self._linear, seconds)
        self._run(self._linear, costs)
        status = self.highspy.HighsModelStatus
        if self._linear.getModelStatus() not in (status.kOptimal, status.kInfeasible, status.kTimeLimit):
            self._linear.clearSolver()  # it failed from the basis before
            self._linear.run()
        if self._linear.getModelStatus() == status.kInfeasible:
            raise Infeasible("no vector is feasible")
        solution = self._linear.getSolution()
        duals = np.array(solution.row_dual) if solution.dual_valid else np.zeros(len(self.rows.row_lower))
        return Relaxed(np.array(solution.col_value) if solution.value_valid else lower, duals)

    def branch_and_bound(self, costs: Vector, lower: Vector, upper: Vector, abs_gap: float, seconds: float) -> Found:
        self._integer = highs = self._integer or self._made(True)
        highs.changeColsBounds(len(lower), self._columns, lower, upper)
        highs.setOptionValue("mip_abs_gap", abs_gap)
        _limit(highs, seconds)
        self._run(highs, costs)
        if highs.getModelStatus() == self.highspy.HighsModelStatus.kInfeasible:
            return Found(None, math.inf)
        info = highs.getInfo()
        is_feasible = info.primal_solution_status == self.highspy.SolutionStatus.kSolutionStatusFeasible
        return Found(np.array(highs.getSolution().col_value) if is_feasible else None, info.mip_dual_bound)

    def _run(self, highs: Any, costs: Vector) -> None:
        highs.changeColsCost(len(costs), self._columns, costs)
        highs.run()

    def _made(self, is_integral: bool) -> Any:
        rows, highs = self.rows, opened()
        options = {"threads": 1, "mip_rel_gap": 0.0, "dual_feasibility_tolerance": EXACT}
        for name, value in options.items():
            highs.setOptionValue(name, value)
        height, width = rows.matrix.shape
        passed = highs.passModel(
            width, height, rows.matrix.nnz, int(self.highspy.MatrixFormat.kRowwise), int(self.highspy.ObjSense.kMinimize), 0.0,
            np.zeros(width), rows.lower, rows.upper, rows.row_lower, rows.row_upper,
            rows.matrix.indptr, rows.matrix.indices, rows.matrix.data, (rows.integral & is_integral).astype(np.int32),
        )  # fmt: skip
        if passed == self.highspy.HighsStatus.kError:
            largest = float(np.abs(rows.matrix.data).max(initial=0.0))
            raise ValueError(f"HiGHS refuses the rows, whose largest coefficient is {largest:g}: expected sizes below 1e15")
        return highs


class SciPy:
    """HiGHS through SciPy: every call starts from nothing."""

    @staticmethod
    def is_there() -> bool:
        """Returns if SciPy is installed, as it is wherever this module is used."""
        return True

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def relaxed(self, costs: Vector, lower: Vector, upper: Vector, seconds: float) -> Relaxed:
        from scipy.optimize import linprog
        from scipy.sparse import vstack

        rows = self.rows
        above, below = np.isfinite(rows.row_lower), np.isfinite(rows.row_upper)
        found = linprog(
            costs, vstack([rows.matrix[below], -rows.matrix[above]]), np.concatenate([rows.row_upper[below], -rows.row_lower[above]]),
            bounds=np.stack([lower, upper], axis=1), options={"dual_feasibility_tolerance": EXACT, "time_limit": seconds},
        )  # fmt: skip
        if found.x is None and found.status == 1:  # its time ended
            return Relaxed(lower, np.zeros(len(below)))
        if found.x is None:
            raise Infeasible("no vector is feasible") if found.status == 2 else ValueError(f"the relaxation was not solved: {found.message}")
        duals, parts = np.zeros(len(below)), np.split(found.ineqlin.marginals, [int(below.sum())])
        duals[below] += parts[0]
        duals[above] -= parts[1]
        return Relaxed(found.x, duals)

    def branch_and_bound(self, costs: Vector, lower: Vector, upper: Vector, abs_gap: float, seconds: float) -> Found:
        from scipy.optimize import Bounds, LinearConstraint, milp

        rows = self.rows
        size = max(float(np.abs(costs) @ (upper - lower)), 1e-300)
        options = {"mip_rel_gap": min(abs_gap / size, 1.0)} | ({"time_limit": seconds} if math.isfinite(seconds) else {})
        found = milp(
            costs, integrality=rows.integral.astype(int), bounds=Bounds(lower, upper), options=options,
            constraints=LinearConstraint(rows.matrix, rows.row_lower, rows.row_upper),
        )  # fmt: skip
        if found.status == 2:
            return Found(None, math.inf)
        return Found(found.x, -math.inf if found.mip_dual_bound is None else float(found.mip_dual_bound))


Engines = Highspy, SciPy
"""Ways to HiGHS, the best first."""


class Solver:
    """Finds vectors of low cost, for one costs after the other.

    The relaxation comes first. If its solution is whole, it is the answer, with a bound that its duals prove. Otherwise
    the integer programme is solved twice: with those variables held that are whole in the relaxation (if nothing is feasible then,
    those that no row ties to others), and, if that is not yet good enough, with those held that have the same value in every better
    vector, as the duals prove.

    Attributes:
        calls: How many costs there were.
        branched: How many of them had a relaxation that was not whole.
        searched: For how many of these the second integer programme was solved.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.calls = self.branched = self.searched = 0
        self._engine: Engine = next(engine for engine in Engines if engine.is_there())(rows)
        self._last: Vector | None = None
        self._duals = np.zeros(len(rows.row_lower))
        self._lock = threading.Lock()

    def minimise(
        self, costs: Vector, slack: Slack, seconds: float = math.inf, lower: Vector | None = None, upper: Vector | None = None
    ) -> Least:
        """Returns a vector, at most ``slack`` above the bound if ``seconds`` suffice. Raises Infeasible if there is none.

        Where the seconds end first, the last vector stands in for none, and the last multipliers prove a bound if they prove more.
        ``lower`` and ``upper`` are further bounds on the variables, for this call.
        """
        rows = self.rows if lower is None or upper is None else self.rows.between(lower, upper)
        with self._lock:
            until = time.monotonic() + seconds
            relaxed = self._engine.relaxed(costs, rows.lower, rows.upper, max(0.0, seconds))
            bound, rest = rows.bound(costs, relaxed.duals)
            if time.monotonic() > until:
                bound, rest = max((bound, rest), rows.bound(costs, self._duals), key=lambda proven: proven[0])
            else:
                self._duals = relaxed.duals
            y = rows.rounded(relaxed.y)
            self.calls += 1
            if y is not None and costs @ y - bound > max(0.0, slack(bound)) + NEAR * float(np.abs(costs) @ np.abs(y)):
                y = None  # the relaxation was not solved
            if y is None and rows.integral.any():
                self.branched += 1
                y, bound = self._branch(rows, costs, max(0.0, slack(bound)), until, relaxed.y, bound, rest)
            if y is not None:
                self._last = y
                bound = min(bound, float(costs @ y))
            return Least(y, bound)

    def _branch(
        self, rows: Rows, costs: Vector, abs_gap: float, until: float, relaxed: Vector, bound: float, rest: Vector
    ) -> tuple[Vector | None, float]:
        nearest, last = np.round(relaxed), self._last
        whole = rows.integral & (np.abs(relaxed - nearest) < WHOLE)
        y, _ = self._among(rows, costs, abs_gap, until, whole, nearest)
        apart = whole & ~np.array(rows.core.tied((~whole).tolist()))
        if y is None and np.count_nonzero(apart) > 0.5 * len(apart):
            y, _ = self._among(rows, costs, abs_gap, until, apart, nearest)
        is_inside = last is not None and bool(np.all((last >= rows.lower) & (last <= rows.upper)))
        if last is not None and is_inside and (y is None or costs @ last < costs @ y):
            y = last
        above = math.inf if y is None else float(costs @ y) - bound
        if above <= abs_gap or time.monotonic() > until:
            return y, bound
        self.searched += 1
        still = rows.integral & (np.abs(rest) > above * (1.0 + 1e-9) + 1e-9)  # one step more costs more than y
        found, proven = self._among(rows, costs, abs_gap, until, still, np.where(rest > 0.0, rows.lower, rows.upper))
        if found is None and y is None and proven == math.inf:
            raise Infeasible("no vector is feasible")
        if found is not None and (y is None or costs @ found < costs @ y):
            y = found
        least = math.inf if y is None else float(costs @ y)  # what is left out is not below it
        return y, max(bound, min(proven, least))

    def _among(self, rows: Rows, costs: Vector, abs_gap: float, until: float, held: NDArray[np.bool_], values: Vector) -> Found:
        """Solves with some variables held at values; the bound is lowered by what the solver's tolerances may have added: it looks for what
        is better by :data:`WHOLE`. Costs are large, so that this is little.
        """
        lower, upper = np.where(held, values, rows.lower), np.where(held, values, rows.upper)
        size = float(np.abs(costs).max(initial=0.0))
        scale = 2.0 ** round(math.log2(LARGEST / size)) if size > 0.0 else 1.0
        seconds = until - time.monotonic()
        if seconds <= 0.0:
            return Found(None, -math.inf)
        found, bound = self._engine.branch_and_bound(scale * costs, lower, upper, 0.5 * scale * abs_gap, seconds)
        y = None if found is None else rows.rounded(found)
        return Found(y, (bound - EXACT * float((upper - lower).sum()) - WHOLE) / scale)
