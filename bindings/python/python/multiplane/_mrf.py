"""Labelling the nodes of pairwise models that are given as tables of features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _mrfs
from multiplane._check import Findings, diagnosed
from multiplane._graphs import is_path
from multiplane._path import PathResult
from multiplane._several import Several

_NO_LABEL = -1


class MrfSSVM(Several):
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
    certified, but may stay above the gap that was asked for. ``params={"task.loss": "node-weighted"}`` or
    ``"hamming-sum"`` changes what errors cost, ``{"task.max_iterations": 30}`` how long messages are passed.

    Args:
        unary_columns: Which features, and so which weights, the f columns of ``unary_features`` are: numbers from 0.
            None: the first f. A container says so itself.
        pair_columns: The same of the g columns of ``pair_features``. With neither given, f and g must be equal: nodes
            and edges have the same features then. ``unary_columns=[0, 1], pair_columns=[2, 3, 4]`` has two features of
            nodes and three of edges, and no zeros to store.
    """

    _task = "mrf"
    _estimator_type = "classifier"

    def __init__(
        self,
        *,
        unary_columns: Sequence[int] | None = None,
        pair_columns: Sequence[int] | None = None,
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
        super().__init__(
            solver=solver, lam=lam, gap=gap, passes=passes, calls=calls, seconds=seconds, seed=seed, threads=threads,
            clock=clock, params=params, warm_start=warm_start, progress=progress, n_jobs=n_jobs,
        )
        self.unary_columns = unary_columns
        self.pair_columns = pair_columns

    # -- data --

    def _models(self, x: Any, what: str = "X") -> list[_mrfs.Model]:
        if isinstance(x, dict) or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
            raise ValueError(f"{what} is a {type(x).__name__}: expected a list of models, or the path of a container")
        if len(x) == 0:
            raise ValueError(f"{what} is empty: expected at least one model")
        return [_mrfs.model(x[i], f"{what}[{i}]") for i in range(len(x))]

    def _labels(self, y: Any, models: list[_mrfs.Model], what: str = "y") -> list[NDArray[np.int64]]:
        if y is None:
            raise ValueError(f"requires {what} to be passed, but the target {what} is None")
        if len(y) != len(models):
            raise ValueError(f"X has {len(models)} examples, {what} has {len(y)}")
        found = []
        for i, (labels, m) in enumerate(zip(y, models, strict=True)):
            one = np.asarray(labels)
            if one.shape != m.counts.shape:
                raise ValueError(
                    f"{what}[{i}] has the shape {one.shape}, expected one label for each of {len(m.counts)} nodes"
                )
            whole = one.astype(np.int64) if one.dtype.kind in "iubf" else None
            if whole is None or not np.array_equal(whole, one):
                raise ValueError(f"{what}[{i}]: expected whole numbers, the labels of the nodes")
            wrong = np.flatnonzero((whole < _NO_LABEL) | (whole >= m.counts))
            if len(wrong):
                v = int(wrong[0])
                raise ValueError(
                    f"{what}[{i}][{v}]: found {whole[v]}, a node with {m.counts[v]} labels: expected 0 to "
                    f"{m.counts[v] - 1}, or -1 where the truth is not known"
                )
            found.append(whole)
        return found

    def _columns(self) -> tuple[Any, Any]:
        return self.unary_columns, self.pair_columns

    def _dataset(self, x: Any, y: Any, weights: Any = None, *, what: str = "y") -> _core.Dataset:
        if is_path(x):
            if y is not None or weights is not None:
                raise ValueError(f"X is the path of a container, which holds its labels and weights: give no {what}")
            return _core.Dataset.read(x, "mrf")
        models = self._models(x)
        labels = self._labels(y, models, what)
        if weights is not None:
            weights = [np.asarray(one, dtype=np.float64) for one in weights]
            if len(weights) != len(models):
                raise ValueError(f"X has {len(models)} examples, node_weights has {len(weights)}")
            for i, (one, m) in enumerate(zip(weights, models, strict=True)):
                if one.shape != m.counts.shape:
                    raise ValueError(f"node_weights[{i}] has the shape {one.shape}, expected {m.counts.shape}")
        return _mrfs.dataset(models, labels, weights, self._columns())

    # -- training --

    def fit(self, X: Any, y: Any = None, *, node_weights: Any = None, X_test: Any = None, y_test: Any = None) -> Self:
        """Trains on models ``X`` and the labels ``y`` of their nodes. Returns self. Raises ValueError for bad input.

        ``node_weights`` is a list of arrays, one number >= 0 per node: what ``{"task.loss": "node-weighted"}`` goes by.
        With test data its mean loss is in every entry of ``history_``.
        """
        with self._all_or_nothing():
            data = self._dataset(X, y, node_weights)
            test = None if X_test is None else self._dataset(X_test, y_test, what="y_test")
            self._train(data, test, self._was_fitted_on(data))
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        self.n_features_in_ = len(self.coef_)

    # -- results --

    def _to_predict(self, x: Any) -> _core.Dataset:
        """Models without labels."""
        if is_path(x):
            return _core.Dataset.read(x, "mrf")
        models = self._models(x)
        data = _mrfs.dataset(models, [np.full(len(m.counts), _NO_LABEL) for m in models], None, self._columns())
        found = _core.mrf_sizes(data)[1]
        if found != self.n_features_in_:
            raise ValueError(
                f"X has {found} features, but MrfSSVM is expecting {self.n_features_in_} features as input; unary_columns "
                "and pair_columns say which are which, and a model's file does not hold them"
            )
        return data

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        if not is_path(X) and hasattr(X, "__len__") and len(X) == 0:
            return None, []
        data = self._to_predict(X)
        sizes, _ = _core.mrf_sizes(data)
        return data, list(sizes)

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return numbers.astype(np.int64)

    def _table(self, rows: list[NDArray[np.float64]]) -> Any:
        return [row.copy() for row in rows]  # nodes have labels of their own

    def predict(self, X: Any) -> list[NDArray[np.int64]]:
        """The predicted labels of every model: a list of arrays ``[nodes]``. ``X`` may be the path of a container."""
        self._check_fitted()
        data, sizes = self._to_ask(X)
        if data is None:
            return []
        numbers = np.frombuffer(self._model.predict(data, self._workers()), dtype=np.uint32).astype(np.int64)
        return np.split(numbers, np.cumsum(sizes)[:-1])

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the nodes with a label that are labelled rightly, over all models."""
        self._check_fitted()
        if is_path(X):
            return float(self._model.evaluate(self._dataset(X, y), self._workers())[1])
        truth = self._labels(y, self._models(X))
        right = total = 0
        for found, one in zip(self.predict(X), truth, strict=True):
            labelled = one != _NO_LABEL
            right += int((found[labelled] == one[labelled]).sum())
            total += int(labelled.sum())
        return right / max(1, total)

    def check(
        self, X: Any, y: Any = None, *, examples: int = 50, seed: int = 0, seconds: float = 120.0, passes: float = 50.0
    ) -> Findings:
        """Has the oracle doctor examine task and data as ``fit`` would use them: are losses and features sound, are
        answers as good as they claim? What calls cost, and a forecast for so many ``passes``, come with it.

        Returns:
            The findings; empty where all seems sound. ``print`` them for a report.
        """
        made = self._unfitted()
        spec = json.dumps(made._tree())
        data = made._dataset(X, y)
        return diagnosed(_core.check_data(spec, data, examples=examples, seed=seed, seconds=seconds, passes=passes))

    def path(
        self,
        X: Any,
        y: Any = None,
        *,
        eps: float = 0.1,
        lambda_min: float = 1e-5,
        kappa: float = 0.9,
        X_test: Any = None,
        y_test: Any = None,
    ) -> PathResult:
        """Follows the regularisation path: at every lambda down to ``lambda_min`` weights whose objective is within
        ``eps`` of the optimum, proven. Breakpoints are optimised to a gap of ``kappa * eps``.
        """
        made = self._unfitted()
        data = made._dataset(X, y)
        test = None if X_test is None else made._dataset(X_test, y_test, what="y_test")
        return made._path(data, {"eps": eps, "lambda_min": lambda_min, "kappa": kappa}, test)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=False),
            non_deterministic=self._is_timed(),
        )
