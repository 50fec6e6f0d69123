"""Checks of inputs, with messages that name what was found and where; worded as scikit-learn words them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from multiplane._errors import warn

REQUESTS = {"sample_weight": None}
"""What scikit-learn's routing of metadata shall know of fits whose signatures do not have it."""


def rows(x: Any, estimator: Any, reset: bool) -> Any:
    """A 2D array or CSR matrix of float64; sets or checks ``n_features_in_`` and ``feature_names_in_``."""
    name = type(estimator).__name__
    names = column_names(x)
    if not reset:  # before values are looked at: where columns are others, these may be no numbers
        _check_names(names, estimator)
    if hasattr(x, "tocsr"):
        found = canonical(x)
        if np.iscomplexobj(found.data):
            raise ValueError(f"Complex data not supported\n{found.dtype}")
        found = found.astype(np.float64) if found.dtype != np.float64 else found
        values = found.data
    else:
        if np.ma.isMaskedArray(x):
            raise ValueError("X: found a masked array: fill it, or leave out what is masked")
        found = np.asarray(x)
        if np.iscomplexobj(found):
            raise ValueError(f"Complex data not supported\n{found}\n")
        if found.dtype.kind in "mM":
            raise ValueError(f"X: found an array of {found.dtype}, expected real numbers")
        if found.ndim == 0:
            raise ValueError(f"Expected 2D array, got scalar array instead:\narray={found}.")
        if found.ndim == 1:
            raise ValueError(
                f"Expected 2D array, got 1D array instead:\narray={found}.\nReshape your data either using "
                "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
                "single sample."
            )
        if found.ndim > 2:
            raise ValueError(f"Found array with dim {found.ndim}, while dim <= 2 is required by {name}.")
        if found.dtype.kind in "USO":
            found = _numbers(found, names, name)
        found = np.asarray(found, dtype=np.float64)
        values = found
    n, features = found.shape
    if n == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={found.shape}) while a minimum of 1 is required by {name}.")
    if features == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={found.shape}) while a minimum of 1 is required by {name}.")
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        _refuse_not_finite(found, names, name)
    if reset:
        estimator.n_features_in_ = features
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return found
    refuse_width(estimator, "X", features, estimator._hint_of_width() if hasattr(estimator, "_hint_of_width") else "")
    return found


def refuse_width(estimator: Any, what: str, features: int, hint: str = "") -> None:
    """Refuses another number of features than that of training."""
    expected = estimator.n_features_in_
    if features != expected:
        name = type(estimator).__name__
        raise ValueError(f"{what} has {features} features, but {name} is expecting {expected} features as input{hint}")


def canonical(x: Any) -> Any:
    """A sparse matrix as CSR with sorted indices and no duplicates, in its own memory where that takes a change."""
    found = x.tocsr()
    if not found.has_canonical_format:
        found = found.copy() if found is x else found
        found.sum_duplicates()
    return found


def _check_names(names: Any, estimator: Any) -> None:
    """Columns must have the names of the training data, in their order; missing names are only told."""
    known = getattr(estimator, "feature_names_in_", None)
    kind = type(estimator).__name__
    if names is None and known is not None:
        warn(f"X does not have valid feature names, but {kind} was fitted with feature names")
    if names is not None and known is None:
        warn(f"X has feature names, but {kind} was fitted without feature names")
    if names is None or known is None or names.tolist() == known.tolist():
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


_MISSING = "missing values must be filled before, as sklearn.impute.SimpleImputer does"


