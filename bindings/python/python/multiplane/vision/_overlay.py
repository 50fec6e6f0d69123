"""Draws a segmentation: the mask as it is, and its classes in colour over the photograph."""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from skimage import segmentation

COLOURS = (
    (86, 180, 233), (0, 158, 115), (213, 94, 0), (240, 228, 66), (0, 114, 178), (204, 121, 167), (230, 159, 0),
    (148, 103, 189), (140, 86, 75), (127, 127, 127), (188, 189, 34), (23, 190, 207),
)  # fmt: skip
"""Colours of the class ids 0, 1, ... ; further ids get hues of their own."""

STRENGTH = 0.5
"""Share of a class's colour in a pixel."""


def colour_of(label: int) -> tuple[int, int, int]:
    """The colour of a class id, the same in all pictures."""
    if 0 <= label < len(COLOURS):
        return COLOURS[label]
    red, green, blue = colorsys.hsv_to_rgb((label * 0.618034) % 1.0, 0.65, 0.9)
    return round(255 * red), round(255 * green), round(255 * blue)


def overlay(photo: NDArray[np.uint8], mask: NDArray[Any], classes: list[int]) -> NDArray[np.uint8]:
    """The photograph ``[h, w, 3]`` with the classes of ``mask [h, w]`` over it. With 0 and 1 alone, 0 is a darker
    background.
    """
    table = np.array([colour_of(label) for label in range(256)], dtype=np.float32)
    strength = np.full(256, STRENGTH, dtype=np.float32)
    if classes == [0, 1]:
        table[0] = 0
        strength[0] = 0.35
    index = mask.astype(np.int64)
    share = strength[index][..., None]
    mixed = photo * (1 - share) + table[index] * share
    borders: Any = segmentation.find_boundaries
    mixed[borders(mask)] = 255  # where a class ends, two pixels wide
    return np.rint(mixed).astype(np.uint8)


def save(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Writes a PNG under a name that nothing has yet."""
    with open(path, "xb") as file:
        Image.fromarray(pixels).save(file, format="PNG")


def legend(classes: list[int], names: list[str]) -> NDArray[np.uint8]:
    """A picture of the classes' colours with their names."""
    row = 22
    picture = Image.new("RGB", (max(120, 44 + max(8 * len(name) for name in names)), row * len(classes) + 4), "white")
    draw = ImageDraw.Draw(picture)
    for number, (label, name) in enumerate(zip(classes, names, strict=True)):
        top = 4 + row * number
        background = label == 0 and classes == [0, 1]
        fill = (70, 70, 70) if background else colour_of(label)
        draw.rectangle((4, top, 30, top + row - 6), fill=fill, outline="black")
        draw.text((38, top + 2), name, fill="black")
    return np.asarray(picture, dtype=np.uint8)
