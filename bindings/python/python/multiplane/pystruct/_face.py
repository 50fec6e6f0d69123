"""Weights that are combinations of differences of features, some of them 0: where learning under constraints takes place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALL = 1e-9
"""Directions shorter than this share of the longest are rounding."""

INEXACT = 1e-3
"""As SMALL, of fractional labellings: what solvers of linear programs leave of the equations that these should meet."""

SHADOW = 1e-4
"""How long the part of weights that only reports becomes at most: its square is what it adds to the objective, twice."""


class Face:
    """The weights ``{w in S : w_j = 0 for j in zero}``, in coordinates that keep lengths, so that the regulariser stays.

    Beside these there are coordinates for the directions of S that the zeros forbid, shrunk until they count for nothing. The
    model's weights do not see them; what training has them come to says which constraints push.

    Args:
        basis: Orthonormal rows that span S; None where S is everything.
        dim: The number of weights.
        zero: Weights that are held at 0.
        length: How long the sum of all planes may be at most.
    """

    def __init__(self, basis: Floats | None, dim: int, zero: Sequence[int], length: float) -> None:
        self.basis, self.dim, self.zero = basis, dim, list(zero)
        self.missed: Floats = np.zeros((0, dim))
        self.epsilon = SHADOW / max(length, 1.0)
        if basis is None:
            self.inner: Floats | None = None
            self.normals = np.eye(len(self.zero))  # of e_j, by which coordinates forbidden are counted
            self.forbidden: Floats | None = None
            self.size = dim + len(self.zero)
            return
        normals = basis[:, self.zero]  # of P_S e_j, in coordinates of S
        left, lengths, _ = np.linalg.svd(normals, full_matrices=True)
        rank = int(np.sum(lengths > SMALL * max(1.0, float(lengths.max(initial=0.0)))))
        self.inner = left[:, rank:].T @ basis
        self.forbidden = left[:, :rank].T @ basis
        self.normals = left[:, :rank].T @ normals
        self.size = len(basis)

    def coordinates(self, features: Floats) -> Floats:
        """Features as training sees them."""
        if self.inner is None or self.forbidden is None:
            inside = features.copy()
            inside[self.zero] = 0.0
            return np.concatenate([inside, self.epsilon * features[self.zero]])
        return np.concatenate([self.inner @ features, self.epsilon * (self.forbidden @ features)])

    def note(self, difference: Floats, fractional: bool = False) -> None:
        """Takes note of a difference of features that training met: what of it is outside of S becomes rows of ``missed``."""
        if self.basis is not None and len(self.basis) + len(self.missed) < self.dim:
            found = _beside([self.basis, self.missed], difference, INEXACT if fractional else SMALL)
            if found is not None:
                self.missed = np.vstack([self.missed, found])

    def wider(self) -> Floats | None:
        """The basis, and what it missed."""
        return None if self.basis is None else np.vstack([self.basis, self.missed])

    def weights(self, coordinates: Floats) -> Floats:
        """The model's weights."""
        inside = coordinates[: self.size - len(self.normals)]
        w = np.array(inside) if self.inner is None else inside @ self.inner
        w[self.zero] = 0.0
        return w

    def leaves(self, coordinates: Floats) -> list[int]:
        """Which weights of ``zero`` would go below 0 if they were let go; the objective would fall."""
        pushed = coordinates[self.size - len(self.normals) :] / self.epsilon
        residual = pushed - self.normals @ _nonnegative(self.normals, pushed)
        slopes = self.normals.T @ residual
        least = 1e-3 * float(np.linalg.norm(pushed))  # what the gap that training stopped at may have moved
        return [index for index, slope in zip(self.zero, slopes, strict=True) if slope < -least]


def _nonnegative(columns: Floats, target: Floats) -> Floats:
    """The combination of columns with weights >= 0 that is nearest to the target, by coordinate descent: they are few."""
    gram, found = columns.T @ columns, np.zeros(columns.shape[1])
    slopes = columns.T @ target
    for _ in range(10_000):
        moved = 0.0
        for j in range(len(found)):
            if gram[j, j] > 0.0:
                step = max(-found[j], slopes[j] / gram[j, j])
                found[j] += step
                slopes -= step * gram[j]
                moved = max(moved, abs(step))
        if moved <= 1e-12 * (1.0 + float(np.abs(found).max(initial=0.0))):
            break
    return found


def _beside(bases: Sequence[Floats], vector: Floats, small: float = SMALL) -> Floats | None:
    """The direction of the part of a vector that is orthogonal to all rows, which are orthonormal; None if it is rounding."""
    left, length = vector, float(np.linalg.norm(vector))
    for _ in range(2):  # once more, for what rounding left
        for rows in bases:
            left = left - rows.T @ (rows @ left)
    beside = float(np.linalg.norm(left))
    return left / beside if beside > small * max(length, SMALL) else None


def span(task: Any, x: Sequence[Any], y: Sequence[Any], dim: int, idle: int = 100) -> tuple[Floats, float]:
    """Orthonormal rows that span the differences of features between labellings, and the longest difference seen.

    Labellings are what ``task.decode`` finds at random weights, or at their opposite where that is the truth: first of each
    example in turn, then of examples at random. It ends when ``idle`` in a row brought nothing new. Where it misses a direction
    nevertheless, ``Face.note`` finds it.
    """
    rng = np.random.default_rng(0)
    rows, longest, since, visits = np.zeros((0, dim)), 0.0, 0, 0
    while (visits < len(x) or since < idle) and len(rows) < dim:
        i = visits if visits < len(x) else int(rng.integers(len(x)))
        visits, since = visits + 1, since + 1
        w, truth = rng.normal(size=dim), task.features(x[i], y[i])
        difference = task.features(x[i], task.decode(x[i], w)) - truth
        if not difference.any():
            difference = task.features(x[i], task.decode(x[i], -w)) - truth
        longest = max(longest, float(np.linalg.norm(difference)))
        found = _beside([rows], difference)
        if found is not None:
            rows, since = np.vstack([rows, found]), 0
    return rows, longest
