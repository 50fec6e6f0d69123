"""A line that says how far training is, on terminals and in notebooks; quiet elsewhere."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, TextIO

logger = logging.getLogger("multiplane")


def _interactive(stream: TextIO | None) -> bool:
    """Whether somebody watches: a terminal or a notebook."""
    if stream is None:  # a program without a console
        return False
    if stream.isatty():
        return True
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def bounds(record: dict[str, Any]) -> str:
    """What a record says of primal value and gap, the smaller of what is proven and what is estimated. A gap with a
    tilde is an estimate; without one it is proven.
    """
    primal, dual, gap = record["primal"], record["dual"], record["gap"]
    estimate = record.get("gap_estimate")
    if gap is None or (estimate is not None and estimate < gap):
        gap, mark = estimate, "~"
    else:
        mark = "" if record["certified"] else "~"
    text = "" if primal is None else f"  primal {primal:.6g}"
    if gap is None:
        return text
    share = f" ({100 * gap / (dual + gap):.2f} %)" if dual is not None and dual + gap > 0 else ""
    return f"{text}  gap {mark}{gap:.3g}{share}"


class Watcher:
    """Is told of records and of progress between them; writes the line and logs records at level DEBUG."""

    def __init__(self, progress: bool | None) -> None:
        self.stream: TextIO | None = sys.stderr
        self.shown = _interactive(self.stream) if progress is None else progress
        self.start = time.monotonic()
        self.best = ""
        self.width = 0

    def needed(self) -> bool:
        """Whether anybody would see anything."""
        return self.shown or logger.isEnabledFor(logging.DEBUG)

    def __call__(self, first: Any, calls: int | None = None, seconds: float | None = None) -> None:
        if calls is None:
            record = json.loads(first)
            logger.debug("record: %s", record)
            self.best = bounds(record)
            first, calls = record["pass"], record["oracle_calls"] + record.get("evaluation_calls", 0)
        self._write(f"pass {first:.1f}  calls {calls}  {time.monotonic() - self.start:.0f} s{self.best}")

    def _write(self, text: str) -> None:
        if self.shown and self.stream is not None:
            self.stream.write("\r" + text.ljust(self.width))
            self.stream.flush()
            self.width = len(text)

    def close(self) -> None:
        """Ends the line."""
        if self.shown and self.stream is not None and self.width:
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
