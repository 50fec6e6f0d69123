"""Training on data that no machine holds: every worker has the examples of one shard with their planes, and only vectors of the size
of the weights travel.
"""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from multiplane import _core, _shards

LOSSES = 3
"""Workers of a shard that may be lost one after the other, without an answer between them."""

SETTINGS = {"parts": 4, "replays": 32, "cuts": 2, "damping": 0.0125}
"""Parts of an exact pass; rounds without a call after each; sums kept of each shard, at most; damping of local models a shard."""

ROOM = 1 << 28
"""Bytes that sums of planes may take in the driver; two of each shard are always kept."""


class ShardLost(RuntimeError):
    """A shard that stays lost has ended a run; ``estimator`` is fitted with the best certified model, or None."""

    estimator: Any = None


class _Run:
    """A run: the coordinator, the workers, and what they have come to."""

    def __init__(self, spec: str, pool: Any, shards: Sequence[str], settings: dict[str, Any]) -> None:
        self.spec, self.pool, self.shards, self.settings = spec, pool, list(shards), settings
        self.count, self.rounds, self.lost = len(shards), 0, 0
        self.seconds = [0.0] * self.count
        self.moved = 0
        self.states: list[bytes | None] = [None] * self.count
        self.streak = [0] * self.count
        self.all = ""
        found = self._surely("facts")
        self.facts = [facts for facts, *_ in found]
        ours = _shards.versions()
        for shard, (_, columns, theirs) in enumerate(found):
            if differ := [f"{name} {ours.get(name)} here and {theirs[name]} there" for name in theirs if theirs[name] != ours.get(name)]:
                raise RuntimeError(f"{shards[shard]}: its worker has other versions: {', '.join(differ)}")
            if columns != found[0][1]:
                other = sorted({*(columns or ())} ^ {*(found[0][1] or ())}) or columns
                raise ValueError(f"{shards[0]} and {shards[shard]} differ in their columns: {other}")
        prints: dict[str, int] = {}
        for shard, facts in enumerate(self.facts):
            first = prints.setdefault(json.loads(facts)["fingerprint"], shard)
            if first != shard:
                raise ValueError(f"shards[{first}] and shards[{shard}] have the same examples: {shards[first]}, {shards[shard]}")
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
            raise ShardLost(f"{self.shards[shard]}: {LOSSES} workers were lost one after the other")
        self.pool.replace(shard)
        if self.all:
            self.pool.call("open", {shard: (self.all, self.states[shard])})

    def step(self) -> dict[str, Any]:
        """Makes a round."""
        wanted = {shard: self.coordinator.request(shard) for shard in range(self.count)}
        requests = {shard: bytes(request) for shard, request in wanted.items() if request is not None}
        found = self.pool.call("answer", {shard: (request,) for shard, request in requests.items()})
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
        self.states = [old if found[shard] is None else found[shard] for shard, old in enumerate(self.states)]

    def save(self, folder: _shards.Folder, before: list[str]) -> list[str]:
        """Writes a checkpoint; returns the names of its files."""
        self.keep()
        names = [f"shard-{shard}-{self.rounds}" for shard in range(self.count)] + [f"coordinator-{self.rounds}"]
        for name, state in zip(names, [*self.states, bytes(self.coordinator.save())], strict=True):
            folder.write(name, state or b"")
        manifest = {
            "version": _core.__version__,
            "rounds": self.rounds,
            "bytes": self.moved,
            "lost": self.lost,
            "seconds": self.seconds,
            "spec": json.loads(self.spec),
            "files": names,
        }
        manifest["fingerprints"] = [json.loads(facts)["fingerprint"] for facts in self.facts]
        folder.write("manifest.json", json.dumps(manifest).encode())
        folder.remove([name for name in before if name not in names])
        return names

    def resume(self, folder: _shards.Folder) -> list[str]:
        """Goes on from a checkpoint."""
        try:
            manifest = json.loads(folder.read("manifest.json"))
        except OSError as error:
            raise FileNotFoundError(f"resume: {folder.path} has no manifest.json: {error}") from None
        if manifest["version"] != _core.__version__:
            raise ValueError(f"resume: the checkpoint is of multiplane {manifest['version']}, this is {_core.__version__}")
        if manifest["fingerprints"] != [json.loads(facts)["fingerprint"] for facts in self.facts]:
            raise ValueError("resume: the checkpoint is of other shards, or of the same in another order")
        own, theirs = json.loads(self.spec), manifest["spec"]
        for key in sorted({*own, *theirs} - {"stop", "threads"}):
            if own.get(key) != theirs.get(key):
                raise ValueError(f"resume: the checkpoint has {key} = {theirs.get(key)}, found {own.get(key)}")
        *states, last = (folder.read(name) for name in manifest["files"])
        self.states = [state or None for state in states]
        for shard, state in enumerate(self.states):
            while self.pool.call("open", {shard: (self.all, state)})[shard] is None:
                self._lose(shard)
        self.coordinator.restore(last)
        self.rounds, self.moved = manifest["rounds"], manifest["bytes"]
        self.lost, self.seconds = self.lost + manifest["lost"], manifest["seconds"]
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
    estimator: Any, shards: Sequence[Any], *, format: str | None = None, target: str | None = None, executor: str | None = None,
    ray_options: Mapping[str, Any] | None = None, timeout: float = 3600.0, checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100, resume: str | os.PathLike[str] | None = None, progress: bool = False,
    callback: Callable[[dict[str, Any]], Any] | None = None, settings: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Trains an estimator on the examples of several shards together. Each stays with a worker of its own.

    Args:
        estimator: An estimator of a built-in task: task, ``lam``, ``gap``, ``passes`` and ``seconds`` are used. Its solver is ``"auto"``.
        shards: Files that the task reads, or addresses of fsspec; Parquet files, DataFrames, datasets of Ray (as ``dataset.split(8)``) or
            pairs ``(X, y)``. Each has other examples.
        format: The format of the files, as the command line calls it; told by their content if not given.
        target: The column with the labels in tables.
        executor: ``"ray"`` or ``"ray://HOST:PORT"`` for actors of a Ray cluster; if not given, workers are in this process.
        ray_options: What an actor needs, in Ray's words, as ``{"num_cpus": 4}``.
        timeout: Seconds that a round may take before an actor counts as lost.
        checkpoint: A folder, or an address of fsspec, for a checkpoint every ``checkpoint_every`` rounds and at the end.
        checkpoint_every: Rounds between checkpoints, and between copies of the workers' states that lost workers come back from.
        resume: The folder of a checkpoint to go on from: of the same shards, in the same order.
        progress: Prints rounds, passes, dual, gap and bytes once a second.
        callback: Called with the record of each round: ``rounds``, ``dual``, ``gap_estimate`` (None before every example was asked),
            ``passes``, ``bytes``, ``seconds`` of each worker, ``lost``. Ends the run if it returns True.
        settings: Others than :data:`SETTINGS`.

    Returns:
        A copy of the estimator, fitted. ``summary_["distributed"]`` has rounds, bytes, losses and seconds of the workers. Raises ValueError
        for shards that cannot be read (with file and line), are the same or do not fit together; :class:`ShardLost`.
    """
    if isinstance(shards, (str, os.PathLike)):
        raise ValueError(f"shards = {shards!r}: expected a list of files, found one path")
    sources = [os.fspath(source) if isinstance(source, os.PathLike) else source for source in shards]
    names = [source if isinstance(source, str) else f"shards[{shard}]" for shard, source in enumerate(sources)]
    for name, source in zip(names, sources, strict=True):
        is_pair = isinstance(source, tuple) and len(source) == 2
        if not (is_pair or isinstance(source, str) or hasattr(source, "to_pandas") or hasattr(source, "columns")):
            raise ValueError(f"{name} is a {type(source).__name__}: expected a path, a pair (X, y) or a table")
    if not names:
        raise ValueError("shards: there are none")
    if checkpoint_every < 1:
        raise ValueError(f"checkpoint_every = {checkpoint_every}: must be at least 1")
    if unknown := sorted(set(settings or {}) - set(SETTINGS)):
        raise ValueError(f"settings: unknown {', '.join(unknown)}; expected {', '.join(SETTINGS)}")
    tree = estimator._tree()
    if tree["solver"].get("name") != "auto":
        raise ValueError(f"solver = {tree['solver'].get('name')!r}: shards are trained by 'auto'")
    tree["solver"] = {**tree["solver"], "averaging": {"name": "none"}}
    stop = tree.get("stop", {})
    if others := sorted({"calls", "patience", "estimated"} & set(stop)):
        raise ValueError(f"{', '.join(others)}: shards stop by gap, passes, seconds or the callback")
    if (tree.get("data") or {}).get("holdout") is not None:
        raise ValueError("holdout: shards hold nothing out")
    seconds = stop.pop("seconds", None)
    spec = json.dumps(tree)

    def start(shard: int) -> tuple[Any, ...]:
        return spec, sources[shard], format, estimator, target, names[shard]

    count, pool = len(names), None
    try:
        pool = _shards.Here(start, count) if executor is None else _shards.Actors(start, count, executor, ray_options or {}, timeout)
        passes = stop.get("passes", None if seconds is not None else 1000)
        run = _Run(spec, pool, names, {**SETTINGS, **(settings or {}), "passes": passes})
        kept = run.resume(_shards.Folder(resume)) if resume is not None else []
        folder = _shards.Folder(checkpoint) if checkpoint is not None else None
        try:
            reason = _drive(run, folder, kept, checkpoint_every, seconds, progress, callback)
        except ShardLost as error:
            error.estimator = _fitted(estimator, run, "lost") if json.loads(run.coordinator.certificate())[2] else None
            if folder is not None and error.estimator is not None:
                folder.write("model", bytes(error.estimator._model.to_bytes()))
            raise
        return _fitted(estimator, run, reason)
    finally:
        if pool is not None:
            pool.close()


def simulate(
    estimator: Any, shards: Sequence[Any], *, call: float, step: float = 0.0, latency: float = 1e-3, bandwidth: float = 1e9,
    spread: float = 0.0, seed: int = 0, **arguments: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Trains in this process, and returns the records of the rounds with ``time``: the seconds since the start on a cluster with a worker
    for each shard, for which the given prices hold. The same arguments give the same records with ``clock="work"``.

    Args:
        estimator: As of :func:`train`.
        shards: As of :func:`train`.
        call: Seconds of an oracle call.
        step: Seconds of a visit without a call; a round has two for each example.
        latency: Seconds of a message.
        bandwidth: Bytes a second that the driver sends and receives.
        spread: The mean delay of a worker in a round as a share of its work; exponentially distributed.
        seed: Of the delays.
        arguments: Others of :func:`train`.
    """
    records: list[dict[str, Any]] = []

    def watch(record: dict[str, Any]) -> None:
        records.append(record)

    fitted = train(estimator, shards, callback=watch, **arguments)
    examples = fitted.summary_["distributed"]["examples"]
    times = priced(records, examples, call=call, step=step, latency=latency, bandwidth=bandwidth, spread=spread, seed=seed)
    return [{**record, "time": time} for record, time in zip(records, times, strict=True)]


def priced(
    records: Sequence[dict[str, Any]], examples: Sequence[int], *, call: float, step: float, latency: float, bandwidth: float,
    spread: float, seed: int = 0,
) -> list[float]:  # fmt: skip
    """Returns when each round of a run ends at given prices, as of :func:`simulate`; ``examples`` are those of each shard."""
    sizes, rng, times = np.array(examples), np.random.default_rng(seed), []
    now = passes = moved = 0.0
    for record in records:
        work = sizes * ((record["passes"] - passes) * call + 2 * step)
        now += float((work * (1.0 + spread * rng.exponential(size=len(sizes)))).max())
        now += 2 * latency + (record["bytes"] - moved) / bandwidth
        passes, moved = record["passes"], record["bytes"]
        times.append(now)
    return times


def _drive(
    run: _Run, folder: _shards.Folder | None, kept: list[str], every: int, seconds: float | None, progress: bool,
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
            elif isinstance(run.pool, _shards.Actors):
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
        "bytes_per_round": run.moved / max(run.rounds, 1), "examples": [json.loads(facts)["examples"] for facts in run.facts],
    }  # fmt: skip
    return fitted
