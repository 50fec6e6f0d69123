"""A line that says how far training is, on terminals and in notebooks; quiet elsewhere."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

logger = logging.getLogger("multiplane")

#: Seconds before anything is shown where somebody watches: what ends sooner needs no line.
QUIET = 1.0

#: Seconds between two updates.
REDRAWN = 0.2


def _notebook() -> Callable[..., Any] | None:
    """What shows something in a notebook, where this is one: IPython's ``display``. IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    display = getattr(sys.modules.get("IPython.display"), "display", None)
    return display if callable(display) else None


def _columns(stream: TextIO) -> int:
    """The width of the terminal behind a stream; 80 where there is none, or it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):
        return 80


class Line:
    """A line that is replaced by the next one and goes away at the end: on a terminal never wider than it, in a notebook
    one output that is updated. At most five times a second, and not in the first one unless it was asked for
    (``shown=True``). ``shown=None`` shows it where somebody watches: on terminals and in notebooks.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self._stream: TextIO | None = sys.stderr
        self._display = _notebook() if shown is not False else None
        self._handle: Any = None
        terminal = self._stream is not None and self._stream.isatty()
        self.shown = (terminal or self._display is not None) if shown is None else shown
        self.start = time.monotonic()
        watched = terminal or self._display is not None
        self._next = self.start + QUIET if watched else self.start
        self._width = 0

    def show(self, *parts: str) -> None:
        """Shows parts, the most important first, in place of what was shown; those that do not fit are left out."""
        now = time.monotonic()
        if not self.shown or now < self._next:
            return
        self._next = now + REDRAWN
        if self._display is not None:
            self._in_notebook("  ".join(parts))
        elif self._stream is not None:
            room = _columns(self._stream) - 1
            text = parts[0][:room]
            for part in parts[1:]:
                if len(text) + 2 + len(part) <= room:
                    text += "  " + part
            self._write(text, room)

    def _write(self, text: str, room: int) -> None:
        assert self._stream is not None
        self._stream.write("\r" + text.ljust(min(self._width, room)))
        self._stream.flush()
        self._width = len(text)

    def _in_notebook(self, text: str) -> None:
        content = {"text/plain": text}
        if self._handle is not None:
            self._handle.update(content, raw=True)
        elif self._display is not None:
            self._handle = self._display(content, raw=True, display_id=True)

    def close(self) -> None:
        """Takes the line away."""
        if self._handle is not None:
            self._in_notebook("")
            self._handle = None
        if self._width and self._stream is not None:
            self._write("", _columns(self._stream) - 1)
            self._stream.write("\r")
            self._stream.flush()


def bounds(record: dict[str, Any]) -> tuple[str, ...]:
    """What a record says of gap and primal value, the smaller of what is proven and what is estimated. A gap with a
    tilde is an estimate; without one it is proven.
    """
    primal, dual, gap = record["primal"], record["dual"], record["gap"]
    estimate = record.get("gap_estimate")
    if gap is None or (estimate is not None and estimate < gap):
        gap, mark = estimate, "~"
    else:
        mark = "" if record["certified"] else "~"
    value = () if primal is None else (f"primal {primal:.6g}",)
    if gap is None:
        return value
    share = f" ({100 * gap / (dual + gap):.2f} %)" if dual is not None and dual + gap > 0 else ""
    return (f"gap {mark}{gap:.3g}{share}", *value)


class Watcher:
    """Is told of records and of progress between them; shows the line and logs records at level DEBUG."""

    def __init__(self, progress: bool | None) -> None:
        self.line = Line(progress)
        self.best: tuple[str, ...] = ()

    def needed(self) -> bool:
        """Whether anybody would see anything."""
        return self.line.shown or logger.isEnabledFor(logging.DEBUG)

    def __call__(self, first: Any, calls: int | None = None, seconds: float | None = None) -> None:
        if calls is None:
            record = json.loads(first)
            logger.debug("record: %s", record)
            self.best = bounds(record)
            first, calls = record["pass"], record["oracle_calls"] + record.get("evaluation_calls", 0)
        passed = time.monotonic() - self.line.start
        gap, *rest = self.best or ("training",)
        self.line.show(gap, f"pass {first:.1f}", f"{passed:.0f} s", *rest, f"calls {calls}")

    def close(self) -> None:
        """Takes the line away."""
        self.line.close()
