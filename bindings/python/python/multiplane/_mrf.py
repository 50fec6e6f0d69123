"""Labelling the nodes of pairwise models that are given as tables of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._arrays import edge_list, kind, numbers, offsets, stacked
from multiplane._nodes import Labels, NodeLabeller
from multiplane._validation import refuse_width


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


def _whole(columns: Any, name: str) -> NDArray[np.int64] | None:
    """The features that columns are."""
    if columns is None:
        return None
    found = numbers(columns, name)
    if found.ndim != 1 or (found != np.round(found)).any():
        raise ValueError(f"{name} = {columns!r}: expected whole numbers, the features of the columns")
    return found.astype(np.int64)


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
    partial: str = "left-out"
    rescaling: str = "margin"

    # -- data --

    def _example(self, item: Any, what: str) -> Model:
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

    def _nodes(self, example: Model) -> int:
        return len(example.counts)

    def _checked(self, labels: Labels, example: Model, what: str) -> Labels:
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

    def _arrays(self, examples: list[Model]) -> dict[str, Any]:
        columns = self.unary_columns, self.pair_columns
        unary = stacked([m.unary for m in examples], lambda i: f"X[{i}]", " of labels")
        joined = [i for i, m in enumerate(examples) if len(m.edges)]  # models without edges fit to all others
        width = unary.shape[1] if columns[1] is None else len(columns[1])
        pairs = stacked([examples[i].pairs for i in joined], lambda k: f"X[{joined[k]}]", " of pairs of labels", width)
        if columns == (None, None) and unary.shape[1] != pairs.shape[1]:
            raise ValueError(
                f"X has {unary.shape[1]} features of labels and {pairs.shape[1]} of pairs of labels: expected as many, or "
                "unary_columns and pair_columns, which say what feature each is"
            )
        counts = np.concatenate([m.counts for m in examples])
        sizes = np.concatenate([m.counts[m.edges[:, 0]] * m.counts[m.edges[:, 1]] for m in examples])
        given = [_whole(one, name) for one, name in zip(columns, ("unary_columns", "pair_columns"), strict=True)]
        return {
            "unary_features": unary,
            "label_offsets": offsets(counts.tolist()),
            "pair_features": pairs,
            "pair_offsets": offsets(sizes.tolist()),
            "unary_columns": given[0],
            "pair_columns": given[1],
        }

    def _unlabelled(self, examples: list[Model], labels: list[NDArray[np.int64]]) -> _core.Dataset:
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
