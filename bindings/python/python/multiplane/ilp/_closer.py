"""Rows with the same whole vectors and a closer relaxation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, vstack

from multiplane.ilp._feasible import Vector
from multiplane.ilp._solver import Rows

LARGEST = 2.0**40
"""The largest number in a row that is changed."""

_Row = tuple[list[int], list[float], float]
"""Columns, coefficients and the end of a row ``coefficients @ y[columns] <= end``."""


def closer(rows: Rows) -> Rows:
    """Returns rows that the same whole vectors keep, made from one row at a time. Only rows with one end and variables that are 0 or 1 change.

    - ``e + f <= 2 a`` becomes ``e <= a`` and ``f <= a``.
    - ``3 a - e - f - g <= 2`` becomes ``a - e - f - g <= 0``, and ``e + f + g - 2 s <= 1``, where ``e + f + g <= 2``, becomes
      ``e + f + g - s <= 1``: a coefficient that is larger than it need be.
    - ``2 m - e - f <= 0``, where ``e + f <= 1``, says that m is 0, as does ``2 m - e <= 0``.
    """
    binary = rows.integral & (rows.lower == 0.0) & (rows.upper == 1.0)
    below, above = np.isfinite(rows.row_upper), np.isfinite(rows.row_lower)
    matrix = rows.matrix
    mixed = abs(matrix).astype(bool).astype(float) @ (~binary).astype(float) > 0.0
    free = np.flatnonzero(is_whole(rows) & (below != above) & ~mixed & (np.diff(matrix.indptr) > 1))
    signs = np.where(below, 1.0, -1.0)
    found: list[_Row] = []
    for i in free:
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        end = rows.row_upper[i] if below[i] else -rows.row_lower[i]
        found.append((matrix.indices[part].tolist(), (signs[i] * matrix.data[part]).tolist(), float(end)))
    most: dict[tuple[int, ...], float] = {}  # of how many of these variables are 1 at most
    for columns, values, end in found:
        if all(value == 1.0 for value in values):
            key = tuple(sorted(columns))
            most[key] = min(end, most.get(key, np.inf))
    upper = rows.upper.copy()
    closed = [one for row in found for one in _closed(row, most, upper)]
    kept = np.ones(matrix.shape[0], dtype=bool)
    kept[free] = False
    return _with(rows, kept, closed, upper)


def is_whole(rows: Rows) -> NDArray[np.bool_]:
    """Returns which rows have whole numbers alone, so that nothing that is compared in them was rounded, ``[rows]``."""
    ends = np.stack([rows.row_lower, rows.row_upper])
    data = rows.matrix.data
    odd = ((data != np.round(data)) | (np.abs(data) > LARGEST)).astype(float)
    odd = csr_array((odd, rows.matrix.indices, rows.matrix.indptr), shape=rows.matrix.shape).sum(axis=1)
    whole = np.isinf(ends) | ((ends == np.round(ends)) & (np.abs(ends) <= LARGEST))
    found: NDArray[np.bool_] = whole.all(axis=0) & (odd == 0.0)
    return found


def _closed(row: _Row, most: dict[tuple[int, ...], float], upper: Vector) -> list[_Row]:
    """The row or the rows in its place; lowers the upper bounds of variables that must be 0."""
    columns, values, end = row
    up = [(c, v) for c, v in zip(columns, values, strict=True) if v > 0.0]
    down = [(c, v) for c, v in zip(columns, values, strict=True) if v < 0.0]
    if len(down) == 1 and end == 0.0 and sum(values) == 0.0 and len(up) > 1:
        return [([c, down[0][0]], [1.0, -1.0], 0.0) for c, _ in up]
    if len(up) == 1 and all(v == -1.0 for _, v in down):
        limit = min(len(down), most.get(tuple(sorted(c for c, _ in down)), np.inf))
        if up[0][1] > end + limit:
            upper[up[0][0]] = 0.0
            return [row]
    largest = sum(v for _, v in up)
    if len(down) == 1 and all(v == 1.0 for _, v in up):
        largest = min(largest, most.get(tuple(sorted(c for c, _ in up)), np.inf))
        column, value = down[0]
        spare = end - (largest + value)
        if 0.0 < spare < -value:
            return [([c for c, _ in up] + [column], [1.0] * len(up) + [value + spare], end)]
    if up:
        column, value = max(up, key=lambda one: one[1])
        spare = end - (largest - value)
        if 0.0 < spare < value:
            return [(columns, [v - spare if c == column else v for c, v in zip(columns, values, strict=True)], end - spare)]
    return [row]


def _with(rows: Rows, kept: np.ndarray[tuple[int], np.dtype[np.bool_]], closed: list[_Row], upper: Vector) -> Rows:
    """The rows that are kept, and those that were closed."""
    old = rows.matrix[kept]
    starts = np.cumsum([old.nnz, *(len(columns) for columns, _, _ in closed)])
    matrix = csr_array(
        (
            np.concatenate([old.data, np.array([v for _, values, _ in closed for v in values])]),
            np.concatenate([old.indices, np.array([c for columns, _, _ in closed for c in columns], dtype=old.indices.dtype)]),
            np.concatenate([old.indptr[:-1], starts]),
        ),
        (old.shape[0] + len(closed), old.shape[1]),
    )
    return Rows(
        matrix,
        np.concatenate([rows.row_lower[kept], np.full(len(closed), -np.inf)]),
        np.concatenate([rows.row_upper[kept], [end for _, _, end in closed]]),
        rows.lower, upper, rows.integral,
    )  # fmt: skip


def tightened(rows: Rows) -> Rows:
    """Returns rows that the same whole vectors keep, made from what several rows say.

    Of variables that are 0 or 1, ``3 e <= a + b + c`` becomes ``e <= a``, ``e <= b`` and ``e <= c``; and ``e + f - s <= k``,
    where ``e <= a`` and ``f <= a``, becomes ``e + f - s <= k a``.
    """
    binary = rows.integral & (rows.lower == 0.0) & (rows.upper == 1.0)
    below = np.isinf(rows.row_lower) & np.isfinite(rows.row_upper)
    one_sided = below | (np.isinf(rows.row_upper) & np.isfinite(rows.row_lower))
    ends = np.where(below, rows.row_upper, -rows.row_lower)
    signed = csr_array(diags_array(np.where(below, 1.0, -1.0)) @ rows.matrix)
    above = signed.maximum(0.0)
    count, sums, positive = np.diff(signed.indptr), signed.sum(axis=1), (signed > 0.0).sum(axis=1)
    one_sided &= is_whole(rows)
    one_sided &= abs(signed).astype(bool).astype(float) @ (~binary).astype(float) == 0.0
    ordered = one_sided & (ends == 0.0) & (positive == 1) & (sums == 0.0) & (count > 1)
    if not ordered.any():
        return rows
    chosen = signed[ordered]
    owner, up = np.repeat(np.arange(chosen.shape[0]), np.diff(chosen.indptr)), chosen.data > 0.0
    whole = np.empty(chosen.shape[0], dtype=np.int64)
    whole[owner[up]] = chosen.indices[up]
    child, parent = whole[owner[~up]], chosen.indices[~up]
    at, size = np.arange(len(child)), signed.shape[1]
    less = csr_array((np.repeat([1.0, -1.0], len(at)), (np.tile(at, 2), np.concatenate([child, parent]))), (len(at), size))

    limited = one_sided & (ends > 0.0) & (above.sum(axis=1) > ends)
    implied = csr_array((np.ones(len(at)), (child, parent)), (size, size))
    implied.sum_duplicates()
    implied.data[:] = 1.0  # what two rows say counts once
    shared = ((above[limited] > 0.0).astype(float) @ implied).tocoo()
    row, column = shared.coords
    common = shared.data == positive[limited][row]
    bent = csr_array((-ends[limited][row[common]], (row[common], column[common])), (int(limited.sum()), size))
    is_bent = np.diff(bent.indptr) == 1
    kept = ~ordered
    kept[np.flatnonzero(limited)[is_bent]] = False
    new = vstack([less, (signed[limited] + bent)[is_bent]])
    return Rows(
        csr_array(vstack([rows.matrix[kept], new])),
        np.concatenate([rows.row_lower[kept], np.full(new.shape[0], -np.inf)]),
        np.concatenate([rows.row_upper[kept], np.zeros(new.shape[0])]),
        rows.lower, rows.upper, rows.integral,
    )  # fmt: skip
