"""The oracle doctor from Python: mistakes in a task, found before they cost a night."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from multiplane import _core
from multiplane._doctor import same


@dataclass(frozen=True)
class Finding:
    """One fault of a task; of many of one kind the first, with their number. Fields can be read as keys too.

    Attributes:
        kind: What is wrong, e.g. ``"sub-optimal"``.
        example: The example that shows it, from 0; None where it is of no single one.
        message: What was asked, what came, and the rule, with the numbers.
        cause: What is probably the cause.
        count: How often it was seen.
    """

    kind: str
    example: int | None
    message: str
    cause: str
    count: int

    def __getitem__(self, key: str) -> Any:
        return asdict(self)[key]

    def __str__(self) -> str:
        where = "" if self.example is None else f" (example {self.example})"
        times = "" if self.count == 1 else f" [{self.count} times]"
        return f"{self.kind}{where}{times}: {self.message}\n  probably: {self.cause}"


class Findings(list[Finding]):
    """What an examination found; empty where all seems sound.

    Attributes:
        profile: What calls cost and what the planned run will take, as a dict; empty if faults kept calls from being examined.
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        super().__init__(findings)
        self.profile: dict[str, Any] = {}

    def __str__(self) -> str:
        if not self.profile:
            return "\n".join(map(str, self))
        calls, forecast = self.profile["decodes_per_second"], self.profile["forecast"]
        cost = (
            f"decode: {calls:.0f} calls a second; planes of {self.profile['plane_entries_mean']:.0f} entries; "
            f"{forecast['passes']:.0f} passes take about {forecast['seconds']:.1f} s and {forecast['megabytes']:.0f} MB"
        )
        return "\n".join([*(map(str, self) if self else ["no fault found"]), cost])


def examine(task: Any, x: list[Any], y: list[Any], **extent: Any) -> Findings:
    """Asks the core's doctor; ``extent`` says how much is examined."""
    complete = all(callable(getattr(task, name, None)) for name in ("dim", "features", "loss", "decode"))
    watched = _Watched(task) if complete else None  # of any other the core says what it lacks
    findings = diagnosed(_core.check(watched or task, x, y, extent))
    if watched is not None and watched.is_zero and watched.others > 0:
        times = f"{watched.others} times for another than the truth"
        message = f"loss returned 0 for every labelling seen, {times}, expected a number > 0"
        cause = "loss compares something else than the two labellings: where no answer has a loss, nothing can be learned"
        findings.insert(0, Finding("no-loss", None, message, cause, 1))
    return findings


class _Watched:
    """A task under examination, whose losses are looked at on their way."""

    def __init__(self, task: Any) -> None:
        self._task = task
        self.is_zero = True
        self.others = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    def loss(self, truth: Any, y: Any) -> Any:
        """The task's own, as it comes."""
        self.is_zero, before = False, self.is_zero  # what raises is no loss of 0
        found = self._task.loss(truth, y)
        if before and isinstance(found, (int, float, np.number)) and found == 0:
            self.is_zero = True
            self.others += not same(truth, y)
        return found


def diagnosed(text: str) -> Findings:
    """The findings of the core's doctor, from JSON text."""
    diagnosis = json.loads(text)
    findings = Findings(Finding(**finding) for finding in diagnosis["findings"])
    findings.profile = diagnosis["profile"]
    return findings
