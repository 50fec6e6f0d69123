"""Files of integer programmes for the command line."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from multiplane.ilp._estimator import IlpSSVM
from multiplane.ilp._feasible import Vector
from multiplane.ilp._programme import IntegerProgramme


def save(X: Any, Y: Any, path: str | os.PathLike[str], *, sense: str = "min") -> None:
    """Writes integer programmes and their solutions as a safetensors file, which ``multiplane train --task ilp`` reads.

    Args:
        X: Examples ``(programme, features)`` or ``(programme, features, costs)``, as :class:`IlpSSVM` takes them.
        Y: Their solutions, NaN where they are not known; a :class:`Target` may have weights, or costs where all values are known and
            those with costs are at a bound.
        path: The file.
        sense: As of :class:`IlpSSVM`: the weights that the command line learns are then those of ``IlpSSVM(sense=sense)``.

    Raises ValueError for what :class:`IlpSSVM` refuses, for a feasible set of another kind, and for other linear losses.
    """
    estimator = IlpSSVM(sense=sense)
    instances = estimator._instances(X)
    given = estimator._solutions(instances, Y)
    programmes: list[IntegerProgramme] = []
    for i, (x, one) in enumerate(zip(instances, given, strict=True)):
        if not isinstance(x.feasible, IntegerProgramme):
            raise ValueError(f"X[{i}] is a {type(x.feasible).__name__}: a file holds integer programmes")
        if one.linear is not None:
            given[i] = one._replace(weights=_signed(one.values, one.linear, x.feasible, f"Y[{i}]"))
        programmes.append(x.feasible)
    features = csr_array(vstack([csr_array(-x.features) for x in instances]))
    features.sum_duplicates()
    matrices = [programme.matrix for programme in programmes]

    def joined(parts: list[Any]) -> Any:
        return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])

    def starts(counts: list[Any]) -> Any:
        return np.concatenate([[0], np.cumsum(np.concatenate([np.atleast_1d(count) for count in counts]))])

    whole = {
        "variable_offsets": starts([len(programme) for programme in programmes]),
        "row_offsets": starts([matrix.shape[0] for matrix in matrices]),
        "integral": joined([programme.integral for programme in programmes]),
        "matrix_starts": starts([np.diff(matrix.indptr) for matrix in matrices]),
        "matrix_columns": joined([matrix.indices for matrix in matrices]),
        "feature_starts": features.indptr,
        "feature_columns": features.indices,
        "feature_count": np.array([features.shape[1]]),
    }
    real = {name: joined([getattr(programme, name) for programme in programmes]) for name in ("lower", "upper", "row_lower", "row_upper")}
    real |= {
        "costs": joined([x.costs for x in instances]),
        "truth": joined([one.values for one in given]),
        "weights": joined([one.weights for one in given]),
        "matrix_values": joined([matrix.data for matrix in matrices]),
        "feature_values": features.data,
    }
    tensors = {name: np.asarray(values, dtype="<i8") for name, values in whole.items()}
    tensors |= {name: np.asarray(values, dtype="<f8") for name, values in real.items()}
    head, end = {}, 0
    for name, values in tensors.items():
        kind = "I64" if values.dtype.kind == "i" else "F64"
        head[name] = {"dtype": kind, "shape": [len(values)], "data_offsets": [end, end := end + values.nbytes]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    part = f"{os.fspath(path)}.{secrets.token_hex(8)}"  # renamed when it is whole
    try:
        with open(part, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for values in tensors.values():
                file.write(values.tobytes())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _signed(values: Vector, costs: Vector, feasible: IntegerProgramme, what: str) -> Vector:
    """The costs of a linear loss as weights of errors, below 0 where an error pays."""
    wrong = np.flatnonzero(np.isnan(values) | ((costs != 0.0) & (values != feasible.lower) & (values != feasible.upper)))
    if len(wrong):
        v = wrong[0]
        raise ValueError(f"{what} has a linear loss: in a file variable {v} must be known and at a bound, found {values[v]:g}")
    return np.where(values == feasible.lower, costs, -costs)
