"""Reads the boxes of images: csv, Pascal VOC and dlib XML, COCO JSON, told apart by what the files hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from multiplane.vision._errors import VisionError
from multiplane.vision._images import content
from multiplane.vision._tables import (
    NAMES, Coco, Size, check_shape, first_of, image_name, is_number, named, number, positive, rows, size_of, text_of,
)  # fmt: skip

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
    size: Size | None = None
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
        check_shape(box, (width, height), size)

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


def _header(cells: list[str], where: str) -> dict[str, int] | None:
    """Columns by name if this is a header, else None: those of a row in the usual order."""
    header = ["name" if cell.lower() in NAMES else cell.lower() for cell in cells]
    if set(COLUMNS) <= set(header):
        return {name: header.index(name) for name in (*COLUMNS, "width", "height", "category") if name in header}
    if len(cells) >= len(COLUMNS) and not any(map(is_number, cells)):
        missing = ", ".join(name for name in COLUMNS if name not in header)
        raise VisionError(f"{where}: a header without {missing}: {EXPECTED}")
    if len(cells) != len(COLUMNS):
        raise VisionError(f"{where}: found {','.join(cells)[:60]!r}: {EXPECTED}")
    return None


def _csv(path: Path, text: str) -> Marks:
    marks: list[Mark] = []
    columns: dict[str, int] | None = None
    for where, cells in rows(path, text):
        if columns is None:
            columns = _header(cells, where)
            if columns is not None:
                continue
            columns = {name: place for place, name in enumerate(COLUMNS)}
        found = named(cells, columns, where)
        left, top, right, bottom = (number(found[name], name, where) for name in COLUMNS[1:])
        sides = left, top, right, bottom
        marks.append(Mark(image_name(found["name"]), sides, where, found.get("category"), size_of(found, where)))
    return Marks(path, marks, None)


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
        whole = (positive(size.findtext("width"), "width", str(path)), positive(size.findtext("height"), "height", str(path)))
    marks = []
    for count, node in enumerate(root.iter("object"), 1):
        where = f"{path}: object {count}"
        box = node.find("bndbox")
        if box is None:
            raise VisionError(f"{where}: <object> has no <bndbox>")
        left, top, right, bottom = (number(_child(box, side, where), side, where) for side in ("xmin", "ymin", "xmax", "ymax"))
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
        for count, box in enumerate(image.iter("box"), 1):
            where = f"{path}: box {count} of {file}"
            left, top, width, height = (number(box.get(side), side, where) for side in ("left", "top", "width", "height"))
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
    file, marks = Coco(path, text), []
    names = {str(one.get("id")): str(one.get("name")) for one in file.categories}
    for name, size, entry, box in file.annotations("bbox"):
        if not isinstance(box, list) or len(box) != 4:
            file.refuse(f"bbox = {box}: expected [left, top, width, height]")
        left, top, width, height = (number(side, "bbox", file.where) for side in box)
        category = names.get(str(entry.get("category_id")))
        marks.append(Mark(name, (left, top, left + width, top + height), file.where, category, size))
    return Marks(path, marks, file.names)


def _file(path: Path) -> Marks:
    data = content(path)
    start = first_of(data)
    if start == b"<":
        return _xml(path, data)
    text = text_of(path, data, EXPECTED)
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
