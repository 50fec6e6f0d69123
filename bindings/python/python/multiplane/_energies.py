"""Energies as arrays in the order of C, as the core takes them, with errors that name what was found and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Directions = tuple[Any, Any, Any, Any]

NAMES = ("horizontal", "vertical", "diagonal", "antidiagonal")


def _floats(values: Any, what: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: expected numbers: {error}") from None


def counts_and_energies(unary: Any) -> tuple[NDArray[np.int64], Floats]:
    """The number of labels of each node, and all unary energies."""
    if not isinstance(unary, np.ndarray):
        rows = [_floats(row, f"unary[{node}]") for node, row in enumerate(unary)]
        for node, row in enumerate(rows):
            if row.ndim != 1:
                raise ValueError(f"unary[{node}]: found shape {row.shape}, expected one energy per label")
        counts = np.array([len(row) for row in rows], dtype=np.int64)
        return counts, np.concatenate(rows) if rows else np.zeros(0)
    energies = _floats(unary, "unary")
    if energies.ndim != 2:
        raise ValueError(f"unary: found shape {energies.shape}, expected [nodes, labels]")
    return np.full(len(energies), energies.shape[1], dtype=np.int64), energies


def pairs(edges: Any, weights: Any) -> tuple[NDArray[np.int64], Floats]:
    """Edges and a weight for each."""
    found = np.asarray(edges)
    if found.size == 0 and found.ndim <= 2:
        found = np.zeros((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError(f"edges: found shape {found.shape}, expected [edges, 2]")
    if found.dtype.kind not in "iu":
        raise ValueError(f"edges: found numbers of type {found.dtype}, expected integers")
    factors = _floats(weights, "weights")
    if factors.ndim > 0 and factors.shape != (len(found),):
        raise ValueError(f"weights: found shape {factors.shape}, expected one for each of {len(found)} edges")
    ends: NDArray[np.int64] = np.ascontiguousarray(found, dtype=np.int64)
    return ends, np.ascontiguousarray(np.broadcast_to(factors, (len(found),)))


def tables_of(tables: ArrayLike | Sequence[ArrayLike] | None, edges: int) -> tuple[Floats, list[tuple[int, int]]]:
    """The energies of tables one after the other, and their shapes: one for all edges, or one for each."""
    if tables is None:
        return np.zeros(0), []
    if not isinstance(tables, np.ndarray):
        listed: Any = tables
        each = [_floats(table, f"tables[{edge}]") for edge, table in enumerate(listed)]
        if all(table.ndim == 1 for table in each):
            return tables_of(_floats(tables, "tables"), edges)
        for edge, table in enumerate(each):
            if table.ndim != 2:
                raise ValueError(f"tables[{edge}]: found shape {table.shape}, expected 2 dimensions")
        if len(each) != edges:
            raise ValueError(f"tables: found {len(each)}, expected one for each of {edges} edges")
        if edges == 1:
            return each[0], [(each[0].shape[0], each[0].shape[1])]
        return np.concatenate([table.ravel() for table in each]), [(len(one), one.shape[1]) for one in each]
    energies = _floats(tables, "tables")
    if energies.ndim == 2:
        return energies, [(energies.shape[0], energies.shape[1])]
    if energies.ndim != 3 or len(energies) != edges:
        rule = f"expected [labels, labels] or [{edges} edges, labels, labels]"
        raise ValueError(f"tables: found shape {energies.shape}, {rule}")
    return energies, [(energies.shape[1], energies.shape[2])] * edges


def directions(given: Directions, height: int, width: int) -> Directions:
    """The weights of a grid's edges in four directions: None, numbers, or arrays of one weight per edge."""
    below, beside = max(height - 1, 0), max(width - 1, 0)
    shapes = ((height, beside), (below, width), (below, beside), (below, beside))

    def one(name: str, weights: Any, shape: tuple[int, int]) -> Any:
        if weights is None:
            return None
        found = _floats(weights, name)
        if found.ndim == 0:
            return float(found)
        if found.shape != shape:
            raise ValueError(f"{name}: found shape {found.shape}, expected a number or {shape}")
        return found

    first, second, third, fourth = (one(*each) for each in zip(NAMES, given, shapes, strict=True))
    return first, second, third, fourth
