"""When a fit will end, as the command line forecasts it: by how its gap has fallen lately, and by its budgets."""

from __future__ import annotations

import bisect
import math
from typing import Any

MOST = 256
"""Points that are kept: of more every other one goes."""

LEAST = 3
"""Points that a fitted line needs."""

TOLERANCE = 0.3
"""How far the earlier fall may be from the recent one, as a share of it."""

FARTHEST = 10.0
"""A forecast goes so many times as far as what it is made of."""

LAWS = ((lambda t: t, lambda at: at), (math.log, math.exp))
"""How gaps fall: by a rate, or by a power of time."""


class Decline:
    """A gap on its way down."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float]] = []

    def push(self, seconds: float, gap: float) -> None:
        """Adds what the gap was after so many seconds."""
        later = not self._points or seconds > self._points[-1][0]
        if not (0 < gap < math.inf and seconds > 0 and later):
            return
        if len(self._points) == MOST:
            del self._points[::2]
        self._points.append((seconds, math.log(gap)))

    def remaining(self, now: float, wanted: float) -> float | None:
        """Seconds until the gap is where it is wanted; None where nothing speaks for a forecast. The second half of the time must
        go on as the quarter before it did.
        """
        if not self._points:
            return None
        last = self._points[-1][0]
        quarter, half = (bisect.bisect_left(self._points, (last / part, -math.inf)) for part in (4, 2))
        found = []
        for law, seconds in LAWS:
            before, after = _fitted(law, self._points[quarter:half]), _fitted(law, self._points[half:])
            if before is None or after is None:
                continue
            fall = _value(after, law(last / 2)) - _value(after, law(last))
            recent = self._points[half:]
            miss = math.sqrt(sum((_value(before, law(t)) - y) ** 2 for t, y in recent) / len(recent))
            if fall > 0 and miss <= TOLERANCE * fall:
                level, middle, slope = after
                found.append((miss / fall, middle + (math.log(wanted) - level) / slope, seconds))
        if not found:
            return None
        _, at, seconds = min(found, key=lambda one: one[0])
        if at > 700 and seconds is math.exp:
            return None
        left = float(seconds(at)) - now
        return left if 0 < left <= FARTHEST * last else None


def _fitted(law: Any, points: list[tuple[float, float]]) -> tuple[float, float, float] | None:
    """The line of least squares: its level in the middle, the middle, its slope."""
    if len(points) < LEAST:
        return None
    at = [law(t) for t, _ in points]
    middle, level = sum(at) / len(at), sum(y for _, y in points) / len(points)
    spread = sum((a - middle) ** 2 for a in at)
    if spread == 0:
        return None
    slope = sum((a - middle) * (y - level) for a, (_, y) in zip(at, points, strict=True)) / spread
    return (level, middle, slope) if slope != 0 else None


def _value(line: tuple[float, float, float], at: float) -> float:
    level, middle, slope = line
    return level + slope * (at - middle)


def about(seconds: float, unit: str = "s") -> str:
    """A time in few characters."""
    if unit != "s" or seconds < 120:
        return f"{math.ceil(seconds)} {unit}"
    return f"{math.ceil(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Forecast:
    """What is known of a fit's end. ``stop`` is the section of that name in its specification."""

    def __init__(self, stop: dict[str, Any] | None = None, unit: str = "s") -> None:
        stop = stop or {}
        self.unit = unit
        self._gap = stop.get("gap")
        self._budgets = [stop.get(name) for name in ("passes", "calls", "seconds")]
        self._first: float | None = None
        self._last: float | None = None
        self._wanted = 0.0
        self._decline = Decline()

    def target(self, primal: float) -> float:
        """The gap that ends the fit, at this primal value; 0 where none does."""
        try:
            text = str(self._gap)
            found = float(text[:-1]) / 100 * primal if text.endswith("%") else float(text)
        except ValueError:  # no gap, or one that the core refuses
            return 0.0
        return found if math.isfinite(found) else 0.0

    def push(self, seconds: float, gap: float, primal: float) -> None:
        """Hears of a gap, and of the primal value that goes with it."""
        self._wanted = self.target(primal)
        self._first = gap if self._first is None else self._first
        self._last = gap
        self._decline.push(seconds, gap)

    def _spent(self, passes: float, calls: int, seconds: float) -> list[float]:
        """The shares of budgets that are spent."""
        pairs = zip((passes, calls, seconds), self._budgets, strict=True)
        return [float(value / most) for value, most in pairs if isinstance(most, (int, float)) and most > 0]

    def share(self, passes: float, calls: int, seconds: float) -> float:
        """How much of the way is done, the gap's in its logarithm."""
        found = [0.0, *self._spent(passes, calls, seconds)]
        if self._first is not None and self._last is not None and self._first > self._wanted > 0:
            found.append(math.log(self._first / max(self._last, self._wanted)) / math.log(self._first / self._wanted))
        return min(max(found), 1.0)

    def remaining(self, passes: float, calls: int, seconds: float) -> str:
        """What is to be said of the time that is left; nothing where nothing is known."""
        shares = [share for share in self._spent(passes, calls, seconds) if share > 0]
        left = [seconds * max(1 / share - 1, 0.0) for share in shares]
        by_gap = self._decline.remaining(seconds, self._wanted) if self._wanted > 0 else None
        word = "at most" if by_gap is None and self._gap is not None else "about"
        left += [] if by_gap is None else [by_gap]
        return f"{word} {about(min(left), self.unit)} to go" if left else ""
