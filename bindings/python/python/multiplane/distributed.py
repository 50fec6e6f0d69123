"""Training on data that no machine holds: every worker has the examples of one shard with their planes, and only vectors of the size
of the weights travel.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from multiplane import _core, _drawing, _shard_pools, _shards
from multiplane._builtin import load
from multiplane._checkpoint_folder import Folder
from multiplane._sharded_run import KINDS, Run, ShardLost

__all__ = ["SETTINGS", "ShardLost", "draw_time", "priced", "simulate", "train", "verify"]

SETTINGS = {"parts": 4, "replays": 32, "cuts": 2, "damping": 0.0125}
"""Parts of an exact pass; rounds without a call after each and before an evaluation (0: none); sums kept of each shard,
at most; damping of local models a shard.
"""

RULES: dict[str, tuple[Any, float, str]] = {
    "parts": (Integral, 1, "a whole number >= 1"),
    "replays": (Integral, 0, "a whole number >= 0"),
    "cuts": (Integral, 1, "a whole number >= 1"),
    "damping": (Real, 5e-324, "a number > 0"),
}
"""The type of each setting, its least value, and the rule in words."""


def train(
    estimator: Any, shards: Sequence[Any], *, format: str | None = None, target: str | None = None, executor: str | None = None,
    workers: int | None = None, ray_options: Mapping[str, Any] | None = None, timeout: float = 3600.0,
    checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: int = 100, resume: str | os.PathLike[str] | None = None, progress: bool = False,
    callback: Callable[[dict[str, Any]], Any] | None = None, settings: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Trains an estimator on the examples of several shards together. Each stays with a worker of its own.

    Args:
        estimator: An estimator of a built-in task: task, ``lam``, ``gap``, ``passes`` and ``seconds`` are used. Its solver is ``"auto"``.
        shards: Files that the task reads, or addresses of fsspec; Parquet files, DataFrames, datasets of Ray (as ``dataset.split(8)``) or
            pairs ``(X, y)``; functions without arguments that return one of these, which are called by the worker. Each has other
            examples.
        format: The format of the files, as the command line calls it; told by their content if not given.
        target: The column with the labels in tables.
        executor: ``"ray"`` or ``"ray://HOST:PORT"`` for actors of a Ray cluster; if not given, workers are in this process.
        workers: Number of workers; by default one for each shard, if the cluster has room for so many. Fewer take their shards in turn:
            one is in memory, and states of the others are in files. With ``clock="work"`` the bits do not depend on it.
        ray_options: What an actor needs, in Ray's words, as ``{"num_cpus": 4}``.
        timeout: Seconds that a round may take before an actor counts as lost.
        checkpoint: A folder that all machines see, or an address of fsspec, for a checkpoint every ``checkpoint_every`` rounds and at
            the end.
        checkpoint_every: Rounds between checkpoints, and between copies of the workers' states that lost workers come back from.
        resume: The folder of a checkpoint to go on from: of the same shards, in the same order.
        progress: Prints rounds, passes, dual, gap and bytes once a second.
        callback: Called with the record of each round: ``rounds``, ``dual``, ``gap_estimate`` (None before every example was asked),
            ``passes``, ``bytes``, ``seconds`` of each shard, ``lost``, and ``worker_time``, the seconds of each worker so far by what
            they went into: ``oracle``, ``steps``, ``turns`` of shards, ``network``, ``waiting`` for others. Ends the run if it returns
            True.
        settings: Others than :data:`SETTINGS`.

    Returns:
        A copy of the estimator, fitted. ``summary_["distributed"]`` has rounds, bytes, losses and seconds of the workers. Raises ValueError
        for shards that cannot be read (with file and line), are the same or do not fit together; :class:`ShardLost`.
    """
    names, tree, start = _sources(estimator, shards, format, target)
    if checkpoint_every < 1:
        raise ValueError(f"checkpoint_every = {checkpoint_every}: must be at least 1")
    if unknown := sorted(set(settings or {}) - set(SETTINGS)):
        raise ValueError(f"settings: unknown {', '.join(unknown)}; expected {', '.join(SETTINGS)}")
    for name, value in (settings or {}).items():
        kind, least, rule = RULES[name]
        if isinstance(value, bool) or not isinstance(value, kind) or not least <= value < 2**31:
            raise ValueError(f"settings[{name!r}] = {value!r}: must be {rule}")
    if executor is not None and not isinstance(executor, str):
        raise ValueError(f"executor = {executor!r}: must be 'ray' or 'ray://HOST:PORT', or not be given")
    if tree["solver"].get("name") != "auto":
        raise ValueError(f"solver = {tree['solver'].get('name')!r}: shards are trained by 'auto'")
    tree["solver"] = {**tree["solver"], "averaging": {"name": "none"}}
    stop = tree.get("stop", {})
    if others := sorted({"calls", "patience", "estimated"} & set(stop)):
        raise ValueError(f"{', '.join(others)}: shards stop by gap, passes, seconds or the callback")
    if (tree.get("data") or {}).get("holdout") is not None:
        raise ValueError("holdout: shards hold nothing out")
    seconds = stop.pop("seconds", None)
    pool = _pool(start, len(names), workers, executor, ray_options, timeout)
    try:
        passes = stop.get("passes", None if seconds is not None else 1000)
        run = Run(json.dumps(tree), pool, names, {**SETTINGS, **(settings or {}), "passes": passes})
        kept = run.resume(Folder(resume)) if resume is not None else []
        folder = Folder(checkpoint) if checkpoint is not None else None
        try:
            reason = _drive(run, folder, kept, checkpoint_every, seconds, progress, callback)
        except ShardLost as error:
            error.estimator = run.fitted(estimator, "lost") if json.loads(run.coordinator.certificate())[2] else None
            if folder is not None and error.estimator is not None:
                folder.write("model", bytes(error.estimator._model.to_bytes()))
            raise
        return run.fitted(estimator, reason)
    finally:
        pool.close()


