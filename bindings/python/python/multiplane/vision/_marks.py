"""Reads the boxes of images: csv, Pascal VOC and dlib XML, COCO JSON, told apart by what the files hold."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

from multiplane.vision._errors import VisionError
from multiplane.vision._images import ENDINGS, RATIO_TOLERANCE, content

COLUMNS = ("name", "left", "top", "right", "bottom")
"""Columns of a csv file; ``width``, ``height`` and ``category`` may follow, in any order if there is a header."""

EXPECTED = "expected csv (name,left,top,right,bottom), XML of VOC (a file or a folder) or dlib, or JSON of COCO"

Sides = tuple[float, float, float, float]


@dataclass(frozen=True)
class Mark:
    """A box as a file states it."""

    name: str
    """The image, without folder and ending."""
    sides: Sides
    """Left, top, right, bottom in pixels of the image; right and bottom exclusive."""
    where: str
    """Place in the file, for messages."""
    category: str | None = None
    size: tuple[float, float] | None = None
    """Width and height of the image that the sides are measured in; None: as the photograph."""

    def on(self, size: tuple[int, int], worked: tuple[int, int]) -> tuple[int, int, int, int]:
        """The box in whole pixels of an image of ``worked`` pixels, if the photograph has ``size``, both (width, height).
        Raises ``VisionError`` for a box that is empty, inverted or outside, and for a photograph of another shape.
        """
        left, top, right, bottom = self.sides
        width, height = self.size or size
        box = f"{self.where}: the box ({', '.join(f'{side:g}' for side in self.sides)}) of {self.name}"
        if not (left < right and top < bottom):
            raise VisionError(f"{box} is empty or inverted: expected left < right and top < bottom")
        if left < 0 or top < 0 or right > width or bottom > height:
            raise VisionError(f"{box} reaches outside the image of {width:g} x {height:g} pixels")
        if abs(size[0] * height / (size[1] * width) - 1) > RATIO_TOLERANCE:
            raise VisionError(f"{box} is of an image of {width:g} x {height:g} pixels, but the photograph has {size[0]} x {size[1]}")

        def scaled(low: float, high: float, length: float, pixels: int) -> tuple[int, int]:
            first = min(round(low * pixels / length), pixels - 1)
            return first, max(first + 1, round(high * pixels / length))

        (left, right), (top, bottom) = scaled(left, right, width, worked[0]), scaled(top, bottom, height, worked[1])
        return int(left), int(top), int(right), int(bottom)


@dataclass
class Marks:
    """The boxes of a file or folder."""

    path: Path
    marks: list[Mark]
    listed: list[str] | None
    """Names of all images that the file lists, with and without boxes; None if it has no such list."""

    _by_name: dict[str, list[Mark]] | None = None

    def of(self, name: str) -> list[Mark]:
        """The boxes of an image."""
        if self._by_name is None:
            self._by_name = {}
            for mark in self.marks:
                self._by_name.setdefault(mark.name, []).append(mark)
        return self._by_name.get(name, [])


def _number(text: Any, what: str, where: str) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(text, bool) or not math.isfinite(value):
        raise VisionError(f"{where}: {what} = {text!r}: expected a finite number")
    return value


def _csv(path: Path, text: str) -> Marks:
    marks, columns = [], None
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            where = f"{path}:{rows.line_num}"
            if not any(cells) or cells[0].startswith("#"):
                continue
            if columns is None:
                header = [cell.lower() for cell in cells]
                if set(COLUMNS) <= set(header):
                    columns = {name: header.index(name) for name in (*COLUMNS, "width", "height", "category") if name in header}
                    continue
                if len(cells) != len(COLUMNS):
                    raise VisionError(f"{where}: found {text.splitlines()[rows.line_num - 1][:60]!r}: {EXPECTED}")
                columns = {name: number for number, name in enumerate(COLUMNS)}
            if len(cells) <= max(columns.values()):
                raise VisionError(f"{where}: {len(cells)} columns, expected {','.join(columns)}")
            found = {name: cells[at] for name, at in columns.items()}
            left, top, right, bottom = (_number(found[name], name, where) for name in COLUMNS[1:])
            size = None
            if "width" in columns and "height" in columns:
                size = (_positive(found["width"], "width", where), _positive(found["height"], "height", where))
            name = Path(found["name"])
            marks.append(Mark(name.stem if name.suffix.lower() in ENDINGS else found["name"],
                              (left, top, right, bottom), where, found.get("category"), size))  # fmt: skip
    except csv.Error as error:
        raise VisionError(f"{path}:{rows.line_num}: {error}") from None
    return Marks(path, marks, None)


def _positive(value: Any, what: str, where: str) -> float:
    number = _number(value, what, where)
    if number <= 0:
        raise VisionError(f"{where}: {what} = {value}: expected a positive number")
    return number


def _child(node: ElementTree.Element, name: str, where: str) -> str:
    found = node.findtext(name)
    if found is None:
        raise VisionError(f"{where}: <{node.tag}> has no <{name}>")
    return found.strip()


def _voc(path: Path, root: ElementTree.Element) -> Marks:
    """One image: sides are counted from 1, and the last pixel belongs to the box."""
    name = Path((root.findtext("filename") or path.name).strip()).stem
    size = root.find("size")
    whole = None
    if size is not None:
        whole = (_positive(size.findtext("width"), "width", str(path)), _positive(size.findtext("height"), "height", str(path)))
    marks = []
    for number, node in enumerate(root.iter("object"), 1):
        where = f"{path}: object {number}"
        box = node.find("bndbox")
        if box is None:
            raise VisionError(f"{where}: <object> has no <bndbox>")
        left, top, right, bottom = (_number(_child(box, side, where), side, where) for side in ("xmin", "ymin", "xmax", "ymax"))
        if (node.findtext("difficult") or "0").strip() != "1":
            marks.append(Mark(name, (left - 1, top - 1, right, bottom), where, node.findtext("name"), whole))
    return Marks(path, marks, [name])


def _dlib(path: Path, root: ElementTree.Element) -> Marks:
    marks: list[Mark] = []
    listed: list[str] = []
    for image in root.iter("image"):
        file = image.get("file")
        if not file:
            raise VisionError(f"{path}: image {len(listed) + 1}: <image> has no attribute `file`")
        name = Path(file.replace("\\", "/")).stem
        listed.append(name)
        for number, box in enumerate(image.iter("box"), 1):
            where = f"{path}: box {number} of {file}"
            left, top, width, height = (_number(box.get(side), side, where) for side in ("left", "top", "width", "height"))
            if box.get("ignore") not in ("1", "true"):
                marks.append(Mark(name, (left, top, left + width, top + height), where, box.findtext("label")))
    return Marks(path, marks, listed)


def _xml(path: Path, data: bytes) -> Marks:
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise VisionError(f"{path}:{line}:{column + 1}: not XML: {str(error).partition(':')[0]}") from None
    readers: dict[str, Callable[[Path, ElementTree.Element], Marks]] = {"annotation": _voc, "dataset": _dlib}
    if root.tag not in readers:
        raise VisionError(f"{path}: XML of <{root.tag}>: expected <annotation> (VOC) or <dataset> (dlib)")
    return readers[root.tag](path, root)


def _coco(path: Path, text: str) -> Marks:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f":{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise VisionError(f"{path}{place}: not JSON: {getattr(error, 'msg', error)}") from None
    where = str(path)

    def refuse(reason: str) -> NoReturn:
        raise VisionError(f"{where}: {reason}")

    def entries(key: str) -> Iterator[dict[str, Any]]:
        nonlocal where
        if not isinstance(found.get(key), list):
            refuse(f"has no list `{key}`, as JSON of COCO")
        for number, entry in enumerate(found[key]):
            where = f"{path}: {key}[{number}]"
            yield entry if isinstance(entry, dict) else refuse("expected an object")
        where = str(path)

    def field(entry: dict[str, Any], key: str) -> Any:
        return entry[key] if key in entry else refuse(f"has no `{key}`")

    images, marks = {}, []
    for image in entries("images"):
        size = None
        if "width" in image and "height" in image:
            size = _positive(image["width"], "width", where), _positive(image["height"], "height", where)
        images[str(field(image, "id"))] = (Path(str(field(image, "file_name"))).stem, size)
    names = {str(one.get("id")): str(one.get("name")) for one in entries("categories")} if "categories" in found else {}
    for annotation in entries("annotations"):
        number = str(field(annotation, "image_id"))
        box = field(annotation, "bbox")
        if number not in images:
            refuse(f"image_id = {number}: there is no such image")
        if not isinstance(box, list) or len(box) != 4:
            refuse(f"bbox = {box}: expected [left, top, width, height]")
        left, top, width, height = (_number(side, "bbox", where) for side in box)
        if not annotation.get("iscrowd"):
            name, size = images[number]
            category = names.get(str(annotation.get("category_id")))
            marks.append(Mark(name, (left, top, left + width, top + height), where, category, size))
    return Marks(path, marks, [name for name, _ in images.values()])


def _file(path: Path) -> Marks:
    data = content(path)
    try:
        start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start == b"<":
            return _xml(path, data)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VisionError(f"{path}:{line}: not UTF-8 text: {EXPECTED}") from None
    return _coco(path, text) if start == b"{" else _csv(path, text)


def read(path: Path, category: str | None = None) -> Marks:
    """Reads a file of boxes, or a folder of VOC files. Boxes that are marked as difficult, ignored or crowds are left out.

    Args:
        path: The file or folder.
        category: The kind of objects to take; None if there is one kind.

    Raises ``VisionError`` for anything that is not understood.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".xml" and not file.name.startswith("."))
        if not files:
            raise VisionError(f"{path}: no .xml file in it: a folder of boxes holds the files of VOC")
        listed: list[str] = []
        found = Marks(path, [], listed)
        for one in map(_file, files):
            found.marks += one.marks
            listed += one.listed or []
    else:
        found = _file(path)
    twice = sorted(name for name, count in Counter(found.listed or []).items() if count > 1)
    if twice:
        raise VisionError(f"{path}: lists two images of the name {twice[0]}: images go by their names without folder and ending")
    kinds = sorted({mark.category for mark in found.marks if mark.category is not None})
    if category is None and len(kinds) > 1:
        raise VisionError(f"{path}: boxes of the categories {', '.join(kinds[:8])}: choose one (--category)")
    if category is not None:
        if category not in kinds:
            raise VisionError(f"{path}: category = {category}: there are boxes of {', '.join(kinds[:8]) or 'no category'}")
        found.marks = [mark for mark in found.marks if mark.category == category]
    return found
