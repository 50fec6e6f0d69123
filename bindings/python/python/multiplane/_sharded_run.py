"""A run on shards: the coordinator, the workers, and what they have come to."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Sequence
from typing import Any

from multiplane import _core, _labels, _shards
from multiplane._checkpoint_folder import Folder

LOSSES = 3
"""Workers of a shard that may be lost one after the other, without an answer between them."""

ROOM = 1 << 28
"""Bytes that sums of planes may take in the driver; two of each shard are always kept."""

KINDS = ("oracle", "steps", "turns", "network", "waiting")
"""What the time of a worker goes into: calls; all else of its answers; taking shards in turn; messages on their way, and in queues; other
workers and the driver."""


class ShardLost(RuntimeError):
    """A shard that stays lost has ended a run; ``estimator`` is fitted with the best certified model, or None."""

    estimator: Any = None


class Run:
    """A run. It has begun, and every shard is open."""

    def __init__(self, spec: str, pool: Any, shards: Sequence[str], settings: dict[str, Any]) -> None:
        self.spec, self.pool, self.shards, self.settings = spec, pool, list(shards), settings
        self.count, self.rounds, self.lost = len(shards), 0, 0
        self.seconds = [0.0] * self.count
        self.times = {kind: [0.0] * pool.workers for kind in KINDS}
        self.moved = 0
        self.states: list[Any] = [None] * self.count
        self.streak = [0] * self.count
        self.all = ""
        self.facts, self.classes = self._described()
        self.all = _core.merge_facts(self.facts)
        pool.opening({shard: self._opening(shard) for shard in range(self.count)})
        setup = self._surely("setup", [self.count - 1])[0]
        self.coordinator = self._coordinator(setup)
        size = len(bytes(self.coordinator.request(0) or b""))
        room = max(2, ROOM // (self.count * size))
        if room < self.settings["cuts"]:
            self.settings = {**self.settings, "cuts": room}
            self.coordinator = self._coordinator(setup)

    def _described(self) -> tuple[list[str], list[Any] | None]:
        """The facts of all shards, and the names of their classes if labels in tables are names."""
        found = self._surely("facts", range(self.count))
        ours, shards = _shards.versions(), self.shards
        for shard, (_, columns, names, theirs) in enumerate(found):
            if differ := [f"{name} {ours.get(name)} here and {theirs[name]} there" for name in theirs if theirs[name] != ours.get(name)]:
                raise RuntimeError(f"{shards[shard]}: its worker has other versions: {', '.join(differ)}")
            if columns != found[0][1]:
                other = sorted({*(columns or ())} ^ {*(found[0][1] or ())}) or columns
                raise ValueError(f"{shards[0]} and {shards[shard]} differ in their columns: {other}")
            if (names is None) != (found[0][2] is None):
                raise ValueError(f"{shards[0]} and {shards[shard]}: labels are whole numbers in one, and names in the other")
        classes = None
        if found[0][2] is not None:
            kinds = {type(name).__name__ for _, _, names, _ in found for name in names}
            if len(kinds) > 1:
                raise ValueError(f"{shards[0]} to {shards[-1]}: labels are of several types: {', '.join(sorted(kinds))}")
            classes = sorted({name for _, _, names, _ in found for name in names})
            if any(names != classes for _, _, names, _ in found):
                self.pool.rename(classes)
                found = self._surely("facts", range(self.count))
        prints: dict[str, int] = {}
        for shard, (facts, *_) in enumerate(found):
            first = prints.setdefault(json.loads(facts)["fingerprint"], shard)
            if first != shard:
                raise ValueError(f"shards[{first}] and shards[{shard}] have the same examples: {shards[first]}, {shards[shard]}")
        return [facts for facts, *_ in found], classes

    def _coordinator(self, setup: bytes) -> _core.Coordinator:
        settings = {"target": None, "passes": None, **self.settings}
        return _core.Coordinator(self.spec, json.dumps(settings), setup, self.facts)

    def _surely(self, method: str, shards: Sequence[int]) -> list[Any]:
        """Results of some shards; a worker that is lost is replaced, and its shards are asked again."""
        found, missing = dict[int, Any](), list(shards)
        while missing:
            found.update(self.pool.call(method, dict.fromkeys(missing, ())))
            missing = self._lose(found)
        return [found[shard] for shard in shards]

    def _opening(self, shard: int) -> tuple[Any, ...]:
        """The arguments with which a shard is opened."""
        return self.all, json.loads(self.facts[shard])["fingerprint"], self.states[shard]

    def _lose(self, found: dict[int, Any]) -> list[int]:
        """Replaces the workers of shards without a result, and returns these shards. The first one of a worker counts as the cause."""
        missing, replaced = [shard for shard, result in found.items() if result is None], set[int]()
        for shard, result in found.items():
            worker = shard % self.pool.workers
            if result is not None:
                self.streak[shard] = 0
            elif worker not in replaced:
                replaced.add(worker)
                self.lost += 1
                self.streak[shard] += 1
                if self.streak[shard] == LOSSES:
                    raise ShardLost(f"{self.shards[shard]}: {LOSSES} workers were lost one after the other")
                opened = {other: self._opening(other) for other in self.pool.of(worker)} if self.all else {}
                self.pool.replace(worker, opened)
        return missing

    def step(self) -> dict[str, Any]:
        """Makes a round."""
        wanted = {shard: self.coordinator.request(shard) for shard in range(self.count)}
        requests = {shard: bytes(request) for shard, request in wanted.items() if request is not None}
        begun = time.monotonic()
        found = self.pool.call("answer", {shard: (request,) for shard, request in requests.items()})
        answers: list[bytes | None] = [None] * self.count
        for shard, answer in found.items():
            if answer is not None:
                answers[shard] = answer[0]
                self.seconds[shard] += self.pool.busy[shard]
                self.moved += len(requests[shard]) + len(answer[0])
        self._lose(found)
        self.rounds += 1
        report: dict[str, Any] = json.loads(self.coordinator.take(answers))
        self._note({shard: answer[1] for shard, answer in found.items() if answer is not None}, time.monotonic() - begun)
        return report

    def _note(self, calls: dict[int, float], seconds: float) -> None:
        """Adds a round to the times of the workers; ``calls`` are the shares of the shards' answers in the oracle."""
        for worker in range(self.pool.workers):
            shards = [shard for shard in self.pool.of(worker) if shard in calls]
            busy, turns = (sum(of[shard] for shard in shards) for of in (self.pool.busy, self.pool.turns))
            oracle = sum(calls[shard] * self.pool.busy[shard] for shard in shards)
            there = max(self.pool.last(worker, shards), busy + turns)
            parts = (oracle, busy - oracle, turns, there - busy - turns, max(seconds - there, 0.0))
            for kind, part in zip(KINDS, parts, strict=True):
                self.times[kind][worker] += part

    def keep(self) -> None:
        """Keeps the states of the shards here, for workers that are lost; those of shards that take turns are in files."""
        if self.pool.workers == self.count:
            found = self.pool.call("save", dict.fromkeys(range(self.count), ()))
            self.states = [old if found[shard] is None else found[shard] for shard, old in enumerate(self.states)]

    def save(self, folder: Folder, before: list[str]) -> list[str]:
        """Has the workers write a checkpoint; returns the names of its files."""
        named = {shard: (folder.address, f"shard-{shard}-{self.rounds}") for shard in range(self.count)}
        found = self.pool.call("save", named)
        self._lose(found)
        states = [self.states[shard] if found[shard] is None else named[shard] for shard in range(self.count)]
        for shard, state in enumerate(states):
            if state is not None and not folder.has(state[1]):
                raise OSError(f"checkpoint: {folder.address} has no {state[1]}: its worker on another machine writes elsewhere; "
                              "expected a folder that all machines see")  # fmt: skip
        self.states = states
        own = f"coordinator-{self.rounds}"
        folder.write(own, bytes(self.coordinator.save()))
        manifest = {
            "version": _core.__version__, "rounds": self.rounds, "bytes": self.moved, "lost": self.lost, "seconds": self.seconds,
            "times": self.times, "spec": json.loads(self.spec), "files": [*(state and state[1] for state in states), own],
            "fingerprints": [json.loads(facts)["fingerprint"] for facts in self.facts],
        }  # fmt: skip
        folder.write("manifest.json", json.dumps(manifest).encode())
        names = [name for name in manifest["files"] if name is not None]
        folder.remove([name for name in before if name not in names])
        return names

    def resume(self, folder: Folder) -> list[str]:
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
        *states, last = manifest["files"]
        self.states = [name and (folder.address, name) for name in states]
        self.pool.opening({shard: self._opening(shard) for shard in range(self.count)})
        self.coordinator.restore(folder.read(last))
        self.rounds, self.moved = manifest["rounds"], manifest["bytes"]
        self.lost, self.seconds = self.lost + manifest["lost"], manifest["seconds"]
        if len(manifest["times"]["steps"]) == self.pool.workers:
            self.times = manifest["times"]
        return [name for name in manifest["files"] if name is not None]

    def fitted(self, estimator: Any, reason: str) -> Any:
        """A copy of an estimator with the model of the best weights so far."""
        found = copy.deepcopy(estimator)
        model = self._model()
        if self.classes is not None:
            model = model.with_labels([str(name) for name in self.classes], _labels.kinds_of(self.classes))
        found._from_model(model)
        found.stop_reason_ = reason
        found.n_iter_ = max(self.rounds, 1)
        found.summary_["distributed"] = {
            "rounds": self.rounds, "shards": self.shards, "workers": self.pool.workers, "lost": self.lost, "bytes": self.moved,
            "worker_seconds": self.seconds, "worker_time": self.times, "bytes_per_round": self.moved / max(self.rounds, 1),
            "examples": [json.loads(facts)["examples"] for facts in self.facts],
        }  # fmt: skip
        return found

    def _model(self) -> _core.Model:
        given = bytes(self.coordinator.weights()), self.coordinator.certificate()
        for shard in range(self.count):
            found = self.pool.call("model", {shard: given})[shard]
            if found is not None:
                return _core.Model.from_bytes(found)
        raise ShardLost("no worker is left")
