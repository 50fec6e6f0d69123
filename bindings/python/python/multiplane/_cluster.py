"""The actors of a fit or a prediction: how they are started, found, asked and replaced. The pool of the core hands out the work, as to
processes (``_processes``), through routes (``_route``).
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from multiplane import _ray
from multiplane._call_price import estimate, shown
from multiplane._errors import warn
from multiplane._jobs import cores, effective
from multiplane._oracle_actor import HELD, Oracles
from multiplane._ray import CONNECT, ClusterWarning, first_line, loaded, room, unpicklable

STARTS = 10
"""Actors that may die one after the other before one of them was ready."""

ASKED = 3
"""Actors that are tried for a function, if each of them dies."""

PLACED = 60.0
"""Seconds in which the first actor has to be there, if ``timeout`` is less."""

LOOK = 0.02
"""Seconds between two looks for actors that have joined."""

INLINE = 100_000
"""Bytes up to which weights go with a question; Ray itself does so below that."""

TRY = 1.0
"""Seconds after which the price of a call is known to be high enough."""

RESERVED = {"concurrency_groups", "get_if_exists", "lifetime", "max_concurrency", "max_restarts", "max_task_retries", "name"}
"""Options of Ray's actors that would change how questions are asked."""


class Actor:
    """An actor as the driver sees it."""

    def __init__(self, handle: Any, about: Any, name: str) -> None:
        self.handle, self.about, self.name = handle, about, name
        self.node = ""
        self.version = -1  # of the weights that it was sent last
        self.open = 0
        self.queue: list[Any] = []  # addresses of the answers that it owes, the first one first
        self.priced = 0  # 1 while it prices a long call
        self.answers = 0  # messages
        self.questions = 0
        self.seconds = 0.0


