"""Keeps what was computed of an image in a folder for the next run.

An entry is named by the hash of the image and all settings, and begins with its own hash: a damaged one is written
again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multiplane.vision._regions import Regions, regions

VERSION = 1
"""Counts up when features change: older entries are then left alone."""

FIELDS = ("segments", "local", "place", "edges", "lengths", "edge_features")


def default_folder() -> Path | None:
    """The user's cache folder, ``multiplane/vision`` in ``$XDG_CACHE_HOME`` or ``~/.cache``; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "multiplane" / "vision"
    except RuntimeError:
        return None


def key_of(content: bytes, size: tuple[int, int], superpixels: int) -> str:
    """The name of an entry: bytes of the image file, size at which it is worked on, settings, versions."""
    versions = [version(package) for package in ("numpy", "scipy", "scikit-image", "Pillow")]
    settings = f"{VERSION} {size[0]} {size[1]} {superpixels} {' '.join(versions)}\n"
    return hashlib.sha256(settings.encode() + content).hexdigest()


def _read(path: Path) -> Regions | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        return None
    with np.load(io.BytesIO(data[32:]), allow_pickle=False) as arrays:
        return Regions(**{name: arrays[name] for name in FIELDS})


def _write(path: Path, found: Regions) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(found, name) for name in FIELDS})
    data = buffer.getvalue()
    part = path.with_name(f".entry.{secrets.token_hex(8)}")  # known before it is there
    try:
        part.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def cached(folder: Path | None, key: str, image: Callable[[], NDArray[np.uint8]], count: int) -> Regions:
    """The regions of an image, from the folder where they are there; else computed, and kept where that is possible."""
    if folder is None:
        return regions(image(), count)
    path = folder / f"{key}.regions"
    found = _read(path)
    if found is None:
        found = regions(image(), count)
        with contextlib.suppress(OSError):  # a full or closed folder costs time, not the result
            folder.mkdir(parents=True, exist_ok=True)
            _write(path, found)
    return found