def _sources(
    estimator: Any, shards: Sequence[Any], format: str | None, target: str | None
) -> tuple[list[str], dict[str, Any], Callable[[int], tuple[Any, ...]]]:  # fmt: skip
    """Names of shards, the tree of a run on them, to which a caller may add, and the arguments of each."""
    if isinstance(shards, (str, os.PathLike)):
        raise ValueError(f"shards = {shards!r}: expected a list of files, found one path")
    sources = [os.fspath(source) if isinstance(source, os.PathLike) else source for source in shards]
    names = [source if isinstance(source, str) else f"shards[{shard}]" for shard, source in enumerate(sources)]
    for name, source in zip(names, sources, strict=True):
        if not (callable(source) or _shards.is_source(source)):
            raise ValueError(f"{name} is a {type(source).__name__}: expected {_shards.SOURCES}")
    if not names:
        raise ValueError("shards: there are none")
    if getattr(estimator, "_task", None) == "user":
        raise ValueError(f"{type(estimator).__name__}: shards are of built-in tasks; calls of a task of your own are spread by executor=\"ray\"")
    tree: dict[str, Any] = estimator._tree()
    return names, tree, lambda shard: (json.dumps(tree), sources[shard], format, estimator, target, names[shard])


def _pool(
    start: Callable[[int], tuple[Any, ...]], count: int, workers: int | None, executor: str | None,
    ray_options: Mapping[str, Any] | None, timeout: float,
) -> Any:  # fmt: skip
    if workers is not None and not (isinstance(workers, int) and workers >= 1):
        raise ValueError(f"workers = {workers!r}: must be a whole number >= 1")
    if executor is None:
        return _shard_pools.Here(start, count, min(count if workers is None else workers, count))
    workers = None if workers is None else min(workers, count)
    return _shard_pools.Actors(start, count, workers, executor, ray_options or {}, timeout)


def verify(
    model: Any, shards: Sequence[Any], *, format: str | None = None, target: str | None = None, executor: str | None = None,
    workers: int | None = None, ray_options: Mapping[str, Any] | None = None, timeout: float = 3600.0,
) -> dict[str, Any]:  # fmt: skip
    """Recomputes the primal value of a model shard by shard, by the plain code of ``multiplane verify``, and holds the model's certificate
    against their sum. Dual values are not recomputed.

    Args:
        model: A fitted estimator, or the file of a model.
        shards: Those that it was trained on, in their order, as of :func:`train`; so are the other arguments.

    Returns:
        A dict as ``multiplane verify --json`` prints: ``primal``, ``reported_primal``, ``relative_difference``, ``verified``, with a
        ``fault`` if that is False; and ``shards``, the mean hinge of each with its number of examples. Raises ValueError for other shards
        than those of the training, or the same in another order.
    """
    if isinstance(model, (str, os.PathLike)):
        model = load(model)
    names, _, start = _sources(model, shards, format, target)
    model._check_fitted()
    classes = (model.classes_.tolist(),) if getattr(model, "_named", False) else ()
    file = bytes(model._numbered_labels(model._model).to_bytes())
    pool = _pool(lambda shard: (*start(shard), *classes), len(names), workers, executor, ray_options, timeout)
    try:
        found = pool.call("primal", dict.fromkeys(range(len(names)), (file,)))
    finally:
        pool.close()
    if lost := [names[shard] for shard, part in found.items() if part is None]:
        raise ShardLost(f"{lost[0]}: its worker was lost")
    parts = [found[shard] for shard in range(len(names))]
    primal, reported, difference, is_true, fault = _core.verify_parts(model._model, parts)
    means = [{key: json.loads(part)[key] for key in ("examples", "hinges")} for part in parts]
    result = {"primal": primal, "reported_primal": reported, "relative_difference": difference, "verified": is_true, "dual_checked": False}
    if fault is None and not is_true:
        fault = f"the primal value is {primal}, not {reported}"
    return {**result, "shards": means} | ({} if fault is None else {"fault": fault})


def draw_time(records: Sequence[dict[str, Any]] | Any, path: str | os.PathLike[str]) -> None:
    """Draws what the time of each worker went into, as a picture (SVG): of a fitted estimator, or of the last of the records that a
    callback heard.
    """
    times = records[-1]["worker_time"] if isinstance(records, Sequence) else records.summary_["distributed"]["worker_time"]
    rows = {f"worker {worker}": [times[kind][worker] for kind in KINDS] for worker in range(len(times["steps"]))}
    with open(path, "w", encoding="utf-8") as file:
        file.write(_drawing.shares(rows, KINDS))


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
    for name, value in {"call": call, "step": step, "latency": latency, "spread": spread}.items():
        if not 0.0 <= value < float("inf"):
            raise ValueError(f"{name} = {value!r}: must be a finite number >= 0")
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
    run: Run, folder: Folder | None, kept: list[str], every: int, seconds: float | None, progress: bool,
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
            "worker_time": {kind: list(times) for kind, times in run.times.items()},
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
            elif isinstance(run.pool, _shard_pools.Actors):
                run.keep()
    if reason != "gap":
        run.coordinator.evaluate()
        while run.coordinator.demand() == "evaluate":
            run.step()
    if folder is not None:
        run.save(folder, kept)
    return reason
