"""Checks of inputs, with messages that name what was found and where; worded as scikit-learn words them."""

from __future__ import annotations

from typing import Any

import numpy as np


def rows(x: Any, estimator: Any, reset: bool) -> Any:
    """A 2D array or CSR matrix of float64; sets or checks ``n_features_in_`` and ``feature_names_in_``."""
    name = type(estimator).__name__
    names = _column_names(x)
    if hasattr(x, "tocsr"):
        found = x.tocsr()
        if np.iscomplexobj(found.data):
            raise ValueError(f"Complex data not supported\n{found.dtype}")
        found = found.astype(np.float64) if found.dtype != np.float64 else found
        values = found.data
    else:
        found = np.asarray(x)
        if np.iscomplexobj(found):
            raise ValueError(f"Complex data not supported\n{found}\n")
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
            found = found.astype(np.float64)  # raises for text
        found = np.asarray(found, dtype=np.float64)
        values = found
    n, features = found.shape
    if n == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={found.shape}) while a minimum of 1 is required by {name}.")
    if features == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={found.shape}) while a minimum of 1 is required by {name}.")
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        _refuse_not_finite(found, name)
    if reset:
        estimator.n_features_in_ = features
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif features != estimator.n_features_in_:
        raise ValueError(
            f"X has {features} features, but {name} is expecting {estimator.n_features_in_} features as input"
        )
    return found


def _refuse_not_finite(found: Any, name: str) -> None:
    if hasattr(found, "tocoo"):
        coo = found.tocoo()
        at = int(np.flatnonzero(~np.isfinite(coo.data))[0])
        row, column, value = int(coo.row[at]), int(coo.col[at]), coo.data[at]
    else:
        row, column = (int(index) for index in np.argwhere(~np.isfinite(found))[0])
        value = found[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(f"Input X contains {kind}: X[{row}, {column}] is {value}, {name} expects finite numbers")


def _column_names(x: Any) -> Any:
    """The columns of a data frame whose names are all text."""
    columns = getattr(x, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return np.asarray(columns, dtype=object)


def labels(y: Any, n: int) -> np.ndarray[Any, Any]:
    """A 1D array of n class labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if hasattr(y, "tocsr"):
        raise ValueError("y is a sparse matrix: expected a 1D array of labels")
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        import warnings

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel().",
            _conversion_warning(),
            stacklevel=4,
        )
        found = found.ravel()
    if found.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    if len(found) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(found)}]")
    if found.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            kind = "NaN" if np.isnan(found[bad[0]]) else "infinity"
            raise ValueError(f"Input y contains {kind}: y[{bad[0]}] is {found[bad[0]]}")
        if np.any(found != np.floor(found)):
            at = int(np.flatnonzero(found != np.floor(found))[0])
            raise ValueError(f"Unknown label type: continuous: y[{at}] is {found[at]}, expected class labels")
    if found.dtype.kind == "O":
        kinds = {type(label) for label in found}
        if any(label is None for label in found) or len({issubclass(kind, str) for kind in kinds}) > 1:
            raise ValueError(f"y holds labels of several types: {sorted(kind.__name__ for kind in kinds)}")
    return found


def _conversion_warning() -> type[Warning]:
    import sys

    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning

        found: type[Warning] = DataConversionWarning
        return found
    return UserWarning
