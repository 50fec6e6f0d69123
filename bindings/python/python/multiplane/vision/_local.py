"""Features of what a superpixel looks like: colour and texture. Neighbours average these as well."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage import feature

from multiplane.vision._pixels import Pixels, magnitude
from multiplane.vision._pooling import Pool

Floats = NDArray[np.float32]

BINS = 10
"""Bins of each colour histogram."""

ORIENTATIONS = 8
"""Bins of a histogram of gradient directions (without sign)."""

PATTERN_RADII = (1, 3)
"""Radii of the local binary patterns, in pixels; eight points each, uniform and turned to a normal form."""

FILTER_SCALES = (1.0, 2.0, 4.0)
"""Standard deviations of the filter bank, in pixels."""


def _binned(channel: Floats, low: float, high: float) -> NDArray[Any]:
    return np.asarray(np.clip((channel - low) * (BINS / (high - low)), 0, BINS - 1), dtype=np.int64)


def colour(pixels: Pixels, pool: Pool) -> Floats:
    """Means and standard deviations of ten channels, histograms of L, a, b and hue: 60 numbers a superpixel."""
    channels = pixels.colours
    mean = pool.mean(channels)
    deviation = np.sqrt(np.maximum(pool.mean(channels**2) - mean**2, 0))
    parts = [mean, deviation]
    for channel, (low, high) in enumerate([(0.0, 100.0), (-50.0, 50.0), (-50.0, 50.0)]):
        parts.append(pool.histogram(_binned(pixels.lab[..., channel], low, high), BINS))
    saturated = pixels.hsv[..., 1] * pixels.hsv[..., 2] + np.float32(1e-3)
    parts.append(pool.histogram(_binned(pixels.hsv[..., 0], 0.0, 1.0), BINS, saturated))
    return np.concatenate(parts, axis=1)


def patterns(pixels: Pixels, pool: Pool) -> Floats:
    """Histograms of local binary patterns at two radii: 20 numbers."""
    grey = np.clip(np.rint(pixels.lab[..., 0] * 2.55), 0, 255).astype(np.uint8)
    binary_pattern: Any = feature.local_binary_pattern
    parts = []
    for radius in PATTERN_RADII:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of images smaller than the radius
            codes = binary_pattern(grey, 8, radius, method="uniform")
        parts.append(pool.histogram(codes.astype(np.int64), 10))
    return np.concatenate(parts, axis=1)


def texture(pixels: Pixels, pool: Pool) -> Floats:
    """Strength and directions of gradients at two scales, and mean responses of a filter bank: 29 numbers."""
    parts = []
    for gradient in pixels.gradients:
        strength = magnitude(gradient)
        angle = np.arctan2(gradient[0], gradient[1]) % np.pi
        direction = np.minimum(angle * (ORIENTATIONS / np.pi), ORIENTATIONS - 1).astype(np.int64)
        parts += [pool.mean(strength), pool.histogram(direction, ORIENTATIONS, strength + np.float32(1e-5))]
    light = pixels.lab[..., 0] / 100
    responses = []
    for scale in FILTER_SCALES:
        smooth = ndimage.gaussian_filter(light, scale, truncate=3.0)
        filtered = (ndimage.laplace(smooth), ndimage.sobel(smooth, 0), ndimage.sobel(smooth, 1))
        responses += [np.abs(response) for response in filtered]
    for channel in (1, 2):
        responses.append(np.abs(ndimage.laplace(ndimage.gaussian_filter(pixels.lab[..., channel], 1.5, truncate=3.0))))
    parts.append(np.sqrt(pool.mean(np.stack(responses, axis=-1))))
    return np.concatenate(parts, axis=1)
