"""The workers of sharded training, in this process or in actors of a Ray cluster, and how long they take."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

from multiplane import _ray
from multiplane._errors import warn
from multiplane._shards import Worker

PATIENCE = 0.2
"""Seconds between two looks for an interrupt."""

FAREWELL = 5.0
"""Seconds that workers have to remove their files at the end."""

LOOKS = 64
"""Times that the driver looks for answers in a round, about: so exactly it knows when each came."""


class _Pool:
    """Workers that share the shards: each has every ``workers``-th one."""

    def __init__(self, start: Callable[[int], tuple[Any, ...]], count: int, workers: int) -> None:
        self.count, self.workers = count, workers
        self.name = f"multiplane-shards-{os.urandom(3).hex()}"
        self.folder = os.path.join(tempfile.gettempdir(), self.name)
        self.start, self.backward = start, False
        self.classes: list[Any] | None = None
        self.busy = [0.0] * count  # seconds of the last call of each shard
        self.turns = [0.0] * count  # seconds of its turn before that
        self.came = [0.0] * count  # seconds until its result was here

    def of(self, worker: int) -> list[int]:
        """The shards of a worker."""
        return list(range(worker, self.count, self.workers))

    def _made(self, worker: int, opened: Mapping[int, tuple[Any, ...]]) -> tuple[Any, ...]:
        """The arguments of a worker."""
        more = () if self.classes is None else (self.classes,)
        return {shard: (*self.start(shard), *more) for shard in self.of(worker)}, self.folder, opened

    def _ordered(self, shards: Mapping[int, Any]) -> list[int]:
        """Shards in the order of their turns: each call begins with those that came last in the one before."""
        self.backward = not self.backward
        return sorted(shards, reverse=not self.backward)

    def _timed(self, shard: int, result: tuple[Any, float, float], since: float) -> Any:
        """A result without its times, which are noted."""
        found, self.busy[shard], self.turns[shard] = result
        self.came[shard] = time.monotonic() - since
        return found


class Here(_Pool):
    """Workers in this process, one after the other."""

    def __init__(self, start: Callable[[int], tuple[Any, ...]], count: int, workers: int) -> None:
        super().__init__(start, count, workers)
        self.held = [Worker(*self._made(worker, {})) for worker in range(workers)]

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Calls a method of some shards; returns results, None of those whose worker is lost, in the order in which they were asked."""
        found = {}
        for shard in self._ordered(arguments):
            since = time.monotonic()
            result = self.held[shard % self.workers].call(shard, method, *arguments[shard])
            found[shard] = self._timed(shard, result, since)
        return found

    def last(self, worker: int, shards: list[int]) -> float:
        """Seconds of the last call until all results of these shards of a worker were here. A shard is asked when the one before has
        answered.
        """
        return sum(self.came[shard] for shard in shards)

    def rename(self, classes: list[Any]) -> None:
        """Tells all workers the names of the classes of all shards."""
        self.classes = classes
        for worker in self.held:
            worker.rename(classes)

    def opening(self, opened: Mapping[int, tuple[Any, ...]]) -> None:
        """Tells all workers how the tasks of their shards are opened, when they are needed."""
        for worker, held in enumerate(self.held):
            held.opening({shard: opened[shard] for shard in self.of(worker)})

    def replace(self, worker: int, opened: Mapping[int, tuple[Any, ...]]) -> None:
        """Starts another worker in the place of one, which opens its shards so."""
        self.held[worker] = Worker(*self._made(worker, opened))

    def close(self) -> None:
        """Ends the workers."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Actors(_Pool):
    """Workers that are actors of a Ray cluster."""

    def __init__(
        self, start: Callable[[int], tuple[Any, ...]], count: int, workers: int | None, executor: str, options: Mapping[str, Any],
        timeout: float,
    ) -> None:  # fmt: skip
        self.ray, self.timeout, self.made = _ray.loaded(executor), timeout, 0
        self.kind, self.options = self.ray.remote(Worker), {"num_cpus": 1, **options}
        fit = max(_ray.room(self.ray, self.options), 1)
        if workers is not None and workers > fit:
            warn(f"workers = {workers}: the cluster has room for {fit}, others wait until there is more", _ray.ClusterWarning)
        elif workers is None and fit < count:
            told = f"the cluster has room for {fit} workers, which take {count} shards in turn: each turn reads its shard again"
            warn(told, _ray.ClusterWarning)
        super().__init__(start, count, min(fit if workers is None else workers, count))
        self.held: list[Any] = [None] * self.workers
        for worker in range(self.workers):
            self.replace(worker, {})

    def replace(self, worker: int, opened: Mapping[int, tuple[Any, ...]]) -> None:
        """As of workers in this process."""
        if self.held[worker] is not None:
            self.ray.kill(self.held[worker])
        self.made += 1
        name, given = f"{self.name}-{worker}-{self.made}", self._made(worker, opened)
        try:
            self.held[worker] = self.kind.options(**self.options, name=name).remote(*given)
        except TypeError:
            dumps = self.ray.cloudpickle.dumps
            parts = [(one[3], "estimator") for one in given[0].values()] + [(one[1], one[5]) for one in given[0].values()]
            reason = next((found for part, called in parts if (found := _ray.unpicklable(part, called, dumps))), None)
            if reason is None:
                raise
            raise TypeError(f"{reason}; actors are sent both") from None

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """As of workers in this process."""
        since = time.monotonic()
        asked = {
            self.held[shard % self.workers].call.remote(shard, method, *arguments[shard]): shard for shard in self._ordered(arguments)
        }
        found, waiting = dict[int, Any].fromkeys(asked.values()), list(asked)
        while waiting and time.monotonic() < since + self.timeout:
            few = min(max(1, len(asked) // LOOKS), len(waiting))
            ready, waiting = self.ray.wait(waiting, num_returns=few, timeout=PATIENCE)
            for address in ready:
                result = self._result(address)
                found[asked[address]] = None if result is None else self._timed(asked[address], result, since)
        return found

    def last(self, worker: int, shards: list[int]) -> float:
        """As of workers in this process; here all shards are asked at once."""
        return max((self.came[shard] for shard in shards), default=0.0)

    def rename(self, classes: list[Any]) -> None:
        """As of workers in this process."""
        self.classes = classes
        for worker in self.held:
            worker.rename.remote(classes)

    def opening(self, opened: Mapping[int, tuple[Any, ...]]) -> None:
        """As of workers in this process."""
        for worker, held in enumerate(self.held):
            held.opening.remote({shard: opened[shard] for shard in self.of(worker)})

    def _result(self, address: Any) -> Any:
        """The result at an address, None of a worker that is lost."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(address)
        except errors.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except errors.RayError:
            return None

    def close(self) -> None:
        """As of workers in this process."""
        if self.ray.is_initialized():
            there = [worker for worker in self.held if worker is not None]
            if self.workers < self.count and there:  # files of other machines, too
                self.ray.wait([worker.clean.remote() for worker in there], num_returns=len(there), timeout=FAREWELL)
            for worker in there:
                self.ray.kill(worker)
        shutil.rmtree(self.folder, ignore_errors=True)
