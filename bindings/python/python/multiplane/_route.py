"""A way to whichever actor of a cluster is ready, as the pool of the core holds it. So an actor that joins late gets questions as soon
as it is there, and one that is lost takes nothing with it but what it had in hand.
"""

from __future__ import annotations

import pickle
import time
from typing import Any

from multiplane._cluster import Actor, Cluster


class Route:
    """A way to the actors of a cluster, as the pool of the core holds it."""

    def __init__(self, cluster: Cluster, task: Any, xs: list[Any], ys: list[Any]) -> None:
        self.cluster = cluster
        self.held = cluster.held(task, xs, ys)
        self.weights: tuple[int, list[Any]] = (0, [b""])
        self.open: dict[Any, tuple[int, Actor, tuple[Any, ...], float]] = {}
        self.heard: dict[str, int] = {}
        cluster.wait()

    def send(self, number: int, message: bytes) -> None:
        """Sends a message with its number."""
        sent = time.monotonic()  # the pool's patience begins here, too
        weights, examples, augmented = pickle.loads(message)
        if weights is not None:
            self.weights = self.cluster.published(weights)
        self._ask(number, (*self.weights, examples, augmented), sent)

    def _ask(self, number: int, question: tuple[Any, ...], sent: float) -> None:
        address, actor = self.cluster.ask(self.held, *question)
        self.open[address] = number, actor, question, sent

    def receive(self, seconds: float) -> tuple[int, bytes] | None:
        """Waits so long for an answer and returns it with the number of its message; None if there is none. Message 0, which was
        never sent, says that its actor has answered others.
        """
        ray = self.cluster.ray
        if self.cluster._closed:
            raise EOFError("the cluster was left")
        if not self.open:
            time.sleep(seconds)
            return None
        ready, _ = ray.wait(list(self.open), num_returns=1, timeout=seconds)
        if not ready:
            heard = {actor.name: actor.answers for _, actor, _, _ in self.open.values()}
            before, self.heard = self.heard, heard
            return (0, b"") if any(heard[name] != before.get(name, heard[name]) for name in heard) else None
        number, actor, question, _ = self.open.pop(ready[0])
        try:
            reply, busy = ray.get(ready[0])
        except ray.exceptions.RayError as error:
            self.cluster.lost(actor)
            if actor.queue[0] != ready[0]:  # it has only waited behind the one that ended the actor
                self._ask(number, question, time.monotonic())
                return None
            raise EOFError(self.cluster._cause(error)) from None
        self.cluster.answered(actor, ready[0], len(question[2]), len(reply), busy)
        return number, reply

    def kill(self) -> None:
        """Ends the route; an actor that has been silent for too long is replaced."""
        now = time.monotonic()
        for address, (_, actor, _, sent) in self.open.items():
            if now - sent >= 0.9 * self.cluster.timeout:
                self.cluster.lost(actor)
            self.cluster.released(actor)
            actor.queue.remove(address)
        self.open.clear()
