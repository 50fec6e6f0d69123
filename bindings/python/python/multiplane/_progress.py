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


class Watcher:
    """Is told of evaluations and of progress between them; writes the line and logs evaluations at level DEBUG."""

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
        if calls is None or seconds is None:
            record = json.loads(first)
            logger.debug("evaluated: %s", record)
            primal, gap = record["primal"], record["gap"]
            share = f" ({100 * gap / primal:.2f} %)" if gap is not None and primal > 0 else ""
            self.best = f"  primal {primal:.6g}" + (f"  gap {gap:.3g}{share}" if gap is not None else "")
            first, calls, seconds = record["pass"], record["oracle_calls"], record["seconds"]
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
