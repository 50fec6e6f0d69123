"""Synthetic sequences of 4 kB each in 16 shards, two of them in memory at a time: memory, seconds and the gap.

    python benchmarks/scripts/sharded_million.py --examples 1000000 --folder /tmp/million --out runs/DATE/million.jsonl

Features are float64 files of NumPy; each worker reads those of the shard whose turn it is. The resident memory of this process, of Ray
and of the workers is summed up each second. Pages that processes share count once: as a share of each (PSS).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import multiplane
import numpy as np
from memory import sampled
from multiplane.distributed import draw_time, train, verify

LENGTH, FEATURES, LABELS, SHARDS = 10, 50, 5, 16


def make(folder: Path, examples: int) -> None:
    """Writes the shards: labels follow a Markov chain, features are their label's centre with noise."""
    rng = np.random.default_rng(0)
    centres = 0.5 * rng.normal(size=(LABELS, FEATURES))
    steps = np.cumsum(rng.dirichlet(np.ones(LABELS), size=LABELS), axis=1)
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(SHARDS):
        n = examples * (shard + 1) // SHARDS - examples * shard // SHARDS
        y = np.zeros((n, LENGTH), dtype=np.int64)
        y[:, 0] = rng.integers(LABELS, size=n)
        for t in range(1, LENGTH):
            y[:, t] = (rng.random(n)[:, None] > steps[y[:, t - 1]]).sum(axis=1).clip(max=LABELS - 1)
        x = np.lib.format.open_memmap(folder / f"x{shard}.npy", mode="w+", dtype=np.float64, shape=(n, LENGTH, FEATURES))
        for begin in range(0, n, 10_000):
            part = slice(begin, begin + 10_000)
            x[part] = centres[y[part]] + rng.normal(size=(*y[part].shape, FEATURES))
        x.flush()
        np.save(folder / f"y{shard}.npy", y)


class Sequences:
    """A shard, which its worker reads."""

    def __init__(self, folder: Path, shard: int) -> None:
        self.folder, self.shard = str(folder.absolute()), shard

    def __call__(self) -> tuple[Any, ...]:
        files = (np.load(f"{self.folder}/{name}{self.shard}.npy", mmap_mode="r") for name in "xy")
        return tuple(np.asarray(file) for file in files)


def main() -> None:
    """Makes the data, trains, verifies, and writes what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lam", type=float, default=1e-3)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--replays", type=int, default=0)
    parser.add_argument("--damping", type=float, default=0.0125)
    parser.add_argument("--seconds", type=float, default=2400.0)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if not (given.folder / f"y{SHARDS - 1}.npy").exists():
        make(given.folder, given.examples)
    shards = [Sequences(given.folder, shard) for shard in range(SHARDS)]
    rounds: list[dict[str, Any]] = []

    def watch(record: dict[str, Any]) -> None:
        rounds.append(record)
        print(len(rounds), record["order"], round(record["passes"], 2), record["dual"], record["gap_estimate"],
              round(time.monotonic() - begun), {kind: round(size) for kind, size in peak.items()}, flush=True)  # fmt: skip

    begun = time.monotonic()
    estimator = multiplane.ChainSSVM(gap="10%", lam=given.lam, clock="work", seconds=given.seconds)
    arguments = {"executor": "ray", "workers": given.workers}
    with sampled(1.0) as peak:
        settings = {name: getattr(given, name) for name in ("parts", "replays", "damping")}
        fitted = train(estimator, shards, callback=watch, settings=settings, **arguments)
        wall = time.monotonic() - begun
        trained = dict(peak)
        checked = verify(fitted, shards, **arguments) if given.verify else {}
    done = fitted.summary_["distributed"]
    record = {"examples": given.examples, "bytes": sum(path.stat().st_size for path in given.folder.glob("x*.npy")), "lam": given.lam}
    record |= {"workers": given.workers, **settings, "reason": fitted.stop_reason_, "certified": fitted.certified_}
    record |= {"primal": fitted.primal_, "dual": fitted.dual_, "gap_percent": 100.0 * fitted.gap_ / fitted.primal_}
    record |= {"rounds": done["rounds"], "passes": rounds[-1]["passes"], "wall": wall, "peak_mb": trained, "worker_time": done["worker_time"]}
    record |= {"verified": checked.get("verified"), "relative_difference": checked.get("relative_difference")}
    record |= {"verify_wall": time.monotonic() - begun - wall, "verify_peak_mb": peak, "load": os.getloadavg()}
    print(json.dumps(record), flush=True)
    with given.out.open("a") as out:
        out.write(json.dumps(record) + "\n")
    draw_time(fitted, given.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
