"""Any number of labels per row, with weights for pairs of labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Never, Self, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _costs, _labels, _validation
from multiplane._fit_options import WeightedFitOptions, refuse_others, with_options
from multiplane._params import plain
from multiplane._calibration import Calibrated


class MultiLabelSSVM(Calibrated):
    """Says of every label whether a row has it, all labels together: pairs of labels have weights, too.

    ``X`` is ``[n, features]``, ``y`` an indicator matrix ``[n, labels]`` of 0 and 1; both dense or SciPy sparse.
    ``pairwise`` says which pairs have weights: ``"full"`` (the default; exact up to 16 labels, and
    where no pair repels, else with a bound), ``"tree"`` (the tree of Chow and Liu; exact), ``"none"``, or a list of
    pairs of columns, ``[[0, 1], ...]``.

    ``coef_`` is one vector: ``unary[label][feature]``, the score of a label that is there, then for every pair a table
    of four, for neither, the second, the first, and both. ``unary_`` (``[labels, features]``, with a bias feature where
    there is one), ``pairwise_`` (``[pairs, 4]``) and ``edges_`` (``[pairs, 2]``) are its parts; ``classes_`` names the
    columns of ``y``.

    A 1D ``y`` of two classes, as other classifiers take it, is one label: whether a row is of the greater class.
    ``classes_`` are the two then, and predictions are 1D and of them, after loading as well.
    """

    _task = "multilabel"
    _tabular = True
    __metadata_request__fit = _validation.REQUESTS
    _pair = cast("NDArray[Any] | None", None)
    """The two classes of a 1D y."""

    bias: bool = False
    label_weights: Any = None
    loss: Any = "hamming"
    pairwise: Any = "full"
    rescaling: str = "margin"
    scale: str = "none"

    def _columns(self) -> list[Any]:
        """The labels: what the columns of indicators stand for."""
        return list((self.classes_ if self._pair is None else self._pair[1:]).tolist())

    def _indicators(self, y: Any, n: int, what: str) -> Any:
        """An array or CSR matrix of 0 and 1 with n rows, in the terms of the training data."""
        if self._pair is not None and _validation.is_list_of_labels(y):
            found = _validation.labels(y, n, what)
            strange = found[~np.isin(found, self._pair)]
            if len(strange):
                raise ValueError(f"{what} holds {strange.tolist()[0]!r}, which is none of the classes {self._pair.tolist()}")
            return _indicator(found, self._pair)
        found = _validation.indicators(y, n, what)
        expected = len(self._columns())
        if found.shape[1] != expected:
            raise ValueError(f"{what} has {found.shape[1]} labels, expected {expected}{' as in y' if what != 'y' else ''}")
        return found

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        if x is None:
            return None
        seen = _validation.rows(x, self, reset=False)
        return self._dataset(seen, self._indicators(y, seen.shape[0], "y_test"))

    def _dataset(self, x: Any, y: Any) -> _core.Dataset:
        names = getattr(self, "feature_names_in_", None)
        labels = [str(name) for name in self._columns()]
        return _core.dataset("sets", x=x, y=y, names=labels, features=None if names is None else names.tolist())

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        seen = _validation.rows(x, self, reset=True)
        self._pair = None
        if _validation.is_list_of_labels(y):
            found = _validation.labels(y, seen.shape[0])
            self._pair = self.classes_ = _validation.two_classes(found, type(self).__name__)
            labels = _indicator(found, self._pair)
        else:
            labels = _validation.indicators(y, seen.shape[0])
            _validation.tell_of_column(y)
            self.classes_ = np.arange(labels.shape[1])
        self._seen = [0, 1]  # of every label: whether it is there
        return self._dataset(seen, labels)

    def _task_value(self, name: str, value: Any) -> Any:
        if name == "label_weights" and isinstance(value, dict) and hasattr(self, "classes_"):
            found = _costs.by_label(value, self._columns(), name)
            strange = [key for key in value if str(key) not in {str(label) for label in self._columns()}]
            if strange:
                raise ValueError(f"label_weights names {strange[0]!r}, which is no column of y: it has {len(found)}")
            return [1.0 if weight is None else weight for weight in found]
        if name == "pairwise" and not isinstance(value, (str, dict)):
            return {"name": "edges", "edges": plain(value, name)}
        return super()._task_value(name, value)

    @with_options
    def fit(
        self, X: Any, y: Any, *others: Never, X_test: Any = None, y_test: Any = None, **options: Unpack[WeightedFitOptions]
    ) -> Self:  # fmt: skip
        """Trains on rows ``X`` (``[n, features]``) and their labels ``y`` (``[n, labels]``, 0 and 1; or ``[n]``, of two classes).

        With test data its mean loss is in every entry of ``history_``. ``sample_weight=`` (``[n]``, at least 0) says how much each
        row counts: a weight of 2 is one that is there twice. It is no name of the signature, for the reason that
        :meth:`MulticlassSSVM.fit` gives. Returns self. Raises ValueError for unusable input.
        """
        refuse_others(others, options, self, "sample_weight")
        sample_weight = options.get("sample_weight")
        with self._all_or_nothing(X=X, y=y, sample_weight=sample_weight, X_test=X_test, y_test=y_test):
            data = _validation.weighted(self._data(X, y), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data), options=options)
        return self

    def _file_labels(self, model: Any) -> Sequence[Any]:
        return [] if self._pair is None else self._pair[1:].tolist()

    def _named_path(self, model: Any) -> Any:
        model = super()._named_path(model)
        return model if self._pair is None else model.with_other(str(self._pair[0]))

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(self._named_path(model), summary)
        info = json.loads(model.info())
        labels, pairwise = len(model.labels()), info["spec"]["task"]["pairwise"]
        pairs = {
            "full": [(j, k) for j in range(labels) for k in range(j + 1, labels)],
            "none": [],
            "tree": info.get("tree", []),
            "edges": sorted({(min(pair), max(pair)) for pair in pairwise.get("edges", [])}),
        }[pairwise["name"]]
        self.edges_ = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        ends = labels * model.features()
        self.unary_ = self.coef_[:ends].reshape(labels, -1)
        self.pairwise_ = self.coef_[ends:].reshape(-1, 4)

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        info = json.loads(model.info())
        pair, other = self._pair, info.get("other")  # of the estimator whose path this model is of, and of the file
        self._classes_of(model)
        if pair is None or model.labels() != [str(pair[1])]:
            pair = None if other is None else _labels.of_file([other, *model.labels()], 2 * model.label_kinds())
        self._pair = pair
        if pair is not None:
            self.classes_ = pair
        self.n_features_in_ = model.columns(bool(info["spec"]["task"].get("bias", False)))
        if model.is_named():
            self.feature_names_in_ = np.array(_core.feature_names(model, False), dtype=object)
        self._take(model, info)

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        x = _validation.rows(X, self, reset=False)
        return _core.dataset("sets", x=x), [len(self._columns())] * x.shape[0]

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        found = numbers.astype(np.int64)
        return found if self._pair is None else self._pair[found[0]]

    def _label(self, number: int) -> Any:
        return number

    def _stacked(self, parts: list[Any]) -> Any:
        found = np.stack(parts)
        return found if self._pair is None else found[:, 0]

    def _predicted(self, X: Any) -> NDArray[np.int64]:
        """Of every row and label whether it is there."""
        self._check_fitted()
        data, sizes = self._to_ask(X)
        assert data is not None
        numbers = np.frombuffer(self._model.predict(data, self._workers()), dtype=np.uint32)
        return numbers.reshape(len(sizes), -1).astype(np.int64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted labels of every row, ``[n, labels]``, 0 and 1; after a 1D ``y`` the classes, ``[n]``."""
        found = self._predicted(X)
        return found if self._pair is None else self._pair[found[:, 0]]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose labels are all right (subset accuracy), as scikit-learn's classifiers have it for
        indicator matrices. ``sklearn.metrics`` has others: ``hamming_loss``, ``f1_score(average="samples")``.
        """
        found = self._predicted(X)
        truth = self._indicators(y, len(found), "y")
        truth = truth.toarray() if hasattr(truth, "toarray") else truth
        return _validation.weighted_mean((found == truth).all(axis=1), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = False, True
        return tags


def _indicator(labels: NDArray[Any], pair: NDArray[Any]) -> NDArray[np.float64]:
    """The column of 0 and 1 that says which of the two classes each label is."""
    return np.asarray(labels == pair[1], dtype=np.float64)[:, None]
