"""What estimators that give every part of an example a label share: lists of examples, lists of labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _labels, _validation
from multiplane._costs import in_order
from multiplane._errors import warn
from multiplane._fit_options import FitOptions, refuse_others, with_options
from multiplane._report import Labellings
from multiplane._calibration import Calibrated


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


def length(rows: Any) -> int:
    """The number of rows of an array or a sparse matrix, or of items of a list."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _is_empty(example: Any) -> bool:
    """Returns True for a sequence without parts."""
    shape = getattr(example, "shape", None)
    return shape[:1] == (0,) if isinstance(shape, tuple) else isinstance(example, (list, tuple)) and not example


class PartLabeller(Calibrated):
    """Labels the parts of examples: ``y`` is a list of sequences of labels, one for each part."""

    _copies_late = True

    def _dataset(self, x: Any, y: list[list[Any]] | None) -> _core.Dataset:
        """The core's data set; without labels one to predict."""
        raise NotImplementedError

    def _parts(self, example: Any) -> int:
        """How many parts an example has."""
        return length(example)

    def _refuse_others(self, x: list[Any]) -> None:
        """Refuses examples whose features are not those of training."""

    def _kept(self, X: Any) -> Sequence[int]:
        return [i for i, example in enumerate(listed(X, "X")) if not _is_empty(example)]

    def _labels(self, y: Any, what: str = "y") -> list[list[Any]]:
        """The labels of every example, None for those that are masked."""
        plain = []
        for i, sequence in enumerate(listed(y, what)):
            refuse_text(sequence, f"{what}[{i}]", "labels")
            if not hasattr(sequence, "__len__") or getattr(sequence, "ndim", 1) != 1:
                raise ValueError(f"{what}[{i}] is {sequence!r}: expected a sequence of labels")
            own = sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence)
            plain.append([label.item() if isinstance(label, np.generic) else label for label in own])
        return plain

    def _merged(self, y: list[list[Any]], known: Iterable[Any] = (), what: str = "y") -> list[list[Any]]:
        """The labels with equal ones (1, 1.0 and True) made one, that of ``known``, else the first, and None for all unknown."""
        first = {label: label for label in known}
        seen = dict(first)
        for i, sequence in enumerate(y):
            try:
                seen.update(dict.fromkeys(sequence))
            except TypeError:  # no hash
                raise ValueError(f"{what}[{i}] is {sequence!r}: expected numbers, texts, or tuples as labels") from None
        unknown = _labels.Unknown(getattr(self, "unknown", None))
        if first and unknown.given is None and _labels.NO_LABEL not in first:
            unknown.given = [_labels.NO_LABEL]
        if not first:
            unknown.take_rest(seen)
            first.update((label, int(label)) for label in _labels.whole_floats(seen))
        first.update((label, None) for label in seen if label in unknown)
        return [[first.setdefault(label, label) for label in sequence] for sequence in y]

    def _learn_classes(self, y: list[list[Any]]) -> None:
        by_name: dict[str, Any] = {}
        first: dict[Any, str] = {}  # labels: where each is first
        for i, sequence in enumerate(y):
            for label in sequence:
                if label is not None and label not in first:
                    first[label] = f"y[{i}][{sequence.index(label)}]"
        _labels.refuse_mixed((place, label) for label, place in first.items())
        for label, place in first.items():
            name = str(label)
            if by_name.setdefault(name, label) != label:
                raise ValueError(f"{place} is {label!r}, {first[by_name[name]]} is {by_name[name]!r}: labels that look the same")
            if not name or name.isspace() or "\n" in name:
                raise ValueError(f"{place} is the label {name!r}: expected one that shows")
        if not by_name:
            raise ValueError("y holds no known label: there is nothing to learn from")
        self._by_name = by_name
        self._seen = [by_name[name] for name in in_order(by_name)]

    def _coded(self, x: Any, y: Any) -> tuple[list[Any], NDArray[np.int64]] | None:
        """The distinct labels, and which of them each part has, if rows of examples of one length are in one array; else None."""
        return None

    def _data(self, x: Any, y: Any, weights: Any = None) -> _core.Dataset:
        coded = self._coded(x, y) if weights is None else None
        if coded is not None:
            labels = self._merged([coded[0]])
            names = [None if label is None else str(label) for label in labels[0]]
            data = _core.dataset("sequences", x=x, codes=coded[1], names=names)
        else:
            labels = self._counted(self._merged(self._labels(y)), np.asarray(weights))
            data = self._dataset(x, labels)
        self._learn_classes(labels)
        return data

    def _counted(self, y: list[list[Any]], weights: NDArray[Any]) -> list[list[Any]]:
        """Labels without those that only examples of weight 0 have."""
        if weights.shape != (len(y),) or weights.dtype.kind not in "iuf" or (weights > 0).all():
            return y
        there = {label for labels, weight in zip(y, weights, strict=True) if weight > 0 for label in labels}
        return [[label if label in there else None for label in labels] for labels in y]

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        if x is None:
            return None
        x, labels = listed(x, "X_test"), self._merged(self._labels(y, "y_test"), getattr(self, "_by_name", {}).values(), "y_test")
        if len(x) == len(labels):  # what is empty has no loss
            there = [i for i in range(len(x)) if labels[i] or not _is_empty(x[i])]
            x, labels = [x[i] for i in there], [labels[i] for i in there]
        return self._dataset(x, labels)

    @with_options
    def fit(
        self, X: Any, y: Any, *others: Never, sample_weight: Any = None, X_test: Any = None, y_test: Any = None,
        **options: Unpack[FitOptions],
    ) -> Self:  # fmt: skip
        """Trains on sequences ``X`` and their labels ``y``. Returns self. Raises ValueError for unusable input.

        With test data its mean loss is in every entry of ``history_``. ``sample_weight`` (``[n]``, at least 0) says how much each
        sequence counts: a weight of 2 is one that is there twice, and labels that only sequences of weight 0 have are not there.
        """
        refuse_others(others, options, self)
        with self._all_or_nothing(X=X, y=y, sample_weight=sample_weight, X_test=X_test, y_test=y_test):
            data = _validation.weighted(self._data(X, y, sample_weight), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data), options=options)
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(self._with_kinds(model), summary)
        self.classes_ = _labels.array_of(self._file_labels(model))

    def _file_labels(self, model: Any) -> Sequence[Any]:
        return [self._by_name.get(name, name) for name in model.labels()]

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        names = model.labels()
        self._by_name = dict(zip(names, _labels.of_file(names, model.label_kinds()).tolist(), strict=True))
        self._take(model, json.loads(model.info()))

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        x = listed(X, "X")
        if not x:
            return None, []
        asked = [example for example in x if not _is_empty(example)]
        sizes = [0 if _is_empty(example) else self._parts(example) for example in x]
        if not asked:
            return None, sizes
        self._refuse_others(asked)
        return self._dataset(asked, None), sizes

    def _tell_of_unknown_names(self, X: Any) -> None:
        """Warns if training saw less than half of the named features of the data, counted by places."""
        data, _ = self._to_ask(X) if self._model.is_named() else (None, [])
        if data is None:
            return
        try:
            total = len(np.frombuffer(data.parts()[1], dtype=np.int64))
        except ValueError:  # text
            return
        rows = _core.feature_rows(self._model, data)
        if rows is None:
            return
        offsets, indices = (np.frombuffer(part, dtype=np.int64) for part in rows[:2])
        bias = bool(json.loads(self._model.info())["spec"]["task"].get("bias", False))
        unknown = total - len(indices) + int(bias) * (len(offsets) - 1)
        if 2 * unknown > total:
            warn(
                f"{unknown} of {total} features in X have names that the model does not know, and are ignored: were they made as for fit?"
            )

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return self.classes_[numbers]

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The predicted labels of every example: a list of arrays, a label for each part; an empty one of an empty sequence."""
        return Labellings(self._labellings(X))

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:
        """How probable each label of every part is, ``[parts, labels]`` for each example, if the probability of a labelling is
        proportional to ``exp(score)``; rows sum to 1. Training for margins does not calibrate them. Of parsers labels are heads,
        the root first.
        """
        self._check_fitted()
        data, sizes = self._to_ask(X)
        if data is None:
            return [self._table([]) for _ in sizes]
        return self._tables(sizes, *self._model.marginals(data, self._workers()))

    def score(self, X: Any, y: Any) -> float:
        """Share of labels predicted rightly, over all sequences; those that are not known are left out."""
        self._check_fitted()
        truth = self._merged(self._labels(y), getattr(self, "_by_name", {}).values())
        if not truth:
            raise ValueError("y is empty: there is nothing to measure")
        _labels.warn_of_new((label for one in truth for label in one if label is not None), getattr(self, "classes_", None))
        found = self.predict(X)
        if len(found) != len(truth):
            raise ValueError(f"X has {len(found)} examples, y has {len(truth)}")
        self._tell_of_unknown_names(X)
        right = total = 0
        for i, (a, b) in enumerate(zip(found, truth, strict=True)):
            if len(a) != len(b):
                raise ValueError(f"X[{i}] has {len(a)} rows, y[{i}] has {len(b)} labels")
            known = [(p, t) for p, t in zip(a.tolist(), b, strict=True) if t is not None]
            right += sum(p == t or str(p) == str(t) for p, t in known)  # files hold the names of labels
            total += len(known)
        if not total and any(truth):
            raise ValueError("y holds no known label: there is nothing to measure")
        return right / max(1, total)
