"""The actor that holds a user's task with its examples and decodes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from multiplane import _ray
from multiplane._processes import Decoder

HELD = 2
"""Data sets that an actor keeps."""


class _Lines:
    """A stream whose lines name the example that is decoded."""

    def __init__(self, stream: Any, example: Callable[[], int | None]) -> None:
        self._stream, self._example, self._begun = stream, example, False

    def write(self, text: str) -> int:
        for line in text.splitlines(keepends=True):
            example = self._example()
            named = example is not None and not self._begun
            self._stream.write(f"example {example}: {line}" if named else line)
            self._begun = not line.endswith("\n")
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Oracles:
    """What runs in an actor: tasks with their examples, and the weights that were sent last."""

    def __init__(self) -> None:
        self._held: dict[int, Decoder] = {}
        self._asked: Decoder | None = None
        self._w: Any = np.zeros(0)
        sys.stdout, sys.stderr = (_Lines(stream, self._example) for stream in (sys.stdout, sys.stderr))

    def _example(self) -> int | None:
        return None if self._asked is None else self._asked.example

    def about(self) -> tuple[dict[str, str], str]:
        """Versions, and the address of the node."""
        return _ray.versions(), _ray.package().util.get_node_ip_address()

    def hold(self, key: int, held: list[Any]) -> str | None:
        """Takes a task with its examples out of the object store, and returns why that is not possible, if so."""
        try:
            self._decoder(key, held)
        except Exception as error:  # whatever unpickling the user's objects raises
            return _ray.first_line(error).removeprefix("RaySystemError: System error: ")
        return None

    def _decoder(self, key: int, held: list[Any]) -> Decoder:
        if key not in self._held:
            self._held[key] = Decoder(*_ray.package().get(held[0]))
            for old in list(self._held)[:-HELD]:
                del self._held[old]
        return self._held[key]

    def answer(self, key: int, held: list[Any], weights: list[Any] | None, examples: list[int], augmented: bool) -> tuple[bytes, float]:
        """Answers questions; returns the reply as the core reads it, and the seconds that it took."""
        started = time.perf_counter()
        self._asked = self._decoder(key, held)
        if weights is not None:
            self._w = _weights(weights)
        self._asked.w = self._w
        return self._asked.reply(examples, augmented), time.perf_counter() - started

    def price(self, key: int, held: list[Any], dim: int) -> tuple[float, int]:
        """Seconds of a call, the least of up to three, and the bytes of its answer."""
        decoder = self._decoder(key, held)
        decoder.w = np.zeros(dim)
        decoder.w.flags.writeable = False
        least, begun, size = np.inf, time.perf_counter(), 0
        for _ in range(3):
            started = time.perf_counter()
            size = len(decoder.reply([0], True))
            least = min(least, time.perf_counter() - started)
            if time.perf_counter() - begun > 0.05:
                break
        return float(least), size

    def echo(self, answer: bytes) -> bytes:
        """Returns what it is sent."""
        return answer

    def run(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        """Calls a function."""
        return function(*arguments)


def _weights(sent: list[Any]) -> Any:
    """Weights that came as bytes, or are in the object store."""
    return np.frombuffer(sent[0] if isinstance(sent[0], bytes) else _ray.package().get(sent[0]), dtype="<f8")
