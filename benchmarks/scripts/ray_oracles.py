#!/usr/bin/env python3
"""Oracles in actors of a Ray cluster on this machine: overhead, speed, and kills.

    ray_oracles.py overhead [--examples 5000]       an oracle that takes no time, in batches, against this process
    ray_oracles.py speed [--milliseconds 20]        real work of so many ms a call: one process, and 1 and 2 actors, to one gap
    ray_oracles.py kills [--kills 100] [--actors 3] actors are killed at random moments, by Ray and by the system, in turn

Every part compares the bytes of the model with those of one process. `kills` repeats fits of an oracle of 1 ms and kills an actor
of each after times drawn from 0.1 to 1 s, up to five times, until there were enough kills; a fit without
a record for 120 s counts as hung. Prints one JSON object; exit code 1 if bytes differ or a fit hangs.
"""

import argparse
import faulthandler
import json
import os
import random
import signal
import sys
import threading
import time
import warnings

import numpy as np
import ray

from multiplane import ClusterWarning, StructuredSVM

HUNG = 120.0


class Classes:
    """Four classes; every call works for so many seconds of a core, or waits."""

    quality = "exact"

    def __init__(self, work=0.0, wait=0.0, width=8):
        self.work, self.wait, self.width = work, wait, width

    def dim(self):
        return 4 * self.width

    def features(self, x, y):
        phi = np.zeros(self.dim())
        phi[y * self.width : (y + 1) * self.width] = x
        return phi

    def loss(self, truth, y):
        return float(truth != y)

    def decode(self, x, w, truth=None):
        begun = time.process_time()
        scores = w.reshape(4, self.width) @ x
        if truth is not None:
            scores = scores + (np.arange(4) != truth)
        while time.process_time() - begun < self.work:
            pass
        time.sleep(self.wait)
        return int(scores.argmax())