def is_missing(value: Any) -> bool:
    """Whether this stands for a value that is not there: None, NaN, or what pandas has in their place."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def missing(given: Any, found: np.ndarray[Any, Any]) -> Iterator[tuple[int, Any]]:
    """Missing labels and their places. NumPy makes the text "nan" of a NaN among texts, so lists are looked at as they
    were given.
    """
    if found.dtype.kind == "U" and isinstance(given, (list, tuple)):
        yield from ((at, label) for at, label in enumerate(given) if is_missing(label))
    elif found.dtype.kind == "O":
        yield from ((at, label) for at, label in enumerate(found) if is_missing(label))


def _place(row: int, column: int, names: Any) -> str:
    """Where a value stands, with the name of its column where there is one."""
    return f"X[{row}, {column}]" + ("" if names is None else f" (column {names[column]!r})")


def _numbers(found: Any, names: Any, name: str) -> Any:
    """A 2D array of texts or objects as numbers; the first that is none is named."""
    try:
        return found.astype(np.float64)
    except (TypeError, ValueError):
        for (row, column), value in np.ndenumerate(found):
            try:
                float(value.item() if isinstance(value, np.generic) else value)
            except (TypeError, ValueError) as error:
                where = _place(row, column, names)
                if is_missing(value):
                    raise ValueError(f"{where} is {value!r}, {name} expects numbers: {_MISSING}") from None
                encoder = "; columns of text become numbers by sklearn.preprocessing.OneHotEncoder"
                hint = encoder if isinstance(value, str) else ""
                # The kind of the error is that of NumPy.
                raise type(error)(f"{where}: {error}, {name} expects numbers{hint}") from None
        raise


def _refuse_not_finite(found: Any, names: Any, name: str) -> None:
    if hasattr(found, "tocoo"):
        coo = found.tocoo()
        at = int(np.flatnonzero(~np.isfinite(coo.data))[0])
        row, column, value = int(coo.row[at]), int(coo.col[at]), coo.data[at]
    else:
        row, column = (int(index) for index in np.argwhere(~np.isfinite(found))[0])
        value = found[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    hint = f": {_MISSING}" if kind == "NaN" else ""
    raise ValueError(f"Input X contains {kind}: {_place(row, column, names)} is {value}, {name} expects finite numbers{hint}")


def column_names(x: Any) -> Any:
    """The columns of a data frame whose names are all text."""
    columns = getattr(x, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return np.asarray(columns, dtype=object)


_COLUMN = "A column-vector y was passed when a 1d array was expected. "


def label_array(y: Any) -> np.ndarray[Any, Any]:
    """Labels as an array: of objects where a text ends in NUL, which NumPy's own texts would lose."""
    found = np.asarray(y)
    if found is y or found.dtype.kind != "U" or found.ndim != 1:
        return found
    if any(isinstance(label, str) and label.endswith("\0") for label in y):
        return np.fromiter(y, dtype=object, count=len(found))
    return found


def labels(y: Any, n: int, what: str = "y") -> np.ndarray[Any, Any]:
    """A 1D array of n class labels; ``what`` names it where it is missing."""
    if y is None:
        raise ValueError(f"requires {what} to be passed, but the target {what} is None")
    if hasattr(y, "tocsr"):
        raise ValueError("y is a sparse matrix: expected a 1D array of labels")
    if np.ma.is_masked(y):
        raise ValueError(f"{what}[{np.flatnonzero(y.mask)[0]}] is masked, a missing label: leave such rows out")
    found = label_array(y)
    if found.ndim == 2 and found.shape[1] == 1:
        advice = "Please change the shape of y to (n_samples, ), for example using ravel()."
        warn(_COLUMN + advice, _conversion_warning())
        found = found.ravel()
    if found.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    if len(found) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(found)}]")
    if found.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            kind = "NaN" if np.isnan(found[bad[0]]) else "infinity"
            hint = ", a missing label: leave such rows out" if kind == "NaN" else ""
            raise ValueError(f"Input {what} contains {kind}: {what}[{bad[0]}] is {found[bad[0]]}{hint}")
        if np.any(found != np.floor(found)):
            at = int(np.flatnonzero(found != np.floor(found))[0])
            raise ValueError(f"Unknown label type: continuous: {what}[{at}] is {found[at]}, expected class labels")
    for at, label in missing(y, found):
        raise ValueError(f"{what}[{at}] is {label!r}, a missing label: leave such rows out")
    if found.dtype.kind == "U" and isinstance(y, (list, tuple)):  # NumPy makes texts of numbers beside texts
        strange = next((at for at, label in enumerate(y) if not isinstance(label, str)), None)
        text = next((at for at, label in enumerate(y) if isinstance(label, str)), None)
        if strange is not None and text is not None:
            raise ValueError(f"{what}[{strange}] is {y[strange]!r}, {what}[{text}] is {y[text]!r}: expected labels of one kind")
    if found.dtype.kind == "O":
        kinds = {type(label) for label in found}
        if len({issubclass(kind, str) for kind in kinds}) > 1:
            raise ValueError(f"{what} holds labels of several types: {sorted(kind.__name__ for kind in kinds)}")
    return found


def is_list_of_labels(y: Any) -> bool:
    """Whether there is one label for each row: a 1D array of numbers or texts."""
    if y is None or hasattr(y, "tocsr"):
        return False
    try:
        found = np.asarray(y)
    except ValueError:  # lists of unequal lengths
        return False
    if found.ndim != 1:
        return False
    return found.dtype.kind in "biufUS" or all(isinstance(label, (str, int, float, np.generic)) for label in found)


