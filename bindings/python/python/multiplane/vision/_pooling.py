"""Means and histograms over the superpixels of an image. Cost: one pass over the pixels per channel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]


class Pool:
    """Sums over superpixels: ``segments [h, w]`` holds each pixel's number, 0 to n - 1, all of them in use."""

    def __init__(self, segments: NDArray[Any]) -> None:
        flat = segments.ravel()
        self.flat: NDArray[np.int64] = flat.astype(np.int64)
        self.shape = segments.shape
        self.sizes: NDArray[np.int64] = np.bincount(self.flat)
        self.n = len(self.sizes)
        order = np.argsort(self.flat, kind="stable")
        ends = np.concatenate([[0], np.cumsum(self.sizes)])
        ones = np.ones(len(flat), dtype=np.float32)
        self._matrix = csr_matrix((ones, order, ends), shape=(self.n, len(flat)))

    def mean(self, channels: NDArray[Any]) -> Floats:
        """Means ``[n, channels]`` of ``channels [h, w, channels]``."""
        flat = np.ascontiguousarray(channels.reshape(len(self.flat), -1), dtype=np.float32)
        return np.asarray((self._matrix @ flat) / self.sizes[:, None], dtype=np.float32)

    def histogram(self, bins: NDArray[Any], count: int, weights: NDArray[Any] | None = None) -> Floats:
        """Square roots of shares ``[n, count]`` of the bin numbers ``bins [h, w]``; roots make shares comparable by
        their differences (Hellinger).
        """
        index = self.flat * count + bins.ravel()
        given = None if weights is None else weights.ravel().astype(np.float64)
        sums = np.bincount(index, weights=given, minlength=self.n * count).reshape(self.n, count)
        totals = sums.sum(axis=1, keepdims=True)
        return np.asarray(np.sqrt(sums / np.maximum(totals, 1e-9)), dtype=np.float32)
