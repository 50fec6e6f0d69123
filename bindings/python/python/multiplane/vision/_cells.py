"""Builds a container of HOG cells with joints, the input of task ``pose``, from photographs.

Two passes over the images: sizes and joints, then the cells; with components a third, which finds them. Memory holds a few
images, unless the maps are asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _components, _hog, _images, _pairs
from multiplane.vision._components import Components
from multiplane.vision._container import FEATURES_KEY, KEY, Plan, Reader, writing
from multiplane.vision._errors import VisionError
from multiplane.vision._joints import Joints, Pairs, Pose, Poses, mirrored_order, pairs_of
from multiplane.vision._options import check_ranges
from multiplane.vision._work import Crew, Line

KIND = "poses"
"""Says in the metadata that a container holds cells with joints."""

VERSION = 1
"""Counts up when cells change."""

SHOWN = 10
"""Names in a warning."""

RANGES = {"cell": (1, 256), "orientations": (1, 64), "size": (32, 8192), "components": (0, 4096), "window": (1, 15)}

PLACE = 2.0
"""The scale of channels of place beside components."""

MEAN, AXES = "vision.mean", "vision.axes"
"""Tensors of the components."""


@dataclass(frozen=True)
class Settings:
    """What cells and the choice of photographs depend on, besides the images."""

    cell: int = 8
    """Side of a cell in pixels."""
    orientations: int = 9
    size: int = 512
    """Longest side, in pixels, of images as they are worked on."""
    place: bool = True
    """If cells have channels of where they are."""
    colours: bool = False
    """If cells have channels of colours."""
    components: int = 0
    """Components of windows in the place of the cells' own channels; 0 for these."""
    window: int = 5
    """Rows and columns of cells of a window."""
    torso: str = "9-2,8-3"
    """Pairs of joints; a photograph must have one of them marked, in two cells."""

    def check(self) -> None:
        """Raises ``VisionError`` for values out of range."""
        check_ranges(self, RANGES)
        if not isinstance(self.place, bool) or not isinstance(self.torso, str):
            raise VisionError(f"place = {self.place}, torso = {self.torso}: expected True or False, and pairs of joints, as in 9-2,8-3")
        if not isinstance(self.colours, bool):
            raise VisionError(f"colours = {self.colours}: expected True or False")
        if self.window % 2 == 0:
            raise VisionError(f"window = {self.window}: expected an odd number of cells")
        if self.components > self.wide:
            raise VisionError(f"components = {self.components}: windows have {self.wide} numbers")

    @property
    def own(self) -> int:
        """Channels of a cell by itself, but for those of place."""
        return 2 * self.orientations + len(_hog.COLOURS) * self.colours

    @property
    def wide(self) -> int:
        """Numbers in a window of cells."""
        return self.window**2 * self.own

    @property
    def channels(self) -> int:
        """Channels of a cell."""
        return (self.components or self.own) + 4 * self.place

    def identity(self, fitted: Components | None) -> str:
        """64 digits that are equal for files whose cells were made by the same version, settings and components."""
        made = {name: value for name, value in asdict(self).items() if name != "torso"}
        sha = hashlib.sha256(json.dumps([KIND, VERSION, made]).encode())
        for tensor in () if fitted is None else (fitted.mean, fitted.axes):
            sha.update(np.ascontiguousarray(tensor, "<f4").tobytes())
        return sha.hexdigest()

    def grid(self, worked: tuple[int, int]) -> tuple[int, int]:
        """Columns and rows of an image of this width and height."""
        return -(-worked[0] // self.cell), -(-worked[1] // self.cell)


class Like:
    """Settings of a container that is there, and the names of its joints."""

    def __init__(self, path: Path) -> None:
        """Reads them. Raises ``VisionError`` where they are missing, damaged, or of another kind or version."""
        self.path = path
        reader = Reader(path)
        self.settings = reader.settings_of(KIND, VERSION, Settings)
        names = reader.settings.get("joints")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise VisionError(f"{path}: metadata `{KEY}` is damaged: joints = {names}")
        self.joints: list[str] | None = names or None
        self.fitted: Components | None = None
        if self.settings.components:
            shapes = {MEAN: (self.settings.wide,), AXES: (self.settings.wide, self.settings.components)}
            found = {name: reader.tensor(name).astype(np.float32) for name in shapes}
            for name, shape in shapes.items():
                if found[name].shape != shape or not np.isfinite(found[name]).all():
                    raise VisionError(f"{path}: tensor `{name}`: expected finite numbers of shape {list(shape)}")
            self.fitted = Components(found[MEAN], found[AXES])


@dataclass(frozen=True)
class Photo:
    """A photograph with its pose, perhaps as its mirror image."""

    name: str
    path: Path
    pose: Pose | None = None
    order: tuple[int, ...] | None = None
    """Of a mirror image: the joint that each one is in the photograph."""


Data = tuple[list[str], list[NDArray[np.float32]], list[Joints]]
"""Names, maps and joints, as ``PoseSSVM`` takes them."""


def chosen(images: Path, poses: Poses | None, names: Iterable[str] | None) -> list[Photo]:
    """The photographs to take, in the order of their names: those of ``names``, else those that the file of joints lists, else all.

    Raises ``VisionError`` for poses of images that are not there.
    """
    if poses is None:
        return [Photo(pair.name, pair.photo) for pair in _pairs.pairs(images, None, names)]
    if names is None:
        names = list(poses.poses)
        photos = {pair.name for pair in _pairs.pairs(images, None, None)}
        for pose in poses.poses.values():
            if pose.name not in photos:
                raise VisionError(f"{pose.where}: {images} has no photograph {pose.name} (--only and --list choose names)")
    return [Photo(pair.name, pair.photo, poses.poses.get(pair.name)) for pair in _pairs.pairs(images, None, names)]


def mirrored(photos: list[Photo], joints: Sequence[str], swap: str | None) -> list[Photo]:
    """The photographs, then their mirror images."""
    order = tuple(mirrored_order(joints, swap))
    return photos + [replace(photo, name=f"{photo.name} (mirrored)", order=order) for photo in photos]


def _load(photo: Photo, settings: Settings) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """Pixels as they are worked on, and the photograph's own size (width, height)."""
    image = _images.read_photo(photo.path)
    worked = _images.working_size(image.size, settings.size)
    if min(worked) < 3 * settings.cell:
        raise VisionError(f"{photo.path}: {worked[0]} x {worked[1]} pixels, expected at least three cells along each side: {3 * settings.cell} pixels")
    pixels = _images.resized(image, worked)
    return (pixels if photo.order is None else np.ascontiguousarray(pixels[:, ::-1])), image.size


@dataclass
class _Seen:
    """What the first pass says of an image."""

    grid: tuple[int, int]
    """Columns and rows."""
    joints: Joints | None = None
    """In cells; None without a torso, which is a pair of joints that is marked in two different cells."""
    outside: int = 0
    """Marked joints that are outside of the photograph."""


def _see(settings: Settings, torso: Pairs, photo: Photo) -> _Seen:
    """Reads an image, and brings its joints to cells."""
    pixels, size = _load(photo, settings)
    worked = (pixels.shape[1], pixels.shape[0])
    grid = settings.grid(worked)
    if photo.pose is None:
        return _Seen(grid)
    joints = photo.pose.on(size, worked)
    outside = int(np.isfinite(photo.pose.joints[:, 0]).sum() - np.isfinite(joints[:, 0]).sum())
    if photo.order is not None:
        joints = joints[list(photo.order)]
        joints[:, 0] = worked[0] - joints[:, 0]
    joints = np.minimum(joints / settings.cell, np.nextafter(grid, 0))
    cells = np.floor(joints)
    if not any(np.abs(cells[one] - cells[other]).max() > 0 for one, other in torso):
        return _Seen(grid)
    return _Seen(grid, joints, outside if photo.order is None else 0)


def _own(settings: Settings, photo: Photo) -> NDArray[np.float32]:
    """The channels of cells by themselves."""
    pixels = _load(photo, settings)[0]
    cells = _hog.cells(pixels, settings.cell, settings.orientations, place=False)
    return _hog.coloured(cells, pixels, settings.cell) if settings.colours else cells


def _sample(settings: Settings, photo: Photo) -> NDArray[np.float32]:
    return _components.sample(_own(settings, photo), settings.window)


def _map(settings: Settings, fitted: Components | None, photo: Photo) -> NDArray[np.float32]:
    cells = _own(settings, photo)
    if fitted is not None:
        cells = fitted.of(cells, settings.window)
    return _hog.placed(cells, 1.0 if fitted is None else PLACE) if settings.place else cells


def _told(left: list[str], outside: int, torso: str) -> list[str]:
    """Warnings of photographs and joints that are not used."""
    warnings = []
    if left:
        shown = ", ".join(left[:SHOWN]) + (f" and {len(left) - SHOWN} more" if len(left) > SHOWN else "")
        images = "1 image has" if len(left) == 1 else f"{len(left)} images have"
        warnings.append(f"{images} no torso (a pair of {torso} that is marked in two cells) and are left out: {shown}")
    if outside:
        warnings.append(f"marked joints outside of their photographs, taken for not marked: {outside}")
    return warnings


def build(
    photos: Sequence[Photo], joints: Sequence[str], out: Path | None, settings: Settings, fitted: Components | None, *,
    keep: bool, jobs: int, progress: bool | None,
) -> tuple[Data | dict[str, Any], list[str]]:  # fmt: skip
    """Writes the container, or returns what would be in it; see ``multiplane.vision.poses``. Returns warnings as well.

    Args:
        photos: The photographs.
        joints: The names of the joints; none if no pose is known.
        out: The file to write; None: data are returned.
        settings: How cells are made.
        fitted: The components of windows; None: they are found here, if the settings have some.
        keep: If photographs without a torso are kept, as if no joint of them was marked.
    """
    torso = pairs_of(settings.torso, joints, "torso") if joints else []
    line = Line(progress)
    try:
        with Crew(jobs) as crew:
            writer = None if out is None else crew.enter_context(writing(out))
            seen = line.over("photographs", crew.each(partial(_see, settings, torso), photos), len(photos))
            both = list(zip(photos, seen, strict=True))
            gone = list(dict.fromkeys(photo.path.stem for photo, one in both if joints and one.joints is None and not keep))
            both = [(photo, one) for photo, one in both if keep or not joints or one.joints is not None]
            if not both:
                raise VisionError(f"no photograph has a torso (a pair of {settings.torso} that is marked in two cells), such as {photos[0].path}")
            names, grids = [photo.name for photo, _ in both], [one.grid for _, one in both]
            nowhere = np.full((len(joints), 2), np.nan)
            poses = [nowhere if one.joints is None else one.joints for _, one in both]
            kept = [photo for photo, _ in both]
            if settings.components and fitted is None:
                samples = line.over("components", crew.each(partial(_sample, settings), kept), len(kept))
                fitted = _components.fit(samples, settings.components)
            maps = line.over("cells", crew.each(partial(_map, settings, fitted), kept), len(both))
            warnings = _told(gone, sum(one.outside for _, one in both), settings.torso)
            if writer is None:
                return (names, list(maps), poses), warnings
            plan = Plan()
            plan.add("grid_sizes", "I64", len(both), 2)
            if joints:
                plan.add("joints", "F64", len(both), len(joints), 2)
            if fitted is not None:
                plan.add(MEAN, "F32", *fitted.mean.shape)
                plan.add(AXES, "F32", *fitted.axes.shape)
            plan.add("channels", "F32", sum(columns * rows for columns, rows in grids), settings.channels)
            told = {"kind": KIND, "version": VERSION, "settings": asdict(settings), "joints": list(joints), "names": names}
            writer.begin(plan, {KEY: json.dumps(told, ensure_ascii=False), FEATURES_KEY: settings.identity(fitted)})
            writer.put("grid_sizes", np.array(grids)[:, ::-1])
            if joints:
                writer.put("joints", np.array(poses))
            if fitted is not None:
                writer.put(MEAN, fitted.mean)
                writer.put(AXES, fitted.axes)
            at = 0
            for one in maps:
                writer.put("channels", one, at)
                at += one.shape[0] * one.shape[1]
            line.show("writing")
            writer.close()
    finally:
        line.close()
    marked = int(np.isfinite(np.array(poses)[..., 0]).sum())
    result = {"images": len(names), "joints": list(joints), "marked": marked, "channels": settings.channels, "left_out": gone}
    return {**result, "out": str(out)}, warnings
