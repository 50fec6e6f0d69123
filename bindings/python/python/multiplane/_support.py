"""The rows that carry weight in a model with a kernel: read off the model, and found among the training rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core

_Rows = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Offsets, columns and values of sparse rows."""


def support_of(model: _core.Model) -> _Rows:
    """The rows that the model's coefficients belong to, in their order."""
    data = model.to_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])

    def tensor(name: str, kind: str) -> NDArray[Any]:
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(data, dtype=kind, offset=8 + length + begin, count=(end - begin) // 8)

    ends = tensor("support.ends", "<i8").copy()
    ends[0] = 0  # the file has the number of columns there
    return ends, tensor("support.columns", "<i8"), tensor("support.values", "<f8")


def _keys(rows: _Rows) -> Iterator[bytes]:
    ends, columns, values = rows
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield columns[first:last].tobytes() + values[first:last].tobytes()


def numbers_of(
    model: _core.Model, source: Any, truth: NDArray[np.int64], coefficients: NDArray[np.float64]
) -> NDArray[np.int64] | None:
    """The numbers of the training rows that carry weight, in the order of the coefficients; None if one is no training
    row. Of equal rows the first with the label of the largest coefficient is taken.
    """
    support = support_of(model)
    if model.used_columns() is not None:  # rows of the model lack columns that those of the data have
        return None
    try:
        offsets, indices, values, *_ = source.parts()
    except ValueError:  # text
        return None
    columns, numbers = np.frombuffer(indices, dtype=np.int64), np.frombuffer(values, dtype=np.float64)
    scale = model.scale()
    if scale is not None:
        numbers = numbers / np.frombuffer(scale, dtype=np.float64)[columns]
    wanted: dict[bytes, list[int]] = {key: [] for key in _keys(support)}
    for row, key in enumerate(_keys((np.frombuffer(offsets, dtype=np.int64), columns, numbers))):
        if key in wanted:
            wanted[key].append(row)
    spoken = coefficients.argmax(axis=0) if len(coefficients) > 1 else (coefficients[0] > 0).astype(np.int64)
    found = []
    for key, label in zip(_keys(support), spoken.tolist(), strict=True):
        rows = wanted[key]
        if not rows:
            return None
        found.append(rows.pop(next((at for at, row in enumerate(rows) if truth[row] == label), 0)))
    return np.array(found, dtype=np.int64)
