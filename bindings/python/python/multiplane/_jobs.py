"""What ``n_jobs`` means: scikit-learn's and joblib's rules."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def effective(n_jobs: Any) -> int:
    """The number of workers: None is 1, -1 all cores, -2 all but one, and so on; never below 1."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise ValueError(f"n_jobs = {n_jobs!r}: expected a whole number or None")
    if n_jobs == 0:
        raise ValueError("n_jobs = 0: has no meaning; 1 is no parallelism, -1 all cores")
    number = int(n_jobs)
    return number if number > 0 else max(1, cores() + 1 + number)