def data(n, width=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    return list(2.0 * rng.normal(size=(4, width))[y] + 2.0 * rng.normal(size=(n, width))), y.tolist()


def fitted(task, x, y, actors=None, callbacks=None, **given):
    """A fit, and the seconds of its run without those in which actors start."""
    model = StructuredSVM(task, executor="ray" if actors else None, n_jobs=actors, **{"clock": "work", **given})
    begun = time.perf_counter()
    model.fit(x, y, callbacks=callbacks)
    wall = time.perf_counter() - begun
    return model, wall, model.summary_["cluster"]["run_seconds"] if actors else wall


def overhead(options):
    """Seconds for a call of an oracle of 0: what a pass takes more than in this process."""
    x, y = data(options.examples)
    found = {"examples": len(x)}
    for actors in (None, 1, 2):
        model, wall, run = fitted(Classes(), x, y, actors, solver="fw", passes=10)
        calls = model.summary_["oracle_calls"] + model.summary_["evaluation_calls"]
        first = model.coef_.tobytes() if actors is None else first
        found[str(actors or "process")] = {"calls": calls, "wall": wall, "run": run, "us_a_call": 1e6 * run / calls}
        found[str(actors or "process")]["same"] = model.coef_.tobytes() == first
        if actors:
            found[str(actors)]["price"] = model.summary_["cluster"]["price"]
    return found, all(part["same"] for part in found.values() if isinstance(part, dict))


def speed(options):
    """Wall seconds to a gap of 5 %."""
    x, y = data(options.examples or 400)
    found = {"examples": len(x), "milliseconds": options.milliseconds}
    for name, actors, threads in (("process", None, None), ("1 actor", 1, None), ("2 actors", 2, None), ("n_jobs=2", None, 2)):
        seconds = 1e-3 * options.milliseconds
        task = Classes(wait=seconds) if options.wait else Classes(work=seconds)
        stop = {"passes": options.passes} if options.passes else {"gap": "5%"}
        given = {"solver": options.solver, "clock": options.clock, **stop}
        model, wall, run = (
            fitted(task, x, y, actors, **given) if not threads else in_processes(task, x, y, threads, **given)
        )
        first = model.coef_.tobytes() if name == "process" else first
        found[name] = {"wall": wall, "run": run, "gap": model.gap_, "calls": model.summary_["oracle_calls"]}
        found[name] |= {"evaluation_calls": model.summary_["evaluation_calls"], "same": model.coef_.tobytes() == first}
        print(name, found[name], file=sys.stderr, flush=True)
    found["2 actors against 1"] = found["1 actor"]["run"] / found["2 actors"]["run"]
    found["the same, with their start"] = found["1 actor"]["wall"] / found["2 actors"]["wall"]
    return found, options.clock == "wall" or all(part["same"] for part in found.values() if isinstance(part, dict))


def in_processes(task, x, y, jobs, **given):
    begun = time.perf_counter()
    model = StructuredSVM(task, n_jobs=jobs, **given).fit(x, y)
    wall = time.perf_counter() - begun
    return model, wall, wall


def kills(options):
    """Kills of actors: by ray.kill, and by SIGKILL of its process."""
    x, y = data(options.examples or 120)
    given = {"solver": "fw", "passes": 20}
    expected = StructuredSVM(Classes(), clock="work", **given).fit(x, y).coef_.tobytes()
    chance, killed = random.Random(options.seed), {"ray.kill": 0, "SIGKILL": 0}
    outcomes = {"fits": 0, "same": 0, "hung": 0, "failed": []}
    restarted = asked_again = 0
    while sum(killed.values()) < options.kills and not outcomes["hung"]:
        done, begun = threading.Event(), time.monotonic()

        def disturb(done=done):
            most = min(options.kills, sum(killed.values()) + options.each)  # actors take longer to start than to be killed
            while not done.wait(chance.uniform(0.1, 1.0)) and sum(killed.values()) < most:
                there = [actor for actor in ray.util.list_named_actors() if actor.startswith("multiplane-")]
                if not there:
                    continue
                try:
                    actor = ray.get_actor(chance.choice(there))
                    if chance.random() < 0.5:
                        ray.kill(actor)
                        killed["ray.kill"] += 1
                    else:
                        os.kill(ray.get(actor.run.remote(os.getpid, []), timeout=5), signal.SIGKILL)
                        killed["SIGKILL"] += 1
                except (ValueError, ProcessLookupError, ray.exceptions.RayError):
                    pass  # it has ended by itself

        killer = threading.Thread(target=disturb)
        killer.start()
        result = {"at": time.monotonic()}

        def fit(result=result):
            try:
                note = lambda record: result.update(at=time.monotonic())  # noqa: E731
                result["model"], *_ = fitted(Classes(1e-3), x, y, options.actors, note, **given)
            except Exception as error:
                result["error"] = error

        fitting = threading.Thread(target=fit, daemon=True)
        fitting.start()
        while fitting.is_alive() and time.monotonic() - result["at"] < HUNG:
            fitting.join(1.0)
        done.set()
        killer.join()
        outcomes["fits"] += 1
        if fitting.is_alive():
            outcomes["hung"] += 1
            faulthandler.dump_traceback()
        elif "error" in result:
            outcomes["failed"].append(f"{type(result['error']).__name__}: {result['error']}"[:300])
        else:
            outcomes["same"] += result["model"].coef_.tobytes() == expected
            mishaps = result["model"].summary_.get("mishaps", {})
            restarted += mishaps.get("restarted", 0)
            asked_again += mishaps.get("asked_again", 0)
        print(time.monotonic() - begun, killed, outcomes, file=sys.stderr, flush=True)
    outcomes |= {"killed": killed, "restarted": restarted, "asked_again": asked_again, "actors": options.actors}
    return outcomes, outcomes["same"] == outcomes["fits"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["overhead", "speed", "kills"])
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--milliseconds", type=float, default=20.0)
    parser.add_argument("--wait", action="store_true", help="calls wait in place of working, as on cores of other machines")
    parser.add_argument("--passes", type=float, help="in place of the gap")
    parser.add_argument("--clock", default="wall", help="by the wall clock decisions, and so bits, depend on measured times")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--each", type=int, default=5, help="kills of actors in one fit, at most")
    parser.add_argument("--actors", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.part == "overhead":
        options.examples = options.examples or 5000
    warnings.simplefilter("ignore", ClusterWarning)
    ray.init("local", num_cpus=max(4, options.actors), include_dashboard=False, log_to_driver=False, logging_level="error")
    found, is_good = {"overhead": overhead, "speed": speed, "kills": kills}[options.part](options)
    print(json.dumps(found, indent=1))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
