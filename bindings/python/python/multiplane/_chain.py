"""Sequence labelling with a linear chain."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _labels
from multiplane._explain import Explanation, positions
from multiplane._kernel import Kernels, kernel_docs
from multiplane._labeller import PartLabeller, listed, refuse_text
from multiplane._tokens import columns, is_token, kind_of, refuse_empty, refuse_several, refuse_tokens, shown
from multiplane._validation import canonical, refuse_width


class ChainSSVM(Kernels, PartLabeller):
    """Labels every row of a sequence, given the sequence: letters of words, tags of tokens.

    ``X`` is a list of arrays ``[length, features]`` (dense or SciPy sparse), or one array ``[n, length, features]``; or, for
    text, a list of sentences whose tokens are words or tuples of columns (``("cat", "NN")``), from which ``template`` makes features; or of sequences of
    attributes: dicts of names with numbers, texts (``name=value``), True and False, or lists of names
    (``["w=cat", "pos=NN"]``; with a ``template`` lists are columns). :func:`multiplane.sequences` makes them of data frames.

    ``y`` is a list of sequences of labels. ``coef_`` is one vector: ``unary[label][feature]``, then
    ``pair[from][to]``, and with ``ends=True`` then ``start[label]``, ``end[label]``: ``unary_``, ``pair_``, ``start_`` and
    ``end_`` are its parts. With a kernel ``unary[label][row]`` has a coefficient for each training row that carries weight
    (``dual_coef_``).
    """

    _task = "chain"
    _X = "a list of sequences"
    _further = kernel_docs(
        'or ``"chi-square"``, between the rows of sequences. Functions and matrices are for ``BinarySSVM`` and ``MulticlassSSVM``.',
        "all rows",
    )

    unknown: Any = None
    bias: bool = False
    ends: bool = False
    transitions: str | list[str] | None = None
    template: str | list[str] | None = None
    min_count: int = 1
    class_weight: Any = None
    loss: Any = "hamming"
    partial: str = "left-out"
    rescaling: str = "margin"
    scale: str = "none"

    def _truth(self, model: _core.Model, source: Any) -> NDArray[np.int64]:
        try:
            names = source.parts()[5]
        except ValueError:  # text
            return np.zeros(0, dtype=np.int64)
        number = {name: k for k, name in enumerate(model.labels())}
        return np.array([number.get(name, _labels.NO_LABEL) for name in names], dtype=np.int64)  # some are not known

    def _has_template(self, is_training: bool) -> bool:
        """Whether there are templates, for which lists of texts are columns."""
        if not is_training:
            return bool(self._own("template"))
        return self.template is not None or "task.template" in (self.params or {})

    def _coded(self, x: Any, y: Any) -> tuple[list[Any], NDArray[np.int64]] | None:
        if not all(type(array) in (np.ndarray, np.memmap) for array in (x, y)):  # a subclass may mean more, such as a mask
            return None
        if not (x.ndim == 3 and x.size > 0 and x.dtype.kind in "fiu" and y.dtype.kind in "iu" and y.shape == x.shape[:2]):
            return None
        labels, codes = np.unique(y, return_inverse=True)
        return labels.tolist(), codes.ravel()

    def _dataset(self, x: Any, y: list[list[Any]] | None) -> _core.Dataset:
        x = listed(x, "X")
        for i, sequence in enumerate(x):
            refuse_text(sequence, f"X[{i}]", "tokens")
        refuse_empty(x)
        names = None if y is None else [[None if label is None else str(label) for label in sequence] for sequence in y]
        kind = kind_of(x, self._has_template(is_training=y is not None))
        if kind == "columns":
            x = [columns(i, sentence) for i, sentence in enumerate(x)]
        elif kind == "rows":
            kind, x = "sequences", [canonical(one) if hasattr(one, "tocsr") else one for one in x]
        return _core.dataset(kind, x=x, y=names)

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        info = json.loads(model.info())
        self.__dict__.pop("n_features_in_", None)
        if not model.is_named():
            self.n_features_in_ = model.columns(bool(info["spec"]["task"].get("bias", False)))

    def _kind(self) -> tuple[str, int | None]:
        """What the model was trained on, as :func:`multiplane._tokens.kind_of` has it, and how many columns of text."""
        if "n_features_in_" in self.__dict__:
            return "rows", None
        columns = self._own("columns")
        return ("attributes", None) if columns is None else ("columns", int(columns) - 1)  # the label's is one of them

    def _refuse_others(self, x: list[Any]) -> None:
        for i, sequence in enumerate(x):
            refuse_text(sequence, f"X[{i}]", "tokens")
        refuse_empty(x)
        refuse_tokens(x, *self._kind())
        if "n_features_in_" in self.__dict__ and kind_of(x, has_template=False) == "rows":
            found = x[0].shape[-1] if hasattr(x[0], "shape") and x[0].shape else np.shape(x[0])[-1]
            refuse_width(self, "X[0]", found)

    # -- a look inside --

    @property
    def unary_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for features: ``[label, feature]``, a bias last; named by ``get_feature_names_out()``."""
        if self._has_kernel:
            raise AttributeError("with a kernel there are no weights of features: dual_coef_ has those of rows")
        return self._weight_table("unary")

    @property
    def pair_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for steps: ``[from, to]``."""
        return self._weight_table("pair")

    @property
    def start_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for first labels, ``[label]``; there with ``ends=True``."""
        return self._weight_table("start")

    @property
    def end_(self) -> NDArray[np.float64]:
        """The part of ``coef_`` for last labels, ``[label]``; there with ``ends=True``."""
        return self._weight_table("end")

    def _weight_table(self, name: str) -> NDArray[np.float64]:
        if self._has_kernel:
            return super()._weight_table(name)
        labels, start = len(self.classes_), 0
        for table, shape in (("unary", (labels, self._model.features())), ("pair", (labels, labels)), ("start", (labels,)), ("end", (labels,))):
            part = self.coef_[start : start + math.prod(shape)]
            if table == name and part.size:
                return part.reshape(shape)
            start += math.prod(shape)
        raise AttributeError(f"the model has no weights {name!r}")

    def _reason(self, name: str) -> str | None:
        if name not in ("unary_", "pair_", "start_", "end_"):
            return super()._reason(name)
        if "_model" not in self.__dict__:
            return "it is not fitted yet"
        return "with a kernel dual_coef_ has weights of rows" if name == "unary_" else "it was fitted without ends=True"

    def decision_function(self, X: Any) -> list[NDArray[np.float64]]:
        """For every position and label the highest score of a labelling that has it there, ``[length, labels]`` for each
        sequence: what :meth:`max_marginals` has.
        """
        return cast("list[NDArray[np.float64]]", self.max_marginals(X))

    def explain(self, x: Any, n: int = 5) -> Explanation:
        """Why one sequence ``x`` is labelled as it is: the score of its best labelling split into what features and steps add
        at every position, with the ``n`` strongest features of each, and how far the second best labelling is behind.

        Raises ValueError with a kernel, where scores are sums over rows.
        """
        self._check_fitted()
        refuse_text(x, "x", "tokens")
        if is_token(x, *self._kind()):
            raise ValueError(f"x is one token, {shown(x)}: expected one sequence of them, as in explain(X[0])")
        refuse_several(x)
        data, _ = self._to_ask([x])
        assert data is not None
        parts = _core.feature_rows(self._model, data)
        if parts is None:
            raise ValueError("explain() is for weights of features: with a kernel scores are sums over rows")
        offsets, indices = (np.frombuffer(part, dtype=np.int64) for part in parts[:2])
        values = np.frombuffer(parts[2], dtype=np.float64)
        spans = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        rows = [(indices[first:last], values[first:last]) for first, last in spans]
        _, _, scores, numbers = self._model.top(data, 2, self._workers())
        best = np.frombuffer(scores, dtype=np.float64)
        found = np.frombuffer(numbers, dtype=np.uint32).reshape(len(best), -1)
        ends = ("start", "end") if self.coef_.size > len(self.classes_) * (self._model.features() + len(self.classes_)) else ()
        tables = {name: self._weight_table(name) for name in ("unary", "pair", *ends)}
        used = np.unique(indices)
        known = _core.feature_names(self._model, True, used) if self._model.is_named() else None
        names = dict(enumerate(self._feature_names(tables["unary"].shape[1]))) if known is None else dict(zip(used.tolist(), known))
        labels = self._labelling(found[0])
        return Explanation(
            labels=labels,
            score=float(best[0]),
            margin=float(best[0] - best[1]) if len(best) > 1 else float("inf"),
            second=self._labelling(found[1]) if len(best) > 1 else None,
            positions=positions(found[0], labels, rows, tables, names, self.margins([x])[0], n),
        )
