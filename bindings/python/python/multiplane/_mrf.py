"""Labelling the nodes of pairwise models that are given as tables of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _mrfs
from multiplane._nodes import Labels, NodeLabeller
from multiplane._validation import refuse_width


class MrfSSVM(NodeLabeller):
    """Labels the nodes of any pairwise model: one weight per feature, which all nodes and edges share.

    ``X`` is a list of models, each ``(unary_features, edges, pair_features)``. ``unary_features`` is a list of arrays
    ``[labels of v, f]``, one for each node v, or one array ``[nodes, labels, f]``; ``edges`` is an array ``[edges, 2]``,
    and ``pair_features`` a list of arrays ``[labels of the tail, labels of the head, g]`` or one array ``[edges, labels,
    labels, g]``. Every node has its own labels, numbered from 0. The score of a labelling is the sum of ``<coef_,
    unary_features[v][y_v]>`` over nodes and ``<coef_, pair_features[e][y_tail, y_head]>`` over edges.

    ``y`` is a list of arrays of labels, one per node; -1 is a node whose truth is not known, which is left out of
    training with its edges, and labelled by ``predict``. In the place of ``X`` there may be the path of a container of
    the format ``mrf``, which holds the labels as well: ``fit("train.safetensors")``.

    Trees, small models and cuts are solved exactly, all else by message passing with a proven bound, so that ``gap_`` is
    certified, but may stay above the gap that was asked for. ``loss="node-weighted"`` or ``"hamming-sum"``
    changes what errors cost, ``max_iterations`` how long messages are passed.

    Args:
        unary_columns: Which features, and so which weights, the f columns of ``unary_features`` are: numbers from 0.
            None: the first f. A container says so itself.
        pair_columns: The same of the g columns of ``pair_features``. With neither given, f and g must be equal: nodes
            and edges have the same features then. ``unary_columns=[0, 1], pair_columns=[2, 3, 4]`` has two features of
            nodes and three of edges, and no zeros to store.
    """

    _task = "mrf"
    _things = "models"

    unary_columns: Sequence[int] | None = None
    pair_columns: Sequence[int] | None = None
    inference: str = "auto"
    loss: str = "hamming"
    max_iterations: int = 100
    rescaling: str = "margin"

    # -- data --

    def _example(self, item: Any, what: str) -> _mrfs.Model:
        return _mrfs.model(item, what)

    def _nodes(self, example: _mrfs.Model) -> int:
        return len(example.counts)

    def _checked(self, labels: Labels, example: _mrfs.Model, what: str) -> Labels:
        known = ~labels.mask
        whole = np.where(known, labels.data, 0).astype(np.int64) if labels.dtype.kind in "iubf" else None
        if not known.any():
            whole = np.zeros(labels.shape, np.int64)
        if whole is None or not np.array_equal(whole[known], labels.compressed()):
            raise ValueError(f"{what}: expected whole numbers, the labels of the nodes")
        wrong = np.flatnonzero(known & ((whole < 0) | (whole >= example.counts)))
        if len(wrong):
            v = int(wrong[0])
            raise ValueError(
                f"{what}[{v}]: found {whole[v]}, a node with {example.counts[v]} labels: expected 0 to "
                f"{example.counts[v] - 1}, or -1 where the truth is not known; unknown={whole[v]} makes it another mark of that"
            )
        return np.ma.MaskedArray(whole, ~known)

    def _arrays(self, examples: list[_mrfs.Model]) -> dict[str, Any]:
        return _mrfs.arrays(examples, (self.unary_columns, self.pair_columns))

    def _unlabelled(self, examples: list[_mrfs.Model], labels: list[NDArray[np.int64]]) -> _core.Dataset:
        data = super()._unlabelled(examples, labels)
        hint = "; unary_columns and pair_columns say which are which, and a model's file does not hold them"
        refuse_width(self, "X", data.sizes()[1], hint)
        return data

    # -- results --

    def _table(self, rows: list[NDArray[np.float64]]) -> Any:
        return [row.copy() for row in rows]  # nodes have labels of their own

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        self.n_features_in_ = len(self.coef_)

    def _labelling(self, numbers: NDArray[np.uint32]) -> NDArray[np.int64]:
        return numbers.astype(np.int64)
