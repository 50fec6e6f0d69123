"""Training on data that no machine holds: every worker has the examples of one file with their planes, and only vectors of the size of
the weights travel.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from multiplane import _core, _ray

LOSSES = 3
"""Workers of a shard that may be lost one after the other, without an answer between them."""

SETTINGS = {"parts": 4, "replays": 32, "cuts": 100, "damping": 0.1}
"""Parts of an exact pass; rounds without a call after each, and sums kept of each shard, at most; damping of local models."""

ROOM = 1 << 28
"""Bytes that sums of planes may take in the driver."""


class ShardLost(RuntimeError):
    """A shard that stays lost has ended a run; ``estimator`` is fitted with the best certified model, or None."""

    estimator: Any = None


class _Worker:
    """The examples of one shard, in the process that has them."""

    def __init__(self, spec: str, path: str, form: str | None) -> None:
        self._shard: Any = None
        with _local(path) as there:
            try:
                self._data = _core.ShardData(spec, there, form)
                self._facts = self._data.facts()
            except (ValueError, OSError) as error:
                raise type(error)(str(error).replace(there, path)) from None

    def facts(self) -> tuple[str, dict[str, str]]:
        """What the other shards have to know, and versions."""
        return self._facts, {"multiplane": _core.__version__}

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


def _fsspec(address: str) -> Any:
    """The package fsspec, which comes with Ray."""
    try:
        return importlib.import_module("fsspec")
    except ImportError:
        raise ImportError(
            f'{address}: needs the package fsspec: pip install "multiplane[ray]"'
        ) from None


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


class _Here:
    """Workers in this process, one after the other."""

    def __init__(self, start: Callable[[int], tuple[Any, ...]], count: int) -> None:
        self.workers = [_Worker(*start(shard)) for shard in range(count)]

    def call(
        self, method: str, arguments: Mapping[int, tuple[Any, ...]]
    ) -> dict[int, Any]:
        """Calls a method of some workers; returns results, None of those that are lost."""
        return {
            shard: getattr(self.workers[shard], method)(*given)
            for shard, given in arguments.items()
        }

    def replace(self, shard: int) -> None:
        """Starts another worker in the place of one."""
        raise AssertionError(f"shard {shard} is in this process")

    def close(self) -> None:
        """Ends the workers."""


class _Actors:
    """Workers that are actors of a Ray cluster."""

    def __init__(
        self,
        start: Callable[[int], tuple[Any, ...]],
        count: int,
        executor: str,
        options: Mapping[str, Any],
        timeout: float,
    ) -> None:
        self.ray, self.timeout, self.start = _ray.loaded(executor), timeout, start
        self.name, self.made = f"multiplane-shards-{os.urandom(3).hex()}", 0
        self.kind, self.options = self.ray.remote(_Worker), {"num_cpus": 1, **options}
        self.workers: list[Any] = [None] * count
        for shard in range(count):
            self.replace(shard)

    def replace(self, shard: int) -> None:
        """Starts another actor in the place of one."""
        if self.workers[shard] is not None:
            self.ray.kill(self.workers[shard])
        self.made += 1
        name = f"{self.name}-{shard}-{self.made}"
        self.workers[shard] = self.kind.options(**self.options, name=name).remote(
            *self.start(shard)
        )

    def call(
        self, method: str, arguments: Mapping[int, tuple[Any, ...]]
    ) -> dict[int, Any]:
        """As of workers in this process."""
        errors = self.ray.exceptions
        addresses = {
            shard: getattr(self.workers[shard], method).remote(*given)
            for shard, given in arguments.items()
        }
        found: dict[int, Any] = {}
        until = time.monotonic() + self.timeout
        for shard, address in addresses.items():
            try:
                found[shard] = self.ray.get(
                    address, timeout=max(until - time.monotonic(), 0.1)
                )
            except errors.RayTaskError as error:
                raise (
                    error.cause if isinstance(error.cause, Exception) else error
                ) from None
            except errors.RayError as error:
                refused = re.search(
                    r"(ValueError|FileNotFoundError|OSError): (.*)", str(error)
                )
                if refused is not None and isinstance(
                    error, errors.ActorDiedError
                ):  # the examples cannot be read
                    raise (ValueError if refused[1] == "ValueError" else OSError)(
                        refused[2]
                    ) from None
                found[shard] = None
        return found

    def close(self) -> None:
        """As of workers in this process."""
        for worker in self.workers:
            if self.ray.is_initialized() and worker is not None:
                self.ray.kill(worker)


class _Folder:
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
                (os.remove if self.system is None else self.system.rm_file)(
                    f"{self.path}/{name}"
                )
            except OSError:
                continue


class _Run:
    """A run: the coordinator, the workers, and what they have come to."""

    def __init__(
        self, spec: str, pool: Any, shards: Sequence[str], settings: dict[str, Any]
    ) -> None:
        self.spec, self.pool, self.shards, self.settings = (
            spec,
            pool,
            list(shards),
            settings,
        )
        self.count, self.rounds, self.lost = len(shards), 0, 0
        self.seconds = [0.0] * self.count
        self.moved = 0
        self.states: list[bytes | None] = [None] * self.count
        self.streak = [0] * self.count
        self.all = ""
        found = self._surely("facts")
        self.facts = [facts for facts, _ in found]
        for shard, (_, versions) in enumerate(found):
            if versions["multiplane"] != _core.__version__:
                raise RuntimeError(
                    f"shard {shards[shard]}: its worker has multiplane {versions['multiplane']}, here it is {_core.__version__}"
                )
        prints: dict[str, int] = {}
        for shard, facts in enumerate(self.facts):
            first = prints.setdefault(json.loads(facts)["fingerprint"], shard)
            if first != shard:
                raise ValueError(
                    f"shards[{first}] and shards[{shard}] have the same examples: {shards[first]}, {shards[shard]}"
                )
        self.all = _core.merge_facts(self.facts)
        setups = self._surely("open", self.all, None)
        self.coordinator = self._coordinator(setups[0])
        size = len(bytes(self.coordinator.request(0) or b""))
        room = max(2, ROOM // (self.count * size))
        if room < self.settings["cuts"]:
            self.settings = {**self.settings, "cuts": room}
            self.coordinator = self._coordinator(setups[0])

    def _coordinator(self, setup: bytes) -> _core.Coordinator:
        settings = {"target": None, "passes": None, **self.settings}
        return _core.Coordinator(self.spec, json.dumps(settings), setup, self.facts)

    def _surely(self, method: str, *arguments: Any) -> list[Any]:
        """Results of all workers; one that is lost is replaced and asked again."""
        found = self.pool.call(method, dict.fromkeys(range(self.count), arguments))
        for shard in range(self.count):
            while found[shard] is None:
                self._lose(shard)
                found.update(self.pool.call(method, {shard: arguments}))
            self.streak[shard] = 0
        return [found[shard] for shard in range(self.count)]

    def _lose(self, shard: int) -> None:
        """Replaces a worker."""
        self.lost += 1
        self.streak[shard] += 1
        if self.streak[shard] == LOSSES:
            raise ShardLost(
                f"shard {self.shards[shard]}: {LOSSES} workers were lost one after the other"
            )
        self.pool.replace(shard)
        if self.all:
            self.pool.call("open", {shard: (self.all, self.states[shard])})

    def step(self) -> dict[str, Any]:
        """Makes a round."""
        wanted = {shard: self.coordinator.request(shard) for shard in range(self.count)}
        requests = {
            shard: bytes(request)
            for shard, request in wanted.items()
            if request is not None
        }
        found = self.pool.call(
            "answer", {shard: (request,) for shard, request in requests.items()}
        )
        answers: list[bytes | None] = [None] * self.count
        for shard, answer in found.items():
            if answer is None:
                self._lose(shard)
                continue
            self.streak[shard] = 0
            answers[shard] = answer[0]
            self.seconds[shard] += answer[1]
            self.moved += len(requests[shard]) + len(answer[0])
        self.rounds += 1
        report: dict[str, Any] = json.loads(self.coordinator.take(answers))
        return report

    def keep(self) -> None:
        """Keeps the states of the workers here, for those that are lost."""
        found = self.pool.call("save", dict.fromkeys(range(self.count), ()))
        self.states = [
            old if found[shard] is None else found[shard]
            for shard, old in enumerate(self.states)
        ]

    def save(self, folder: _Folder, before: list[str]) -> list[str]:
        """Writes a checkpoint; returns the names of its files."""
        self.keep()
        names = [f"shard-{shard}-{self.rounds}" for shard in range(self.count)] + [
            f"coordinator-{self.rounds}"
        ]
        for name, state in zip(
            names, [*self.states, bytes(self.coordinator.save())], strict=True
        ):
            folder.write(name, state or b"")
        manifest = {
            "version": _core.__version__,
            "rounds": self.rounds,
            "spec": json.loads(self.spec),
            "files": names,
        }
        manifest["fingerprints"] = [
            json.loads(facts)["fingerprint"] for facts in self.facts
        ]
        folder.write("manifest.json", json.dumps(manifest).encode())
        folder.remove([name for name in before if name not in names])
        return names

    def resume(self, folder: _Folder) -> list[str]:
        """Goes on from a checkpoint."""
        try:
            manifest = json.loads(folder.read("manifest.json"))
        except OSError as error:
            raise FileNotFoundError(
                f"resume: {folder.path} has no manifest.json: {error}"
            ) from None
        if manifest["version"] != _core.__version__:
            raise ValueError(
                f"resume: the checkpoint is of multiplane {manifest['version']}, this is {_core.__version__}"
            )
        if manifest["fingerprints"] != [
            json.loads(facts)["fingerprint"] for facts in self.facts
        ]:
            raise ValueError(
                "resume: the checkpoint is of other shards, or of the same in another order"
            )
        own, theirs = json.loads(self.spec), manifest["spec"]
        for key in sorted({*own, *theirs} - {"stop", "threads"}):
            if own.get(key) != theirs.get(key):
                raise ValueError(
                    f"resume: the checkpoint has {key} = {theirs.get(key)}, found {own.get(key)}"
                )
        *states, last = (folder.read(name) for name in manifest["files"])
        self.states = [state or None for state in states]
        for shard, state in enumerate(self.states):
            while self.pool.call("open", {shard: (self.all, state)})[shard] is None:
                self._lose(shard)
        self.coordinator.restore(last)
        self.rounds = manifest["rounds"]
        return list(manifest["files"])

    def model(self) -> _core.Model:
        """The model of the best weights so far."""
        w, certificate = (
            bytes(self.coordinator.weights()),
            self.coordinator.certificate(),
        )
        for shard in range(self.count):
            found = self.pool.call("model", {shard: (w, certificate)})[shard]
            if found is not None:
                return _core.Model.from_bytes(found)
        raise ShardLost("no worker is left")


def train(
    estimator: Any, shards: Sequence[str | os.PathLike[str]], *, format: str | None = None, executor: str | None = None,
    ray_options: Mapping[str, Any] | None = None, timeout: float = 3600.0, checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100, resume: str | os.PathLike[str] | None = None, progress: bool = False,
    callback: Callable[[dict[str, Any]], Any] | None = None, settings: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Trains an estimator on the examples of several files together. Each file stays with a worker of its own.

    Args:
        estimator: An estimator of a built-in task, not fitted: task, ``lam``, ``gap``, ``passes`` and ``seconds``. Its solver is ``"auto"``.
        shards: Files that the task reads, or addresses of fsspec, each with other examples.
        format: The format of the files, as the command line calls it; told by their content if not given.
        executor: ``"ray"`` or ``"ray://HOST:PORT"`` for actors of a Ray cluster; if not given, workers are in this process.
        ray_options: What an actor needs, in Ray's words, as ``{"num_cpus": 4}``.
        timeout: Seconds that a round may take before an actor counts as lost.
        checkpoint: A folder, or an address of fsspec, for a checkpoint every ``checkpoint_every`` rounds and at the end.
        checkpoint_every: Rounds between checkpoints, and between copies of the workers' states that lost workers come back from.
        resume: The folder of a checkpoint to go on from: of the same shards, in the same order.
        progress: Prints rounds, passes, dual, gap and bytes once a second.
        callback: Called with the record of each round: ``rounds``, ``dual``, ``gap_estimate`` (None before every example was asked), ``passes``, ``bytes``, ``seconds`` of each
            worker, ``lost``. Ends the run if it returns True.
        settings: Others than :data:`SETTINGS`.

    Returns:
        A copy of the estimator, fitted. ``summary_["distributed"]`` has rounds, bytes, losses and seconds of the workers. Raises ValueError
        for shards that cannot be read (with file and line), are the same or do not fit together; :class:`ShardLost`.
    """
    if isinstance(shards, (str, os.PathLike)):
        raise ValueError(f"shards = {shards!r}: expected a list of files, found one path")
    paths = [os.fspath(path) for path in shards]
    if not paths:
        raise ValueError("shards: there are none")
    if checkpoint_every < 1:
        raise ValueError(f"checkpoint_every = {checkpoint_every}: must be at least 1")
    if unknown := sorted(set(settings or {}) - set(SETTINGS)):
        raise ValueError(
            f"settings: unknown {', '.join(unknown)}; expected {', '.join(SETTINGS)}"
        )
    tree = estimator._tree()
    if tree["solver"].get("name") != "auto":
        raise ValueError(
            f"solver = {tree['solver'].get('name')!r}: shards are trained by 'auto'"
        )
    tree["solver"] = {**tree["solver"], "averaging": {"name": "none"}}
    stop = tree.get("stop", {})
    if others := sorted({"calls", "patience", "estimated"} & set(stop)):
        raise ValueError(
            f"{', '.join(others)}: shards stop by gap, passes, seconds or the callback"
        )
    if (tree.get("data") or {}).get("holdout") is not None:
        raise ValueError("holdout: shards hold nothing out")
    seconds = stop.pop("seconds", None)
    spec = json.dumps(tree)

    def start(shard: int) -> tuple[Any, ...]:
        return spec, paths[shard], format

    pool = (
        _Here(start, len(paths))
        if executor is None
        else _Actors(start, len(paths), executor, ray_options or {}, timeout)
    )
    try:
        run = _Run(
            spec,
            pool,
            paths,
            {
                **SETTINGS,
                **(settings or {}),
                "passes": stop.get("passes", None if seconds is not None else 1000),
            },
        )
        kept = run.resume(_Folder(resume)) if resume is not None else []
        folder = _Folder(checkpoint) if checkpoint is not None else None
        try:
            reason = _drive(
                run, folder, kept, checkpoint_every, seconds, progress, callback
            )
        except ShardLost as error:
            error.estimator = (
                _fitted(estimator, run, "lost")
                if json.loads(run.coordinator.certificate())[2]
                else None
            )
            if folder is not None and error.estimator is not None:
                folder.write("model", bytes(error.estimator._model.to_bytes()))
            raise
        return _fitted(estimator, run, reason)
    finally:
        pool.close()


