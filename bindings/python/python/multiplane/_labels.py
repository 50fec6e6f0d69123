"""Labels: which are one, of what kind they are, and which stand for one that is not known.

Labels are texts, or numbers: booleans, integers and floats. Equal numbers (1, 1.0, True) are one label, of the kind that comes
first; floats that are whole are integers beside integers, as NaN makes floats of them. A number and a text are two labels, which no
data may have together, as files know labels by their names. A model file holds the kinds of labels whose names do not say them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._costs import labels_named
from multiplane._errors import warn
from multiplane._validation import is_missing, label_array

NO_LABEL = -1
"""The number of a label that is not known."""

_VOID = (255, -100)
"""Labels that stand for no label in images and in texts of other packages."""

_MAKE: dict[str, Any] = {"bool": lambda name: name == "True", "int": int, "float": float, "text": str}
"""Labels of their names, by kind."""


def _kind(label: Any) -> str:
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if isinstance(label, (int, np.integer)):
        return "int"
    return "float" if isinstance(label, (float, np.floating)) else "text"


def array_of(labels: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array: of their type if they are of one kind, else of objects."""
    if len({_kind(label) for label in labels}) <= 1 and all(isinstance(label, (str, int, float, np.generic)) for label in labels):
        return label_array(labels)
    return np.fromiter(labels, dtype=object, count=len(labels))


def are_whole(classes: NDArray[Any]) -> bool:
    """Returns True if all are whole numbers that the core takes as they are."""
    return classes.dtype.kind in "iuf" and bool(np.abs(classes.astype(np.float64)).max() < 2.0**53)


def kinds_of(labels: Sequence[Any]) -> list[str]:
    """The kinds of labels, as a model file holds them: none if their names say them."""
    kinds = [_kind(label) for label in labels]
    said = "int" if labels_named([str(label) for label in labels]).dtype.kind == "i" else "text"
    return [] if all(kind == said for kind in kinds) else kinds


def refuse_unnamed(labels: Iterable[Any]) -> None:
    """Refuses labels that a file would give back as others."""
    for label in labels:
        if _kind(label) == "text" and not isinstance(label, str):
            kind = type(label).__name__
            raise ValueError(f"the label {label!r} is of type {kind}: a model file holds texts and numbers; a pickle keeps any label")


def of_file(names: Sequence[str], kinds: Sequence[str]) -> NDArray[Any]:
    """The labels that a model file names, by their kinds."""
    if not kinds:
        return labels_named(names)
    return array_of([_MAKE[kind](name) for name, kind in zip(names, kinds, strict=True)])


def refuse_mixed(labels: Iterable[tuple[str, Any]]) -> None:
    """Refuses texts beside numbers; labels come with their places."""
    first: dict[bool, tuple[str, Any]] = {}
    for place, label in labels:
        first.setdefault(isinstance(label, str), (place, label))
        if len(first) == 2:
            where, other = first[not isinstance(label, str)]
            raise ValueError(f"{place} is {label!r}, {where} is {other!r}: expected labels of one kind, texts or numbers")


def whole_floats(labels: Iterable[Any]) -> list[Any]:
    """The labels that are floats and whole, if there are integers beside them."""
    found = list(labels)
    floats = [label for label in found if _kind(label) == "float" and float(label).is_integer()]
    return floats if any(_kind(label) == "int" for label in found) else []


class Unknown:
    """The labels that stand for one that is not known: those given, and all that is missing."""

    def __init__(self, given: Any) -> None:
        several = isinstance(given, (list, set, frozenset)) or (isinstance(given, np.ndarray) and given.ndim == 1)
        self.given: list[Any] | None = None if given is None else list(given) if several else [given]
        if any(not isinstance(label, (str, int, float, np.generic)) for label in self.given or []):
            raise ValueError(f"unknown = {given!r}: expected a label, or a list of labels")

    def text(self) -> str:
        """The labels given, as a model file holds them: JSON without those that are missing in any case."""
        plain = [label.item() if isinstance(label, np.generic) else label for label in self.given or [] if not is_missing(label)]
        named = [str(a) if isinstance(a, bool) else int(a) if isinstance(a, float) and a.is_integer() else a for a in plain]
        return json.dumps(named[0] if len(named) == 1 else named)

    def __contains__(self, label: Any) -> bool:
        return is_missing(label) or any(label == other and isinstance(label, str) == isinstance(other, str) for other in self.given or [])

    def take_rest(self, distinct: Iterable[Any]) -> None:
        """Takes -1, if no labels were given, beside two or more labels from 0. Hints at labels that may stand for none."""
        if self.given is not None:
            return
        numbers = {label for label in distinct if _kind(label) in ("int", "float") and not is_missing(label)}
        others = numbers - {*_VOID, NO_LABEL}
        for void in sorted(numbers & {*_VOID}):
            if others and (void < 0 <= min(others) or 0 <= min(others) <= max(others) < void - 1):
                warn(
                    f"y holds the label {void:g}, which elsewhere stands for no label, and is one here: unknown={void:g} leaves such "
                    "parts out"
                )
        if NO_LABEL in numbers and len(others) > 1 and min(others) >= 0:
            self.given = [NO_LABEL]
            warn(
                "y holds -1: such parts are left out, as their labels are not known; unknown=[] makes it a label, unknown=-1 says so"
            )


def warn_of_signs(y: Iterable[Any], known: Iterable[NDArray[Any]]) -> None:
    """Warns if all known labels of nodes are 1 and there are nodes of -1: they look like two classes."""
    found = {label for one in known for label in np.unique(one).tolist()}
    if found == {1} and any(np.ma.filled(np.ma.asarray(one) == NO_LABEL, False).any() for one in y):
        warn(
            "y holds 1 and -1 alone, and -1 marks nodes whose label is not known, so there is one class: write two as 0 and 1; "
            "unknown=-1 says that no label is meant"
        )


def warn_of_new(labels: Iterable[Any], classes: NDArray[Any] | None) -> None:
    """Warns of labels to measure on that no class has: predictions cannot be right there."""
    if classes is None:
        return  # labels of a model without classes are numbers from 0, checked before
    known = {one for label in classes.tolist() for one in (label, str(label))}
    new = sorted(str(label) for label in set(labels) if label not in known and str(label) not in known)
    if new:
        others = f" and {len(new) - 1} others" if len(new) > 1 else ""
        warn(f"y has labels that training never saw, which count as errors: {new[0]!r}{others}")


def equal(found: NDArray[Any], truth: NDArray[Any]) -> int:
    """Returns how many labels are equal, by value or by name, as files have names."""
    if found.dtype.kind == truth.dtype.kind:
        return int((found == truth).sum())
    return sum(one == other or str(one) == str(other) for one, other in zip(found.tolist(), truth.tolist(), strict=True))
