"""Workers of sharded training. Each has the examples of one shard or, in turn, of several; here and in actors of a Ray cluster."""

from __future__ import annotations

import copy
import importlib
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from multiplane import _core, _ray
from multiplane._checkpoint_folder import Folder, open_address

SOURCES = "a path, a pair (X, y), a table or a function that returns one of them"


class Shard:
    """The examples of one shard, in the process that has them.

    Args:
        spec: The tree of a run as JSON text.
        source: A file, an address of fsspec, a pair (X, y), a DataFrame, or what has ``to_pandas``, as a dataset of Ray; or a function
            without arguments that returns one of these.
        format: The format of a file.
        estimator: An estimator of the task, which reads what is no file of its own.
        target: The column of a table that has the labels.
        name: The shard, as errors call it.
        classes: Names of the classes of all shards, if labels in tables are names.
    """

    def __init__(
        self, spec: str, source: Any, format: str | None, estimator: Any, target: str | None, name: str, classes: list[Any] | None = None
    ) -> None:
        self._name = name
        self._work: Any = None
        self._columns: list[str] | None = None
        self._names: list[Any] | None = None
        if callable(source):
            try:
                source = source()
            except Exception as error:
                raise RuntimeError(f"{name}: its function failed: {type(error).__name__}: {error}") from error
            if not is_source(source):
                raise ValueError(f"{name}: its function returned a {type(source).__name__}: expected {SOURCES}")
        if not isinstance(source, str) or source.endswith((".parquet", ".pq")):
            self._data = _core.ShardData(spec, self._examples(estimator, source, target, name, classes))
            return
        with _local(source) as there:
            try:
                self._data = _core.ShardData(spec, there, format)
            except (ValueError, OSError) as error:
                raise type(error)(str(error).replace(there, source)) from None

    def _examples(self, estimator: Any, source: Any, target: str | None, name: str, classes: list[Any] | None) -> _core.Dataset:
        if isinstance(source, str):
            with _local(source) as there:
                source = importlib.import_module("pandas").read_parquet(there)
        if isinstance(source, tuple):
            x, y = source
            if (x.shape[0] if hasattr(x, "shape") else len(x)) == 0:
                raise ValueError(f"{name}: the shard has no example")
        else:
            table = source.to_pandas() if hasattr(source, "to_pandas") else source
            if len(table) == 0:
                raise ValueError(f"{name}: the shard has no example")
            if target not in table:
                raise ValueError(f"{name}: target = {target!r}: expected one of its columns: {', '.join(map(str, table))}")
            x, y = table.drop(columns=[target]), table[target].to_numpy()
            self._columns = [str(column) for column in x]
        own = copy.deepcopy(estimator)
        vars(own)["_refuse_one_class"] = lambda *_: None  # another shard may have others
        if classes is not None:
            vars(own)["_learn_classes"] = lambda _: vars(own).update(classes_=np.array(classes), _named=True)
        try:
            data: _core.Dataset = own._data(x, y)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        self._names = own.classes_.tolist() if getattr(own, "_named", False) else None
        return data

    def facts(self) -> tuple[str, list[str] | None, list[Any] | None, dict[str, str]]:
        """What the other shards have to know, names of columns and of classes, and versions."""
        return self._data.facts(), self._columns, self._names, versions()

    @property
    def is_open(self) -> bool:
        """True if the task is open."""
        return self._work is not None

    def open(self, everything: str, fingerprint: str, state: Any) -> None:
        """Opens the task, from a state if there is one: bytes, or the path of a folder and a name there. Raises ValueError for other
        examples than those of the fingerprint.
        """
        work = self._data.open(everything)
        if work.fingerprint() != fingerprint:
            raise ValueError(f"{self._name}: read again, its examples are others than at first: shards must not change in a run")
        if state is not None:
            work.restore(state if isinstance(state, bytes) else Folder(state[0]).read(state[1]))
        self._work = work

    def setup(self) -> bytes:
        """What a coordinator needs of a task that is open."""
        return bytes(self._work.setup())

    def answer(self, request: bytes) -> tuple[bytes, float]:
        """Answers a request; returns the share of the time in the oracle, too, by the clock of the run."""
        answer, oracle, total = self._work.answer(request)
        return bytes(answer), min(oracle / total, 1.0) if total > 0.0 else 0.0

    def save(self, folder: str | None = None, name: str = "") -> Any:
        """The state; with a folder it is written there, and its place returned."""
        state = bytes(self._work.save())
        if folder is None:
            return state
        Folder(folder).write(name, state)
        return folder, name

    def model(self, w: bytes, certificate: str) -> bytes:
        """The file of the model with these weights."""
        return bytes(self._work.model(w, certificate).to_bytes())

    def primal(self, model: bytes) -> str:
        """The part of a model's primal value that this shard has, recomputed by plain code."""
        return self._data.primal(_core.Model.from_bytes(model))


