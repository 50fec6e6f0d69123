"""Finding trees: a head for every word of a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._labeller import PartLabeller, listed
from multiplane._tree import node_features, node_parents, refuse_rows, structure_of, width_of_rows


class ArborescenceSSVM(PartLabeller):
    """Finds the tree of every sentence: dependency parsing, with arcs scored by the features of their two words.

    ``X`` is a list of sentences: rows ``[words, features]`` (dense or SciPy sparse), or a dict ``{name: number}`` for every
    word. ``y`` is a list of sequences of parents: numbers of words, counted from 0, and -1 or None where the word hangs on
    the root. Predictions are arrays of such numbers, -1 at the root. One word of a sentence hangs on the root; with
    ``root="any"`` one or more do. ``score`` is the unlabelled attachment score.

    ``coef_`` is one vector, whose parts are ``root_`` (``[features]``: words that hang on the root), ``distance_``
    (``[2, buckets, features]``: by how far the parent is, standing before the word, then after it) and ``pair_``
    (``[features, 2, features]``: feature of the parent, direction, feature of the word). The columns of
    ``max_marginals`` are the root, then the words as parents; -inf where no tree has the arc.
    """

    _task = "tree"

    bias: bool = False
    root: str = "single"
    distances: Sequence[int] | None = None
    loss: str = "hamming"
    rescaling: str = "margin"
    scale: str = "none"

    @classmethod
    def _reads(cls, task: dict[str, Any]) -> bool:
        return structure_of(task) == "arborescence"

    @classmethod
    def _arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        found = super()._arguments(arguments)
        params = dict(found["params"] or {})
        structure = params.pop("task.structure", {})
        given = {name: structure[name] for name in ("root", "distances") if name in structure}
        return {**found, **given, "params": params or None}

    def _tree(self) -> dict[str, Any]:
        tree = super()._tree()
        found = structure_of(tree["task"]) or "arborescence"
        if found != "arborescence":
            raise ValueError(f"params: task.structure = {found!r}: TreeSSVM labels the nodes of trees")
        given = tree["task"].get("structure")
        tree["task"]["structure"] = {**(given if isinstance(given, dict) else {}), "name": found}
        return tree

    def _merged(self, y: list[list[Any]], known: Iterable[Any] = (), what: str = "y") -> list[list[Any]]:
        """Parents as they are."""
        return y

    def _counted(self, y: list[list[Any]], weights: NDArray[Any]) -> list[list[Any]]:
        return y

    def _labels(self, y: Any, what: str = "y") -> list[list[Any]]:
        plain = super()._labels(y, what)
        found = [node_parents(parents, f"{what}[{i}]") or [] for i, parents in enumerate(plain)]
        return [[-1 if parent is None else parent for parent in parents] for parents in found]

    def _learn_classes(self, y: list[list[Any]]) -> None:
        """Heads are numbers, the same for all sentences."""

    def _dataset(self, x: Any, y: list[list[Any]] | None) -> _core.Dataset:
        features = []
        for i, item in enumerate(listed(x, "X")):
            if isinstance(item, tuple) and not all(isinstance(word, dict) for word in item):
                raise ValueError(f"X[{i}] is a tuple: expected rows of features, or a dict for every word; parents are y")
            features.append(node_features(item, f"X[{i}]"))
        if not features:
            raise ValueError("X is empty: expected at least one sentence")
        if y is not None and len(y) != len(features):
            raise ValueError(f"X has {len(features)} examples, y has {len(y)}")
        parents: list[list[int | None] | None] = [None] * len(features)
        if y is not None:
            parents = [[None if parent < 0 else parent for parent in found] for found in y]
        types = [[None] * self._parts(item) for item in features]
        return _core.dataset("tree", features=features, parents=parents, types=types)

    def _refuse_others(self, x: list[Any]) -> None:
        for i, item in enumerate(x):
            refuse_rows(self, item, f"X[{i}]")

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return numbers.astype(np.int64) - 1

    def _table(self, rows: list[NDArray[np.float64]]) -> Any:
        return np.stack(rows) if rows else np.zeros((0, 1))

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        self._take(model, json.loads(model.info()))

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super(PartLabeller, self)._take(model, summary)
        info = json.loads(model.info())
        self.n_features_in_ = width_of_rows(model, info)
        width = model.features()
        buckets = len(info["spec"]["task"]["structure"]["distances"]) + 1
        ends = [width, width * (1 + 2 * buckets)]
        self.root_ = self.coef_[: ends[0]]
        self.distance_ = self.coef_[ends[0] : ends[1]].reshape(2, buckets, width)
        self.pair_ = self.coef_[ends[1] :].reshape(width, 2, width)
