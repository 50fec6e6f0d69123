"""Labelling the nodes of trees."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from multiplane import _core
from multiplane._labeller import PartLabeller, length, listed
from multiplane._validation import canonical, refuse_width


def node_features(x: Any, what: str) -> Any:
    """Rows, dense or sparse, or a list of lists of names with numbers."""
    if hasattr(x, "tocsr"):
        return canonical(x)
    if isinstance(x, (list, tuple)) and all(isinstance(node, dict) for node in x):
        named = []
        for k, node in enumerate(x):
            strange = next((name for name in node if not isinstance(name, str)), None)
            if strange is not None or None in node:
                raise ValueError(f"{what}[{k}] has the name {strange!r} of type {type(strange).__name__}: expected a text")
            try:
                named.append([(name, float(value)) for name, value in node.items()])
            except (TypeError, ValueError):
                raise ValueError(f"{what}[{k}] is {node!r}: expected names with numbers") from None
        return named
    return x


def _is_parent(parent: Any) -> bool:
    number = isinstance(parent, (int, float, np.integer, np.floating)) and not isinstance(parent, bool)
    return number and float(parent).is_integer() and parent >= -1


def node_parents(x: Any, what: str) -> list[int | None] | None:
    """Parents, none at the root."""
    if x is None:
        return None
    found: list[int | None] = []
    for k, parent in enumerate(x.tolist() if isinstance(x, np.ndarray) else x):
        if parent is not None and not _is_parent(parent):
            raise ValueError(f"{what}[{k}] is {parent!r}: expected the number of a node, or -1 or None at the root")
        found.append(None if parent is None or parent == -1 else int(parent))
    return found


def width_of_rows(model: _core.Model, info: dict[str, Any]) -> int | None:
    """Features of a row as given, where features have no names."""
    return None if model.is_named() else model.features() - int(bool(info["spec"]["task"].get("bias", False)))


def refuse_rows(estimator: Any, features: Any, what: str) -> None:
    """Refuses rows of another width than those of training."""
    shape = getattr(features, "shape", None)
    if getattr(estimator, "n_features_in_", None) is not None and shape is not None and len(shape) == 2:
        refuse_width(estimator, what, shape[1])


def structure_of(task: dict[str, Any]) -> str | None:
    """What is to be found, of a task's parameters; None where they do not say."""
    structure = task.get("structure")
    name = structure.get("name") if isinstance(structure, dict) else structure
    return None if name is None else str(name)


def _example(item: Any, i: int) -> tuple[Any, list[int | None] | None, list[str | None]]:
    """Features, parents and types of edges of one tree."""
    what = f"X[{i}]"
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise ValueError(f"{what} is a {type(item).__name__}: expected (features, parents) or (features, parents, types)")
    features, parents = node_features(item[0], f"{what}[0]"), node_parents(item[1], f"{what}[1]")
    if len(item) == 2 or item[2] is None:
        return features, parents, [None] * length(features)
    return features, parents, [None if name is None else str(name) for name in item[2]]


class TreeSSVM(PartLabeller):
    """Labels every node of a tree, given the tree: words of a parse, parts of a document or of a program.

    ``X`` is a list of ``(features, parents)`` or ``(features, parents, types)``: rows ``[nodes, features]`` (dense or
    SciPy sparse) or a dict ``{name: number}`` for every node; the parent of every node, -1 or None at the root; and the
    type of its edge to the parent, a string or None. ``y`` is a list of sequences of labels.

    ``coef_`` is one vector: ``unary[label][feature]``, then for every type of edges ``pair[parent's label][child's
    label]``; ``unary_``, ``pairwise_`` (``[types, labels, labels]``) and ``types_`` are its parts.
    """

    _task = "tree"

    unknown: Any = None
    bias: bool = False
    class_weight: Any = None
    loss: Any = "hamming"
    partial: str = "left-out"
    rescaling: str = "margin"
    scale: str = "none"

    @classmethod
    def _reads(cls, task: dict[str, Any]) -> bool:
        return structure_of(task) != "arborescence"

    def _tree(self) -> dict[str, Any]:
        tree = super()._tree()
        if not self._reads(tree["task"]):
            raise ValueError("params: task.structure = 'arborescence': ArborescenceSSVM finds trees")
        return tree

    def _dataset(self, x: Any, y: list[list[Any]] | None) -> _core.Dataset:
        examples = [_example(item, i) for i, item in enumerate(listed(x, "X"))]
        if not examples:
            raise ValueError("X is empty: expected at least one tree")
        if y is not None and len(y) != len(examples):
            raise ValueError(f"X has {len(examples)} examples, y has {len(y)}")
        names: list[list[str | None]] | None = None
        if y is not None:
            names = [[None if label is None else str(label) for label in labels] for labels in y]
        features, parents, types = (list(part) for part in zip(*examples, strict=True))
        return _core.dataset("tree", features=features, parents=parents, types=types, labels=names)

    def _refuse_others(self, x: list[Any]) -> None:
        for i, item in enumerate(x):
            refuse_rows(self, item[0] if isinstance(item, (tuple, list)) and item else item, f"X[{i}]")

    def _parts(self, example: Any) -> int:
        return length(example[0])

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        info = json.loads(model.info())
        self.n_features_in_ = width_of_rows(model, info)
        labels, ends = len(model.labels()), len(model.labels()) * model.features()
        self.types_ = info["types"]
        self.unary_ = self.coef_[:ends].reshape(labels, -1)
        self.pairwise_ = self.coef_[ends:].reshape(len(self.types_), labels, labels)
