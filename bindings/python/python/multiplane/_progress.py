"""A line that says how far training is, on terminals and in notebooks; quiet elsewhere."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from multiplane import _core
from multiplane._errors import warn

logger = logging.getLogger("multiplane")

#: Seconds before anything is shown where somebody watches: what ends sooner needs no line.
QUIET = 1.0

#: Seconds between two updates.
REDRAWN = 0.2

#: Seconds between two lines where lines stay.
LOGGED = 10.0

#: What a terminal writes by itself when Ctrl-C is typed, ``^C``: room is left for it, and it is wiped with the line.
ECHO = 2


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
    """A line that is redrawn in place and goes away at the end, at most five times a second, and not in the first
    second. ``shown=None`` shows it on terminals and in notebooks; ``True`` also writes a line every ten seconds to
    files and pipes.
    """

    def __init__(self, shown: bool | None = None) -> None:
        self._stream: TextIO | None = sys.stderr
        self._display = _notebook() if shown is not False else None
        self._handle: Any = None
        self._terminal = self._stream is not None and self._stream.isatty()
        watched = self._terminal or self._display is not None
        self.shown = watched if shown is None else shown
        self.start = time.monotonic()
        self._pause = REDRAWN if watched else LOGGED
        self._next = self.start + (QUIET if watched else LOGGED)
        self._width = 0

    def show(self, *parts: str) -> None:
        """Shows parts, the most important first, in place of what was shown; those that do not fit are left out."""
        self.show_ranked(lambda: list(enumerate(parts)))

    def show_ranked(self, parts: Callable[[], list[tuple[int, str]]]) -> None:
        """As :meth:`show`, of parts in any order with a rank for each, 0 being the most important; asked for where it is time to."""
        now = time.monotonic()
        if not self.shown or now < self._next:
            return
        self._next = now + self._pause
        if self._display is not None:
            self._in_notebook("  ".join(text for _, text in parts() if text))
        elif self._terminal and self._stream is not None:
            self._draw(_core.fitted(parts(), _columns(self._stream) - 1 - ECHO))
        elif self._stream is not None:
            self._stream.write("  ".join(text for _, text in parts() if text) + "\n")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        """Draws the line. The cursor goes back to where the text ends, so that an echo stands there and not at the end of the row."""
        assert self._stream is not None
        rest = max(self._wiped() - len(text), 0)
        self._stream.write("\r" + text + " " * rest + "\b" * rest)
        self._stream.flush()
        self._width = len(text)

    def _wiped(self) -> int:
        """How many columns a line may have left, an echo of Ctrl-C after it."""
        assert self._stream is not None
        return min(self._width + ECHO, _columns(self._stream) - 1) if self._width else 0

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
            self._stream.write("\r" + " " * self._wiped() + "\r")
            self._stream.flush()
            self._width = 0


class Watcher:
    """Shows the command line's progress line and logs records at level DEBUG; ``callbacks`` hear of them. ``label`` is its first word, ``stop`` the
    section of the specification with the stops.
    """

    def __init__(
        self, progress: bool | None, label: str = "", stop: dict[str, Any] | None = None, clock: str = "wall",
        callbacks: Sequence[Callable[[dict[str, Any]], object]] = (), worded: Callable[[str], str] = str,
    ) -> None:  # fmt: skip
        self.callbacks, self.is_ended, self.worded = callbacks, False, worded
        self.line = Line(progress)
        self.progress = _core.Progress(label, json.dumps(stop or {}), clock)

    def needed(self) -> bool:
        """Returns True if the line is shown, or records are heard or logged."""
        return self.line.shown or bool(self.callbacks) or logger.isEnabledFor(logging.DEBUG)

    def __call__(self, first: Any, calls: Any = None, seconds: float | None = None) -> bool:
        """Hears of a record, of progress between them, or of what is to be said before. Returns True if a callback ends the fit."""
        if first == "hint":
            warn(self.worded(calls))
            return False
        if first == "choosing":
            self.line.show_ranked(lambda: [(0, calls)])
            return False
        if calls is None or seconds is None:
            told, record = first, json.loads(first)
            logger.debug("record: %s", record)
            calls = record["oracle_calls"] + record.get("evaluation_calls", 0)
            seconds = record["seconds"] + record.get("evaluation_seconds", 0.0)
            self.progress.hear(first, seconds)
            first = record["pass"]
            answers = [callback(json.loads(told)) for callback in self.callbacks]
            self.is_ended |= any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)
        spent = (first, calls, seconds)
        self.line.show_ranked(lambda: self.progress.parts(*spent))
        return self.is_ended

    def close(self) -> None:
        """Takes the line away."""
        self.line.close()
