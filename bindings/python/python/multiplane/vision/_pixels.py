"""What is computed for every pixel of an image once: colour spaces, gradients, filters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.color import rgb2hsv, rgb2lab

Floats = NDArray[np.float32]


@dataclass
class Pixels:
    """Channels of an image ``[h, w]`` or ``[h, w, channels]``."""

    rgb: Floats
    """Red, green, blue, 0 to 1."""
    lab: Floats
    """CIE L*a*b*."""
    hsv: Floats
    """Hue, saturation, value, 0 to 1."""
    gradients: list[tuple[Floats, Floats]]
    """Derivatives of lightness (down, right) at the scales of ``GRADIENT_SCALES``, lightness running from 0 to 1."""

    @property
    def colours(self) -> Floats:
        """The ten channels whose means and deviations are taken: RGB, Lab, saturation, value, hue as a vector."""
        angle = 2 * np.pi * self.hsv[..., 0]
        saturation = self.hsv[..., 1]
        others = np.stack([saturation, self.hsv[..., 2], saturation * np.cos(angle), saturation * np.sin(angle)], -1)
        return np.concatenate([self.rgb, self.lab / 100, others], axis=-1, dtype=np.float32)


GRADIENT_SCALES = (1.0, 2.5)
"""Standard deviations, in pixels, of the Gaussians whose derivatives are the gradients."""


def pixels_of(image: NDArray[np.uint8]) -> Pixels:
    """The channels of an image ``[h, w, 3]``."""
    rgb = image.astype(np.float32) / np.float32(255)
    lab = rgb2lab(rgb).astype(np.float32)
    light = lab[..., 0] / 100
    gradients = []
    for scale in GRADIENT_SCALES:
        smooth = ndimage.gaussian_filter(light, scale, truncate=3.0)
        down, right = np.zeros_like(smooth), np.zeros_like(smooth)
        if min(smooth.shape) > 1:
            down, right = np.gradient(smooth)
        gradients.append((down, right))
    return Pixels(rgb, lab, rgb2hsv(rgb).astype(np.float32), gradients)


def magnitude(gradient: tuple[Floats, Floats]) -> Floats:
    """The length of a gradient at each pixel."""
    return np.asarray(np.hypot(*gradient), dtype=np.float32)
