"""Folders of checkpoints, of this machine or behind an address of fsspec."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any


def _fsspec(address: str) -> Any:
    """The package fsspec, which comes with Ray."""
    try:
        return importlib.import_module("fsspec")
    except ImportError:
        raise ImportError(f'{address}: needs the package fsspec: pip install "multiplane[ray]"') from None


def open_address(address: str) -> Any:
    """Opens a file behind an address of fsspec for reading."""
    return _fsspec(address).open(address, "rb")


class Folder:
    """A folder of checkpoints, of this machine or behind an address of fsspec."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.address = self.path = os.fspath(path).rstrip("/")
        if "://" in self.path:
            self.system, self.path = _fsspec(self.path).core.url_to_fs(self.path)
        else:
            self.system = None
            self.address = self.path = os.path.abspath(self.path)  # workers have other working directories

    def write(self, name: str, content: bytes) -> None:
        """Writes a file, whole or not at all."""
        path = f"{self.path}/{name}"
        if self.system is not None:
            self.system.makedirs(self.path, exist_ok=True)
            self.system.pipe_file(path, content)
            return
        os.makedirs(self.path, exist_ok=True)
        with open(f"{path}.part", "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.part", path)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if self.system is not None:
            return bytes(self.system.cat_file(f"{self.path}/{name}"))
        with open(f"{self.path}/{name}", "rb") as file:
            return file.read()

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return bool((os.path.exists if self.system is None else self.system.exists)(f"{self.path}/{name}"))

    def remove(self, names: Sequence[str]) -> None:
        """Removes files that may be there."""
        for name in names:
            try:
                (os.remove if self.system is None else self.system.rm_file)(f"{self.path}/{name}")
            except OSError:
                continue
