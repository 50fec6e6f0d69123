"""What the oracle doctor must know of labellings that only Python knows: kinds, equality, neighbours."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from multiplane import _core
from multiplane._tasks import Bounded

OTHERS = 16
"""Labellings of other examples that an example is asked about, at most: each takes up to four decodings."""


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


class Reach:
    """Labellings of other examples that decode returns for an example at some weights: only these are known to be
    allowed there.
    """

    def __init__(self, task: Any, x: Sequence[Any], y: Sequence[Any]) -> None:
        self.task = task
        # The core names an example by its truth. Where several have the same object, none is known by it.
        self.inputs: dict[int, list[Any]] = {}
        for one, truth in zip(x, y, strict=False):
            self.inputs.setdefault(id(truth), []).append(one)
        self.asked: dict[int, list[tuple[Any, bool]]] = {}

    def has(self, truth: Any, label: Any) -> bool:
        """Whether a labelling is the truth of the example that has this truth, or one that decode returns for it."""
        if same(truth, label):
            return True
        inputs = self.inputs.get(id(truth), [])
        if len(inputs) != 1:
            return False
        asked = self.asked.setdefault(id(truth), [])
        for other, found in asked:
            if same(other, label):
                return found
        if len(asked) >= OTHERS:
            return False
        asked.append((label, self._decodes(inputs[0], truth, label)))
        return asked[-1][1]

    def _decodes(self, x: Any, truth: Any, label: Any) -> bool:
        """Asks at weights that speak for a labelling, and at their opposites: a sign may be the fault that is looked for."""
        try:
            there, here = self._dense(x, label), self._dense(x, truth)
        except Exception:  # features refuse what is no labelling of x
            return False
        for w in (there - here, there, here - there, -there):
            w.flags.writeable = False
            try:
                answer = self.task.decode(x, w)
            except Exception:  # told where decode raises at weights that are asked about
                continue
            if same(answer.y if isinstance(answer, Bounded) else answer, label):
                return True
        return False

    def _dense(self, x: Any, y: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        out = np.zeros(int(self.task.dim()))
        for index, value in _core.UserTask.read_features(self.task.features(x, y), len(out)):
            out[index] += value
        return out


_REACH: ContextVar[Reach | None] = ContextVar("reach", default=None)


@contextmanager
def examining(task: Any, x: Sequence[Any], y: Sequence[Any]) -> Iterator[None]:
    """Lets :func:`fits`, which is told of truths and labellings alone, ask the task about its examples."""
    before = _REACH.set(Reach(task, x, y))
    try:
        yield
    finally:
        _REACH.reset(before)


def fits(truth: Any, label: Any) -> bool:
    """Returns True if a labelling of another example has the type and shape of this truth, and decode returns it at
    some weights.
    """
    reach = _REACH.get()
    return _is_alike(truth, label) and (reach is None or reach.has(truth, label))


def _is_alike(truth: Any, label: Any) -> bool:
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
