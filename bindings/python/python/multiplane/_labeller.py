"""What estimators that give every part of an example a label share: lists of examples, lists of labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _validation
from multiplane._costs import in_order, labels_named
from multiplane._fit_options import FitOptions, refuse_others, with_options
from multiplane._report import Labellings
from multiplane._several import Several


def listed(x: Any, name: str) -> list[Any]:
    if isinstance(x, (str, bytes, dict)) or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
        raise ValueError(f"{name} is a {type(x).__name__}: expected a list of sequences")
    if hasattr(x, "groupby"):  # of pandas, where indices are names
        if hasattr(x, "columns"):
            raise ValueError(f"{name} is a DataFrame: expected a list of sequences, which multiplane.sequences makes of its rows")
        return list(x)
    return x if isinstance(x, list) else [x[i] for i in range(len(x))]


def refuse_text(sequence: Any, what: str, parts: str) -> None:
    """Refuses a text where its parts are wanted: its letters would be taken for them."""
    if isinstance(sequence, (str, bytes)):
        shown = repr(sequence) if len(sequence) <= 30 else f"{sequence[:30]!r}..."
        raise ValueError(f"{what} is the text {shown}: expected a list of {parts}; for one sentence pass [sentence]")


def _is_empty(example: Any) -> bool:
    """Returns True for a sequence without parts."""
    shape = getattr(example, "shape", None)
    return shape[:1] == (0,) if isinstance(shape, tuple) else isinstance(example, (list, tuple)) and not example


class PartLabeller(Several):
    """Labels the parts of examples: ``y`` is a list of sequences of labels, one for each part."""

    _copies_late = True
    _none_is_unknown = False
    _has_missing = True  # labels that stand for a missing value are refused

    def _dataset(self, x: Any, y: list[list[Any]] | None, filler: str = "") -> _core.Dataset:
        """The core's data set; without labels one to predict."""
        raise NotImplementedError

    def _parts(self, example: Any) -> int:
        """How many parts an example has."""
        raise NotImplementedError

    def _refuse_others(self, x: list[Any]) -> None:
        """Refuses examples whose features are not those of training."""

    def _labels(self, y: Any, what: str = "y") -> list[list[Any]]:
        plain = []
        for i, sequence in enumerate(listed(y, what)):
            refuse_text(sequence, f"{what}[{i}]", "labels")
            if not hasattr(sequence, "__len__") or getattr(sequence, "ndim", 1) != 1:
                raise ValueError(f"{what}[{i}] is {sequence!r}: expected a sequence of labels")
            plain.append(sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence))
            is_whole = isinstance(sequence, np.ndarray) and sequence.dtype.kind in "biuSU" and not np.ma.isMaskedArray(sequence)
            if self._has_missing and not is_whole:
                self._refuse_missing(plain[-1], f"{what}[{i}]")
        return plain

    def _merged(self, y: list[list[Any]], known: Iterable[Any], what: str = "y") -> list[list[Any]]:
        """The labels with equal ones (1, 1.0 and True) made one: that of ``known``, else the first."""
        first = {label: label for label in known}
        for i, sequence in enumerate(y):
            try:
                y[i] = [first.setdefault(label, label) for label in sequence]
            except TypeError:  # no hash
                raise ValueError(f"{what}[{i}] is {sequence!r}: expected numbers, texts, or tuples as labels") from None
        return y

    def _refuse_missing(self, labels: list[Any], what: str) -> None:
        """Refuses labels that are not there: their names would be labels like others."""
        for at, label in enumerate(labels):
            if _validation.is_missing(label) and not (label is None and self._none_is_unknown):
                rule = "None stands for one that is not known" if self._none_is_unknown else "expected one for every part"
                raise ValueError(f"{what}[{at}] is {label!r}, a missing label: {rule}")

    def _learn_classes(self, y: list[list[Any]]) -> None:
        by_name: dict[str, Any] = {}
        kinds: dict[bool, Any] = {}  # whether it is a text: the first label
        for i, sequence in enumerate(y):
            for label in sequence:
                if label is None and self._none_is_unknown:
                    continue
                name = str(label)
                kinds.setdefault(isinstance(label, str), label)
                if len(kinds) == 2:
                    other = kinds[not isinstance(label, str)]
                    raise ValueError(f"y[{i}] holds {label!r}, y holds {other!r}: expected labels of one kind")
                if by_name.setdefault(name, label) != label:
                    raise ValueError(f"y[{i}] holds {label!r} beside {by_name[name]!r}: labels that look the same")
                if not name or name.isspace() or "\n" in name:
                    raise ValueError(f"y[{i}] holds the label {name!r}: expected one that shows")
        self._by_name = by_name
        self._seen = [by_name[name] for name in in_order(by_name)]

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        labels = self._merged(self._labels(y), ())
        data = self._dataset(x, labels)
        self._learn_classes(labels)
        return data

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        if x is None:
            return None
        return self._dataset(x, self._merged(self._labels(y, "y_test"), getattr(self, "_by_name", {}).values(), "y_test"))

    @with_options
    def fit(
        self, X: Any, y: Any, *others: Never, sample_weight: Any = None, X_test: Any = None, y_test: Any = None,
        **options: Unpack[FitOptions],
    ) -> Self:  # fmt: skip
        """Trains on sequences ``X`` and their labels ``y``. Returns self. Raises ValueError for unusable input.

        With test data its mean loss is in every entry of ``history_``. ``sample_weight`` (``[n]``, at least 0) says how much each
        sequence counts: a weight of 2 is one that is there twice.
        """
        _validation.refuse_positional(others, type(self).__name__)
        refuse_others(options, self)
        with self._all_or_nothing():
            data = _validation.weighted(self._data(X, y), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data), options=options)
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        labels = [self._by_name.get(name, name) for name in model.labels()]
        scalar = all(isinstance(label, (str, int, float, np.generic)) for label in labels)
        self.classes_ = np.array(labels) if scalar else np.fromiter(labels, dtype=object, count=len(labels))

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        names = model.labels()
        self._by_name = dict(zip(names, labels_named(names).tolist(), strict=True))
        self._take(model, json.loads(model.info()))

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        x = listed(X, "X")
        if not x:
            return None, []
        self._refuse_others(x)
        return self._dataset(x, None, filler=next(iter(self._model.labels()), "")), [self._parts(example) for example in x]

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return self.classes_[numbers]

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The predicted labels of every example: a list of arrays, a label for each part; an empty one of an empty sequence."""
        x = listed(X, "X")
        is_empty = [_is_empty(example) for example in x]
        if not any(is_empty):
            return Labellings(self._labellings(X))
        found = iter(self._labellings([example for example, empty in zip(x, is_empty, strict=True) if not empty]))
        return Labellings(self.classes_[:0] if empty else next(found) for empty in is_empty)

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:
        """How probable each label of every part is, ``[parts, labels]`` for each example, if the probability of a labelling is
        proportional to ``exp(score)``; rows sum to 1. Training for margins does not calibrate them. Of parsers labels are heads,
        the root first.
        """
        self._check_fitted()
        data, sizes = self._to_ask(X)
        return [] if data is None else self._tables(sizes, *self._model.marginals(data, self._workers()))

    def score(self, X: Any, y: Any) -> float:
        """Share of labels predicted rightly, over all sequences; of trees nodes whose label is None are left out."""
        truth = self._labels(y)
        if not truth:
            raise ValueError("y is empty: there is nothing to measure")
        found = self.predict(X)
        if len(found) != len(truth):
            raise ValueError(f"X has {len(found)} examples, y has {len(truth)}")
        right = total = 0
        for i, (a, b) in enumerate(zip(found, truth, strict=True)):
            if len(a) != len(b):
                raise ValueError(f"X[{i}] has {len(a)} rows, y[{i}] has {len(b)} labels")
            known = [(p, t) for p, t in zip(a.tolist(), b, strict=True) if t is not None or not self._none_is_unknown]
            right += sum(p == t or str(p) == str(t) for p, t in known)  # files hold the names of labels
            total += len(known)
        if not total and any(truth):
            raise ValueError("y holds no known label: there is nothing to measure")
        return right / max(1, total)
