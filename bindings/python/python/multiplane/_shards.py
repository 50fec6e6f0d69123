"""Workers of sharded training: each has the examples of one shard, in this process or in an actor of a Ray cluster. Checkpoints of theirs
lie in folders.
"""

from __future__ import annotations

import copy
import importlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from multiplane import _core, _ray

PATIENCE = 0.2
"""Seconds between two looks for an interrupt."""


class Worker:
    """The examples of one shard, in the process that has them.

    Args:
        spec: The tree of a run as JSON text.
        source: A file, an address of fsspec, a pair (X, y), a DataFrame, or what has ``to_pandas``, as a dataset of Ray.
        format: The format of a file.
        estimator: An estimator of the task, which reads what is no file of its own.
        target: The column of a table that has the labels.
        name: The shard, as errors call it.
    """

    def __init__(self, spec: str, source: Any, format: str | None, estimator: Any, target: str | None, name: str) -> None:
        self._shard: Any = None
        self._columns: list[str] | None = None
        if not isinstance(source, str) or source.endswith((".parquet", ".pq")):
            self._data = _core.ShardData(spec, self._examples(estimator, source, target, name))
            self._facts = self._data.facts()
            return
        with _local(source) as there:
            try:
                self._data = _core.ShardData(spec, there, format)
                self._facts = self._data.facts()
            except (ValueError, OSError) as error:
                raise type(error)(str(error).replace(there, source)) from None

    def _examples(self, estimator: Any, source: Any, target: str | None, name: str) -> _core.Dataset:
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
        try:
            data: _core.Dataset = own._data(x, y)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if getattr(own, "_named", False):
            raise ValueError(f"{name}: the label {own.classes_.tolist()[0]!r}: expected whole numbers, which are the same in all shards")
        return data

    def facts(self) -> tuple[str, list[str] | None, dict[str, str]]:
        """What the other shards have to know, names of columns, and versions."""
        return self._facts, self._columns, versions()

    def open(self, everything: str, state: bytes | None) -> bytes:
        """Opens the task, from a state if there is one; returns what a coordinator needs."""
        self._shard = self._data.open(everything)
        if state is not None:
            self._shard.restore(state)
        return bytes(self._shard.setup())

    def answer(self, request: bytes) -> tuple[bytes, float]:
        """Answers a request; returns the seconds, too."""
        started = time.perf_counter()
        return bytes(self._shard.answer(request)), time.perf_counter() - started

    def save(self) -> bytes:
        """The state."""
        return bytes(self._shard.save())

    def model(self, w: bytes, certificate: str) -> bytes:
        """The file of the model with these weights."""
        return bytes(self._shard.model(w, certificate).to_bytes())


def versions() -> dict[str, str]:
    """Versions that must be the same in the driver and in workers."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "multiplane": _core.__version__, **(_ray.versions() if "ray" in sys.modules else {})}


def _fsspec(address: str) -> Any:
    """The package fsspec, which comes with Ray."""
    try:
        return importlib.import_module("fsspec")
    except ImportError:
        raise ImportError(f'{address}: needs the package fsspec: pip install "multiplane[ray]"') from None


class _local:
    """A file of this machine: one behind an address of fsspec is copied for as long as it is read."""

    def __init__(self, path: str) -> None:
        self.path, self.folder = path, ""

    def __enter__(self) -> str:
        if "://" not in self.path:
            return self.path
        fsspec = _fsspec(self.path)
        self.folder = tempfile.mkdtemp()
        there = os.path.join(self.folder, self.path.rsplit("/", 1)[1])
        with fsspec.open(self.path, "rb") as source, open(there, "wb") as target:
            shutil.copyfileobj(source, target)
        return there

    def __exit__(self, *_: object) -> None:
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Here:
    """Workers in this process, one after the other."""

    def __init__(self, start: Callable[[int], tuple[Any, ...]], count: int) -> None:
        self.start = start
        self.workers = [Worker(*start(shard)) for shard in range(count)]

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Calls a method of some workers; returns results, None of those that are lost."""
        return {shard: getattr(self.workers[shard], method)(*given) for shard, given in arguments.items()}

    def replace(self, shard: int) -> None:
        """Starts another worker in the place of one."""
        self.workers[shard] = Worker(*self.start(shard))

    def close(self) -> None:
        """Ends the workers."""


class Actors:
    """Workers that are actors of a Ray cluster."""

    def __init__(
        self, start: Callable[[int], tuple[Any, ...]], count: int, executor: str, options: Mapping[str, Any], timeout: float
    ) -> None:
        self.ray, self.timeout, self.start = _ray.loaded(executor), timeout, start
        self.name, self.made = f"multiplane-shards-{os.urandom(3).hex()}", 0
        self.kind, self.options = self.ray.remote(Worker), {"num_cpus": 1, **options}
        self.workers: list[Any] = [None] * count
        for shard in range(count):
            self.replace(shard)

    def replace(self, shard: int) -> None:
        """Starts another actor in the place of one."""
        if self.workers[shard] is not None:
            self.ray.kill(self.workers[shard])
        self.made += 1
        name, given = f"{self.name}-{shard}-{self.made}", self.start(shard)
        try:
            self.workers[shard] = self.kind.options(**self.options, name=name).remote(*given)
        except TypeError:
            dumps, parts = self.ray.cloudpickle.dumps, ((given[3], "estimator"), (given[1], f"shards[{shard}]"))
            reason = next((found for part, called in parts if (found := _ray.unpicklable(part, called, dumps))), None)
            if reason is None:
                raise
            raise TypeError(f"{reason}; actors are sent both") from None

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """As of workers in this process."""
        addresses = {shard: getattr(self.workers[shard], method).remote(*given) for shard, given in arguments.items()}
        until, waiting = time.monotonic() + self.timeout, list(addresses.values())
        while waiting and time.monotonic() < until:
            waiting = self.ray.wait(waiting, num_returns=len(waiting), timeout=PATIENCE)[1]
        return {shard: None if address in waiting else self._result(address) for shard, address in addresses.items()}

    def _result(self, address: Any) -> Any:
        """The result at an address, None of a worker that is lost."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(address)
        except errors.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except errors.RayError as error:
            refused = re.search(r"(ValueError|FileNotFoundError|OSError): (.*)", str(error))
            if refused is not None and isinstance(error, errors.ActorDiedError):  # the examples cannot be read
                raise (ValueError if refused[1] == "ValueError" else OSError)(refused[2]) from None
            return None

    def close(self) -> None:
        """As of workers in this process."""
        for worker in self.workers:
            if self.ray.is_initialized() and worker is not None:
                self.ray.kill(worker)


class Folder:
    """A folder of checkpoints, of this machine or behind an address of fsspec."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path).rstrip("/")
        if "://" in self.path:
            fsspec = _fsspec(self.path)
            self.system, self.path = fsspec.core.url_to_fs(self.path)
        else:
            self.system = None

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

    def remove(self, names: Sequence[str]) -> None:
        """Removes files that may be there."""
        for name in names:
            try:
                (os.remove if self.system is None else self.system.rm_file)(f"{self.path}/{name}")
            except OSError:
                continue
