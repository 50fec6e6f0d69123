"""Sequence labelling with a linear chain."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._kernel import Kernels
from multiplane._labeller import PartLabeller, listed
from multiplane._validation import canonical


def _is_text(x: list[Any]) -> bool:
    """Whether sequences are made of tokens: words, or tuples of columns of text."""
    first = next((token for sequence in x if not hasattr(sequence, "tocsr") for token in sequence), None)
    if isinstance(first, str):
        return True
    return isinstance(first, (tuple, list)) and len(first) > 0 and all(isinstance(cell, str) for cell in first)


def _columns(i: int, sentence: Any) -> list[list[str]]:
    """The columns of every token of sentence i."""
    tokens = [[token] if isinstance(token, str) else list(token) for token in sentence]
    for at, token in enumerate(tokens):
        if not all(isinstance(cell, str) for cell in token):
            raise ValueError(f"X[{i}][{at}] is {sentence[at]!r}: expected text, as in X[0][0]")
    return tokens


class ChainSSVM(Kernels, PartLabeller):
    """Labels every row of a sequence, given the sequence: letters of words, tags of tokens.

    ``X`` is a list of arrays ``[length, features]`` (dense or SciPy sparse), or, for text, a list of sentences whose
    tokens are words or tuples of columns (``("cat", "NN")``), from which ``params={"task.template": ...}`` makes
    features.
    ``y`` is a list of sequences of labels. ``coef_`` is one vector: ``unary[label][feature]``, then
    ``pair[from][to]``, and with ``params={"task.ends": True}`` then ``start[label]``, ``end[label]``. With a kernel
    ``unary[label][row]`` has a coefficient for each training row that carries weight (``dual_coef_``).

    Args:
        kernel: None for weights of features, or ``"linear"``, ``"rbf"``, ``"poly"``, ``"intersection"``, ``"chi-square"``, between
            the rows of sequences. Functions and matrices are for ``BinarySSVM`` and ``MulticlassSSVM``.
        gamma: The factor in kernels: a number > 0, ``"scale"`` for 1 / (features * variance of all rows), or ``"auto"`` for
            1 / features.
        degree: The power of ``"poly"``.
        coef0: What ``"poly"`` adds before it takes the power, >= 0.
    """

    _task = "chain"
    _X = "a list of sequences"

    def _truth(self, model: _core.Model, source: Any) -> NDArray[np.int64]:
        if source.kind() == "columns":
            return np.zeros(0, dtype=np.int64)
        number = {name: k for k, name in enumerate(model.labels())}
        return np.array([number[name] for name in source.parts()[5]], dtype=np.int64)

    def _dataset(self, x: Any, y: list[list[Any]] | None, filler: str = "") -> _core.Dataset:
        x = listed(x, "X")
        names = None if y is None else [[str(label) for label in sequence] for sequence in y]
        if _is_text(x):
            return _core.Dataset.columns([_columns(i, sentence) for i, sentence in enumerate(x)], names, filler)
        rows = [canonical(sequence) if hasattr(sequence, "tocsr") else sequence for sequence in x]
        return _core.Dataset.sequences(rows, names, filler)

    def _parts(self, example: Any) -> int:
        return int(example.shape[0]) if hasattr(example, "shape") else len(example)

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        info = json.loads(model.info())
        if not info.get("template"):
            self.n_features_in_ = model.columns(bool(info["spec"]["task"].get("bias", False)))

    def _refuse_others(self, x: list[Any]) -> None:
        expected = getattr(self, "n_features_in_", None)
        if expected is not None and not _is_text(x):
            found = x[0].shape[-1] if hasattr(x[0], "shape") and x[0].shape else np.shape(x[0])[-1]
            if found != expected:
                raise ValueError(f"X[0] has {found} features, but ChainSSVM is expecting {expected} features as input")