def is_source(source: Any) -> bool:
    """Whether examples can be read of this."""
    is_pair = isinstance(source, tuple) and len(source) == 2
    return is_pair or isinstance(source, str) or hasattr(source, "to_pandas") or hasattr(source, "columns")


class Worker:
    """The shards of a worker. One of them is in memory, and of the others a file says how far they are.

    Args:
        given: The arguments of :class:`Shard` for each.
        folder: A folder of this machine for these files, which outlasts the process.
        opened: The arguments with which the tasks of shards are opened when they are needed, if these are known yet.
    """

    def __init__(self, given: Mapping[int, tuple[Any, ...]], folder: str, opened: Mapping[int, tuple[Any, ...]]) -> None:
        self._given, self._folder, self._opened = dict(given), folder, dict(opened)
        self._present: int | None = None
        self._shard: Any = None

    def __repr__(self) -> str:
        """What Ray puts before the lines that an actor prints."""
        names = [given[5] for given in self._given.values()]
        return f"worker of {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")

    def call(self, shard: int, method: str, *arguments: Any) -> tuple[Any, float, float]:
        """Calls a method of a shard; returns its result, the seconds that it took, and those of the shard's turn before it."""
        started = time.perf_counter()
        if shard != self._present:
            self._turn(shard)
        if shard in self._opened and not self._shard.is_open:
            everything, fingerprint, state = self._opened[shard]
            is_kept = os.path.exists(os.path.join(self._folder, str(shard)))
            self._shard.open(everything, fingerprint, (self._folder, str(shard)) if is_kept else state)
        begun = time.perf_counter()
        found = getattr(self._shard, method)(*arguments)
        return found, time.perf_counter() - begun, begun - started

    def opening(self, opened: Mapping[int, tuple[Any, ...]]) -> None:
        """Takes the arguments with which the tasks of shards are opened, before the first request or after a checkpoint is read."""
        self._opened = dict(opened)
        if self._shard is not None and self._shard.is_open:
            self._present = self._shard = None

    def rename(self, classes: list[Any]) -> tuple[None, float, float]:
        """Has shards read again, with the names of the classes of all of them."""
        self._given = {shard: (*given[:6], classes) for shard, given in self._given.items()}
        self._present = self._shard = None
        return None, 0.0, 0.0

    def clean(self) -> None:
        """Removes the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _turn(self, shard: int) -> None:
        """Takes a shard into memory in the place of the present one."""
        if self._shard is not None and self._shard.is_open:
            os.makedirs(self._folder, exist_ok=True)
            path = os.path.join(self._folder, str(self._present))
            with open(f"{path}.part", "wb") as file:
                file.write(self._shard.save())
            os.replace(f"{path}.part", path)
        self._present = self._shard = None  # before the other one is read
        self._shard = Shard(*self._given[shard])
        self._present = shard


def versions() -> dict[str, str]:
    """Versions that must be the same in the driver and in workers."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "multiplane": _core.__version__, **(_ray.versions() if "ray" in sys.modules else {})}


class _local:
    """A file of this machine: one behind an address of fsspec is copied for as long as it is read."""

    def __init__(self, path: str) -> None:
        self.path, self.folder = path, ""

    def __enter__(self) -> str:
        if "://" not in self.path:
            return self.path
        self.folder = tempfile.mkdtemp()
        there = os.path.join(self.folder, self.path.rsplit("/", 1)[1])
        with open_address(self.path) as source, open(there, "wb") as target:
            shutil.copyfileobj(source, target)
        return there

    def __exit__(self, *_: object) -> None:
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
