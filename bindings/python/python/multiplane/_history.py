"""What a run reports on its way, and pictures of it."""

from __future__ import annotations

import json
from typing import Any


class History(list[dict[str, Any]]):
    """The evaluations of a run in order, one dict each.

    Keys: ``pass``, ``iterations``, ``approximate_passes``, ``oracle_calls``, ``cached_steps``, ``seconds``,
    ``oracle_seconds``, ``primal``, ``dual``, ``gap``, ``certified``, ``planes``, ``train_loss``, ``test_loss``.
    """

    @classmethod
    def _parse(cls, text: str) -> History:
        return cls(json.loads(line) for line in text.splitlines())

    def column(self, name: str) -> list[Any]:
        """One key of every evaluation."""
        return [record[name] for record in self]

    def plot(self, ax: Any = None, x: str = "pass") -> Any:
        """Draws primal, dual and gap; needs matplotlib.

        Args:
            ax: The matplotlib axes to draw on; a new figure where not given.
            x: ``"pass"``, ``"seconds"`` or ``"oracle_calls"``.

        Returns:
            The axes.
        """
        if x not in ("pass", "seconds", "oracle_calls"):
            raise ValueError(f"x = {x!r}: expected 'pass', 'seconds' or 'oracle_calls'")
        ax = axes(ax)
        at = self.column(x)
        ax.plot(at, self.column("primal"), label="primal", color="#1f77b4")
        known = [(when, record["dual"]) for when, record in zip(at, self, strict=True) if record["dual"] is not None]
        if known:
            when, dual = zip(*known, strict=True)
            ax.plot(when, dual, label="dual", color="#ff7f0e")
            ax.fill_between(at, self.column("primal"), [r["dual"] for r in self], alpha=0.15, label="gap")
        ax.set_xlabel({"pass": "passes", "oracle_calls": "oracle calls"}.get(x, x))
        ax.set_ylabel("objective")
        ax.legend()
        return ax


def axes(ax: Any) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'multiplane[plot]'") from error
    return pyplot.subplots(layout="constrained")[1]
