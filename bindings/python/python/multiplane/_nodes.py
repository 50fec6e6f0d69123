"""What estimators that label the nodes of graphs share: examples or containers in, arrays of labels out."""

from __future__ import annotations

from typing import Any, ClassVar, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _labels, _validation
from multiplane._arrays import is_path, numbers, offsets
from multiplane._errors import warn
from multiplane._fit_options import FitOptions, refuse_others, with_options
from multiplane._report import Labellings
from multiplane._calibration import Calibrated

Labels = np.ma.MaskedArray[Any, Any]
"""The labels of an example's nodes; those that are not known are masked."""


def _known(given: Any, found: NDArray[Any], unknown: _labels.Unknown) -> NDArray[np.bool_]:
    """Marks the labels that are known."""
    if found.dtype.kind in "OU":  # NumPy makes the text "nan" of a NaN among texts
        labels = given if isinstance(given, (list, tuple)) else found.tolist()
        return np.array([label not in unknown for label in labels], dtype=bool).reshape(found.shape)
    known = ~np.isnan(found) if found.dtype.kind == "f" else np.ones(found.shape, dtype=bool)
    for label in unknown.given or []:
        if not isinstance(label, str):
            known &= found != label
    return known


class NodeLabeller(Calibrated):
    """Labels the nodes of examples, which come as a list or as the path of a container that holds labels as well."""

    _things: ClassVar[str]
    """What the examples are, in the plural."""

    unknown: Any = None

    # -- what differs --

    def _example(self, item: Any, what: str) -> Any:
        """One example, checked; ``what`` names it in errors."""
        raise NotImplementedError

    def _nodes(self, example: Any) -> int:
        """How many nodes it has."""
        raise NotImplementedError

    def _checked(self, labels: Labels, example: Any, what: str) -> Labels:
        """Labels of an example's nodes, one for each."""
        return labels

    def _learn(self, examples: list[Any] | None, labels: list[Labels]) -> None:
        """Notes what later data must be like; ``examples`` is None for a container."""

    def _arrays(self, examples: list[Any]) -> dict[str, Any]:
        """The arrays of the core's data set that depend on what the examples are."""
        raise NotImplementedError

    def _unlabelled(self, examples: list[Any], labels: list[NDArray[np.int64]]) -> _core.Dataset:
        """The data set to predict, refused where its features are not those of training."""
        return self._packed(examples, labels, None)

    # -- data --

    def _examples(self, x: Any) -> list[Any]:
        if isinstance(x, dict) or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
            raise ValueError(f"X is a {type(x).__name__}: expected a list of {self._things}, or the path of a container")
        if len(x) == 0:
            raise ValueError(f"X is empty: expected at least one {self._things.removesuffix('s')}")
        return [self._example(x[i], f"X[{i}]") for i in range(len(x))]

    def _labels(self, y: Any, examples: list[Any], what: str = "y") -> list[Labels]:
        if y is None:
            raise ValueError(f"requires {what} to be passed, but the target {what} is None")
        unknown = _labels.Unknown(self.unknown)
        unknown.given = [*(unknown.given or []), _labels.NO_LABEL]
        found = []
        for i, one in enumerate(self._one_each(y, examples, what)):
            nodes = self._nodes(examples[i])
            if one.shape != (nodes,):
                raise ValueError(f"{what}[{i}] has the shape {one.shape}, expected one label for each of {nodes} nodes")
            known = _known(y[i], one, unknown) & ~np.ma.getmaskarray(y[i] if np.ma.isMaskedArray(y[i]) else one)
            if one.dtype.kind in "OU":
                given = y[i] if isinstance(y[i], (list, tuple)) else one.tolist()
                _labels.refuse_mixed((f"{what}[{i}][{at}]", given[at]) for at in np.flatnonzero(known).tolist())
                if one.dtype.kind == "O":
                    one = _labels.array_of([label if k else given[known.argmax()] for label, k in zip(given, known.tolist(), strict=True)])
            found.append(self._checked(np.ma.MaskedArray(one, ~known), examples[i], f"{what}[{i}]"))
        return found

    def _weights(self, weights: Any, examples: list[Any]) -> list[NDArray[np.float64]] | None:
        if weights is None:
            return None
        found = []
        for i, one in enumerate(self._one_each(weights, examples, "node_weights")):
            if np.ma.isMaskedArray(weights[i]):
                raise ValueError(f"node_weights[{i}]: found a masked array of {one.dtype}, expected a number for each node")
            found.append(numbers(one, f"node_weights[{i}]").astype(np.float64, copy=False))
            if one.shape != (self._nodes(examples[i]),):
                raise ValueError(f"node_weights[{i}] has the shape {one.shape}, expected ({self._nodes(examples[i])},)")
        return found

    @staticmethod
    def _one_each(given: Any, examples: list[Any], what: str) -> list[NDArray[Any]]:
        """As many arrays as there are examples."""
        if isinstance(given, dict) or not hasattr(given, "__len__") or not hasattr(given, "__getitem__"):
            raise ValueError(f"{what} is a {type(given).__name__}: expected a list of arrays, one number for each node")
        if len(given) != len(examples):
            raise ValueError(f"X has {len(examples)} examples, {what} has {len(given)}")
        found = []
        for i in range(len(examples)):
            try:
                found.append(_validation.label_array(given[i]))
            except ValueError:  # lists of unequal lengths
                raise ValueError(f"{what}[{i}]: expected an array of one dimension") from None
        return found

    def _dataset(
        self, x: Any, y: Any, weights: Any = None, *, learn: bool = False, what: str = "y", sample_weight: Any = None
    ) -> _core.Dataset:
        if is_path(x):
            if y is not None or weights is not None:
                raise ValueError(f"X is the path of a container, which holds its labels and weights: give no {what}")
            if learn:
                self._named = False
                self._learn(None, [])
            return _core.Dataset.read(x, self._task)
        examples = self._examples(x)
        labels = self._labels(y, examples, what)
        counted = np.asarray(sample_weight)
        if counted.shape == (len(labels),) and counted.dtype.kind in "iuf":
            there = {label for one, weight in zip(labels, counted, strict=True) if weight > 0 for label in one.compressed().tolist()}
            for one in labels:
                one.mask |= np.array([label not in there for label in one.data.tolist()], dtype=bool)
        if learn:
            self._learn(examples, labels)
            if self.unknown is None:
                _labels.warn_of_signs(y, [one.compressed() for one in labels])
        codes = []
        for one in labels:
            codes.append(np.full(one.shape, _labels.NO_LABEL, dtype=np.int64))
            codes[-1][~one.mask] = self._codes(one.compressed())
        return self._packed(examples, codes, self._weights(weights, examples))

    def _packed(
        self, examples: list[Any], labels: list[NDArray[np.int64]], weights: list[NDArray[np.float64]] | None
    ) -> _core.Dataset:
        """The core's data set; its errors name keywords, not tensors of containers."""
        arrays = self._arrays(examples)
        try:
            return _core.dataset(
                self._task,
                **arrays,
                node_offsets=offsets([self._nodes(one) for one in examples]),
                labels=np.concatenate(labels).astype(np.int64, copy=False),
                edges=np.concatenate([one.edges for one in examples]).ravel(),
                edge_offsets=offsets([len(one.edges) for one in examples]),
                node_weights=None if weights is None else np.concatenate(weights),
            )
        except ValueError as error:
            raise ValueError(str(error).replace("_feature_columns", "_columns")) from None

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        return self._dataset(x, y, learn=True)

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        return None if x is None else self._dataset(x, y, what="y_test")

    # -- training and results --

    @with_options
    def fit(
        self, X: Any, y: Any = None, *others: Never, node_weights: Any = None, sample_weight: Any = None,
        X_test: Any = None, y_test: Any = None, **options: Unpack[FitOptions],
    ) -> Self:  # fmt: skip
        """Trains on examples ``X`` and the labels ``y`` of their nodes. Returns self. Raises ValueError for bad input.

        ``node_weights`` is a list of arrays, one number >= 0 per node: what ``loss="node-weighted"`` goes by.
        ``sample_weight`` (``[n]``, at least 0) says how much each example counts: a weight of 2 is one that is there twice.
        With test data its mean loss is in every entry of ``history_``.
        """
        refuse_others(others, options, self)
        with self._all_or_nothing(
            X=X, y=y, node_weights=node_weights, sample_weight=sample_weight, X_test=X_test, y_test=y_test
        ):
            before = getattr(self, "classes_", None)
            made = self._dataset(X, y, node_weights, learn=True, sample_weight=sample_weight)
            data = _validation.weighted(made, sample_weight)
            same = is_path(X) or np.array_equal(before, getattr(self, "classes_", None))  # type: ignore[arg-type]
            self._train(data, self._test_data(X_test, y_test), same and self._was_fitted_on(data), options=options)
        return self

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        if is_path(X):
            data = self._read(X)
        elif hasattr(X, "__len__") and len(X) == 0:
            return None, []
        else:
            examples = self._examples(X)
            data = self._unlabelled(examples, [np.full(self._nodes(one), _labels.NO_LABEL) for one in examples])
        return data, data.sizes()[0]

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The predicted labels of every example: a list of arrays ``[nodes]``. ``X`` may be the path of a container."""
        return Labellings(self._labellings(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the nodes with a label that are labelled rightly, over all examples.

        Examples without any known label are left out, with one warning. Raises ValueError where no label is known.
        """
        self._check_fitted()
        if is_path(X):
            if y is not None:
                raise ValueError("X is the path of a container, which holds its labels: give no y")
            data = self._read(X)
            _, accuracy, _, unlabelled = self._model.evaluate(data, self._workers())
            share, every = accuracy, len(data)
        else:
            truth = self._labels(y, self._examples(X))
            known = [~one.mask for one in truth]
            unlabelled, every = sum(not one.any() for one in known), len(known)
            share = None
            if unlabelled < every:
                _labels.warn_of_new((label for one in truth for label in np.unique(one.compressed()).tolist()), getattr(self, "classes_", None))
                answers = zip(self.predict(X), truth, known, strict=True)
                right = sum(_labels.equal(found[labelled], one.compressed()) for found, one, labelled in answers)
                share = right / sum(int(labelled.sum()) for labelled in known)
        if share is None:
            raise ValueError(f"no node of these {self._things} has a known label: there is nothing to measure")
        if unlabelled:
            warn(f"{unlabelled} of {every} {self._things} have no known label: they are left out")
        return share
