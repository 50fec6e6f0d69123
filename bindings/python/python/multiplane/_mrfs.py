"""Pairwise models as users have them, turned into the arrays of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._arrays import edge_list, kind, numbers, offsets, stacked


@dataclass(frozen=True)
class Model:
    """One pairwise model.

    Attributes:
        counts: Number of labels by node.
        unary: Rows of features, ``counts[v]`` for every node.
        edges: Nodes at both ends ``[e, 2]``.
        pairs: Rows of features, ``counts[tail] * counts[head]`` for every edge.
    """

    counts: NDArray[np.int64]
    unary: NDArray[Any]
    edges: NDArray[np.int64]
    pairs: NDArray[Any]


def model(item: Any, what: str) -> Model:
    """One model from ``(unary_features, edges, pair_features)``."""
    if not isinstance(item, (tuple, list)) or len(item) != 3:
        raise ValueError(f"{what}: expected (unary_features, edges, pair_features), found {kind(item)}")
    unary = _tables(item[0], 2, f"{what}[0]")
    if not unary:
        raise ValueError(f"{what}[0]: found no node")
    counts = np.array([len(table) for table in unary], dtype=np.int64)
    if not counts.all():
        raise ValueError(f"{what}[0][{int(np.argmin(counts))}]: a node with no label, expected a row of features for each")
    edges = edge_list(np.asarray(item[1]), f"{what}[1]", len(counts))
    pairs = _tables(item[2], 3, f"{what}[2]")
    if len(pairs) != len(edges):
        raise ValueError(f"{what}: found the features of {len(pairs)} edges for {len(edges)} edges")
    for e, ((tail, head), table) in enumerate(zip(edges.tolist(), pairs, strict=True)):
        if table.shape[:2] != (counts[tail], counts[head]):
            raise ValueError(
                f"{what}[2]: edge {e} has features of {table.shape[0]} x {table.shape[1]} pairs of labels, expected "
                f"{counts[tail]} x {counts[head]}, the labels of its ends"
            )
    rows = stacked([table.reshape(-1, table.shape[2]) for table in pairs], lambda e: f"{what}[2][{e}]")
    return Model(counts, stacked(unary, lambda v: f"{what}[0][{v}]"), edges, rows)


def _tables(x: Any, dimensions: int, what: str) -> list[NDArray[Any]]:
    """One array per node or edge, of an array of all or a list of them."""
    try:
        found = [numbers(one, f"{what}[{i}]") for i, one in enumerate(x)]
    except TypeError:
        raise ValueError(f"{what}: expected an array or a list of arrays, found a {type(x).__name__}") from None
    for i, one in enumerate(found):
        if one.ndim != dimensions:
            shape = "[labels, features]" if dimensions == 2 else "[labels, labels, features]"
            raise ValueError(f"{what}[{i}]: expected an array {shape}, found the shape {one.shape}")
    return found


def arrays(models: list[Model], columns: tuple[Any, Any]) -> dict[str, Any]:
    """The features of all nodes and edges, those that the columns are, and where those of each node and edge begin."""
    unary = stacked([m.unary for m in models], lambda i: f"X[{i}]", " of labels")
    joined = [i for i, m in enumerate(models) if len(m.edges)]  # models without edges fit to all others
    width = unary.shape[1] if columns[1] is None else len(columns[1])
    pairs = stacked([models[i].pairs for i in joined], lambda k: f"X[{joined[k]}]", " of pairs of labels", width)
    if columns == (None, None) and unary.shape[1] != pairs.shape[1]:
        raise ValueError(
            f"X has {unary.shape[1]} features of labels and {pairs.shape[1]} of pairs of labels: expected as many, or "
            "unary_columns and pair_columns, which say what feature each is"
        )
    counts = np.concatenate([m.counts for m in models])
    sizes = np.concatenate([m.counts[m.edges[:, 0]] * m.counts[m.edges[:, 1]] for m in models])
    given = [None if one is None else np.asarray(one, dtype=np.int64) for one in columns]
    return {
        "unary_features": unary,
        "label_offsets": offsets(counts.tolist()),
        "pair_features": pairs,
        "pair_offsets": offsets(sizes.tolist()),
        "unary_columns": given[0],
        "pair_columns": given[1],
    }
