"""Superpixels of an image, which of them touch, and contrast features of each border."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skimage.segmentation import slic

from multiplane.vision import _local, _place
from multiplane.vision._pixels import Pixels, magnitude, pixels_of
from multiplane.vision._pooling import Pool

Floats = NDArray[np.float32]

EDGE_NAMES = (
    "one", "colour 4", "colour 10", "colour 25", "colour relative", "length", "length x colour relative", "gradient",
    "length x gradient", "patterns", "length lying",
)  # fmt: skip
"""Names of the edge features, in their order; all are at least 0."""

CLOSE = 0.05
"""How near the number of superpixels is to the one asked for before a second try."""

LOCAL_GROUPS = (("colour", 60), ("patterns", 20), ("texture", 29))
"""Groups of the features of looks, with their sizes."""

PLACE_GROUPS = (("position", 53), ("shape", 12), ("contrast", 3), ("surroundings", 24), ("image", 22))
"""Groups of the features of place, with their sizes."""


@dataclass
class Regions:
    """All that is computed of an image without anything fitted."""

    segments: NDArray[np.int32]
    """The superpixel of each pixel, ``[h, w]``."""
    local: Floats
    """Looks, ``[n, 109]``."""
    place: Floats
    """Place, ``[n, 114]``."""
    edges: NDArray[np.int64]
    """Pairs of superpixels that share a border, ``[e, 2]``, the smaller first, in sorted order."""
    lengths: NDArray[np.int64]
    """Pairs of pixels along each border, ``[e]``."""
    edge_features: Floats
    """``[e, len(EDGE_NAMES)]``."""


def _slic(image: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = slic(image, n_segments=count, compactness=20.0, max_num_iter=10, sigma=1.0, start_label=0)
    return np.asarray(found, dtype=np.int64)


def superpixels(image: NDArray[np.uint8], count: int) -> NDArray[np.int32]:
    """About ``count`` superpixels by SLIC (Achanta et al. 2012), numbered from 0 in the order of their first pixels."""
    found, asked = _slic(image, count), count
    got = int(found.max()) + 1
    if abs(got - count) > CLOSE * count:  # merging small pieces costs some: once more, with as many as are lacking
        asked = max(2, round(count * count / got))
        found = _slic(image, asked)
    _, first, numbers = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[numbers.reshape(found.shape)]


def _borders(pixels: Pixels, pool: Pool) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Edges, their lengths, mean gradient along each, and the share of it that lies flat."""
    index = pool.flat.reshape(pool.shape)
    strength = magnitude(pixels.gradients[0]).astype(np.float64)
    keys, gradients, flat = [], [], []
    for axis in (0, 1):
        here = (slice(None, -1), slice(None)) if axis == 0 else (slice(None), slice(None, -1))
        there = (slice(1, None), slice(None)) if axis == 0 else (slice(None), slice(1, None))
        one, other = index[here], index[there]
        differs = one != other
        one, other = one[differs], other[differs]
        keys.append(np.minimum(one, other) * pool.n + np.maximum(one, other))
        gradients.append((strength[here][differs] + strength[there][differs]) / 2)
        flat.append(np.full(len(one), 1.0 - axis))
    distinct, where, lengths = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    mean = np.bincount(where, weights=np.concatenate(gradients), minlength=len(distinct)) / np.maximum(lengths, 1)
    lying = np.bincount(where, weights=np.concatenate(flat), minlength=len(distinct)) / np.maximum(lengths, 1)
    edges = np.stack([distinct // pool.n, distinct % pool.n], axis=1).astype(np.int64)
    return edges, lengths.astype(np.int64), mean.astype(np.float32), lying.astype(np.float32)


def _edge_features(
    pixels: Pixels, pool: Pool, patterns: Floats, borders: tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]
) -> Floats:
    edges, lengths, gradient, lying = borders
    one, other = edges.T
    lab = pool.mean(pixels.lab).astype(np.float64)
    distance = ((lab[one] - lab[other]) ** 2).sum(axis=1)
    relative = np.exp(-distance / (2 * max(float(distance.mean()), 1e-9) if len(distance) else 1.0))
    length = lengths / np.sqrt(len(pool.flat) / pool.n)
    weak = np.exp(-gradient / max(float(gradient.mean()) if len(gradient) else 1.0, 1e-6))
    alike = np.exp(-2 * ((patterns[one] - patterns[other]) ** 2).sum(axis=1))
    parts = [
        np.ones(len(edges)), *(np.exp(-distance / (2 * scale**2)) for scale in (4.0, 10.0, 25.0)), relative, length,
        length * relative, weak, length * weak, alike, length * lying,
    ]  # fmt: skip
    return np.stack(parts, axis=1).astype(np.float32)


def regions(image: NDArray[np.uint8], count: int) -> Regions:
    """Superpixels and their features for an image ``[h, w, 3]``."""
    return described(image, superpixels(image, count))


def described(image: NDArray[np.uint8], segments: NDArray[np.int32]) -> Regions:
    """Features of segments ``[h, w]``, numbered from 0, of an image ``[h, w, 3]``."""
    pixels, pool = pixels_of(image), Pool(segments)
    patterns = _local.patterns(pixels, pool)
    local = np.concatenate([_local.colour(pixels, pool), patterns, _local.texture(pixels, pool)], axis=1)
    place = [
        _place.position(pool), _place.shape(pool), _place.contrast(pixels, pool), _place.surroundings(pixels, pool),
        _place.whole(pixels, pool),
    ]  # fmt: skip
    borders = _borders(pixels, pool)
    features = _edge_features(pixels, pool, patterns, borders)
    placed = np.concatenate(place, axis=1).astype(np.float32)
    return Regions(segments, local.astype(np.float32), placed, borders[0], borders[1], features)
