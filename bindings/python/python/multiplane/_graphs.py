"""Graphs as users have them, turned into the arrays of the core: edge lists, adjacency matrices, networkx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._arrays import edge_list, kind, numbers, stacked


@dataclass(frozen=True)
class Graph:
    """One graph: features of nodes ``[n, f]``, edges ``[e, 2]``, features of edges ``[e, g]`` or None."""

    features: NDArray[Any]
    edges: NDArray[np.int64]
    edge_features: NDArray[Any] | None


def graph(item: Any, what: str) -> Graph:
    """One graph from ``(features, edges)``, ``(features, edges, edge_features)`` or ``(features, adjacency)``."""
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise ValueError(f"{what}: expected (features, edges) or (features, edges, edge_features), found {kind(item)}")
    features = _matrix(item[0], f"{what}[0]")
    joined, given = item[1], item[2] if len(item) == 3 else None
    if hasattr(joined, "edges") and hasattr(joined, "nodes"):
        edges, found = _of_networkx(joined, len(features), f"{what}[1]")
    elif hasattr(joined, "tocoo"):
        entries = joined.tocsr().copy()  # repeated entries add up, zeros are no edges
        entries.sum_duplicates()
        entries.eliminate_zeros()
        coo, nodes = entries.tocoo(), len(features)
        if coo.shape != (nodes, nodes):
            raise ValueError(f"{what}[1]: found an adjacency matrix of shape {coo.shape} for {nodes} nodes")
        edges, found = _upper(coo.row, coo.col, coo.data, f"{what}[1]")
    else:
        dense = np.asarray(joined)
        if dense.ndim == 2 and dense.shape == (len(features), len(features)) and _is_adjacency(dense):
            rows, columns = np.nonzero(dense)
            edges, found = _upper(rows, columns, dense[rows, columns], f"{what}[1]")
        else:
            edges, found = edge_list(dense, f"{what}[1]", len(features)), None
    edge_features = found if given is None else _matrix(given, f"{what}[2]")
    if edge_features is not None and len(edge_features) != len(edges):
        raise ValueError(f"{what}: found {len(edge_features)} rows of edge features for {len(edges)} edges")
    return Graph(features, edges, edge_features)


def _matrix(x: Any, what: str) -> NDArray[Any]:
    found = x.toarray() if hasattr(x, "toarray") else np.asarray(x)
    if found.ndim != 2:
        raise ValueError(f"{what}: expected a 2D array, found the shape {found.shape}")
    return numbers(found, what)


def _is_adjacency(dense: NDArray[Any]) -> bool:
    """Returns True if a square array is an adjacency matrix. One of two nodes might be a list of two edges: it is a
    matrix if it is symmetric without loops.
    """
    return dense.shape[1] != 2 or bool((dense == dense.T).all() and not np.diag(dense).any())


def _upper(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], what: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each edge once, from entries of a symmetric or triangular matrix."""
    entries = {(int(i), int(j)): float(v) for i, j, v in zip(rows, columns, values, strict=True)}
    above, below = any(i < j for i, j in entries), any(i > j for i, j in entries)
    found: list[tuple[int, int]] = []
    weights: list[float] = []
    for (i, j), weight in sorted(entries.items()):
        if above and below and entries.get((j, i)) != weight:
            other = entries.get((j, i), 0.0)
            raise ValueError(
                f"{what}: the adjacency matrix has {weight} at [{i}, {j}] and {other} at [{j}, {i}]: expected a "
                "symmetric or a triangular one, as edges have no direction; give edges with edge features instead"
            )
        if i <= j or not above:
            found.append((i, j))
            weights.append(weight)
    return np.array(found, dtype=np.int64).reshape(-1, 2), np.array(weights).reshape(-1, 1)


def _of_networkx(g: Any, nodes: int, what: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Edges and their features (the attribute ``features``, else ``weight``, else 1). Nodes that are the numbers 0 to n
    - 1 have the rows of their numbers, others those of their order in ``g.nodes``.
    """
    if len(g.nodes) != nodes:
        raise ValueError(f"{what}: found a graph of {len(g.nodes)} nodes, but {nodes} rows of features")
    numbered = all(isinstance(node, (int, np.integer)) and 0 <= node < nodes for node in g.nodes)
    places = {node: int(node) if numbered else place for place, node in enumerate(g.nodes)}
    for a, b in g.edges():
        if a == b:
            raise ValueError(f"{what}: joins node {a!r} to itself")
    edges = np.array([(places[a], places[b]) for a, b in g.edges()], dtype=np.int64).reshape(-1, 2)
    features = [np.atleast_1d(data.get("features", data.get("weight", 1.0))) for _, _, data in g.edges(data=True)]
    if len({len(row) for row in features}) > 1:
        raise ValueError(f"{what}: edges have different numbers of features")
    width = len(features[0]) if features else 1
    return edges, np.array(features, dtype=np.float64).reshape(len(edges), width)


def arrays(graphs: list[Graph]) -> dict[str, NDArray[Any]]:
    """The features of all nodes and edges. Edges without features get one that is 1 everywhere, where no graph has any."""
    joined = [i for i, g in enumerate(graphs) if len(g.edges)]
    bare = [i for i in joined if graphs[i].edge_features is None]
    given = [i for i in joined if graphs[i].edge_features is not None]
    if bare and given:
        raise ValueError(f"X[{bare[0]}] has no edge features, and X[{given[0]}] has: expected them for all graphs or none")
    rows = [np.ones((len(g.edges), 1)) if g.edge_features is None else g.edge_features for g in graphs]
    used = [i for i, row in enumerate(rows) if len(row)]  # graphs without edges fit to all others
    return {
        "node_features": stacked([g.features for g in graphs], lambda i: f"X[{i}]", " of a node"),
        "edge_features": stacked([rows[i] for i in used], lambda k: f"X[{used[k]}]", " of an edge", rows[0].shape[1]),
    }
