"""Settings of a container, and what was fitted on its training images: read from `--like`, written into each file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _cache, _regions, _words
from multiplane.vision._container import Reader
from multiplane.vision._errors import VisionError
from multiplane.vision._options import WORDS, check_ranges, stored

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """What features and labels depend on, beside the images."""

    superpixels: int = 250
    """About how many superpixels an image has."""
    threshold: int | None = None
    """Of grey masks: label 1 above it, else 0. None: the maps hold class ids."""
    ignore: int | None = None
    """The id of pixels that have no label."""
    side: int = 512
    """Longest side, in pixels, of images as they are worked on."""
    words: int = WORDS
    """Visual words at each scale."""
    seed: int = 0
    """Of the patches that are drawn, and of k-means."""

    def check(self) -> None:
        """Raises ``VisionError`` for values out of range."""
        ranges = {"superpixels": (2, 20000), "threshold": (0, 254), "ignore": (0, 255), "side": (16, 8192),
                  "words": (2, 1024), "seed": (0, 2**31 - 1)}  # fmt: skip
        check_ranges(self, {name: ends for name, ends in ranges.items() if getattr(self, name) is not None})
        if self.threshold is not None and self.ignore is not None and self.ignore > 1:
            raise VisionError(f"ignore = {self.ignore}: with a threshold there are the labels 0 and 1 alone")


@dataclass
class Fitted:
    """What was learned from training images."""

    books: list[_words.Book]
    """Visual words of each scale."""
    mean: Floats
    """Mean of each feature."""
    scale: Floats
    """What each centred feature is divided by; 0 where it was constant."""


def groups(words: int) -> list[tuple[str, int]]:
    """Names and sizes of the groups of node features, in their order."""
    looks = [*_regions.LOCAL_GROUPS, ("words", words * len(_words.SCALES))]
    around = [(f"neighbours' {name}", size) for name, size in looks]
    image = [("image's words", words * len(_words.SCALES))]
    return [*looks, *around, *_regions.PLACE_GROUPS, *image, ("bias", 1)]


def fitted_shapes(settings: Settings) -> dict[str, tuple[int, ...]]:
    """Tensors of what is fitted, all float32."""
    count = sum(size for _, size in groups(settings.words))
    scales = len(_words.SCALES)
    return {
        "vision.mean": (count,),
        "vision.scale": (count,),
        "vision.word_mean": (scales, _words.LENGTH),
        "vision.word_whitening": (scales, _words.LENGTH, _words.KEPT),
        "vision.words": (scales, settings.words, _words.KEPT),
    }


def fitted_tensors(fitted: Fitted) -> dict[str, Floats]:
    """The values of these tensors."""
    return {
        "vision.mean": fitted.mean,
        "vision.scale": fitted.scale,
        "vision.word_mean": np.stack([book.mean for book in fitted.books]),
        "vision.word_whitening": np.stack([book.whitening for book in fitted.books]),
        "vision.words": np.stack([book.centres for book in fitted.books]),
    }


def features_id(settings: Settings, fitted: Fitted) -> str:
    """64 digits that are equal for files whose features were made by the same version, settings, visual words and
    scaling.
    """
    made = {name: getattr(settings, name) for name in ("superpixels", "side", "words")}
    sha = hashlib.sha256(json.dumps([_cache.VERSION, made]).encode())
    for name, tensor in fitted_tensors(fitted).items():
        sha.update(name.encode())
        sha.update(np.ascontiguousarray(tensor, dtype="<f4").tobytes())
    return sha.hexdigest()


def record(settings: Settings, classes: list[int], names: list[str]) -> dict[str, Any]:
    """The object that stands in the metadata, but for `images`."""
    at, places = 0, {}
    for name, size in groups(settings.words):
        places[name] = [at, at + size]
        at += size
    return {
        "version": _cache.VERSION,
        "settings": asdict(settings),
        "classes": classes,
        "node_features": places,
        "edge_features": list(_regions.EDGE_NAMES),
        "names": names,
    }


class Like:
    """Settings, classes and fitted parts of a container that is there."""

    def __init__(self, path: Path) -> None:
        """Reads them. Raises ``VisionError`` where they are missing, damaged, or of another version."""
        self.path = path
        reader = Reader(path)
        found = reader.settings
        if "kind" in found:
            raise VisionError(f"{path}: holds {found['kind']}, expected what `multiplane.vision` wrote for the same command")
        if found.get("version") != _cache.VERSION:
            raise VisionError(
                f"{path}: features of version {found.get('version')}, this package makes version {_cache.VERSION}: "
                "build it again"
            )
        try:
            self.settings = stored(Settings, found["settings"])
            self.classes = [int(label) for label in found["classes"]]
            self.names = [str(name) for name in found["names"]]
            if self.classes != sorted(set(self.classes) & set(range(256))):
                raise VisionError(f"classes {self.classes}, expected numbers from 0 to 255 that rise")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise VisionError(f"{path}: metadata `multiplane.vision` is damaged: {error}") from None
        tensors = {}
        for name, shape in fitted_shapes(self.settings).items():
            tensors[name] = reader.tensor(name).astype(np.float32)
            if tensors[name].shape != shape or not np.isfinite(tensors[name]).all():
                raise VisionError(f"{path}: tensor `{name}`: expected finite numbers of shape {list(shape)}")
        books = [
            _words.Book(*parts)
            for parts in zip(
                tensors["vision.word_mean"], tensors["vision.word_whitening"], tensors["vision.words"], strict=True
            )
        ]
        self.fitted = Fitted(books, tensors["vision.mean"], tensors["vision.scale"])
