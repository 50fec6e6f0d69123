"""Builds a container of word maps with boxes, the input of task ``box``: dense descriptors, a vocabulary, the nearest word of each.

Two passes over the images: a sample of descriptors for the vocabulary, then the maps. Memory holds the sample and a few images.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _dense, _images, _pairs, _words
from multiplane.vision._container import FEATURES_KEY, KEY, Plan, Reader, writing
from multiplane.vision._errors import VisionError
from multiplane.vision._marks import Mark, Marks
from multiplane.vision._options import check_ranges
from multiplane.vision._work import Crew, Line

KIND = "words"
"""Says in the metadata that a container holds word maps."""

VERSION = 1
"""Counts up when descriptors change."""

SAMPLE = 60_000
"""Descriptors, at most, from which a vocabulary is made."""

RANGES = {"size": (32, 8192), "words": (2, 10_000), "step": (1, 64), "seed": (0, 2**31 - 1)}


@dataclass(frozen=True)
class Settings:
    """What word maps depend on besides the images."""

    descriptor: str = "sift"
    channels: tuple[str, ...] = ("grey",)
    """Each has a vocabulary of its own."""
    size: int = 320
    """Longest side, in pixels, of images as they are worked on."""
    words: int = 500
    """Words in each vocabulary."""
    step: int = 4
    """Pixels from point to point."""
    seed: int = 0

    def check(self) -> None:
        """Raises ``VisionError`` for values out of range."""
        check_ranges(self, RANGES)
        if self.descriptor not in _dense.KINDS:
            raise VisionError(f"descriptor = {self.descriptor}: expected {' or '.join(_dense.KINDS)}")
        if not self.channels or len(set(self.channels)) < len(self.channels) or not set(self.channels) <= _dense.CHANNELS.keys():
            raise VisionError(f"channels = {','.join(map(str, self.channels))}: expected some of {', '.join(_dense.CHANNELS)}, each once")

    def shapes(self) -> dict[str, tuple[int, int]]:
        """The tensors of the vocabularies, all float32."""
        return {f"vision.words.{name}": (self.words, _dense.length(self.descriptor, name)) for name in self.channels}


class Like:
    """Settings and vocabularies of a container that is there."""

    def __init__(self, path: Path) -> None:
        """Reads them. Raises ``VisionError`` where they are missing, damaged, or of another kind or version."""
        self.path = path
        reader = Reader(path)
        self.settings = reader.settings_of(KIND, VERSION, Settings)
        self.vocabularies = []
        for name, shape in self.settings.shapes().items():
            self.vocabularies.append(reader.tensor(name).astype(np.float32))
            if self.vocabularies[-1].shape != shape or not np.isfinite(self.vocabularies[-1]).all():
                raise VisionError(f"{path}: tensor `{name}`: expected finite numbers of shape {list(shape)}")


@dataclass(frozen=True)
class Photo:
    """A photograph with its boxes."""

    name: str
    path: Path
    marks: list[Mark] = field(default_factory=list)


def chosen(images: Path, marks: Marks | None, names: Iterable[str] | None, none: bool) -> list[Photo]:
    """The photographs to take, in the order of their names: those of ``names``, else those that the file of boxes lists, else all.

    Raises ``VisionError`` for an image without a box unless ``none``, and for boxes of images that are not there.
    """
    photos = {pair.name: pair for pair in _pairs.pairs(images, None, None)}
    if marks is None:
        return [Photo(pair.name, pair.photo) for pair in _pairs.pairs(images, None, names)]
    if names is None:
        missing = sorted({mark.name for mark in marks.marks} - photos.keys())
        if missing:
            where = marks.of(missing[0])[0].where
            raise VisionError(f"{where}: {images} has no photograph {missing[0]} (--only and --list choose names)")
        names = list(photos) if marks.listed is None or none else marks.listed
    found = [Photo(pair.name, pair.photo, marks.of(pair.name)) for pair in _pairs.pairs(images, None, names)]
    bare = [photo for photo in found if not photo.marks]
    if bare and not none:
        raise VisionError(f"{bare[0].path}: {marks.path} has no box of it (--none allows it, --only and --list choose names)")
    return found


def load(photo: Photo, settings: Settings) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """Pixels of a photograph as it is worked on, and its own size (width, height)."""
    image = _images.read_photo(photo.path)
    worked = _images.working_size(image.size, settings.size)
    if min(worked) < _dense.WINDOW:
        raise VisionError(f"{photo.path}: {worked[0]} x {worked[1]} pixels, expected at least {_dense.WINDOW} along each side")
    return _images.resized(image, worked), image.size


@dataclass
class _Seen:
    """What the first pass says of an image."""

    worked: tuple[int, int]
    boxes: list[tuple[int, int, int, int]]
    samples: list[_dense.Floats]


def _see(settings: Settings, count: int, work: tuple[int, Photo]) -> _Seen:
    """Checks an image with its boxes, and draws ``count`` descriptors of each channel."""
    number, photo = work
    pixels, size = load(photo, settings)
    worked = (pixels.shape[1], pixels.shape[0])
    boxes = [mark.on(size, worked) for mark in photo.marks]
    samples = []
    for channel in settings.channels if count else ():
        rows = _dense.describe(pixels, settings.descriptor, channel, settings.step)
        rows = rows.reshape(-1, rows.shape[2])
        drawn = np.random.default_rng([settings.seed, number]).choice(len(rows), min(count, len(rows)), replace=False)
        samples.append(rows[np.sort(drawn)])
    return _Seen(worked, boxes, samples)


def word_map(pixels: NDArray[np.uint8], settings: Settings, vocabularies: list[_dense.Floats]) -> NDArray[np.int16]:
    """The words of an image, ``[vocabularies, height, width]``; -1 at pixels that are no point of the grid."""
    height, width = pixels.shape[:2]
    found = np.full((len(vocabularies), height, width), -1, dtype=np.int16)
    half = _dense.WINDOW // 2
    for number, (channel, words) in enumerate(zip(settings.channels, vocabularies, strict=True)):
        rows = _dense.describe(pixels, settings.descriptor, channel, settings.step)
        grid = found[number, half : height - half + 1 : settings.step, half : width - half + 1 : settings.step]
        grid[:] = _dense.nearest(rows.reshape(-1, rows.shape[2]), words).reshape(grid.shape)
    return found


def _map(settings: Settings, vocabularies: list[_dense.Floats], photo: Photo) -> NDArray[np.int16]:
    return word_map(load(photo, settings)[0], settings, vocabularies)


def identity(settings: Settings, vocabularies: list[_dense.Floats]) -> str:
    """64 digits that are equal for files whose words were made by the same version, settings and vocabularies."""
    made = {name: value for name, value in asdict(settings).items() if name != "seed"}
    sha = hashlib.sha256(json.dumps([KIND, VERSION, made]).encode())
    for words in vocabularies:
        sha.update(np.ascontiguousarray(words, dtype="<f4").tobytes())
    return sha.hexdigest()


def build(
    photos: Sequence[Photo], out: Path, settings: Settings, *, like: Like | None, jobs: int, progress: bool | None
) -> dict[str, Any]:
    """Writes the container; see ``multiplane.vision.words``."""
    line = Line(progress)
    try:
        with Crew(jobs) as crew, writing(out) as writer:
            count = 0 if like else -(-SAMPLE // len(photos))
            work = list(enumerate(photos))
            seen = list(line.over("descriptors", crew.each(partial(_see, settings, count), work), len(work)))
            if like is not None:
                vocabularies = like.vocabularies
            else:
                line.show("vocabulary")
                parts = zip(*(one.samples for one in seen), strict=True)
                vocabularies = [
                    _words.cluster(np.concatenate(rows), settings.words, settings.seed + number) for number, rows in enumerate(parts)
                ]
            pixels = [one.worked[0] * one.worked[1] for one in seen]
            boxes = [box for one in seen for box in one.boxes]
            plan = Plan()
            plan.add("map_sizes", "I64", len(seen), 2)
            plan.add("word_counts", "I64", len(vocabularies))
            plan.add("box_offsets", "I64", len(seen) + 1)
            plan.add("boxes", "I64", len(boxes), 4)
            for name, shape in settings.shapes().items():
                plan.add(name, "F32", *shape)
            plan.add("words", "I16", len(vocabularies) * sum(pixels))
            told = {"kind": KIND, "version": VERSION, "settings": asdict(settings), "names": [photo.name for photo in photos]}
            writer.begin(plan, {KEY: json.dumps(told, ensure_ascii=False), FEATURES_KEY: identity(settings, vocabularies)})
            writer.put("map_sizes", np.array([one.worked[::-1] for one in seen]))
            writer.put("word_counts", np.full(len(vocabularies), settings.words))
            writer.put("box_offsets", np.cumsum([0, *(len(one.boxes) for one in seen)]))
            writer.put("boxes", np.array(boxes, dtype=np.int64).reshape(-1, 4))
            for name, words in zip(settings.shapes(), vocabularies, strict=True):
                writer.put(name, words)
            maps, at = crew.each(partial(_map, settings, vocabularies), photos), 0
            for one in line.over("maps", maps, len(photos)):
                writer.put("words", one.ravel(), at)
                at += one.size
            line.show("writing")
            writer.close()
    finally:
        line.close()
    return {"images": len(photos), "boxes": len(boxes), "words": [settings.words] * len(vocabularies), "out": str(out)}
