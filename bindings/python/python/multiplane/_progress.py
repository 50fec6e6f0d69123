"""A line that says how far training is, on terminals and in notebooks; quiet elsewhere."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from multiplane import _core

logger = logging.getLogger("multiplane")

#: Seconds before anything is shown where somebody watches: what ends sooner needs no line.
QUIET = 1.0

#: Seconds between two updates.
REDRAWN = 0.2

#: Seconds between two lines where lines stay.
LOGGED = 10.0

#: What a terminal writes by itself when Ctrl-C is typed, ``^C``: room is left for it, and it is wiped with the line.
ECHO = 2

#: Cells of the bar.
CELLS = 20


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


def fitted(parts: list[tuple[int, str]], columns: int) -> str:
    """Joins the parts that fit into so many columns, in their order: those of the highest rank are left out first."""
    kept = [part for part in parts if part[1]]
    while True:
        line = "  ".join(text for _, text in kept)
        if len(line) <= columns or len(kept) < 2:
            return line[: max(columns, 0)]
        highest = max(rank for rank, _ in kept)
        kept.pop(max(k for k, (rank, _) in enumerate(kept) if rank == highest))


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
            self._draw(fitted(parts(), _columns(self._stream) - 1 - ECHO))
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


def known(record: dict[str, Any]) -> tuple[float, bool] | None:
    """The gap that a record tells of, the smaller of what is proven and what is estimated, and whether it is an estimate."""
    gap, estimate = record["gap"], record.get("gap_estimate")
    if record["dual"] is None:
        return None
    if estimate is not None and (gap is None or estimate < gap):
        return float(estimate), True
    return None if gap is None else (float(gap), not record["certified"])


def number(value: float) -> str:
    """A number for readers, as the command line has it: three digits, 0.01, 250, 1.5k, 2M, 1e-7."""
    value = float(f"{value:.2e}")
    size = abs(value)
    if size != 0 and not 1e-4 <= size < 1e9:
        mantissa, power = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    if size >= 1e6:
        return f"{float(f'{value / 1e6:.2e}'):g}M"
    return f"{float(f'{value / 1e3:.2e}'):g}k" if size >= 1e3 else f"{value:g}"


class Watcher:
    """Shows the command line's progress line and logs records at level DEBUG. ``label`` is its first word, ``stop`` the
    section of the specification with the stops.
    """

    def __init__(
        self, progress: bool | None, label: str = "", stop: dict[str, Any] | None = None, clock: str = "wall"
    ) -> None:
        self.line = Line(progress)
        self.label = label
        self.forecast = _core.Forecast(json.dumps(stop or {}), "s" if clock == "wall" else "work seconds")
        self.gap = "gap -"
        self.patience = (stop or {}).get("patience")
        self.watched: dict[str, Any] | None = None

    def needed(self) -> bool:
        """Whether anybody would see anything."""
        return self.line.shown or logger.isEnabledFor(logging.DEBUG)

    def __call__(self, first: Any, calls: int | None = None, seconds: float | None = None) -> None:
        if calls is None or seconds is None:
            record = json.loads(first)
            logger.debug("record: %s", record)
            first, calls = record["pass"], record["oracle_calls"] + record.get("evaluation_calls", 0)
            seconds = record["seconds"] + record.get("evaluation_seconds", 0.0)
            self._hear(record, seconds)
        spent = (first, calls, seconds)
        self.line.show_ranked(lambda: self._parts(*spent))

    def _hear(self, record: dict[str, Any], seconds: float) -> None:
        self.watched = record.get("early_stopping")
        found = known(record)
        if found is None:
            return
        gap, is_estimate = found
        self.forecast.push(seconds, gap, record["dual"] + gap)
        wanted = self.forecast.wanted
        self.gap = f"gap {'~' if is_estimate else ''}{number(gap)}" + (f" -> {number(wanted)}" if wanted > 0 else "")

    def _held_out(self) -> str:
        """The lowest loss on held-out data, and how long it has stood; nothing without patience."""
        if self.watched is None or self.patience is None:
            return ""
        return f"held out {number(self.watched['loss'])} ({self.watched['since']} of {self.patience})"

    def _parts(self, passes: float, calls: int, seconds: float) -> list[tuple[int, str]]:
        share, unit = self.forecast.share(passes, calls, seconds), self.forecast.unit
        done = int(share * CELLS)
        bar = "=" * done + (">" if done < CELLS else "")
        return [
            (4, self.label),
            (6, f"[{bar:<{CELLS}}]"),
            (0, self.gap),
            (1, self.forecast.remaining(passes, calls, seconds)),
            (2, self._held_out()),
            (3, f"{passes:.1f} passes"),
            (5, f"{calls} calls"),
            (2, f"{seconds:.1f} {unit}"),
        ]

    def close(self) -> None:
        """Takes the line away."""
        self.line.close()
