"""Weights and costs by the names of labels, as the core takes them: in the order of the labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._params import plain
from multiplane._validation import label_array


def in_order(names: Iterable[str]) -> list[str]:
    """Names of labels in the core's order: by value where all are whole numbers, else by name."""
    found = sorted(set(names))
    if all(re.fullmatch("[+-]?[0-9]+", name) and -(2**63) <= int(name) < 2**63 for name in found):
        return sorted(found, key=lambda name: (int(name), name))
    return found


def labels_named(names: Sequence[str]) -> NDArray[Any]:
    """The labels that files name: whole numbers if all are written as such, and no two names are one number; else texts."""
    if all(re.fullmatch("0|-?[1-9][0-9]*", name) and -(2**63) <= int(name) < 2**63 for name in set(names)):
        return np.array([int(name) for name in names], dtype=np.int64)
    return label_array(names)


def class_weights(given: Any, labels: Sequence[Any] | None) -> Any:
    """Factors on the loss by true label: a list, in the order of the labels; ``"balanced"`` as it is, for the core to count.

    Args:
        given: A dict by label, where labels that are left out have 1; ``"balanced"``; a list.
        labels: The labels in their order; None where they are not known.

    Raises ValueError where labels are not known or not there.
    """
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight = {given!r}: expected 'balanced', a dict by label or a list")
        return given
    if hasattr(given, "to_dict"):
        given = given.to_dict()  # a Series
    if not isinstance(given, dict):
        return plain(given, "class_weight")
    if labels is None:
        raise ValueError("class_weight is a dict, and the labels are not known here: give a list, in the order of the labels")
    of_label = by_label(given, labels, "class_weight")
    missing = [label for label, weight in zip(labels, of_label, strict=True) if weight is None]
    strange = [key for key in given if key not in labels and str(key) not in {str(label) for label in labels}]
    if strange and missing:  # else a part of the data lacks the label
        raise ValueError(f"class_weight names {strange[0]!r}, which is no label: these are {shown(labels)}")
    return [1.0 if weight is None else plain(weight, "class_weight") for weight in of_label]


def by_label(given: dict[Any, Any], labels: Sequence[Any], what: str) -> list[Any]:
    """The values of a dict in the order of the labels, None where there is none; keys may be labels or their names."""
    named: dict[str, Any] = {}
    for key, value in given.items():
        if named.setdefault(str(key), value) is not value:
            raise ValueError(f"{what} names {str(key)!r} twice")
    return [given.get(label, named.get(str(label))) for label in labels]


def loss(given: Any, labels: Sequence[Any] | None) -> Any:
    """A loss as the core takes it.

    Args:
        given: A name; ``{truth: {label: cost}}``, or a DataFrame with a row for every true label; a matrix in the order of
            the labels; a function ``loss(truth, label)``, which is asked once for every two labels; or what the core takes.
        labels: The labels in their order; None where they are not known.

    Raises ValueError for costs that are missing.
    """
    if isinstance(given, str) and given.lower().replace("-", "_") in ("zero_one", "0_1", "zero_one_loss", "accuracy"):
        raise ValueError(f"loss = {given!r}: write loss='hamming': of one label the 0-1 loss, of several the share that is wrong")
    if isinstance(given, str) or (isinstance(given, dict) and isinstance(given.get("name"), str)):
        return plain(given, "loss")
    if callable(given):
        known = _known(labels, "a function")
        matrix = [[0.0 if i == j else _number(given(a, b), a, b) for j, b in enumerate(known)] for i, a in enumerate(known)]
        return {"name": "cost-matrix", "matrix": matrix}
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        rows = given.to_dict(orient="index")
        given = {truth: {label: cost for label, cost in row.items() if cost == cost} for truth, row in rows.items()}
    if not isinstance(given, dict):
        return {"name": "cost-matrix", "matrix": plain(given, "loss")}
    known = _known(labels, "a dict")
    matrix = []
    for truth, row in zip(known, by_label(given, known, "loss"), strict=True):
        if not isinstance(row, dict):
            found = "is missing" if row is None else f"is {row!r}"
            raise ValueError(f"loss: the row of the true label {truth!r} {found}: expected a dict of costs by label")
        costs = by_label(row, known, f"loss[{truth!r}]")
        for label, cost in zip(known, costs, strict=True):
            if cost is None and label != truth:
                raise ValueError(f"loss: there is no cost of {label!r} where {truth!r} is true")
        matrix.append([0.0 if cost is None else _number(cost, truth, label) for label, cost in zip(known, costs, strict=True)])
    return {"name": "cost-matrix", "matrix": matrix}


def _known(labels: Sequence[Any] | None, what: str) -> Sequence[Any]:
    if labels is None:
        raise ValueError(f"loss is {what}, and the labels are not known here: give a matrix, in the order of the labels")
    return labels


def _number(cost: Any, truth: Any, label: Any) -> float:
    try:
        return float(plain(cost, f"the cost of {label!r} where {truth!r} is true"))
    except TypeError:
        raise ValueError(f"loss: the cost of {label!r} where {truth!r} is true is {cost!r}: expected a number") from None


def shown(labels: Sequence[Any]) -> str:
    """Some labels, as errors show them."""
    some = ", ".join(repr(label.item() if isinstance(label, np.generic) else label) for label in labels[:10])
    return some + (", ..." if len(labels) > 10 else "")
