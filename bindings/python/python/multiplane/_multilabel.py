"""Any number of labels per row, with weights for pairs of labels."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _validation
from multiplane._costs import by_label
from multiplane._params import plain
from multiplane._several import Several


class MultiLabelSSVM(Several):
    """Says of every label whether a row has it, all labels together: pairs of labels have weights, too.

    ``X`` is ``[n, features]``, ``y`` an indicator matrix ``[n, labels]`` of 0 and 1; both dense or SciPy sparse.
    ``pairwise`` says which pairs have weights: ``"full"`` (the default; exact up to 16 labels, and
    where no pair repels, else with a bound), ``"tree"`` (the tree of Chow and Liu; exact), ``"none"``, or a list of
    pairs of columns, ``[[0, 1], ...]``.

    ``coef_`` is one vector: ``unary[label][feature]``, the score of a label that is there, then for every pair a table
    of four, for neither, the second, the first, and both. ``unary_`` (``[labels, features]``, with a bias feature where
    there is one), ``pairwise_`` (``[pairs, 4]``) and ``edges_`` (``[pairs, 2]``) are its parts; ``classes_`` names the
    columns of ``y``.
    """

    _task = "multilabel"
    _tabular = True

    bias: bool
    label_weights: Any
    loss: Any
    pairwise: Any
    rescaling: str
    scale: str

    def __init__(
        self,
        *,
        bias: bool = False,
        label_weights: Any = None,
        loss: Any = "hamming",
        pairwise: Any = "full",
        rescaling: str = "margin",
        scale: str = "none",
        solver: Any = "auto",
        lam: float | str = "1/n",
        gap: float | str | None = None,
        passes: float | None = None,
        calls: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        threads: int = 1,
        clock: str = "wall",
        params: dict[str, Any] | None = None,
        warm_start: bool = False,
        progress: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._keep(locals())

    def _indicators(self, y: Any, n: int, what: str = "y") -> Any:
        """An array or CSR matrix of 0 and 1 with n rows."""
        found = _validation.indicators(y, n, what)
        expected = len(self.classes_) if what != "y" else found.shape[1]
        if found.shape[1] != expected:
            raise ValueError(f"{what} has {found.shape[1]} labels, expected {expected} as in y")
        return found

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        if x is None:
            return None
        seen = _validation.rows(x, self, reset=False)
        return self._dataset(seen, self._indicators(y, seen.shape[0], "y_test"))

    def _dataset(self, x: Any, y: Any) -> _core.Dataset:
        return _core.Dataset.label_sets(x, y, [str(name) for name in self.classes_.tolist()])

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        seen = _validation.rows(x, self, reset=True)
        labels = self._indicators(y, seen.shape[0])
        self.classes_ = np.arange(labels.shape[1])
        self._seen = [0, 1], []  # of every label: whether it is there
        return self._dataset(seen, labels)

    def _task_value(self, name: str, value: Any) -> Any:
        if name == "label_weights" and isinstance(value, dict) and hasattr(self, "classes_"):
            found = by_label(value, self.classes_.tolist(), name)
            strange = [key for key in value if str(key) not in {str(label) for label in self.classes_.tolist()}]
            if strange:
                raise ValueError(f"label_weights names {strange[0]!r}, which is no column of y: it has {len(found)}")
            return [1.0 if weight is None else weight for weight in found]
        if name == "pairwise" and not isinstance(value, (str, dict)):
            return {"name": "edges", "edges": plain(value, name)}
        return super()._task_value(name, value)

    def fit(
        self, X: Any, y: Any, *, sample_weight: Any = None, X_test: Any = None, y_test: Any = None
    ) -> Self:
        """Trains on rows ``X`` (``[n, features]``) and their labels ``y`` (``[n, labels]``, 0 and 1).

        With test data its mean loss is in every entry of ``history_``. ``sample_weight`` (``[n]``, at least 0) says how much each
        row counts: a weight of 2 is one that is there twice. Returns self. Raises ValueError for unusable input.
        """
        with self._all_or_nothing():
            data = _validation.weighted(self._data(X, y), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data))
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
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
        self._classes_of(model)
        self.n_features_in_ = model.columns(bool(info["spec"]["task"].get("bias", False)))
        self._take(model, info)

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        x = _validation.rows(X, self, reset=False)
        return _core.Dataset.label_sets(x, None, []), [len(self.classes_)] * x.shape[0]

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return numbers.astype(np.int64)

    def _stacked(self, parts: list[Any]) -> Any:
        return np.stack(parts)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The predicted labels of every row, ``[n, labels]``, 0 and 1."""
        self._check_fitted()
        data, sizes = self._to_ask(X)
        assert data is not None
        numbers = np.frombuffer(self._model.predict(data, self._workers()), dtype=np.uint32)
        return numbers.reshape(len(sizes), len(self.classes_)).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose labels are all right (subset accuracy), as scikit-learn's classifiers have it for
        indicator matrices. ``sklearn.metrics`` has others: ``hamming_loss``, ``f1_score(average="samples")``.
        """
        found = self.predict(X)
        truth = _validation.indicators(y, len(found), "y")
        truth = truth.toarray() if hasattr(truth, "toarray") else truth
        if truth.shape != found.shape:
            raise ValueError(f"y has {truth.shape[1]} labels, expected {found.shape[1]}")
        return float(np.average((found == truth).all(axis=1), weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TargetTags

        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = False, True
        tags.target_tags = TargetTags(
            required=True, one_d_labels=False, two_d_labels=True, multi_output=True, single_output=False
        )
        return tags