class Cluster:
    """The actors of a fit or a prediction. They end with it.

    Args:
        executor: ``"ray"`` or an address.
        n_jobs: Number of actors; None or -1 are as many as the cluster has room for.
        options: What an actor needs, in Ray's words.
        timeout: Seconds that an answer may take, and in which the first actor has to be there.
    """

    def __init__(self, executor: str, n_jobs: int | None, options: Mapping[str, Any] | None, timeout: float) -> None:
        self._lock, self._closed = threading.RLock(), True
        self.ray = loaded(executor)
        self.executor, self.timeout = executor, timeout
        if not isinstance(options, (Mapping, type(None))):
            raise ValueError(f"ray_options = {options!r}: expected a dict of options of Ray's actors, as num_cpus")
        self.options = {"num_cpus": 1, **(options or {})}
        if taken := sorted(RESERVED & set(self.options)):
            raise ValueError(f"ray_options: {', '.join(taken)} cannot be set: actors answer one question at a time, and are replaced here")
        self._ready: list[Actor] = []
        self._pending: list[Actor] = []
        self._looked = self._begun = 0.0
        self._failed = 0  # actors that died before they were ready, in a row
        self._made = 0
        self._lost = 0
        self._data: list[tuple[int, Any, list[Any], list[Any], Any]] = []
        self._w: tuple[int, bytes, list[Any]] = (0, b"", [b""])
        self._sent, self._received = 0, 0
        self._price: dict[str, float] = {}
        self._name = f"multiplane-{os.urandom(3).hex()}"
        self._closed = False
        try:
            self._oracles = self.ray.remote(Oracles)
            self._oracles.options(**self.options)  # refuses what Ray does not know
            self.actors = self._room(n_jobs)
            for _ in range(self.actors):
                self._start()
        except (ValueError, TypeError) as error:
            self.close()
            raise ValueError(f"ray_options: {first_line(error).split('. Valid ones')[0]}") from None

    _max_workers = property(lambda self: self.actors)

    def _room(self, n_jobs: int | None) -> int:
        """How many actors are meant by ``n_jobs``."""
        wanted = -1 if n_jobs is None else n_jobs
        if effective(wanted) == wanted:
            return int(wanted)
        return max(1, room(self.ray, self.options) + 1 + int(wanted))

    # -- actors --

    def _start(self) -> None:
        self._made += 1
        name = f"{self._name}-{self._made}"
        handle = self._oracles.options(**{"name": name, **self.options}).remote()
        self._pending.append(Actor(handle, handle.about.remote(), name))

    def _look(self) -> None:
        """Finds which actors have become ready."""
        waited, now = {actor.about: actor for actor in self._pending}, time.monotonic()
        if not waited or (self._ready and now - self._looked < LOOK):
            return
        self._looked = now
        ready, _ = self.ray.wait(list(waited), num_returns=len(waited), timeout=0)
        for about in ready:
            actor = waited[about]
            self._pending.remove(actor)
            try:
                theirs, actor.node = self.ray.get(about)
            except self.ray.exceptions.RayError as error:
                self._failed += 1
                if self._failed >= STARTS or "creation task" in str(error) or "No module named" in str(error):
                    many = f"{self._failed} actors" if self._failed > 1 else "an actor"
                    raise RuntimeError(f"executor = {self.executor!r}: {many} could not start: {self._cause(error)}") from None
                self._start()
                continue
            ours = _ray.versions()
            if theirs != ours:
                self.ray.kill(actor.handle)
                differ = [f"{name} {ours[name]} here and {theirs[name]} there" for name in ours if theirs[name] != ours[name]]
                raise RuntimeError(
                    f"executor = {self.executor!r}: versions differ between the driver and node {actor.node}: {', '.join(differ)}; "
                    "install the same ones on all machines"
                )
            self._failed = 0
            self._ready.append(actor)

    def wait(self) -> None:
        """Waits until an actor is ready."""
        begun, limit, is_told = time.monotonic(), max(self.timeout, PLACED), False
        while True:
            with self._lock:
                if self._closed:
                    raise EOFError("the cluster was left")
                self._look()
                if self._ready:
                    return
            waited = time.monotonic() - begun
            if waited > limit:
                raise TimeoutError(f"executor = {self.executor!r}: no actor was there within {limit:g} s: {self._asked()}")
            if waited > CONNECT and not is_told:
                is_told = True
                warn(f"executor = {self.executor!r}: still no actor: {self._asked()}", ClusterWarning)
            time.sleep(0.005)

    def _asked(self) -> str:
        asked = {key: value for key, value in self.options.items() if key in ("num_cpus", "num_gpus", "resources", "memory")}
        there = {key: value for key, value in self.ray.available_resources().items() if ":" not in key and "memory" not in key}
        return f"one asks for {asked}, free are {there}"

    def _cause(self, error: Exception) -> str:
        """Why an actor is gone, in a line."""
        text = str(error)
        if "No module named" in text:
            return text[text.index("No module named") :].splitlines()[0] + " on a node: install multiplane there, or send it by runtime_env"
        if isinstance(error, self.ray.exceptions.OutOfMemoryError):
            return "its node ran out of memory"
        exit_type = re.search(r"Worker exit type: (\w+) Worker exit detail: ([^.]*)", text)
        killed = "it was killed by ray.kill" if "`ray.kill`" in text else None
        return f"its actor ended ({killed or (': '.join(exit_type.groups()) if exit_type else first_line(error)[:200])})"

    def lost(self, actor: Actor) -> None:
        """Replaces an actor."""
        with self._lock:
            if actor in self._ready and not self._closed:
                self._ready.remove(actor)
                self._lost += 1
                self.ray.kill(actor.handle)
                self._start()

    def close(self) -> None:
        """Ends all actors."""
        with self._lock:
            ended, self._closed = [] if self._closed else [*self._ready, *self._pending], True
            self._pending = []
            for actor in ended:
                if self.ray.is_initialized():
                    self.ray.kill(actor.handle)

    __del__ = close

    # -- data and weights --

    def held(self, task: Any, xs: list[Any], ys: list[Any]) -> tuple[int, list[Any]]:
        """Puts a task with its examples into the object store, once; returns its key and, in a list, its address."""

        def same(one: list[Any], other: list[Any]) -> bool:
            return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))

        with self._lock:
            for key, of, its, their, address in self._data:
                if of is task and same(its, xs) and same(their, ys):
                    return key, [address]
            try:
                address = self.ray.put((task, xs, ys))
            except Exception as error:  # whatever pickling the user's objects raises
                dumps = self.ray.cloudpickle.dumps
                parts: tuple[tuple[str, Any], ...] = (("task", task), ("X", xs), ("Y", ys))
                reason = next((found for name, part in parts if (found := unpicklable(part, name, dumps))), first_line(error))
                raise TypeError(f"executor = {self.executor!r}: {reason}; actors are sent the task and its examples") from None
            key = self._data[-1][0] + 1 if self._data else 0
            self._data = [*self._data[1 - HELD :], (key, task, xs, ys, address)]
            return key, [address]

    def opened(self, task: Any, xs: list[Any], ys: list[Any]) -> None:
        """Has an actor take task and examples. Raises RuntimeError if it cannot."""
        held = self.held(task, xs, ys)
        self.wait()
        for actor in list(self._ready):
            try:
                fault = self.ray.get(actor.handle.hold.remote(*held), timeout=self.timeout)
            except self.ray.exceptions.RayError:
                continue  # who asks next hears of it
            if fault is not None:
                raise RuntimeError(
                    f"executor = {self.executor!r}: the task cannot be read on node {actor.node} ({fault}); modules of yours reach "
                    'nodes by ray.init(runtime_env={"working_dir": "."})'
                )
            return

    def published(self, weights: bytes) -> tuple[int, list[Any]]:
        """Weights on their way to actors: with the question if they are few, else once in the object store. Returns their number."""
        with self._lock:
            number, known, sent = self._w
            if known != weights:
                is_short = len(weights) < INLINE
                sent = [weights if is_short else self.ray.put(np.frombuffer(weights, dtype="<f8"))]
                self._sent += 0 if is_short else len(weights)
                self._w = number, known, sent = number + 1, weights, sent
            return number, sent

    @contextmanager
    def _free(self) -> Iterator[Actor]:
        """The actor that is ready and has the fewest messages, while no other thread chooses one."""
        while True:
            self.wait()
            with self._lock:
                if self._ready:
                    yield min(self._ready, key=lambda actor: actor.open)
                    return

    def ask(
        self, held: tuple[int, list[Any]], version: int, weights: list[Any], examples: list[int], augmented: bool
    ) -> tuple[Any, Actor]:
        """Sends questions to the actor that has the fewest; returns the address of the answer, and the actor."""
        with self._free() as actor:
            is_new = actor.version != version
            self._sent += 8 * len(examples) + (len(weights[0]) if is_new and isinstance(weights[0], bytes) else 0)
            answer = actor.handle.answer.options(num_returns=1).remote(*held, weights if is_new else None, examples, augmented)
            actor.version = version
            actor.open += 1
            actor.queue.append(answer)
            return answer, actor

    def released(self, actor: Actor) -> None:
        """Counts a message less on an actor; with its first one, the call that was still being priced."""
        with self._lock:
            actor.open -= 1 + actor.priced
            actor.priced = 0

    def answered(self, actor: Actor, answer: Any, questions: int, size: int, seconds: float) -> None:
        """Counts an answer."""
        with self._lock:
            self.released(actor)
            actor.queue.remove(answer)
            actor.answers += 1
            actor.questions += questions
            actor.seconds += seconds
            self._received += size

    def submit(self, function: Callable[..., Any], *arguments: Any) -> _Result:
        """Has an actor call a function, as an executor of ``concurrent.futures`` does."""
        with self._free() as actor:
            actor.open += 1
            return _Result(self, actor, function, arguments)

    # -- cost --

    def weigh(self, task: Any, xs: list[Any], ys: list[Any], here: bool) -> str | None:
        """Measures what a call costs, and returns why this machine would be as fast, if so; ``here``: it could do the work."""
        held = self.held(task, xs, ys)
        try:
            with self._free() as actor:
                return self._weighed(actor, held, int(task.dim()), here)
        finally:
            self._begun = time.monotonic()

    def _weighed(self, actor: Actor, held: tuple[int, list[Any]], dim: int, here: bool) -> str | None:
        price = actor.handle.price.remote(*held, dim)
        try:
            if not self.ray.wait([price], timeout=TRY)[0]:
                self._price = {"call": TRY}
                actor.priced = 1
                actor.open += 1
                return None
            call, size = self.ray.get(price)
            trips = []
            for _ in range(5):
                started = time.perf_counter()
                self.ray.get(actor.handle.echo.remote(bytes(size)))
                trips.append(time.perf_counter() - started)
        except self.ray.exceptions.RayError:
            return None  # who asks next hears of it
        trip = sorted(trips)[2]
        self._price = {"call": call, "answer_bytes": size, "round_trip": trip, **estimate(call, trip, self.actors, cores() if here else 1)}
        if self._price["here"] > self._price["cluster"]:
            return None
        how = f"n_jobs={min(cores(), self.actors)} without executor" if here and self.actors > 1 and cores() > 1 else "this process alone"
        return (
            f"executor = {self.executor!r}: {how} would be as fast. A call of decode takes {shown(call)}, an answer has {size} bytes, and "
            f"takes {shown(trip)} to an actor and back; {self.actors} actors answer a call each {shown(self._price['cluster'])}, this "
            f"machine each {shown(self._price['here'])}"
        )

    def report(self) -> dict[str, Any]:
        """What the actors have done since they were weighed, for ``summary_``."""
        with self._lock:
            seconds = time.monotonic() - self._begun
            actors = [
                {
                    "name": actor.name, "node": actor.node, "messages": actor.answers, "questions": actor.questions,
                    "oracle_seconds": actor.seconds, "oracle_share": actor.seconds / max(seconds, 1e-9),
                }
                for actor in self._ready
            ]  # fmt: skip
            counts = {"wanted": self.actors, "lost": self._lost, "run_seconds": seconds}
            moved = {"sent_bytes": self._sent, "received_bytes": self._received}
            return {"actors": actors, **counts, **moved, "price": self._price}


class _Result:
    """The result of a function that an actor was asked to call."""

    def __init__(self, cluster: Cluster, actor: Actor, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._cluster, self._again = cluster, (function, arguments)
        self._actor, self._address = actor, actor.handle.run.remote(function, list(arguments))

    def result(self) -> Any:
        """Waits for it. An actor that is lost meanwhile is replaced, and another one asked."""
        exceptions = self._cluster.ray.exceptions
        for left in reversed(range(ASKED)):
            try:
                found = self._cluster.ray.get(self._address, timeout=self._cluster.timeout)
                self._cluster.released(self._actor)
                return found
            except exceptions.RayTaskError as error:
                self._cluster.released(self._actor)
                raise error.cause if isinstance(error.cause, Exception) else error from None
            except exceptions.RayError as error:
                self._cluster.lost(self._actor)
                if not left:
                    raise RuntimeError(f"executor = {self._cluster.executor!r}: {self._cluster._cause(error)}") from None
                function, arguments = self._again
                other = self._cluster.submit(function, *arguments)
                self._actor, self._address = other._actor, other._address
