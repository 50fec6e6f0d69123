"""Memory of this process and of those that it has started, Ray's among them, sampled while something runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def resident() -> dict[str, float]:
    """Megabytes of this process and those that it has started, by kind."""
    parents, names = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{process}/stat").read_text()
            names[int(process)] = text[text.index("(") + 1 : text.rindex(")")]
            parents[int(process)] = int(text[text.rindex(")") + 2 :].split()[1])
        except OSError:
            continue
    found = {"driver": 0.0, "workers": 0.0, "ray": 0.0, "largest worker": 0.0}
    for process in parents:
        above = process
        while above not in (os.getpid(), 0):
            above = parents.get(above, 0)
        if not above:
            continue
        kind = "driver" if process == os.getpid() else "workers" if names[process].startswith("ray::Worker") else "ray"
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            size = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3
        except OSError:
            continue
        found[kind] += size
        if kind == "workers":
            found["largest worker"] = max(found["largest worker"], size)
    return {**found, "all": found["driver"] + found["workers"] + found["ray"]}


@contextmanager
def sampled(every: float) -> Iterator[dict[str, float]]:
    """The largest sizes so far, looked at every so many seconds."""
    ended, peak = threading.Event(), dict[str, float]()

    def sample() -> None:
        while not ended.wait(every):
            for kind, size in resident().items():
                peak[kind] = max(peak.get(kind, 0.0), size)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()
