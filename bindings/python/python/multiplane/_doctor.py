"""What the oracle doctor must know of labellings that only Python knows: kinds, equality, neighbours."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np


def kind(label: Any) -> str:
    """The type of a labelling in words; arrays with their number of dimensions, whole numbers of any type alike."""
    if isinstance(label, np.ndarray):
        return f"an array of {label.ndim} dimension(s)"
    if isinstance(label, (bool, np.bool_)):
        return "a bool"
    if isinstance(label, (int, np.integer)):
        return "a whole number"
    if isinstance(label, (float, np.floating)):
        return "a number"
    return f"a {type(label).__name__}"


def same(one: Any, other: Any) -> bool:
    """Whether two labellings are equal, arrays among them."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        a, b = np.asarray(one), np.asarray(other)
        return a.shape == b.shape and bool(np.all(a == b))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    try:
        return bool(one == other)
    except Exception:  # a comparison that raises says that they cannot be compared
        return one is other


def _flat(label: Any) -> list[Any] | None:
    """The variables of a labelling, where it is a sequence of plain values."""
    if isinstance(label, np.ndarray):
        return list(label.ravel().tolist())
    if isinstance(label, (list, tuple)) and all(not isinstance(item, (list, tuple, dict, np.ndarray)) for item in label):
        return list(label)
    return None


def is_alike(truth: Any, label: Any) -> bool:
    """Returns True if a labelling of another example has the type and shape of this truth."""
    if kind(truth) != kind(label):
        return False
    if isinstance(truth, np.ndarray):
        return bool(truth.shape == label.shape)
    if isinstance(truth, (list, tuple)):
        return len(truth) == len(label)
    return isinstance(truth, (int, str, float, np.generic))


class Neighbours:
    """Proposes labellings that differ in one variable, from the values of the truths. If all truths are permutations,
    or have the same values in some order, two variables are swapped. ``neighbours(x, y)`` of a task replaces this.
    """

    def __init__(self, task: Any, truths: Sequence[Any]) -> None:
        self.own = getattr(task, "neighbours", None)
        flats = [flat for flat in map(_flat, truths) if flat is not None]
        self.plain = len(flats) == len(truths)
        values: dict[Any, None] = {}
        for flat in flats if self.plain else [[truth] for truth in truths]:
            for value in flat:
                try:
                    values.setdefault(value)
                except TypeError:  # not hashable: not a value that could be tried elsewhere
                    self.plain = False
        self.values = list(values)
        long = [flat for flat in flats if len(flat) > 1]
        distinct = bool(long) and all(len({repr(value) for value in flat}) == len(flat) for flat in long)
        same_values = len(long) > 1 and len({tuple(sorted(map(repr, flat))) for flat in long}) == 1
        self.swaps = distinct or same_values

    def changes(self, x: Any, label: Any, most: int, seed: int) -> list[Any]:
        """At most ``most`` of them."""
        chance = random.Random(seed)
        if self.own is not None:
            found = list(self.own(x, label))
            return chance.sample(found, most) if len(found) > most else found
        flat = _flat(label)
        if flat is None:
            if isinstance(label, (int, str, np.generic)) and not isinstance(label, (bool, np.bool_)):
                others = [value for value in self.values if not same(value, label)]
                return chance.sample(others, most) if len(others) > most else others
            return []
        if not self.plain or len(flat) == 0:
            return []
        out = []
        for _ in range(most):
            changed = list(flat)
            at = chance.randrange(len(changed))
            if self.swaps:
                other = chance.randrange(len(changed))
                changed[at], changed[other] = changed[other], changed[at]
            else:
                changed[at] = chance.choice(self.values)
            if changed != flat:
                out.append(_like(label, changed))
        return out


def _like(label: Any, flat: list[Any]) -> Any:
    if isinstance(label, np.ndarray):
        return np.array(flat, dtype=label.dtype).reshape(label.shape)
    return tuple(flat) if isinstance(label, tuple) else flat
