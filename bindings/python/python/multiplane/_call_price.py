"""What a call costs on a cluster, and on this machine."""

from __future__ import annotations

BATCH_SECONDS = 2e-3
"""Seconds of work in a batch; ``MESSAGE_SECONDS`` of the core."""

BATCH = 64
"""Questions in a batch, at most; ``LARGEST_BATCH`` of the core."""

DRIVER = 5e-5
"""Seconds that the driver takes for an answer, about: it reads it and makes its plane."""


def estimate(call: float, trip: float, actors: int, local: int) -> dict[str, float]:
    """Seconds for a call on a cluster of so many actors, and on so many cores here. A batch lasts 2 ms, or one call; while one
    travels the other one is worked on; and the driver takes its time for each answer.
    """
    batch = min(max(int(BATCH_SECONDS / max(call, 1e-9)), 1), BATCH)
    work = call * batch
    cluster = max(max(work, (work + trip) / 2.0) / (batch * actors), DRIVER)
    return {"cluster": cluster, "here": call / min(local, actors)}


def shown(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 1.0 else f"{seconds:.2g} s"
