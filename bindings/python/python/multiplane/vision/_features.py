"""Puts the features of an image's superpixels together: looks, looks of neighbours, place, the image's words, a bias.

A feature is then centred and divided by its deviation over the training nodes, cut off at `CUT` deviations, and divided
by the root of their number: a node's vector has a length of about 1, so lambda means the same for any set of features.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from multiplane.vision._regions import Regions

Floats = NDArray[np.float32]

CUT = 5.0
"""Deviations at which a feature is cut off."""


def neighbour_means(values: Floats, found: Regions) -> Floats:
    """The mean of each superpixel's neighbours, weighted by the length of the border; its own row if it has none."""
    n = len(values)
    one, other = found.edges.T
    lengths = found.lengths.astype(np.float32)
    weights = csr_matrix(
        (np.concatenate([lengths, lengths]), (np.concatenate([one, other]), np.concatenate([other, one]))), shape=(n, n)
    )
    totals = np.asarray(weights.sum(axis=1), dtype=np.float32)
    means = np.asarray(weights @ values) / np.maximum(totals, 1)
    return np.where(totals > 0, means, values).astype(np.float32)


def assemble(found: Regions, words: Floats) -> Floats:
    """All node features ``[n, f]`` as they are before scaling, in the order of ``groups``."""
    n = len(words)
    looks = np.concatenate([found.local, words], axis=1)
    share = np.bincount(found.segments.ravel(), minlength=n) / found.segments.size
    image = np.broadcast_to((share @ words.astype(np.float64)).astype(np.float32), words.shape)
    bias = np.ones((n, 1), dtype=np.float32)
    return np.concatenate([looks, neighbour_means(looks, found), found.place, image, bias], axis=1)


class Moments:
    """Mean and deviation of features, gathered over blocks of rows in a fixed order."""

    def __init__(self, count: int) -> None:
        self.rows = 0
        self.mean = np.zeros(count)
        self.squares = np.zeros(count)

    def add(self, values: Floats) -> None:
        """Takes rows ``[n, f]`` in (Chan, Golub & LeVeque 1979)."""
        n, exact = len(values), values.astype(np.float64)
        mean = exact.mean(axis=0)
        apart = mean - self.mean
        total = self.rows + n
        self.squares += ((exact - mean) ** 2).sum(axis=0) + apart**2 * (self.rows * n / total)
        self.mean += apart * (n / total)
        self.rows = total

    def result(self) -> tuple[Floats, Floats]:
        """The mean of each feature and what to divide by (0: constant). The last feature, the bias, stays 1."""
        mean = self.mean.copy()
        deviation = np.sqrt(self.squares / max(self.rows, 1))
        deviation[deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))] = 0.0
        mean[-1], deviation[-1] = 0.0, 1.0
        return mean.astype(np.float32), deviation.astype(np.float32)


def scaled(values: Floats, mean: Floats, scale: Floats) -> Floats:
    """Features as they stand in the file."""
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    cut = np.clip((values - mean) * inverse, -CUT, CUT)
    return np.asarray(cut * np.float32(1 / np.sqrt(values.shape[1])), dtype=np.float32)
