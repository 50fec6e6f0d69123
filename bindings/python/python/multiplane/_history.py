"""What a run reports on its way, and pictures of it."""

from __future__ import annotations

from typing import Any

AXES = {"pass": "passes", "seconds": "seconds", "oracle_calls": "oracle calls"}
"""What a history can be drawn over, and how the axis is called."""


class History(list[dict[str, Any]]):
    """The records of a run in order, one dict for every outer iteration.

    Counts: ``pass``, ``iterations``, ``approximate_passes``, ``oracle_calls``, ``cached_steps``, ``seconds``,
    ``oracle_seconds`` are training's; ``evaluation_calls`` and ``evaluation_seconds`` are what only bounds have cost, not
    in the others (``at`` adds them up); ``planes`` are those kept, mean per example.

    Bounds: ``primal`` is the lowest primal value proven so far, at first that of w = 0 where the task knows it, and None
    where nothing was evaluated yet; ``dual``, ``gap`` (their difference) and ``certified`` as in the estimator.
    ``gap_estimate`` is what the gap is thought to be, from the gaps that visits met: no bound, mostly too low in the
    first passes, and None where there is no ground for it.

    Losses: ``train_loss`` and ``test_loss``, where test data was given to ``fit``.

    With ``params={"evaluate": "pass"}`` bounds are evaluated for every record, off the training clock; the three keys of
    evaluation are then missing.
    """

    def column(self, name: str) -> list[Any]:
        """One key of every record."""
        return [record[name] for record in self]

    def at(self, name: str) -> list[float]:
        """``"pass"``, ``"seconds"`` or ``"oracle_calls"`` of every record, evaluation included."""
        if name not in AXES:
            raise ValueError(f"x = {name!r}: expected 'pass', 'seconds' or 'oracle_calls'")
        if name == "seconds":
            return [record["seconds"] + record.get("evaluation_seconds", 0.0) for record in self]
        calls = [record["oracle_calls"] + record.get("evaluation_calls", 0) for record in self]
        if name == "oracle_calls":
            return calls
        last = self[-1] if self else {}
        n = last["oracle_calls"] / last["pass"] if last.get("pass") else 1.0
        return [count / n for count in calls]

    def plot(self, ax: Any = None, x: str = "pass", y: str = "objective") -> Any:
        """Draws primal and dual value, or another key of the records; needs matplotlib.

        Values are drawn as steps, as they hold until better ones are proven, with the gap between them in a light shade. A dot
        is an evaluation; before the first one only w = 0 has a proven primal value, which is drawn if there is nothing else.
        Dashed is where the primal value of the present weights is thought to be, with the gap that is left then in a darker
        shade. That estimate is usually too low in the first passes: on letters (OCR) after 10 passes 0.157 above the dual value,
        where 0.266 was proven. ``params={"evaluate": "pass"}`` evaluates every record.

        Args:
            ax: The matplotlib axes to draw on; by default a new figure.
            x: ``"pass"``, ``"seconds"`` or ``"oracle_calls"``, evaluation included.
            y: ``"objective"``, or a key of the records whose values are numbers: ``"test_loss"``, ``"train_loss"``, ``"gap"``,
                ``"gap_estimate"``, ``"planes"``, ...

        Returns:
            The axes. Raises ValueError if no record has a number at ``y``.
        """
        at = self.at(x)
        rows = list(zip(at, self, strict=True))
        if y != "objective":
            return self._plot_key(ax, x, y, rows)
        ax = axes(ax)
        first = next((k for k, record in enumerate(self) if record.get("answer")), 0)
        evaluated = [(when, record["primal"]) for when, record in rows if record.get("answer")]
        primal = [(when, record["primal"]) for when, record in rows[first:] if record["primal"] is not None]
        dual = [(when, record["dual"]) for when, record in rows if record["dual"] is not None]
        most = self[0]["primal"] if self and self[0]["primal"] is not None else float("inf")  # at w = 0: no answer is worse
        thought = [
            (when, record["dual"] + record["gap_estimate"], record["dual"])
            for when, record in rows
            if record["dual"] is not None and record.get("gap_estimate") is not None
            and record["dual"] + record["gap_estimate"] < most
        ]
        both = [(when, record["primal"], record["dual"]) for when, record in rows[first:] if record["gap"] is not None]
        _line(ax, primal, label="primal", color="#1f77b4", drawstyle="steps-post")
        _line(ax, [point[:2] for point in thought], label="primal, estimated", color="#1f77b4", linestyle="--", linewidth=1)
        _line(ax, dual, label="dual", color="#ff7f0e", drawstyle="steps-post")
        if both:
            ax.fill_between(*zip(*both, strict=True), alpha=0.12, step="post", linewidth=0, label="gap")
        if thought:
            ax.fill_between(*zip(*thought, strict=True), alpha=0.25, linewidth=0, label="gap, estimated")
        if evaluated:
            ax.scatter(*zip(*evaluated, strict=True), color="#1f77b4", s=14, label="evaluated")
        ax.set_xlabel(AXES[x])
        ax.set_ylabel("objective")
        ax.legend()
        return ax

    def _plot_key(self, ax: Any, x: str, y: str, rows: list[tuple[float, dict[str, Any]]]) -> Any:
        """Draws one key of the records."""
        points = [(when, record[y]) for when, record in rows if type(record.get(y)) in (int, float)]
        if not points:
            known = [key for key in (self[-1] if self else {}) if any(type(record.get(key)) in (int, float) for record in self)]
            losses = "; fit(..., X_test=..., y_test=...) records losses" if y in ("test_loss", "train_loss") else ""
            raise ValueError(f"y = {y!r}: no record has such a number{losses}: expected 'objective' or one of {known}")
        ax = axes(ax)
        ax.plot(*zip(*points, strict=True), ".-", label=y.replace("_", " "))
        ax.set_xlabel(AXES[x])
        ax.set_ylabel(y.replace("_", " "))
        ax.legend()
        return ax


def _line(ax: Any, points: list[Any], **style: Any) -> None:
    """Draws a line, where there are points."""
    if points:
        ax.plot(*zip(*points, strict=True), **style)


def axes(ax: Any) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'multiplane[plot]'") from error
    return pyplot.subplots(layout="constrained")[1]
