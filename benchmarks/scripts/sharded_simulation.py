"""Time to a certified gap of 1 % against workers, simulated: real rounds of a small problem, with given prices.

    python benchmarks/scripts/sharded_simulation.py --out docs/images/sharded.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import multiplane
import numpy as np
from multiplane.distributed import priced, simulate

WORKERS = (1, 4, 16, 64, 256)
PRICES = {"calls of 1 s": 1.0, "calls of 100 ms": 0.1, "calls of 10 ms": 1e-2}
COMMON = {"step": 1e-5, "latency": 1e-3, "bandwidth": 1e9, "spread": 0.2}


def problem(n: int = 2048, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rows of four classes that overlap."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(4, d)), rng.integers(0, 4, size=n)
    return centres[y] + 1.5 * rng.normal(size=(n, d)), y


def svg(lines: dict[str, list[tuple[int, float]]]) -> str:
    """A picture with logarithmic axes."""
    width, height, left, low = 560, 340, 70, 300
    seconds = [time for points in lines.values() for _, time in points]
    bottom, top = np.floor(np.log10(min(seconds))), np.ceil(np.log10(max(seconds)))

    def place(workers: int, time: float) -> tuple[float, float]:
        return left + 390 * np.log10(workers) / 3, low - 270 * (np.log10(time) - bottom) / (top - bottom)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for power in range(int(bottom), int(top) + 1):
        y = place(1, 10.0**power)[1]
        parts.append(f'<path d="M{left} {y:.0f}h390" stroke="#ddd"/><text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">1e{power} s</text>')
    for workers in (1, 10, 100, 1000):
        x = place(workers, 10.0**bottom)[0]
        parts.append(f'<path d="M{x:.0f} 30V{low}" stroke="#ddd"/><text x="{x:.0f}" y="{low + 16}" text-anchor="middle">{workers}</text>')
    parts.append(f'<text x="265" y="{low + 34}" text-anchor="middle">workers</text><text x="{left}" y="18">time to a gap of 1 %</text>')
    for (name, points), colour in zip(lines.items(), ("#c0392b", "#2471a3", "#1e8449"), strict=True):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
        x, y = place(*points[-1])
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 6:.0f}" y="{y + 4:.0f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Simulates, prints a line for each number of workers, and draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    x, y = problem()
    lines: dict[str, list[tuple[int, float]]] = {name: [] for name in PRICES}
    for workers in WORKERS:
        shards = [(x[k::workers], y[k::workers]) for k in range(workers)]
        records = simulate(multiplane.MulticlassSSVM(lam="1/n", gap="1%", clock="work"), shards, call=0.1, **COMMON)
        times = {name: priced(records, [len(y) for _, y in shards], call=call, **COMMON)[-1] for name, call in PRICES.items()}
        for name, time in times.items():
            lines[name].append((workers, time))
        print(json.dumps({"workers": workers, "rounds": len(records), "passes": records[-1]["passes"], **times}), flush=True)
    given.out.write_text(svg(lines))


if __name__ == "__main__":
    main()