def two_classes(y: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The two classes that a 1D array of labels has."""
    found = np.unique(y)
    if len(found) == 1:
        raise ValueError(
            f"{name} needs samples of at least 2 classes in the data, but the data contains only one class: {found.tolist()[0]!r}"
        )
    if len(found) != 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is multiclass: {len(found)} classes in a 1D y. "
            "Several labels per row should be an indicator matrix [n, labels] of 0 and 1, which "
            "sklearn.preprocessing.MultiLabelBinarizer makes; for one of several classes per row there is MulticlassSSVM"
        )
    return found


def tell_of_column(y: Any) -> None:
    """Warns of a column, as scikit-learn's classifiers do; there they take it for a 1D array."""
    if not hasattr(y, "tocsr") and np.shape(y)[1] == 1:
        taken = "It is taken as an indicator matrix of one label, and predictions are columns, too; "
        warn(f"{_COLUMN}{taken}for 1D predictions pass y.ravel().", _conversion_warning())


def indicators(y: Any, n: int, what: str = "y") -> Any:
    """A 2D array or CSR matrix of 0 and 1 with n rows, one column per label."""
    if y is None:
        raise ValueError(f"requires {what} to be passed, but the target {what} is None")
    if hasattr(y, "tocsr"):
        found = canonical(y)
        values = found.data
    else:
        try:
            found = np.asarray(y)
        except ValueError:  # lists of unequal lengths
            found = np.asarray(y, dtype=object)
        values = found
    if np.ma.is_masked(y):
        raise ValueError(f"{what} has masked places: expected 0 or 1 in all")
    if found.ndim != 2:
        raise ValueError(
            f"{what} should be an indicator matrix [n, labels] of 0 and 1, got an array of shape {found.shape}: "
            "sklearn.preprocessing.MultiLabelBinarizer makes one of sets; for one label per row there is MulticlassSSVM"
        )
    if found.shape[0] != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {found.shape[0]}]")
    if found.shape[1] == 0:
        raise ValueError(f"{what} has no column: expected one per label")
    if values.dtype.kind == "O":
        for (row, column), value in np.ndenumerate(values):
            if is_missing(value):
                raise ValueError(f"{what}[{row}, {column}] is {value!r}, expected 0 or 1")
    bad = np.argwhere(~np.isin(values, (0, 1)))
    if len(bad):
        if hasattr(found, "tocoo"):
            coo, at = found.tocoo(), int(bad[0][0])
            row, column, value = int(coo.row[at]), int(coo.col[at]), coo.data[at]
        else:
            row, column = (int(index) for index in bad[0])
            value = found[row, column]
        raise ValueError(f"Unknown label type: {what}[{row}, {column}] is {value}, expected 0 or 1")
    return found.astype(np.float64)


def _conversion_warning() -> type[Warning]:
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        found: type[Warning] = DataConversionWarning
        return found
    return UserWarning


def weighted(data: Any, sample_weight: Any) -> Any:
    """The data with a weight for each example: ``None`` as they are, one number for all alike."""
    if sample_weight is None:
        return data
    try:
        return data.with_weights(_weights(sample_weight, len(data)).tolist())
    except ValueError as error:
        raise ValueError(f"sample_weight: {str(error).removeprefix('sample_weight: ')}") from None


def _weights(sample_weight: Any, n: int) -> np.ndarray[Any, Any]:
    """Weights of n examples as an array."""
    if isinstance(sample_weight, (str, bytes)):
        hint = '; class_weight="balanced" is a parameter of estimators' if sample_weight == "balanced" else ""
        raise ValueError(f"sample_weight = {str(sample_weight)[:40]!r}: expected an array [n] of numbers{hint}")
    if isinstance(sample_weight, (dict, set, frozenset)):
        kind = type(sample_weight).__name__
        raise ValueError(f"sample_weight is a {kind}: expected an array [n] of numbers, in the order of the examples")
    if np.ma.isMaskedArray(sample_weight) or np.iscomplexobj(sample_weight):
        raise ValueError("sample_weight: expected real numbers")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except OverflowError:
        raise ValueError("sample_weight: expected finite numbers, as 64 bits hold them") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight: expected numbers: {error}") from None
    if weights.ndim == 0:
        return np.full(n, weights)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight: expected [n], found shape {list(weights.shape)}")
    return weights


def counted(y: Any, sample_weight: Any) -> Any:
    """Labels of rows in which classes whose rows all weigh 0, which are not there, give way to one that is: rows of weight 0
    count for nothing. As they are, where less than two classes would be left.
    """
    weights = np.asarray(sample_weight)
    if weights.ndim != 1 or weights.dtype.kind not in "iuf" or np.shape(y) != weights.shape or (weights > 0).all():
        return y
    found = label_array(y)
    there = found[weights > 0].tolist()
    kept = set(there)
    is_there = np.array([label in kept for label in found.tolist()])
    return y if is_there.all() or len(kept) < 2 or np.ma.isMaskedArray(y) else np.where(is_there, found, there[0])


def weighted_mean(right: np.ndarray[Any, Any], sample_weight: Any) -> float:
    """The mean over examples, each with the weight that :func:`weighted` would give it."""
    if sample_weight is None:
        return float(np.mean(right))
    weights = _weights(sample_weight, len(right))
    if len(weights) != len(right):
        raise ValueError(f"sample_weight: {len(weights)} weights for {len(right)} examples")
    total = float(weights.sum())
    if not (np.all(weights >= 0) and 0 < total < np.inf):
        raise ValueError("sample_weight: expected finite numbers, at least 0, and not all of them 0")
    return float(np.average(right, weights=weights))
