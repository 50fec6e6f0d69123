#!/usr/bin/env python3
"""Kills training runs with SIGKILL, resumes them, and compares the bytes that they end with; measures checkpoints.

    kills.py --program target/dist/multiplane [--kills 50] [--words 600] [--passes 400] [--solver mp-bcfw]

Each kill is one run on synthetic words under the work clock, killed at a moment drawn evenly between its first
checkpoint and the end of an undisturbed run, then resumed with nothing but `--resume`. It counts where model and
record are those of the undisturbed run, byte for byte. Runs that end before their moment comes are made again.

The cost of a checkpoint is what the program reports of runs that write many; at the default interval (a minute, or
100 times what the last one took) its share of the time follows. Prints one JSON object; exit code 1 if any differs.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

USUAL_SECONDS = 60.0
TIMES_COST = 100.0


def run(program, folder, arguments):
    """Runs the program to its end; its standard output."""
    done = subprocess.run([program, *arguments.split()], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def clean(folder):
    for name in ("c", "c.prev", "model", "record"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.remove(path)


def kill_once(program, folder, train, seconds, chance, every):
    """One killed and resumed run; None if it ended before the moment came, else what came of it."""
    clean(folder)
    arguments = f"{train} --out model --record record --checkpoint c --checkpoint-every {every}"
    child = subprocess.Popen([program, *arguments.split()], cwd=folder, stdout=subprocess.DEVNULL)
    while not os.path.exists(os.path.join(folder, "c")):
        if child.poll() is not None:
            return None
        time.sleep(0.0005)
    wait = chance.random() * seconds
    time.sleep(wait)
    child.kill()
    if child.wait() != -9:
        return None
    started = time.monotonic()
    run(program, folder, "train --resume c --quiet")
    same = all(read(folder, ours) == read(folder, theirs)
               for ours, theirs in (("model", "plain"), ("record", "plain.record")))
    return {"killed_after": round(wait, 3), "resumed_seconds": round(time.monotonic() - started, 3), "same": same}


def cost(program, folder, train, every):
    """Checkpoints written, seconds a checkpoint, bytes."""
    clean(folder)
    arguments = f"{train.replace(' --quiet', '')} --checkpoint c --checkpoint-every {every}"
    written, seconds = re.search(r"checkpoints +(\d+) in ([0-9.]+) s", run(program, folder, arguments)).groups()
    return int(written), float(seconds) / int(written), len(read(folder, "c"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--passes", type=int, default=400)
    parser.add_argument("--solver", default="mp-bcfw")
    parser.add_argument("--every", default="0.05")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    program, chance = os.path.abspath(options.program), random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        run(program, folder, f"data make letters --out words --n {options.words}")
        train = (f"train --task chain --data words --solver {options.solver} --gap 0 --passes {options.passes}"
                 " --clock work --quiet")
        started = time.monotonic()
        run(program, folder, f"{train} --out plain --record plain.record")
        seconds = time.monotonic() - started
        kills, ended_first = [], 0
        while len(kills) < options.kills and ended_first < 10 * options.kills:
            killed = kill_once(program, folder, train, seconds, chance, options.every)
            if killed is None:
                ended_first += 1
            else:
                kills.append(killed)
        written, each, size = cost(program, folder, train, options.every)
    same = sum(kill["same"] for kill in kills)
    print(json.dumps({
        "solver": options.solver,
        "words": options.words,
        "passes": options.passes,
        "undisturbed_seconds": round(seconds, 3),
        "kills": len(kills),
        "same_bytes": same,
        "ended_before_the_kill": ended_first,
        "checkpoint_bytes": size,
        "checkpoints_written": written,
        "checkpoint_seconds": round(each, 5),
        "share_at_default_interval": each / max(USUAL_SECONDS, TIMES_COST * each),
        "moments": kills,
    }))
    sys.exit(0 if same == len(kills) == options.kills else 1)


if __name__ == "__main__":
    main()