def _drive(
    run: _Run, folder: _Folder | None, kept: list[str], every: int, seconds: float | None, progress: bool,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> str:  # fmt: skip
    """Makes rounds to the end; returns why they ended."""
    begun = told = time.monotonic()
    reason = ""
    while not reason:
        demand = run.coordinator.demand()
        if demand in ("reached", "spent"):
            reason = {"reached": "gap", "spent": "passes"}[demand]
            break
        record = {
            **run.step(),
            "rounds": run.rounds,
            "order": demand,
            "bytes": run.moved,
            "seconds": list(run.seconds),
            "lost": run.lost,
        }
        now = time.monotonic()
        if callback is not None and callback(record) is True:
            reason = "callback"
        elif seconds is not None and now - begun >= seconds:
            reason = "seconds"
        if progress and now - told >= 1.0:
            told = now
            moved = run.moved / max(run.rounds, 1)
            gap = record["gap_estimate"]
            about = "gap unknown" if gap is None else f"gap about {gap:.3g}"
            print(f"round {run.rounds}  passes {record['passes']:.2f}  dual {record['dual']:.6g}  {about}  "
                  f"{moved:.3g} bytes a round", flush=True)  # fmt: skip
        if run.rounds % every == 0:
            if folder is not None:
                kept = run.save(folder, kept)
            elif isinstance(run.pool, _Actors):
                run.keep()
    if reason != "gap":
        run.coordinator.evaluate()
        while run.coordinator.demand() == "evaluate":
            run.step()
    if folder is not None:
        run.save(folder, kept)
    return reason


def _fitted(estimator: Any, run: _Run, reason: str) -> Any:
    """A copy of an estimator with the model of a run."""
    fitted = copy.deepcopy(estimator)
    fitted._from_model(run.model())
    fitted.stop_reason_ = reason
    fitted.n_iter_ = max(run.rounds, 1)
    fitted.summary_["distributed"] = {
        "rounds": run.rounds, "shards": run.shards, "lost": run.lost, "bytes": run.moved, "worker_seconds": run.seconds,
        "bytes_per_round": run.moved / max(run.rounds, 1),
    }  # fmt: skip
    return fitted
