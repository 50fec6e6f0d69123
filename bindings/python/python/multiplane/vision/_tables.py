"""Files that say where things are in images: rows of csv, JSON of COCO, and the numbers in both, each with its place for messages."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from multiplane.vision._errors import VisionError
from multiplane.vision._images import ENDINGS, RATIO_TOLERANCE

Size = tuple[float, float]
"""Width and height."""

NAMES = ("name", "file")
"""What a csv file may call its column of images."""


def image_name(text: str) -> str:
    """The name of an image without the ending."""
    path = Path(text)
    return path.stem if path.suffix.lower() in ENDINGS else text


def is_number(text: str) -> bool:
    """If a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def number(text: Any, what: str, where: str) -> float:
    """A finite number, or ``VisionError``."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(text, bool) or not math.isfinite(value):
        raise VisionError(f"{where}: {what} = {text!r}: expected a finite number")
    return value


def positive(value: Any, what: str, where: str) -> float:
    """A positive number, or ``VisionError``."""
    found = number(value, what, where)
    if found <= 0:
        raise VisionError(f"{where}: {what} = {value}: expected a positive number")
    return found


def size_of(found: dict[str, Any], where: str) -> Size | None:
    """The size of the image that places are measured in, if width and height are stated."""
    if "width" in found and "height" in found:
        return positive(found["width"], "width", where), positive(found["height"], "height", where)
    return None


def check_shape(what: str, stated: Size, photo: tuple[int, int]) -> None:
    """Refuses places in an image of another shape than the photograph, both (width, height)."""
    (width, height), (wide, high) = stated, photo
    if abs(wide * height / (high * width) - 1) > RATIO_TOLERANCE:
        raise VisionError(f"{what} is of an image of {width:g} x {height:g} pixels, but the photograph has {wide} x {high}")


def text_of(path: Path, data: bytes, expected: str) -> str:
    """A file's bytes as text. Raises ``VisionError``, which says what was ``expected``."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VisionError(f"{path}:{line}: not UTF-8 text: {expected}") from None


def first_of(data: bytes) -> bytes:
    """The first character that is no space: it tells formats apart."""
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]


def rows(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Places and cells of the rows of csv, without empty rows and comments (#)."""
    found = csv.reader(io.StringIO(text), skipinitialspace=True)
    try:
        for row in found:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield f"{path}:{found.line_num}", cells
    except csv.Error as error:
        raise VisionError(f"{path}:{found.line_num}: {error}") from None


def named(cells: list[str], columns: dict[str, int], where: str) -> dict[str, str]:
    """The cells of a row by the names of their columns."""
    if len(cells) <= max(columns.values()):
        raise VisionError(f"{where}: {len(cells)} columns, expected {','.join(columns)}")
    return {name: cells[at] for name, at in columns.items()}


class Coco:
    """JSON in the manner of COCO: images, and annotations of them."""

    def __init__(self, path: Path, text: str) -> None:
        """Reads the images. Raises ``VisionError`` for what is not understood."""
        self.path, self.where = path, str(path)
        try:
            self.found = json.loads(text)
        except (ValueError, RecursionError) as error:
            place = f":{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            raise VisionError(f"{path}{place}: not JSON: {getattr(error, 'msg', error)}") from None
        self.images: dict[str, tuple[str, Size | None]] = {}
        for image in self.entries("images"):
            size = size_of(image, self.where)
            self.images[str(self.field(image, "id"))] = (Path(str(self.field(image, "file_name"))).stem, size)
        self.categories = list(self.entries("categories")) if "categories" in self.found else []

    def refuse(self, reason: str) -> NoReturn:
        """Raises ``VisionError`` with the place of the entry that is read."""
        raise VisionError(f"{self.where}: {reason}")

    def entries(self, key: str) -> Iterator[dict[str, Any]]:
        """The objects of a list."""
        if not isinstance(self.found.get(key), list):
            self.refuse(f"has no list `{key}`, as JSON of COCO")
        for number, entry in enumerate(self.found[key]):
            self.where = f"{self.path}: {key}[{number}]"
            yield entry if isinstance(entry, dict) else self.refuse("expected an object")
        self.where = str(self.path)

    def field(self, entry: dict[str, Any], key: str) -> Any:
        """A field of an entry."""
        return entry[key] if key in entry else self.refuse(f"has no `{key}`")

    def annotations(self, key: str) -> Iterator[tuple[str, Size | None, dict[str, Any], Any]]:
        """Name and size of the image, entry, and its field ``key``, of all annotations but crowds."""
        for entry in self.entries("annotations"):
            number = str(self.field(entry, "image_id"))
            value = self.field(entry, key)
            if number not in self.images:
                self.refuse(f"image_id = {number}: there is no such image")
            if not entry.get("iscrowd"):
                yield *self.images[number], entry, value

    @property
    def names(self) -> list[str]:
        """The names of all images."""
        return [name for name, _ in self.images.values()]
