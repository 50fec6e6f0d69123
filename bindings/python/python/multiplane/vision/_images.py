"""Reads photographs and label maps, each with the checks that bad files need."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from multiplane.vision._errors import VisionError

ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm", ".pgm"})
"""Endings of files that are taken for images, in lower case; other files of a folder are passed over."""

RATIO_TOLERANCE = 0.02
"""By how much the aspect ratios of a photograph and its label map may differ."""


def content(path: Path) -> bytes:
    """The bytes of a file. Raises ``VisionError`` where they cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise VisionError(f"{path}: cannot be read: {error.strerror}") from None


def _open(path: Path) -> Any:
    """An image, decoded and turned upright where its file says how it was held. Raises ``VisionError`` where that fails."""
    data = content(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of metadata that nobody asks for
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data))
            image.load()
            return ImageOps.exif_transpose(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise VisionError(f"{path}: more than {Image.MAX_IMAGE_PIXELS} pixels") from None
    except UnidentifiedImageError:
        raise VisionError(f"{path}: not an image that can be read") from None
    except Exception as error:  # damaged files make Pillow raise whatever its decoders meet
        reason = " ".join(str(error).split()) or type(error).__name__
        raise VisionError(f"{path}: damaged, or not an image: {reason}") from None


def read_photo(path: Path) -> Any:
    """A photograph as a Pillow image in RGB."""
    image = _open(path)
    if image.mode in ("I;16", "I;16L", "I;16B", "I", "F"):
        raise VisionError(f"{path}: mode {image.mode}, expected 8 bits a channel")
    return image.convert("RGB")


def resized(photo: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Pixels ``[height, width, 3]`` of a photograph at ``size`` (width, height)."""
    if photo.size != size:
        photo = photo.resize(size, Image.Resampling.BICUBIC, reducing_gap=None)
    return np.asarray(photo, dtype=np.uint8)


def read_labels(path: Path) -> NDArray[np.uint8]:
    """The numbers ``[height, width]`` of a label map or grey mask: one channel of 8 bits, or a palette's indices."""
    image = _open(path)
    if image.mode not in ("L", "P"):
        raise VisionError(f"{path}: mode {image.mode}, expected a label map of one 8-bit channel (or palette indices)")
    return np.asarray(image, dtype=np.uint8)


def check_ratio(photo: Path, size: tuple[int, int], labels: Path, shape: tuple[int, ...]) -> None:
    """Refuses a label map that cannot be of this photograph: aspect ratios (width by height) too far apart."""
    height, width = shape[0], shape[1]
    ratio = (size[0] * height) / (size[1] * width)
    if abs(ratio - 1) > RATIO_TOLERANCE:
        raise VisionError(
            f"{labels}: {width} x {height}, but {photo} is {size[0]} x {size[1]}: the aspect ratios differ by more "
            f"than {100 * RATIO_TOLERANCE:.0f} %"
        )


def working_size(size: tuple[int, int], side: int) -> tuple[int, int]:
    """The size (width, height) at which features are computed: the longest side is at most ``side``."""
    longest = max(size)
    if longest <= side:
        return size
    return max(1, round(size[0] * side / longest)), max(1, round(size[1] * side / longest))


def enlarge(segments: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """A map of whole numbers ``[h, w]`` at another shape: each pixel takes the number at its own place."""
    if segments.shape == shape:
        return segments
    rows = (np.arange(shape[0]) * 2 + 1) * segments.shape[0] // (2 * shape[0])
    columns = (np.arange(shape[1]) * 2 + 1) * segments.shape[1] // (2 * shape[1])
    return np.asarray(segments[rows[:, None], columns[None, :]])
