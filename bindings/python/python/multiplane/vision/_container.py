"""Writes containers of graphs (safetensors) row by row, without holding them in memory, and reads them.

A file is written under another name in the same folder, flushed to disk, and renamed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from multiplane.vision._errors import VisionError
from multiplane.vision._options import Kind, stored

FEATURES_KEY = "multiplane.features"
"""The key under which stands an id of how the features were made: models remember it."""

KEY = "multiplane.vision"
"""The key of the metadata under which the settings stand, as JSON."""

TYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
}
"""Types of tensors that are written and read."""


class Plan:
    """Names, types and shapes of tensors, in the order of the file."""

    def __init__(self) -> None:
        self.tensors: dict[str, tuple[str, tuple[int, ...], int]] = {}
        self.end = 0

    def add(self, name: str, kind: str, *shape: int) -> None:
        """Gives a tensor the next place. safetensors allows no holes, so where one ends between multiples of 8 a tensor
        of one number follows that nobody reads.
        """
        length = int(np.prod(shape, dtype=np.int64)) * TYPES[kind].itemsize
        self.tensors[name] = (kind, shape, self.end)
        self.end += length
        if self.end % 8:
            filler = f"vision.fill.{len(self.tensors)}"
            self.tensors[filler] = ("I32", (1,), self.end)
            self.end += 4

    def header(self, metadata: dict[str, str]) -> bytes:
        """The beginning of the file, up to the tensors."""
        entries: dict[str, Any] = {"__metadata__": metadata}
        for name, (kind, shape, start) in self.tensors.items():
            length = int(np.prod(shape, dtype=np.int64)) * TYPES[kind].itemsize
            entries[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [start, start + length]}
        text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text


class Writer:
    """A container on its way: tensors are filled in any order, and ``close`` puts the file in its place."""

    def __init__(self, path: Path, part: Path) -> None:
        """Opens the file ``part``, which is to become ``path``. Raises ``VisionError`` where that cannot be."""
        self.path = path
        self._part = part
        self._plan = Plan()
        self._base = 0
        if path.is_dir():
            raise VisionError(f"{path}: is a folder, expected the name of a file to write")
        try:
            self.file: BinaryIO = open(part, "x+b")
        except OSError as error:
            raise VisionError(f"{path}: cannot be written: {error.strerror}") from None

    def begin(self, plan: Plan, metadata: dict[str, str]) -> None:
        """Writes the header, and gives the file its length."""
        header = plan.header(metadata)
        self._plan, self._base = plan, len(header)
        self.file.write(header)
        self.file.truncate(self._base + plan.end)

    def retell(self, metadata: dict[str, str]) -> None:
        """Writes the header again with other metadata of the same length."""
        header = self._plan.header(metadata)
        assert len(header) == self._base, "the metadata has another length"
        self.file.seek(0)
        self.file.write(header)

    def put(self, name: str, values: NDArray[Any], row: int = 0) -> None:
        """Writes rows of a tensor, beginning at number ``row``."""
        kind, shape, start = self._plan.tensors[name]
        width = int(np.prod(shape[1:], dtype=np.int64))
        self.file.seek(self._base + start + row * width * TYPES[kind].itemsize)
        self.file.write(np.ascontiguousarray(values, dtype=TYPES[kind]).tobytes())

    def get(self, name: str, row: int, count: int) -> NDArray[Any]:
        """Reads back rows of a tensor."""
        kind, shape, start = self._plan.tensors[name]
        width = int(np.prod(shape[1:], dtype=np.int64))
        self.file.seek(self._base + start + row * width * TYPES[kind].itemsize)
        data = self.file.read(count * width * TYPES[kind].itemsize)
        return np.frombuffer(data, dtype=TYPES[kind]).reshape(count, *shape[1:])

    def close(self) -> None:
        """Brings the file to disk and into its place."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._part, self.path)
        if os.name == "posix":  # elsewhere folders cannot be opened
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """A writer; left by an exception or by Ctrl-C, at whatever moment, nothing stays behind."""
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"  # known before it is there
    writer = None
    try:
        writer = Writer(path, part)
        yield writer
    finally:
        with contextlib.suppress(OSError):  # on a full disk what is still to be written fails again
            if writer is not None:
                writer.file.close()
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder that goes with all that is in it, however it is left. Raises ``OSError`` where there can be none."""
    folder = parent / f"{prefix}{secrets.token_hex(4)}"  # known before it is there
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Reader:
    """A container that is there: its settings, and tensors on demand."""

    def __init__(self, path: Path) -> None:
        """Reads the header. Raises ``VisionError`` for what is no container of this package."""
        self.path = path
        try:
            self._file = cast("Any", safe_open(path, framework="numpy"))
            metadata = self._file.metadata() or {}
            settings = json.loads(metadata[KEY]) if KEY in metadata else None
        except OSError as error:
            raise VisionError(f"{path}: cannot be read: {os.strerror(error.errno or errno.ENOENT)}") from None
        except (SafetensorError, ValueError, RecursionError) as error:
            raise VisionError(f"{path}: not a safetensors file, or cut short: {error}") from None
        if settings is None:
            raise VisionError(f"{path}: has no metadata `{KEY}`: expected a file that `multiplane.vision` wrote (graph, words, poses)")
        if not isinstance(settings, dict):
            raise VisionError(f"{path}: metadata `{KEY}` is no object")
        self.settings: dict[str, Any] = settings

    def settings_of(self, kind: str, version: int, settings: type[Kind]) -> Kind:
        """The settings of a file of this kind and version. Raises ``VisionError`` for another one, and for a damaged one."""
        if self.settings.get("kind") != kind:
            raise VisionError(f"{self.path}: expected a file that `multiplane.vision {kind}` wrote")
        if self.settings.get("version") != version:
            found = self.settings.get("version")
            raise VisionError(f"{self.path}: {kind} of version {found}, this package makes version {version}: build it again")
        try:
            return stored(settings, self.settings["settings"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise VisionError(f"{self.path}: metadata `{KEY}` is damaged: {error}") from None

    def tensor(self, name: str) -> NDArray[Any]:
        """The values of a tensor."""
        if name not in self._file.keys():  # a file is no dict
            raise VisionError(f"{self.path}: has no tensor `{name}`")
        return np.asarray(self._file.get_tensor(name))
