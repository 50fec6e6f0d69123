"""Classifiers on rows of features: two classes and several."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, ClassVar, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _labels, _validation
from multiplane._errors import UnusedParameterWarning, warn
from multiplane._fit_options import WeightedFitOptions, refuse_others, with_options
from multiplane._given import STOPS
from multiplane._kernel import Kernels, kernel_docs, matrix_of
from multiplane._stream import Learning, labels_of, stream_tree


def _divided(x: Any, divisors: NDArray[np.float64]) -> Any:
    """Rows with their columns divided by numbers so small that a weight divided by one is infinite."""
    with np.errstate(over="ignore"):
        if hasattr(x, "tocsr"):
            x = x.tocsr().astype(np.float64, copy=True)
            x.data /= divisors[x.indices]
        else:
            x = x / divisors
    if not np.isfinite(x.data if hasattr(x, "tocsr") else x).all():
        raise ValueError("X: after division by the scale of the features, found numbers that no 64 bits hold")
    return x


class _RowClassifier(Kernels):
    """What classifiers on rows share."""

    _tabular = True
    _takes_matrices = True
    _further = kernel_docs(
        '``"chi-square"``, ``"precomputed"`` (X is the matrix: a column for every training row) or a function of two arrays of rows '
        "that returns the matrix of their values (computed as a whole; training rows are kept in ``X_fit_``).",
        "X",
    )
    _multi_class: ClassVar[bool]
    __metadata_request__fit = _validation.REQUESTS

    bias: bool = False
    class_weight: Any = None
    loss: Any = "hamming"
    rescaling: str = "margin"
    scale: str = "none"

    # -- data --

    def _dataset(self, x: Any, y: Any) -> _core.Dataset:
        """Rows, or those of the matrix of a kernel that is a function, with the numbers that the core knows the classes by."""
        names = None if callable(self.kernel) else getattr(self, "feature_names_in_", None)
        features = None if names is None else names.tolist()
        if callable(self.kernel) and hasattr(self, "X_fit_"):
            x = matrix_of(self.kernel(x, self.X_fit_), (x.shape[0], self.X_fit_.shape[0]), self._called("precomputed"))
        return _core.dataset("classified", x=x, y=self._codes(y), features=features)

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        seen = _validation.rows(x, self, reset=True)
        labels = _validation.labels(y, seen.shape[0])
        self._learn_classes(labels)
        self._seen = self.classes_.tolist()
        if callable(self.kernel):
            self.X_fit_ = seen.copy()
        else:
            self.__dict__.pop("X_fit_", None)
        return self._dataset(seen, labels)

    def _truth(self, model: _core.Model, source: Any) -> NDArray[np.int64]:
        return np.searchsorted(self.classes_, np.ravel(_validation.label_array(self._labels_seen))).astype(np.int64)

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        if x is None:
            return None
        seen = _validation.rows(x, self, reset=False)
        return self._dataset(seen, _validation.labels(y, seen.shape[0], "y_test"))

    def _learn_classes(self, y: NDArray[Any]) -> None:
        self.classes_ = np.unique(y)
        self._named = not _labels.are_whole(self.classes_)  # whole numbers are class names of the file; anything else is numbered
        self._refuse_one_class(self.classes_, "")
        if not self._multi_class and len(self.classes_) > 2:
            count = len(self.classes_)
            raise ValueError(f"Only binary classification is supported. The type of the target is multiclass: {count} classes")

    def _refuse_one_class(self, classes: NDArray[Any], whose: str) -> None:
        """Refuses data where nothing tells classes apart, as scikit-learn does."""
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                f"one class{whose}: {classes[0]!r}"
            )

    @with_options
    def fit(
        self, X: Any, y: Any, *others: Never, X_test: Any = None, y_test: Any = None, **options: Unpack[WeightedFitOptions]
    ) -> Self:  # fmt: skip
        """Trains on rows ``X`` (``[n, features]``, dense or SciPy sparse) and class labels ``y`` (``[n]``).

        With test data its mean loss is in every entry of ``history_``. ``sample_weight=`` (``[n]``, at least 0) says how much
        each row counts: a weight of 2 is a row that is there twice, in ``lam="1/n"`` and ``lam="c:X"``, too, whose n is the sum
        of the weights. It is no name of the signature, as scikit-learn then holds estimators to seven equal digits between weights
        and copies, and a gap of 1 % leaves two. Returns self. Raises ValueError for unusable input.
        """
        refuse_others(others, options, self, "sample_weight")
        sample_weight = options.get("sample_weight")
        with self._all_or_nothing(X=X, y=y, sample_weight=sample_weight, X_test=X_test, y_test=y_test):
            before = getattr(self, "classes_", None)
            try:
                y = _validation.counted(y, sample_weight)
                data = _validation.weighted(self._data(X, y), sample_weight)
                if sample_weight is not None:
                    counted = np.unique(np.ravel(_validation.label_array(y))[np.asarray(sample_weight, dtype=np.float64) > 0])
                    self._refuse_one_class(counted, " of sample_weight above 0")
                self._labels_seen = y
                same = before is not None and np.array_equal(before, self.classes_) and self._was_fitted_on(data)
                self._train(data, self._test_data(X_test, y_test), same, options=options)
            finally:
                self.__dict__.pop("_labels_seen", None)
            self.__dict__.pop("_learning", None)
        return self

    def __copy__(self) -> Self:
        """A copy that learns on its own."""
        return copy.deepcopy(self)

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """Learns from rows that come piece by piece: ``partial_fit(X, y, classes=None)``.

        Rows are taken in their order, in windows of ``params={"stream.window": 1000}``, and forgotten: see ``multiplane train
        --stream``. The solver is one that learns online: ``"sfd1"`` (for ``"auto"``, too), ``"pegasos"`` and their like, the
        latter with ``lam`` as a number. ``classes`` are all that may come; the first call needs them, but after ``fit``, and for two
        classes that are both in its ``y``. Nothing is certified, and there is no ``history_``. What has no effect, stops among it, is
        told by an ``UnusedParameterWarning``. Not with kernels.

        A call learns all of its rows, or none where it fails. All parameters but stops, ``holdout`` and workers are those
        of the first call: one that has changed since raises ValueError. After ``fit`` it begins from zero, with a warning. What a
        model file holds cannot be gone on from, so after ``load`` it raises ValueError; a pickle of the estimator goes on.
        """
        if self.kernel is not None:
            raise AttributeError(f"{type(self).__name__} has no partial_fit with a kernel")
        return self._partial_fit

    def _partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        with self._all_or_nothing():
            first = "_learning" not in self.__dict__
            if first and "_model" in self.__dict__:
                self._tell_of_beginning()
            seen = _validation.rows(X, self, reset=first)
            labels = _validation.labels(y, seen.shape[0])
            if first:
                self._begin(labels, classes)
                told = self._learning.core.lambda_warning()
                if told:
                    warn(told)
            elif classes is not None and not np.array_equal(np.unique(_validation.label_array(classes)), self.classes_):
                raise ValueError(f"classes = {classes!r} is not the same as on the last call of partial_fit")
            else:
                self._learning.check_tree(self._stream_tree())
            unknown = np.setdiff1d(labels, self.classes_)
            if len(unknown):
                raise ValueError(f"y has the label {unknown.tolist()[0]!r}, which is none of classes: {self.classes_.tolist()}")
            self._learning.core.learn(self._dataset(seen, labels))
            model = self._learning.core.model()
            self._take(model, self._learning.summary(model))
            for unused in self._learning.untold([*self._unused(), *self._unused_by_streams()]):
                warn(unused, UnusedParameterWarning)
            warning = self._learning.core.length_warning()
            if warning:
                warn(warning)
            for stale in ("_fit", "_problem", "history_"):
                self.__dict__.pop(stale, None)
        return self

    def _tell_of_beginning(self) -> None:
        """Says that what there is will not be gone on from."""
        if "_is_loaded" in self.__dict__:
            raise ValueError(
                "partial_fit cannot go on from a model file: it holds weights, but not the state of the solver that learned them. A "
                "pickle of the estimator holds it, and goes on; a new estimator of the same parameters (sklearn.base.clone) begins anew"
            )
        warn(
            "partial_fit begins a stream from zero and forgets what fit has learned: give all rows to partial_fit, or all to fit"
        )

    def _begin(self, labels: NDArray[Any], classes: Any) -> None:
        """Takes in the classes, and makes a learner."""
        if classes is None:
            classes = labels_of(self._params_tree())
        if classes is None:
            classes = getattr(self, "classes_", None)  # of a fit before
        if classes is None and (self._multi_class or len(np.unique(labels)) != 2):
            raise ValueError("classes must be passed on the first call to partial_fit")
        classes = labels if classes is None else _validation.label_array(classes)
        if not classes.size:
            raise ValueError("classes is empty: expected all labels that may come")
        self._learn_classes(classes)
        self._seen = self.classes_.tolist()
        self._learning = Learning(self._stream_tree())

    def _stream_tree(self) -> dict[str, Any]:
        return stream_tree(self._tree(), self.classes_.tolist(), self._codes(self.classes_).tolist())

    def _unused_by_streams(self) -> list[str]:
        given = [name for name in (*STOPS, "holdout") if getattr(self, name) is not None]
        given += ["warm_start"] if self.warm_start else []
        given += ["prior"] if self.prior is not None else []
        found = [f"{name} = {getattr(self, name)!r}" for name in given]
        sections = [name for name in self.params or {} if str(name).split(".")[0] in ("stop", "evaluate")]
        found += [f"params[{name!r}]" for name in sections]
        return [f"{name}: no effect on partial_fit, which learns all rows that it gets and proves nothing" for name in found]

    def _reason(self, name: str) -> str | None:
        if name == "partial_fit" and self.kernel is not None:
            return "a stream's rows are not kept, so there is no kernel of them"
        if name == "history_" and "_learning" in self.__dict__:
            return "partial_fit keeps no records; summary_ has its progressive_loss"
        return super()._reason(name)

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(self._with_kinds(model), summary)
        self._take_intercept(json.loads(model.info()))

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        info = json.loads(model.info())
        self._classes_of(model)
        if not hasattr(self, "X_fit_"):  # that of a path made with a function knows its features
            self.n_features_in_ = model.columns(bool(info["spec"]["task"].get("bias", False)))
        names = _core.feature_names(model, False) if model.is_named() else None
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        super()._take(model, info)
        self._take_intercept(info)

    def _take_intercept(self, info: dict[str, Any]) -> None:
        """As scikit-learn's linear classifiers have it: a number for each row of ``coef_``, 0.0 where there is none."""
        self.intercept_ = self.coef_[:, -1].copy() if info["spec"]["task"].get("bias", False) else 0.0

    # -- results --

    def _scores(self, X: Any) -> NDArray[np.float64]:
        self._check_fitted()
        if self._has_kernel:
            scores = np.asarray(self.max_marginals(X))
            return scores if self._multi_class else scores[:, 1:] - scores[:, :1]
        x = _validation.rows(X, self, reset=False)
        coef = np.atleast_2d(self.coef_)
        scale, divisors = self._model.scale(), None
        if scale is not None:
            divisors = np.frombuffer(scale, dtype=np.float64)
            with np.errstate(over="ignore"):
                divided = coef / divisors
            if np.isfinite(divided).all():
                coef, divisors = divided, None
        used = self._model.used_columns()
        if used is not None:  # w leaves out columns that no example had
            x = x[:, np.frombuffer(used, dtype=np.uint32)]
        features = x.shape[1]
        if divisors is not None:
            x = _divided(x, divisors[:features])
        scores = np.asarray(x @ coef[:, :features].T)
        return scores + coef[:, features] if coef.shape[1] > features else scores

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        x = _validation.rows(X, self, reset=False)
        rows = x.shape[0]
        return self._dataset(x, np.repeat(self.classes_[:1], rows)), [1] * rows

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        return self.classes_[numbers[0]]

    def _label(self, number: int) -> Any:
        return self.classes_.tolist()[number]

    @property
    def _is_rows(self) -> bool:
        return True

    def _stacked(self, parts: list[Any]) -> Any:
        return np.concatenate(parts)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of every row, ``[n]``."""
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows predicted rightly."""
        found = self.predict(X)
        truth = _validation.labels(y, len(found))
        one_is_text = (found.dtype.kind == "U") != (truth.dtype.kind == "U")
        if one_is_text and not all(isinstance(label, str) for label in {*found, *truth}):  # files hold the names of classes
            found, truth = found.astype(str), truth.astype(str)
        right = found == truth
        return _validation.weighted_mean(right, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class BinarySSVM(_RowClassifier):
    """Two classes: a linear support vector machine with a certified gap.

    ``coef_`` has shape ``(1, features)``; with ``bias=True`` its last column is ``intercept_``, which is 0.0 otherwise. With a
    kernel ``dual_coef_`` has a coefficient for each training row that carries weight, ``support_`` the numbers of these rows,
    ``n_support_`` their number in each class.
    """

    _task = "binary"
    _multi_class = False

    def _shaped(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        return w.reshape(1, -1).copy()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of every row, ``[n]``; positive for the greater class."""
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of every row, ``[n]``."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(int)])


class MulticlassSSVM(_RowClassifier):
    """Several classes (Crammer-Singer): the class with the highest score wins.

    ``coef_`` has shape ``(classes, features)``; kernels and ``intercept_`` are as in :class:`BinarySSVM`, with a row for each
    class.
    """

    _task = "multiclass"
    _multi_class = True

    def _shaped(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        return w.reshape(len(self.classes_), -1).copy()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of every class, ``[n, classes]``; with two classes the difference of theirs, ``[n]``."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of every row, ``[n]``; of equal scores the first class."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])
