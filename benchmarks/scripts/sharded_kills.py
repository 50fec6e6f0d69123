"""Kills actors of sharded training at random moments; every run has to end with its gap certified.

    python benchmarks/scripts/sharded_kills.py --kills 100 --out runs/DATE/kills.jsonl

Runs of a small problem on three local actors follow each other until so many actors were killed. A certificate is false if the optimum,
known from one machine to 0.001 %, is not between its bounds. A run that makes no round for a minute hangs. The next actor is killed at a
random moment once every shard has answered again, as three losses in a row would end the run.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import multiplane
import numpy as np
import ray
from multiplane.distributed import ShardLost, train


def write(folder: Path) -> list[Path]:
    """Three shards of random rows."""
    rng, paths = np.random.default_rng(0), []
    centres = rng.normal(size=(4, 20))
    for shard in range(3):
        labels = rng.integers(0, 4, size=400)
        rows = centres[labels] + 2.0 * rng.normal(size=(400, 20))
        lines = (f"{y} " + " ".join(f"{k + 1}:{v:.4f}" for k, v in enumerate(x)) for x, y in zip(rows, labels, strict=True))
        paths.append(folder / f"part{shard}.txt")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def killing(done: threading.Event, killed: list[str], duals: list[float], seed: int) -> None:
    """Kills a random actor at random moments."""
    rng, seen = random.Random(seed), 0
    while not done.wait(rng.uniform(0.0, 1.0)):
        if killed and len(duals) < seen + 2:
            continue
        seen = len(duals)
        names = [name for name in ray.util.list_named_actors() if name.startswith("multiplane-shards")]
        if names and not done.is_set():
            try:
                name = rng.choice(names)
                ray.kill(ray.get_actor(name))
                killed.append(name)
            except ValueError:  # it has ended already
                continue


def main() -> None:
    """Runs, and appends a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    total, run = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder))
        whole = Path(folder) / "whole.txt"
        whole.write_text("".join(path.read_text() for path in paths))
        single = multiplane.MulticlassSSVM(gap="0.001%", lam="1/n").fit(*multiplane.load_libsvm(whole))
        while total < given.kills:
            done, killed, duals = threading.Event(), [], []
            thread = threading.Thread(target=killing, args=(done, killed, duals, run))
            thread.start()
            begun, record, stopped = time.monotonic(), dict[str, Any](run=run), [0.0, time.monotonic()]

            def watch(record: dict[str, Any], duals: list[float] = duals, stopped: list[float] = stopped) -> None:
                duals.append(record["dual"])
                stopped[:] = max(stopped[0], time.monotonic() - stopped[1]), time.monotonic()

            try:
                fitted = train(
                    multiplane.MulticlassSSVM(gap="0.1%", lam="1/n"), paths, executor="ray", ray_options={"num_cpus": 0}, checkpoint_every=20,
                    callback=watch, timeout=60.0,
                )  # fmt: skip
                bounds = fitted.dual_, fitted.primal_
                record |= {"certified": fitted.certified_, "dual": bounds[0], "primal": bounds[1], **fitted.summary_["distributed"]}
                del record["shards"]
                record |= {"false": not (bounds[0] <= single.primal_ and single.dual_ <= bounds[1])}
            except ShardLost as error:
                record |= {"certified": False, "false": False, "lost": str(error)}
            finally:
                done.set()
                thread.join()
            seconds = time.monotonic() - begun
            record |= {"kills": len(killed), "wall": seconds, "hang": stopped[0] > 60.0, "fell": any(a > b for a, b in zip(duals, duals[1:]))}
            total, run = total + len(killed), run + 1
            print(json.dumps({key: record.get(key) for key in ("run", "kills", "certified", "false", "hang", "fell", "lost", "wall")}), flush=True)
            with given.out.open("a") as out:
                out.write(json.dumps(record) + "\n")
    ray.shutdown()


if __name__ == "__main__":
    main()
