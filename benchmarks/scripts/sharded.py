"""Passes over the data of sharded training against one machine's `auto`, to a certified gap of 1 % at lambda = 1/n.

    python benchmarks/scripts/sharded.py usps usps.txt --shards 1 4 16 --out runs/DATE/sharded.jsonl

Shards are consecutive pieces of the file, in this process or, with `--executor ray`, in actors, whose memory is told. F is asserted not to fall in any round.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import multiplane
from memory import sampled
from multiplane.distributed import train

KINDS = {"usps": multiplane.MulticlassSSVM, "ocr": multiplane.ChainSSVM}


def pieces(task: str, path: Path) -> list[str]:
    """The examples as text."""
    lines = path.read_text().splitlines(keepends=True)
    if task == "usps":
        return lines
    found, word = [], []
    for line in lines:
        word.append(line)
        if line.split("\t")[2] == "-1":  # the last letter of a word
            found.append("".join(word))
            word = []
    return found


def main() -> None:
    """Measures, and appends a line for each number of shards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=KINDS)
    parser.add_argument("path", type=Path)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--executor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    examples = pieces(given.task, given.path)
    load = multiplane.load_libsvm if given.task == "usps" else multiplane.load_letters
    args = {"gap": "1%", "lam": "1/n", "clock": "work", "seed": given.seed}
    for count in [0, *given.shards]:
        begun = time.perf_counter()
        record: dict[str, object] = {"task": given.task, "shards": count, "seed": given.seed}
        if count == 0:
            with sampled(0.2) as peak:
                fitted = KINDS[given.task](**args).fit(*load(given.path))
            calls = fitted.summary_["oracle_calls"] + fitted.summary_["evaluation_calls"]
            record |= {"passes": calls / len(examples)}
        else:
            with tempfile.TemporaryDirectory() as folder:
                files = [Path(folder) / f"{k}.txt" for k in range(count)]
                for k, file in enumerate(files):
                    file.write_text("".join(examples[len(examples) * k // count : len(examples) * (k + 1) // count]))
                rounds: list[dict[str, float]] = []

                def watch(round_: dict[str, float], rounds: list[dict[str, float]] = rounds) -> None:
                    assert not rounds or round_["dual"] >= rounds[-1]["dual"], "F fell"
                    rounds.append(round_)

                with sampled(0.2) as peak:
                    fitted = train(KINDS[given.task](seconds=given.seconds, **args), files, callback=watch, executor=given.executor)
                done = fitted.summary_["distributed"]
                size = 8 * fitted.coef_.size
                record |= {"passes": rounds[-1]["passes"], "rounds": done["rounds"], "reason": fitted.stop_reason_}
                record |= {"bytes_per_worker_and_w": done["bytes_per_round"] / count / size, "worker_seconds": sum(done["worker_seconds"])}
        record |= {"driver_mb": peak.get("driver"), "largest_worker_mb": peak.get("largest worker")}
        record |= {"primal": fitted.primal_, "dual": fitted.dual_, "seconds": time.perf_counter() - begun}
        print(json.dumps(record), flush=True)
        with given.out.open("a") as out:
            out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
