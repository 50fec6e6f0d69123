"""Time to a certified gap of 1 % against workers, simulated: real rounds of a small problem, with given prices.

    python benchmarks/scripts/sharded_simulation.py --out docs/images/sharded.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import multiplane
import numpy as np
from multiplane import _drawing
from multiplane.distributed import priced, simulate

WORKERS = (1, 4, 16, 64, 256, 1000)
PRICES = {"calls of 1 s": 1.0, "calls of 100 ms": 0.1, "calls of 10 ms": 1e-2}
COMMON = {"step": 1e-5, "latency": 1e-3, "bandwidth": 1e9, "spread": 0.2}


def problem(n: int = 2048, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Rows of four classes that overlap."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(4, d)), rng.integers(0, 4, size=n)
    return centres[y] + 1.5 * rng.normal(size=(n, d)), y


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
    given.out.write_text(_drawing.times(lines, "time to a gap of 1 %"))


if __name__ == "__main__":
    main()
