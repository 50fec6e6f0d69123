"""Pictures (SVG) of sharded runs: times against workers, and what the time of each worker goes into."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#c0392b", "#2471a3", "#b7950b", "#7d3c98", "#d5d8dc")
"""Of lines and of shares, in their order."""

WIDTH, LEFT, SPAN = 560, 70, 390
"""The width of a picture, where its field begins, and how wide that is."""

ROWS = 64
"""Workers that are drawn, at most."""


def _picture(height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "black") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def times(lines: Mapping[str, Sequence[tuple[int, float]]], title: str) -> str:
    """Seconds against numbers of workers from 1 to 1000, a line for each name; both axes are logarithmic."""
    low, height = 300, 270
    seconds = [time for points in lines.values() for _, time in points]
    bottom, top = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def place(workers: int, time: float) -> tuple[float, float]:
        return LEFT + SPAN * math.log10(workers) / 3, low - height * (math.log10(time) - bottom) / (top - bottom)

    parts = []
    for power in range(bottom, top + 1):
        y = place(1, 10.0**power)[1]
        parts += [f'<path d="M{LEFT} {y:.0f}h{SPAN}" stroke="#ddd"/>', _text(LEFT - 6, y + 4, f"1e{power} s", "end")]
    for workers in (1, 10, 100, 1000):
        x = place(workers, 10.0**bottom)[0]
        parts += [f'<path d="M{x:.0f} {low - height}V{low}" stroke="#ddd"/>', _text(x, low + 16, str(workers), "middle")]
    parts += [_text(LEFT + SPAN / 2, low + 34, "workers", "middle"), _text(LEFT, 18, title)]
    for (name, points), colour in zip(lines.items(), COLOURS, strict=False):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
        x, y = place(*points[-1])
        parts += [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>', _text(x + 6, y + 4, name, colour=colour)]
    return _picture(340, parts)


def shares(rows: Mapping[str, Sequence[float]], kinds: Sequence[str]) -> str:
    """A bar for each row, divided by the shares of its numbers; if there are more than :data:`ROWS`, some are left out."""
    step, parts, x = -(-len(rows) // ROWS), [], float(LEFT)
    for kind, colour in zip(kinds, COLOURS, strict=True):
        parts += [f'<rect x="{x:.0f}" y="8" width="10" height="10" fill="{colour}"/>', _text(x + 14, 17, kind)]
        x += 80
    for place, (name, numbers) in enumerate(list(rows.items())[::step]):
        y, x, total = 28 + 18 * place, float(LEFT), sum(numbers) or 1.0
        parts.append(_text(LEFT - 6, y + 11, name, "end"))
        for number, kind, colour in zip(numbers, kinds, COLOURS, strict=True):
            width = SPAN * number / total
            told = f"<title>{kind}: {number:.3g} s, {100 * number / total:.0f} %</title>"
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="14" fill="{colour}">{told}</rect>')
            x += width
        parts.append(_text(LEFT + SPAN + 6, y + 11, f"{total:.3g} s"))
    return _picture(36 + 18 * -(-len(rows) // step), parts)
