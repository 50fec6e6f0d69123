"""Arrays of graphs as users have them, checked on their way to the core: numbers, lists of edges, rows of many examples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_path(x: Any) -> bool:
    """Whether this names a container."""
    return isinstance(x, (str, os.PathLike))


def kind(item: Any) -> str:
    """What an item is, for errors."""
    size = f" of {len(item)}" if isinstance(item, (tuple, list)) else ""
    return f"a {type(item).__name__}{size}"


def numbers(x: Any, what: str) -> NDArray[Any]:
    """An array of any shape of finite numbers; those of 32 bits stay as they are, others become 64."""
    if np.ma.isMaskedArray(x):
        raise ValueError(f"{what}: found a masked array: fill it, or leave out what is masked")
    found = np.asarray(x)
    if found.dtype.kind in "cMm":
        raise ValueError(f"{what}: found an array of {found.dtype}, expected real numbers")
    try:
        made = np.asarray(found, dtype=np.float32 if found.dtype == np.float32 else np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected numbers, found an array of {found.dtype}") from None
    if not np.isfinite(made).all():
        at = np.argwhere(~np.isfinite(made))[0].tolist()
        raise ValueError(f"{what}{at}: found {made[tuple(at)]}, expected finite numbers")
    return made


def edge_list(edges: NDArray[Any], what: str, nodes: int) -> NDArray[np.int64]:
    """Edges ``[e, 2]`` as whole numbers: two of so many nodes each, not twice the same."""
    if edges.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"{what}: expected edges as an array [e, 2] or an adjacency matrix, found the shape {edges.shape}")
    if edges.dtype.kind not in "iufb":
        raise ValueError(f"{what}: expected whole numbers of nodes, found an array of {edges.dtype}")
    if edges.dtype.kind == "f":
        odd = np.flatnonzero((~np.isfinite(edges) | (edges != np.round(edges))).any(axis=1))
        if len(odd):
            raise ValueError(f"{what}[{odd[0]}]: found {edges[odd[0]].tolist()}, expected whole numbers of nodes")
    whole = edges.astype(np.int64)
    lost = np.flatnonzero(((whole < 0) | (whole >= nodes)).any(axis=1))
    if len(lost):
        row = int(lost[0])
        tail, head = whole[row].tolist()
        raise ValueError(f"{what}[{row}]: joins the nodes {tail} and {head}, expected numbers from 0 to {nodes - 1}")
    loops = np.flatnonzero(whole[:, 0] == whole[:, 1])
    if len(loops):
        raise ValueError(f"{what}[{loops[0]}]: joins node {whole[loops[0], 0]} to itself")
    return whole


def offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Where parts of these sizes begin, and the last one's end."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def stacked(parts: Sequence[NDArray[Any]], name: Callable[[int], str], of: str = "", width: int = 0) -> NDArray[Any]:
    """The rows of all parts, in 32 bits where all are.

    Args:
        parts: Arrays ``[rows, features]``.
        name: What the part of a number is called in errors.
        of: What the features are of, for errors.
        width: Features, where there is no part.
    """
    for i, part in enumerate(parts):
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(f"{name(i)} has {part.shape[1]} features{of}, {name(0)} has {parts[0].shape[1]}")
    narrow = bool(parts) and all(part.dtype == np.float32 for part in parts)
    rows = np.concatenate([*parts]) if parts else np.zeros((0, width))
    return np.ascontiguousarray(rows, dtype=np.float32 if narrow else np.float64)
