"""CPU seconds and memory of a turn of one shard: reading, opening, going on from the state, a pass of calls, saving.

    python benchmarks/scripts/shard_turn.py --examples 20000 --turns 5 --out runs/DATE/turn.jsonl

The shard is one of `sharded_million.py`, in memory of NumPy before the turns; `--lists` gives its sequences as lists of arrays.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import multiplane
import sharded_million
from multiplane import _core
from multiplane.distributed import SETTINGS


def resident() -> float:
    """Megabytes of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1e3


def main() -> None:
    """Takes turns, and appends the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--lists", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sharded_million.make(Path(folder), given.examples * sharded_million.SHARDS)
        x, y = (part.copy() for part in sharded_million.Sequences(Path(folder), 0)())
    estimator = multiplane.ChainSSVM(gap="10%", lam=0.01, clock="work")
    tree = estimator._tree()
    tree["solver"] = {**tree["solver"], "averaging": {"name": "none"}}
    spec, bare, state, seconds, sizes = json.dumps(tree), resident(), None, dict[str, list[float]](), dict[str, float]()
    for turn in range(given.turns + 1):  # the first is not counted
        began = time.process_time()

        def note(step: str) -> None:
            nonlocal began
            now = time.process_time()
            if turn:
                seconds.setdefault(step, []).append(now - began)
                sizes[step] = max(sizes.get(step, 0.0), resident() - bare)
            began = time.process_time()

        data = _core.ShardData(spec, estimator._data(list(x), list(y)) if given.lists else estimator._data(x, y))
        note("read")
        if turn == 0:
            facts = data.facts()
            everything = _core.merge_facts([facts])
        shard = data.open(everything)
        note("open")
        if state is None:
            settings = {**SETTINGS, "parts": 1, "replays": 0, "target": None, "passes": None}
            coordinator = _core.Coordinator(spec, json.dumps(settings), shard.setup(), [facts])
        else:
            shard.restore(state)
        note("restore")
        answer, *_ = shard.answer(coordinator.request(0))
        coordinator.take([answer])
        note("pass")
        state = shard.save()
        note("save")
        del shard, data
        note("left")
    record = {"examples": given.examples, "lists": given.lists, "state_bytes": len(state), "bare_mb": bare}
    record |= {"cpu_seconds": {step: statistics.median(found) for step, found in seconds.items()}, "more_mb": sizes}
    print(json.dumps(record), flush=True)
    with given.out.open("a") as out:
        out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
