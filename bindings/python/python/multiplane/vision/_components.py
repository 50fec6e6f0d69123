"""Principal components of windows of cells: what is around a cell, in few numbers of equal deviation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SAMPLED = 300
"""Windows of an image that components are found on."""

DEVIATION = 0.6
"""Of each component, over the windows sampled."""


def _windows(cells: Floats, side: int) -> Floats:
    """The cells around each cell in one row, those beyond the border repeated: ``[rows * columns, side * side * channels]``."""
    edge = side // 2
    padded = np.pad(cells, ((edge, edge), (edge, edge), (0, 0)), mode="edge")
    found = np.lib.stride_tricks.sliding_window_view(padded, (side, side), axis=(0, 1))
    return found.transpose(0, 1, 3, 4, 2).reshape(cells.shape[0] * cells.shape[1], -1)


def sample(cells: Floats, side: int) -> Floats:
    """Some windows of an image, the same each time."""
    chosen = np.random.default_rng(0).permutation(cells.shape[0] * cells.shape[1])[:SAMPLED]
    found: Floats = _windows(cells, side)[np.sort(chosen)]
    return found


@dataclass
class Components:
    """Maps windows of cells to their components."""

    mean: Floats
    """The mean window, ``[window]``."""
    axes: Floats
    """``[window, components]``."""

    def of(self, cells: Floats, side: int) -> Floats:
        """The components at each cell, ``[rows, columns, components]``."""
        found = (_windows(cells, side) - self.mean) @ self.axes
        return found.reshape(*cells.shape[:2], -1).astype(np.float32)


def fit(samples: Iterable[Floats], count: int) -> Components:
    """The ``count`` strongest components of the windows sampled."""
    number, total, products = 0, np.zeros(0), np.zeros((0, 0))
    for rows in samples:
        wide = rows.astype(np.float64)
        if number == 0:
            total, products = np.zeros(wide.shape[1]), np.zeros((wide.shape[1], wide.shape[1]))
        number += len(wide)
        total += wide.sum(0)
        products += wide.T @ wide
    mean = total / number
    squares, axes = np.linalg.eigh(products / number - np.outer(mean, mean))
    kept = np.argsort(squares, kind="stable")[::-1][:count]
    signs = np.sign(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])])[kept]
    least = 1e-9 * squares[kept[0]]  # windows that never vary have components of rounding alone
    scaled = axes[:, kept] * signs * (DEVIATION / np.sqrt(np.maximum(squares[kept], least)))
    return Components(mean.astype(np.float32), np.ascontiguousarray(scaled, dtype=np.float32))
