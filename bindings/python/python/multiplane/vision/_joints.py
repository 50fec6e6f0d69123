"""Reads the joints of bodies in images: csv with a row for each image or each joint, COCO JSON, told apart by what the files hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision._errors import VisionError
from multiplane.vision._images import content
from multiplane.vision._tables import (
    NAMES, Coco, Size, check_shape, first_of, image_name, named, number, rows, size_of, text_of,
)  # fmt: skip

EXPECTED = "expected csv with a header (file,NAME_x,NAME_y,NAME_v,... or file,joint,x,y,v) or JSON of COCO with keypoints"

Joints = NDArray[np.float64]
"""x and y of each joint, ``[joints, 2]``; NaN twice if it is not marked."""

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Pose:
    """The joints of an image as a file states them."""

    name: str
    """The image, without folder and ending."""
    joints: Joints
    """In pixels of the image."""
    where: str
    """Place in the file, for messages."""
    size: Size | None = None
    """Width and height of the image that the joints are measured in; None: as the photograph."""

    def on(self, size: tuple[int, int], worked: tuple[int, int]) -> Joints:
        """The joints in pixels of an image of ``worked`` pixels, if the photograph has ``size``, both (width, height); NaN for
        those outside. Raises ``VisionError`` for a photograph of another shape.
        """
        stated = self.size or size
        check_shape(f"{self.where}: the pose of {self.name}", stated, size)
        inside: NDArray[np.bool_] = np.all((self.joints >= 0) & (self.joints < stated), axis=1, keepdims=True)
        return np.where(inside, self.joints * (np.array(worked) / stated), np.nan)


@dataclass(frozen=True)
class Poses:
    """The poses of a file."""

    path: Path
    joints: list[str]
    """The names of the joints, in their order."""
    poses: dict[str, Pose]
    """By the names of the images."""


def _place(x: Any, y: Any, v: Any, joint: str, where: str) -> tuple[float, float]:
    """x and y of a joint; NaN if it is not marked."""
    is_marked = v is None or number(v, f"v of {joint}", where) != 0
    if not is_marked or all(str(place).lower() in ("", "nan") for place in (x, y)):
        return np.nan, np.nan
    return number(x, f"x of {joint}", where), number(y, f"y of {joint}", where)


def _same(found: list[str], known: list[str], where: str) -> None:
    """Refuses other joints than those of the file of --like."""
    for joint in (*found, *known):
        if joint not in known:
            raise VisionError(f"{where}: found the joint {joint}, expected those of the file of --like: {', '.join(known)}")
        if joint not in found:
            raise VisionError(f"{where}: has no joint {joint}, which the file of --like has")


def _wide(header: list[str], table: Iterator[tuple[str, list[str]]], where: str, known: list[str] | None) -> tuple[list[str], list[Pose]]:
    """A row for each image, and columns for each joint."""
    found = [column[:-2] for column in header if column.endswith("_x")]
    for joint in found:
        if f"{joint}_y" not in header:
            raise VisionError(f"{where}: a header with {joint}_x, but without {joint}_y")
    joints = known or found
    _same(found, joints, where)
    places = [[f"{joint}_{part}" for part in "xyv"] for joint in joints]
    wanted = ["name", *(column for place in places for column in place), "width", "height"]
    columns = {column: header.index(column) for column in wanted if column in header}
    poses = []
    for place, cells in table:
        row = named(cells, columns, place)
        marked = [_place(row[x], row[y], row.get(v), x[:-2], place) for x, y, v in places]
        poses.append(Pose(image_name(row["name"]), np.array(marked), place, size_of(row, place)))
    return joints, poses


def _long(header: list[str], table: Iterator[tuple[str, list[str]]], known: list[str] | None) -> tuple[list[str], list[Pose]]:
    """A row for each joint of an image."""
    wanted = ("name", "joint", "x", "y", "v", "width", "height")
    columns = {column: header.index(column) for column in wanted if column in header}
    images: dict[str, tuple[str, Size | None, dict[str, tuple[float, float]]]] = {}
    joints = dict.fromkeys(known or [])
    for place, cells in table:
        row = named(cells, columns, place)
        name, joint = image_name(row["name"]), row["joint"]
        if known is not None:
            _same([*known, joint], known, place)
        joints.setdefault(joint)
        _, _, marked = images.setdefault(name, (place, size_of(row, place), {}))
        if joint in marked:
            raise VisionError(f"{place}: a second {joint} of {name}")
        marked[joint] = _place(row["x"], row["y"], row.get("v"), joint, place)
    order = sorted(joints, key=int) if all(joint.isdecimal() for joint in joints) and known is None else list(joints)
    nowhere = (np.nan, np.nan)
    poses = [
        Pose(name, np.array([marked.get(joint, nowhere) for joint in order]), place, size)
        for name, (place, size, marked) in images.items()
    ]
    return order, poses


def _csv(path: Path, text: str, known: list[str] | None) -> tuple[list[str], list[Pose]]:
    table = rows(path, text)
    where, cells = next(table, (str(path), []))
    header = ["name" if cell.lower() in NAMES else cell for cell in cells]
    if len(set(header)) < len(header):
        raise VisionError(f"{where}: a header with {next(one for one in header if header.count(one) > 1)} twice")
    if "name" in header and {"joint", "x", "y"} <= set(header):
        return _long(header, table, known)
    if "name" in header and any(column.endswith("_x") for column in header):
        return _wide(header, table, where, known)
    raise VisionError(f"{where}: found {','.join(cells)[:60]!r}: {EXPECTED}")


def _coco(path: Path, text: str, known: list[str] | None) -> tuple[list[str], list[Pose]]:
    file = Coco(path, text)
    kinds = [one["keypoints"] for one in file.categories if "keypoints" in one]
    if len(kinds) != 1 or not isinstance(kinds[0], list):
        file.refuse(f"found {len(kinds)} categories with a list `keypoints`, expected one")
    found = [str(joint) for joint in kinds[0]]
    joints = known or found
    _same(found, joints, str(path))
    poses = []
    for name, size, _, numbers in file.annotations("keypoints"):
        if not isinstance(numbers, list) or len(numbers) != 3 * len(found):
            file.refuse(f"keypoints: expected x, y, v of {len(found)} joints")
        places = zip(found, numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        marked = {joint: _place(x, y, v, joint, file.where) for joint, x, y, v in places}
        pose = np.array([marked[joint] for joint in joints])
        if np.isfinite(pose).any():
            poses.append(Pose(name, pose, file.where, size))
    return joints, poses


def read(path: Path, known: list[str] | None = None) -> Poses:
    """Reads a file of joints, one body in each image.

    Args:
        path: The file.
        known: The joints to look for, in their order; None: those of the file.

    Raises ``VisionError`` for anything that is not understood.
    """
    data = content(path)
    text = text_of(path, data, EXPECTED)
    joints, found = (_coco if first_of(data) == b"{" else _csv)(path, text, known)
    poses: dict[str, Pose] = {}
    for pose in found:
        if pose.name in poses:
            raise VisionError(f"{pose.where}: a second pose of {pose.name}, after {poses[pose.name].where}: expected one body in an image")
        poses[pose.name] = pose
    if not poses or not joints:
        raise VisionError(f"{path}: has no pose")
    return Poses(path, joints, poses)


def pairs_of(text: Any, joints: Sequence[str], option: str) -> Pairs:
    """Pairs of joints from a text such as ``0-1,1-2``. Raises ``VisionError``, which names the pair at fault."""
    found = []
    for pair in str(text).split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", pair)
        if ends is None or max(map(int, ends.groups())) >= len(joints) or int(ends[1]) == int(ends[2]):
            raise VisionError(
                f"{option} = {text}: found {pair.strip()!r}, expected two of the joints 0 to {len(joints) - 1} ({', '.join(joints)}), as in 0-1"
            )
        found.append((int(ends[1]), int(ends[2])))
    return found


def mirrored_order(joints: Sequence[str], swap: str | None) -> list[int]:
    """The joint that each one is in a mirror image: by the pairs of ``swap``, or by names with l and r, or left and right."""
    order = list(range(len(joints)))
    if swap is not None:
        for one, other in pairs_of(swap, joints, "swap"):
            if order[one] != one or order[other] != other:
                raise VisionError(f"swap = {swap}: found joint {one if order[one] != one else other} twice")
            order[one], order[other] = other, one
        return order
    turned = {"l": "r", "r": "l", "left": "right", "right": "left"}
    places = {joint.lower(): place for place, joint in enumerate(joints)}
    for place, joint in enumerate(joints):
        parts = re.split("([^a-z]+)", joint.lower())
        order[place] = places.get("".join(turned.get(part, part) for part in parts), place)
    if order == sorted(order):
        raise VisionError(f"mirrored: no joint has a left and a right in its name ({', '.join(joints)}): name pairs of them (--swap 0-1,2-3)")
    return order
