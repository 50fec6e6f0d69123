"""Sequences out of data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def sequences(frame: Any, by: Any = None, label: str | None = None, columns: Sequence[str] | None = None) -> Any:
    """Turns the rows of a pandas DataFrame, or what ``groupby`` makes of it, into sequences for :class:`ChainSSVM`.

    Args:
        frame: A DataFrame with a row for every token, in their order; or ``frame.groupby(...)``.
        by: The column, or columns, whose values tell the sequences apart, or an array of such values; sequences come in the
            order of their first rows. Not with a groupby.
        label: The column of the labels.
        columns: The columns of features; all others, where not given.

    Returns:
        ``(X, y)``, or ``X`` where no label is named. A sequence is an array ``[length, features]`` where all columns are
        numbers, a list of tuples where all are text (for templates), else a list of dicts. Raises ValueError for missing
        columns and values.
    """
    grouped = type(frame).__name__.endswith("GroupBy")
    if grouped == (by is not None):
        raise ValueError("sequences: give a DataFrame and `by`, or a groupby and no `by`")
    keys = frame.keys if grouped else by
    whole = frame.obj if grouped else frame
    if not whole.columns.is_unique:
        raise ValueError("sequences: two columns have the same name")
    given = keys if isinstance(keys, list) and all(isinstance(key, str) for key in keys) else [keys]
    for key in given:
        if isinstance(key, str) and key not in whole.columns:
            raise ValueError(f"sequences: there is no column {key!r}: these are {list(whole.columns)}")
        values = whole[key] if isinstance(key, str) else key
        if hasattr(values, "isna") or isinstance(values, (list, tuple)) or hasattr(values, "dtype"):
            holes = [at for at, value in enumerate(values) if value is None or value != value]
            if holes:
                raise ValueError(f"sequences: `by` has no value in row {holes[0]}: every token needs that of its sequence")
    groups = frame if grouped else frame.groupby(by, sort=False)
    named = [keys] if isinstance(keys, str) else [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
    chosen = [name for name in whole.columns if name != label and name not in named] if columns is None else list(columns)
    missing = [name for name in [*chosen, *([] if label is None else [label])] if name not in whole.columns]
    if missing:
        raise ValueError(f"sequences: there is no column {missing[0]!r}: these are {list(whole.columns)}")
    if not chosen:
        raise ValueError("sequences: no column of features is left")
    used = whole[[*chosen, *([] if label is None else [label])]]
    rows, places = used.isna().to_numpy().nonzero()
    if len(rows):
        raise ValueError(f"sequences: column {used.columns[int(places[0])]!r} has no value in row {int(rows[0])}")
    numbers = [whole[name].dtype.kind in "biuf" for name in chosen]
    x, y = [], []
    for _, part in groups:
        if all(numbers):
            x.append(part[chosen].to_numpy(dtype=float))
        elif not any(numbers):
            x.append([tuple(map(str, row)) for row in part[chosen].itertuples(index=False, name=None)])
        else:
            x.append([dict(zip(chosen, row, strict=True)) for row in part[chosen].itertuples(index=False, name=None)])
        if label is not None:
            y.append(part[label].tolist())
    return x if label is None else (x, y)
