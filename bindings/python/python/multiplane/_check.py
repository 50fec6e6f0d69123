"""The oracle doctor from Python: mistakes in a task, found before they cost a night."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from multiplane import _core
from multiplane._doctor import examining


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
        profile: What calls cost and what the planned run will take, as a dict.
    """

    profile: dict[str, Any]

    def __str__(self) -> str:
        calls, forecast = self.profile["decodes_per_second"], self.profile["forecast"]
        cost = (
            f"decode: {calls:.0f} calls a second; planes of {self.profile['plane_entries_mean']:.0f} entries; "
            f"{forecast['passes']:.0f} passes take about {forecast['seconds']:.1f} s and {forecast['megabytes']:.0f} MB"
        )
        return "\n".join([*(map(str, self) if self else ["no fault found"]), cost])


def examine(task: Any, x: list[Any], y: list[Any], **plan: Any) -> Findings:
    """Asks the core's doctor; ``plan`` are its keyword arguments."""
    with examining(task, x, y):
        return diagnosed(_core.check(task, x, y, **plan))


def diagnosed(text: str) -> Findings:
    """The findings of the core's doctor, from JSON text."""
    diagnosis = json.loads(text)
    findings = Findings(Finding(**finding) for finding in diagnosis["findings"])
    findings.profile = diagnosis["profile"]
    return findings
