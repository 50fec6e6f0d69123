"""Dense descriptors of an image: histograms of gradient directions in cells around every point of a grid.

``sift``: 4 x 4 cells of 4 pixels, 8 directions (Lowe 2004, without its Gaussian weights); ``hog``: 2 x 2 cells of 8 pixels,
9 directions without sign (Dalal and Triggs 2005). Both look at 16 x 16 pixels, and are cut off at 0.2 of their length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float32]


class Kind(NamedTuple):
    """The shape of a descriptor."""

    cells: int
    """Cells along each side."""
    bins: int
    """Directions."""
    signed: bool
    """If opposite directions differ."""


KINDS = {"sift": Kind(4, 8, True), "hog": Kind(2, 9, False)}

WINDOW = 16
"""Side of the pixels that a descriptor sees."""

CHANNELS = {"grey": 1, "hue": 1, "hsv": 3}
"""Vocabularies by name, and of how many channels each is."""

CUT = 0.2
"""Share of its length at which an entry is cut off."""

FLAT = 20.0
"""Length, in levels of 256, that counts as none: flat places do not become all noise."""


def length(kind: str, channel: str) -> int:
    """Numbers of a descriptor."""
    cells, bins, _ = KINDS[kind]
    return cells * cells * bins * CHANNELS[channel]


def _slope(values: Floats, axis: int, circular: bool) -> Floats:
    """Half the difference of the two neighbours, one-sided at borders; hues are circular."""
    padded = np.pad(values, [(1, 1) if side == axis else (0, 0) for side in range(2)], mode="edge")
    after, before = (np.take(padded, range(first, first + values.shape[axis]), axis) for first in (2, 0))
    change = after - before
    if circular:
        change = (change + 128) % 256 - 128
    return np.asarray(change / 2, dtype=np.float32)


def _described(values: Floats, kind: Kind, step: int, circular: bool) -> Floats:
    """Descriptors ``[rows, columns, length]`` of one channel."""
    down, right = _slope(values, 0, circular), _slope(values, 1, circular)
    turn = np.arctan2(down, right) / (2 * np.pi) * (1 if kind.signed else 2) % 1 * kind.bins
    low = np.floor(turn).astype(np.int64)
    share = (turn - low).astype(np.float32)
    strength = np.hypot(down, right)
    height, width = values.shape
    votes = np.zeros((kind.bins, height, width), dtype=np.float32)
    at = np.indices(values.shape)
    votes[low % kind.bins, at[0], at[1]] += strength * (1 - share)
    votes[(low + 1) % kind.bins, at[0], at[1]] += strength * share
    sums = np.pad(votes.astype(np.float64).cumsum(1).cumsum(2), ((0, 0), (1, 0), (1, 0)))
    side = WINDOW // kind.cells
    tops, lefts = (np.arange(0, size - WINDOW + 1, step) for size in values.shape)
    parts = []
    for row in range(kind.cells):
        for column in range(kind.cells):
            top, left = tops[:, None] + row * side, lefts + column * side
            parts.append(sums[:, top + side, left + side] - sums[:, top, left + side] - sums[:, top + side, left] + sums[:, top, left])
    found = np.concatenate(parts).transpose(1, 2, 0)
    found = np.minimum(found / (np.linalg.norm(found, axis=2, keepdims=True) + FLAT), CUT)
    return np.asarray(found / (np.linalg.norm(found, axis=2, keepdims=True) + 1e-3), dtype=np.float32)


def describe(pixels: NDArray[np.uint8], kind: str, channel: str, step: int) -> Floats:
    """Descriptors ``[rows, columns, length]`` around the points of a grid, which begins ``WINDOW / 2`` pixels from the border;
    no row or column if the image is smaller than a window.
    """
    if channel == "grey":
        return _described(pixels.astype(np.float32).mean(axis=2), KINDS[kind], step, False)
    image: Any = Image.fromarray(pixels).convert("HSV")
    parts = np.asarray(image, dtype=np.float32)
    chosen = range(3) if channel == "hsv" else range(1)
    return np.concatenate([_described(parts[:, :, k], KINDS[kind], step, k == 0) for k in chosen], axis=2)


def nearest(rows: Floats, words: Floats) -> NDArray[np.int64]:
    """The word that each descriptor is nearest to."""
    squares = (words**2).sum(axis=1) / 2
    blocks = [rows[first : first + 4096] @ words.T for first in range(0, len(rows), 4096)]
    return np.concatenate([(squares - block).argmin(axis=1) for block in blocks]) if blocks else np.zeros(0, np.int64)
