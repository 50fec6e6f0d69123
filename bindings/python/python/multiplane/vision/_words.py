"""Visual words: k-means over whitened patches at three scales, and how much of each word a superpixel holds.

Patches, whitening and the triangle code are those of Coates, Ng & Lee (2011), "An analysis of single-layer networks in
unsupervised feature learning".
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image
from scipy.cluster.vq import kmeans2

from multiplane.vision._images import enlarge

Floats = NDArray[np.float32]

PATCH = 6
"""Side of a patch in pixels of its scale."""

SCALES = (1, 2, 4)
"""By how much the image is made smaller before patches are cut."""

STRIDES = (2, 1, 1)
"""Steps between patches, in pixels of their scale."""

KEPT = 40
"""Principal components that are kept of a patch."""

ROUNDS = 20
"""Rounds of k-means."""

LENGTH = PATCH * PATCH * 3


@dataclass
class Book:
    """What words are at one scale."""

    mean: Floats
    """Mean patch, ``[108]``."""
    whitening: Floats
    """Maps a patch to its whitened components, ``[108, 40]``."""
    centres: Floats
    """The words, ``[k, 40]``."""


def _patches(image: NDArray[np.uint8], scale: int) -> tuple[Floats, tuple[int, int]]:
    """Patches ``[rows * columns, 108]`` without their mean and with equal contrast, and the shape (rows, columns) of
    their grid.
    """
    small = image
    if scale > 1:
        size = (max(1, image.shape[1] // scale), max(1, image.shape[0] // scale))
        small = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BOX), dtype=np.uint8)
    half = PATCH // 2
    padded = np.pad(small, ((half, half - 1), (half, half - 1), (0, 0)), mode="edge")
    step = STRIDES[SCALES.index(scale)]
    windows = sliding_window_view(padded, (PATCH, PATCH), axis=(0, 1))[::step, ::step]
    flat = windows.reshape(-1, LENGTH).astype(np.float32)
    flat -= flat.mean(axis=1, keepdims=True)
    flat /= np.sqrt((flat**2).mean(axis=1, keepdims=True) + np.float32(10))
    return flat, windows.shape[:2]


def sample(image: NDArray[np.uint8], count: int, seed: int) -> list[Floats]:
    """At most ``count`` patches of each scale, drawn by ``seed``."""
    drawn = []
    for scale in SCALES:
        patches, _ = _patches(image, scale)
        rng = np.random.default_rng([seed, scale])
        drawn.append(patches[np.sort(rng.choice(len(patches), min(count, len(patches)), replace=False))])
    return drawn


def cluster(rows: Floats, k: int, seed: int) -> Floats:
    """k-means from ``k`` of the rows (some twice, if there are fewer)."""
    rng = np.random.default_rng(seed)
    start = rows[np.sort(rng.choice(len(rows), k, replace=len(rows) < k))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words that nothing is near: they stay where they are
        centres, _ = kmeans2(rows, start, iter=ROUNDS, minit="matrix", check_finite=False)
    return np.ascontiguousarray(centres, dtype=np.float32)


def fit(patches: Floats, k: int, seed: int) -> Book:
    """Whitening and words of one scale from a sample of patches."""
    mean = patches.mean(axis=0, dtype=np.float64)
    centred = patches - mean.astype(np.float32)
    values, vectors = np.linalg.eigh(np.cov(centred.astype(np.float64), rowvar=False, bias=True))
    kept = np.argsort(values, kind="stable")[::-1][:KEPT]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])[kept]
    whitening = (vectors[:, kept] * signs / np.sqrt(np.maximum(values[kept], 0) + 0.01)).astype(np.float32)
    whitening = np.ascontiguousarray(whitening)  # as it comes back from a file: products depend on the layout
    return Book(mean.astype(np.float32), whitening, cluster(centred @ whitening, k, seed))


def triangle(rows: Floats, centres: Floats) -> Floats:
    """The code of each row: by how much each centre is nearer than centres are on average, 0 where it is not."""
    squares = (rows**2).sum(axis=1, keepdims=True) - 2 * (rows @ centres.T) + (centres**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
    return np.asarray(np.maximum(distances.mean(axis=1, keepdims=True) - distances, 0), dtype=np.float32)


def words(image: NDArray[np.uint8], segments: NDArray[np.int32], books: list[Book]) -> Floats:
    """Mean codes of the patches in each superpixel, ``[n, all words]``; the image's mean if it has none."""
    n = int(segments.max()) + 1
    parts = []
    for scale, book in zip(SCALES, books, strict=True):
        patches, grid = _patches(image, scale)
        codes = triangle(np.asarray((patches - book.mean) @ book.whitening, dtype=np.float32), book.centres)
        where = enlarge(segments, grid).ravel()
        order = np.argsort(where, kind="stable")
        counts = np.bincount(where, minlength=n)
        used = np.flatnonzero(counts)
        starts = np.concatenate([[0], np.cumsum(counts[used])[:-1]])
        pooled = np.broadcast_to(codes.mean(axis=0), (n, codes.shape[1])).copy()
        pooled[used] = np.add.reduceat(codes[order], starts, axis=0) / counts[used, None]
        parts.append(pooled)
    return np.concatenate(parts, axis=1).astype(np.float32)
