"""HOG cells of photographs: the maps that ``PoseSSVM`` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.color import rgb2lab
from skimage.feature import hog

from multiplane.vision._errors import VisionError


COLOURS = np.array([(a, b) for a in (-10, 0, 10, 20, 30) for b in (-10, 5, 20, 35)], np.float64)
"""Colours a and b of Lab that skin and clothes are told apart by, whatever their lightness."""


def coloured(cells: NDArray[np.float32], photo: NDArray[np.uint8], size: int) -> NDArray[np.float32]:
    """Cells with twenty more channels: how near their mean colour is to some colours of Lab."""
    lab = rgb2lab(photo if photo.ndim == 3 else np.stack([photo] * 3, 2))[:, :, 1:]
    lab = np.pad(lab, [(0, -length % size) for length in lab.shape[:2]] + [(0, 0)], mode="edge")
    means = lab.reshape(cells.shape[0], size, cells.shape[1], size, 2).mean((1, 3))
    nearness = 0.5 * np.exp(-((means[:, :, None] - COLOURS) ** 2).sum(3) / 128)
    return np.concatenate([cells, nearness.astype(np.float32)], axis=2)


def placed(cells: NDArray[np.float32], scale: float = 1.0) -> NDArray[np.float32]:
    """Cells with four more channels: u, v, u^2, v^2 times ``scale``, where u and v go from -1 to 1 over columns and rows."""
    y, x = np.indices(cells.shape[:2], np.float32)
    u, v = (2 * x + 1) / cells.shape[1] - 1, (2 * y + 1) / cells.shape[0] - 1
    return np.concatenate([cells, scale * np.stack([u, v, u * u, v * v], axis=2)], axis=2).astype(np.float32)


def cells(photo: Any, size: int, orientations: int, place: bool) -> NDArray[np.float32]:
    """See :func:`multiplane.vision.hog`."""
    found = np.asarray(photo)
    if found.dtype != np.uint8 or found.ndim not in (2, 3) or found.ndim == 3 and found.shape[2] != 3:
        raise VisionError(f"photo: expected uint8 [h, w, 3] or [h, w], found {found.dtype} of the shape {found.shape}")
    height, width = found.shape[:2]
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise VisionError(f"cell = {size!r}: expected a whole number of pixels from 1")
    if min(height, width) < 3 * size:
        raise VisionError(f"photo: {width} x {height} pixels, expected at least three cells along each side: {3 * size} pixels")
    if isinstance(orientations, bool) or not isinstance(orientations, int) or orientations < 1:
        raise VisionError(f"orientations = {orientations!r}: expected a whole number from 1")
    colour = {"channel_axis": -1} if found.ndim == 3 else {}
    frame = [(0, -length % size) for length in found.shape[:2]] + [(0, 0)] * (found.ndim - 2)
    whole = np.pad(found, frame, mode="edge")

    def blocks(side: int, norm: str) -> NDArray[np.float64]:
        """The histograms of cells, each over the norm of the block of side x side cells around it."""
        edge = side // 2
        framed = np.pad(whole, [(edge * size, edge * size)] * 2 + [(0, 0)] * (whole.ndim - 2), mode="edge")
        found: NDArray[np.float64] = hog(framed, orientations, (size, size), (side, side), norm, feature_vector=False, **colour)
        return found[:, :, edge, edge]

    both = np.concatenate([blocks(1, "L2-Hys"), blocks(3, "L2")], axis=2).astype(np.float32)
    return placed(both) if place else both
