"""Graphs of photographs in memory, with superpixels or other segments of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _regions
from multiplane.vision._errors import VisionError
from multiplane.vision._features import neighbour_means
from multiplane.vision._overlay import overlay

Graph = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]
"""Features of nodes, edges, features of edges."""


def photo_of(photo: Any) -> NDArray[np.uint8]:
    """A photograph as ``[h, w, 3]``; grey ones get three equal channels."""
    found = np.asarray(photo)
    if found.dtype != np.uint8 or found.ndim not in (2, 3) or (found.ndim == 3 and found.shape[2] not in (3, 4)):
        raise VisionError(f"photo: found an array of {found.dtype} of shape {list(found.shape)}, expected uint8 [h, w, 3] or [h, w]")
    if min(found.shape[:2]) == 0:
        raise VisionError(f"photo: has no pixel: shape {list(found.shape)}")
    return np.ascontiguousarray(np.repeat(found[..., None], 3, axis=2) if found.ndim == 2 else found[..., :3])


def segments_of(segments: Any, photo: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Segments of a photograph, numbered from 0 without gaps."""
    found = np.asarray(segments)
    if found.dtype.kind not in "iu" or found.shape != photo.shape[:2]:
        raise VisionError(
            f"segments: found an array of {found.dtype} of shape {list(found.shape)}, expected whole numbers {list(photo.shape[:2])}"
        )
    numbers, sizes = np.unique(found, return_counts=True)
    if numbers[0] != 0 or numbers[-1] != len(sizes) - 1:
        gaps = np.setdiff1d(np.arange(max(int(numbers[-1]), 0) + 1), numbers)
        what = f"number {int(gaps[0])} has no pixel" if len(gaps) else f"found {int(numbers[0])}"
        raise VisionError(f"segments: {what}, expected numbers from 0 on without gaps (np.unique(..., return_inverse=True))")
    return found.astype(np.int32)


def superpixels(photo: Any, count: int) -> NDArray[np.int32]:
    """As ``multiplane.vision.superpixels``."""
    image = photo_of(photo)
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 2 <= count <= 20000:
        raise VisionError(f"count = {count!r}: expected a whole number from 2 to 20000")
    return _regions.superpixels(image, int(count))


def graph(photo: Any, segments: Any) -> Graph:
    """As ``multiplane.vision.graph`` of arrays."""
    image = photo_of(photo)
    found = _regions.described(image, segments_of(segments, image))
    features = np.concatenate([found.local, neighbour_means(found.local, found), found.place], axis=1)
    return np.concatenate([features, np.ones((len(features), 1), dtype=np.float32)], axis=1), found.edges, found.edge_features


def painted(photo: Any, segments: Any, labels: Any) -> NDArray[np.uint8]:
    """As ``multiplane.vision.overlay``."""
    image = photo_of(photo)
    numbers = segments_of(segments, image)
    found = np.asarray(labels)
    count = int(numbers.max()) + 1
    if found.dtype.kind not in "iub" or found.shape != (count,) or found.min() < 0 or found.max() > 255:
        raise VisionError(
            f"labels: found an array of {found.dtype} of shape {list(found.shape)}, expected a class id from 0 to 255 for each of {count} "
            "segments"
        )
    return overlay(image, found.astype(np.int64)[numbers], sorted(set(found.tolist())))
