"""HOG cells of photographs: the maps that ``PoseSSVM`` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.feature import hog

from multiplane.vision._errors import VisionError


def cells(photo: Any, size: int, orientations: int) -> NDArray[np.float32]:
    """See :func:`multiplane.vision.hog`."""
    found = np.asarray(photo)
    if found.dtype != np.uint8 or found.ndim not in (2, 3) or found.ndim == 3 and found.shape[2] != 3:
        raise VisionError(f"photo: expected uint8 [h, w, 3] or [h, w], found {found.dtype} of the shape {found.shape}")
    if size < 1 or min(found.shape[:2]) < 3 * size:
        raise VisionError(f"cell = {size}: expected 1 to {min(found.shape[:2]) // 3} pixels, a third of the shorter side of the photograph")
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

    return np.concatenate([blocks(1, "L2-Hys"), blocks(3, "L2")], axis=2).astype(np.float32)
