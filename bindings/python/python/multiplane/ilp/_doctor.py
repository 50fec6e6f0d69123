"""What is wrong with integer programmes and their solutions before costs are learned from them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

from multiplane._check import Finding
from multiplane.ilp._feasible import Vector
from multiplane.ilp._programme import IntegerProgramme
from multiplane.ilp._solver import EXACT, WHOLE
from multiplane.ilp._task import Instance

LARGE = 0.01
"""What a coefficient times the tolerance of whole numbers may be of the rest of its row."""

SPREAD = 1e8
"""How far the sizes of features may be apart."""


def examined(instances: list[Instance], values: list[Vector]) -> list[Finding]:
    """Returns the faults of programmes, solutions (NaN where they are not known) and features, of each kind the first."""
    found: dict[str, Finding] = {}

    def tell(kind: str, example: int | None, message: str, cause: str) -> None:
        before = found.get(kind)
        found[kind] = Finding(kind, example, message, cause, 1) if before is None else _again(before)

    seen: set[int] = set()
    for i, (x, y) in enumerate(zip(instances, values, strict=True)):
        if id(x.feasible) not in seen:
            seen.add(id(x.feasible))
            try:
                x.feasible.minimise(x.costs)
            except ValueError as error:
                tell("infeasible", i, f"{error}", "rows or bounds contradict each other: no solution can be learned from")
                continue
            for kind, message, cause in _of_programme(x):
                tell(kind, i, message, cause)
        known = ~np.isnan(y)
        fault = x.feasible.fault(y) if known.all() else None
        if fault:
            tell("truth-infeasible", i, f"the solution breaks a rule: {fault}", "the solution or the row is wrong, or the solution is rounded")
        elif not known.all():
            nearest = x.feasible.nearest(x.costs, np.where(known, y, x.feasible.lower), known.astype(float))
            wrong = np.flatnonzero(known & (nearest != y))
            if len(wrong):
                v = wrong[0]
                message = f"no feasible vector agrees with what is known: variable {v} would be {nearest[v]:g}, not {y[v]:g}"
                tell("truth-infeasible", i, message, "marks contradict each other, or a row is wrong")
        still = np.flatnonzero((x.feasible.lower == x.feasible.upper) & _has_features(x))
        if len(still):
            v = still[0]
            message = f"variable {v} is always {x.feasible.lower[v]:g}, and has features ({len(still)} such)"
            tell("fixed-variable", i, message, "features count only where a variable can change")
    used = np.sum([_largest(x) > 0.0 for x in instances], axis=0)
    for column in np.flatnonzero(used == 0):
        tell("unused-feature", None, f"column {column} of the features is 0 everywhere", "its weight stays 0")
    largest = np.max([_largest(x) for x in instances], axis=0)
    if largest.max(initial=0.0) > SPREAD * largest[largest > 0.0].min(initial=np.inf):
        message = f"columns of the features are up to {largest.max():.3g} and {largest[largest > 0.0].min():.3g}"
        tell("scale", None, message, "other units: divide the large ones, or weights of small ones are lost in rounding")
    return list(found.values())


def _again(finding: Finding) -> Finding:
    return Finding(finding.kind, finding.example, finding.message, finding.cause, finding.count + 1)


def _has_features(x: Instance) -> Vector:
    """If each variable has features that are not 0."""
    found: Vector = abs(x.features).sum(axis=1) > 0.0
    return found


def _largest(x: Instance) -> Vector:
    """The largest size in each column."""
    if issparse(x.features):
        found: Vector = abs(x.features).max(axis=0).toarray().ravel()
        return found
    largest: Vector = np.abs(x.features).max(axis=0)
    return largest


def _of_programme(x: Instance) -> list[tuple[str, str, str]]:
    """Faults of the rows of an integer programme."""
    if not isinstance(x.feasible, IntegerProgramme):
        return []
    programme, found = x.feasible, []
    matrix = programme.matrix.tocoo()
    sizes = np.abs(matrix.data) * WHOLE
    ends = np.where(np.isfinite(programme.row_upper), np.abs(programme.row_upper), np.abs(programme.row_lower))
    smallest = np.full(matrix.shape[0], np.inf)
    np.minimum.at(smallest, matrix.coords[0], np.abs(matrix.data))
    loose = np.flatnonzero(programme.integral[matrix.coords[1]] & (sizes > LARGE * smallest[matrix.coords[0]]))
    if len(loose):
        row, column = matrix.coords[0][loose[0]], matrix.coords[1][loose[0]]
        found.append((
            "big-coefficient",
            f"row {row} has {matrix.data[loose[0]]:g} at variable {column} beside {smallest[row]:g}: a value {WHOLE:g} from whole moves "
            f"it by {sizes[loose[0]]:g} (end {ends[row]:g})",
            "solvers take a variable for whole within 1e-6: a smaller coefficient that still holds the row",
        ))  # fmt: skip
    lost = EXACT * float((programme.upper - programme.lower).sum())
    if lost > 1e-3:
        wide = int(np.argmax(programme.upper - programme.lower))
        found.append((
            "wide-bounds",
            f"variable {wide} is between {programme.lower[wide]:g} and {programme.upper[wide]:g}: bounds of integer programmes are lowered "
            f"by {lost:.3g}, which the tolerance of the solver may hide",
            "bounds closer to what solutions have certify smaller gaps",
        ))  # fmt: skip
    return found
