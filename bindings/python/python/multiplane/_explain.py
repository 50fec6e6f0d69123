"""Why a chain says what it says: the score of its best labelling, term by term."""

from __future__ import annotations

import shutil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


WIDTH = 100
"""Columns of a printed explanation where no terminal says how many it has."""

ROOM, INDENT = 50, 6
"""Columns that features need at least to stand below each other, and where they begin on narrower terminals."""


class Position(NamedTuple):
    """What one position adds to the score of the labelling.

    Attributes:
        label: Its label.
        emission: The score of the label by the features of the position.
        transition: The score of the step from the label before; at the first position that of beginning with it.
        end: The score of ending with the label; 0 but at the last position.
        margin: How much higher the labelling scores than the best with another label here; infinite where there is none.
        features: The strongest terms of ``emission``: names of features with value times weight.
    """

    label: Any
    emission: float
    transition: float
    end: float
    margin: float
    features: list[tuple[str, float]]


class Explanation(NamedTuple):
    """The best labelling of a sequence, its score by positions, and the next best. ``print`` it for a table.

    Attributes:
        labels: The labelling that ``predict`` gives.
        score: Its score: the sum of all positions' ``emission``, ``transition`` and ``end``.
        margin: How much lower the second best labelling scores; infinite where there is none.
        second: The second best labelling; None where there is none.
        positions: The terms, position by position.
    """

    labels: NDArray[Any]
    score: float
    margin: float
    second: NDArray[Any] | None
    positions: list[Position]

    def __str__(self) -> str:
        """A table as wide as the terminal, or 100 columns: features go on below each other where they do not fit."""
        lines = [f"score {self.score:.4g}, {self.margin:.4g} above the second best labelling"]
        lines.append(f"{'':>4} {'label':<12} {'emission':>9} {'transition':>10} {'margin':>8}  strongest features")
        width = shutil.get_terminal_size((WIDTH, 24)).columns
        for t, at in enumerate(self.positions):
            terms = [f"{name} {value:.3g}" for name, value in at.features]
            parts = [f"{term}," for term in terms[:-1]] + terms[-1:]
            if self.second is not None and self.second[t] != at.label:
                parts.append(f" (second best: {self.second[t]})")
            step = at.transition + at.end
            head = f"{t:>4} {at.label!s:<12} {at.emission:>9.4g} {step:>10.4g} {at.margin:>8.4g}  "
            lines.extend(_wrapped(head, parts, width))
        return "\n".join(lines)


def _wrapped(head: str, parts: list[str], width: int) -> list[str]:
    """Wraps parts after a head to so many columns, indented below the first part, or less if that leaves little room.
    """
    indent = " " * (len(head) if width - len(head) >= ROOM else INDENT)
    lines, line, fresh = [], head, len(head)
    for part in parts:
        if len(line) + (len(line) > fresh) + len(part) > width and len(line) > len(indent):
            lines.append(line)
            line, fresh, part = indent, len(indent), part.lstrip()
        line += part if len(line) == fresh else f" {part}"
    return [text.rstrip() for text in [*lines, line]]


def positions(
    numbers: NDArray[np.uint32], labels: NDArray[Any], rows: list[tuple[NDArray[np.int64], NDArray[np.float64]]],
    tables: dict[str, NDArray[np.float64]], names: dict[int, str], margins: NDArray[np.float64], n: int,
) -> list[Position]:  # fmt: skip
    """The terms of a labelling, given by the numbers of its labels; ``rows`` are indices and values of each position's features."""
    found = []
    last = len(numbers) - 1
    for t, (label, (indices, values)) in enumerate(zip(numbers.tolist(), rows, strict=True)):
        terms = values * tables["unary"][label, indices]
        strongest = [k for k in np.argsort(-np.abs(terms), kind="stable")[:n] if terms[k] != 0]
        if t == 0:
            step = float(tables["start"][label]) if "start" in tables else 0.0
        else:
            step = float(tables["pair"][numbers[t - 1], label])
        found.append(
            Position(
                label=labels[t],
                emission=float(terms.sum()),
                transition=step,
                end=float(tables["end"][label]) if t == last and "end" in tables else 0.0,
                margin=float(margins[t]),
                features=[(names[int(indices[k])], float(terms[k])) for k in strongest],
            )
        )
    return found
