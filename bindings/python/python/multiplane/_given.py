"""Parameters that are given twice: as a keyword, and among ``params``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from multiplane._params import plain
from multiplane._solvers import Solver

STOPS = ("gap", "passes", "calls", "seconds", "patience")
"""Keywords of stops."""

USUAL = {"gap": "1%", "passes": 1000}
"""The stops of fits that are given none, where the solver has a gap and does not learn online."""

_NAMES = {
    "lam": "lambda",
    **{name: f"stop.{name}" for name in STOPS},
    **{name: name for name in ("seed", "clock", "threads")},
    "n_jobs": "threads",
    "prior": "regularizer.prior",
}
"""Dotted names of keywords."""


def changed(estimator: Any, names: tuple[str, ...]) -> list[str]:
    """Those keywords that are not what they are by default."""
    defaults = inspect.signature(type(estimator).__init__).parameters
    known = [name for name in names if name in defaults]  # a subclass may have fewer
    return [name for name in known if not _is(getattr(estimator, name), defaults[name].default)]


def _is(value: Any, default: Any) -> bool:
    """Whether a value is what it is by default; arrays and tables never are."""
    if value is default:
        return True
    if isinstance(default, (str, int, float)) and isinstance(value, (str, int, float, np.generic)):
        return bool(value == default)
    return False


_TASKS = {
    "class_weight": "class_weights",
    **{
        name: name
        for name in (
            "bias", "ends", "transitions", "template", "min_count", "loss", "label_weights", "partial", "rescaling", "scale",
            "apart", "bin_kernel", "inference", "max_iterations", "pairwise", "potts", "kernel_budget", "kernel_rows", "levels",
            "max_sets", "none", "normalise", "search", "stride", "windows", "words", "alpha", "edges", "torso", "types",
        )
    },
    "root": "structure.root",
    "distances": "structure.distances",
}  # fmt: skip
"""Keywords of tasks with the names that the core has for them; those of kernels are apart."""


def task_names(cls: type[Any]) -> dict[str, str]:
    """The keywords of an estimator's class that are parameters of its task, with the names that the core has for them."""
    arguments = inspect.signature(cls.__init__).parameters
    return {name: core for name, core in _TASKS.items() if name in arguments}


def task_keywords(estimator: Any, values: dict[str, Any]) -> dict[str, str]:
    """Keywords that give these parameters of a task, by dotted names, as errors show them."""
    found: dict[str, str] = {}
    for keyword, core in task_names(type(estimator)).items():
        if core in values:
            shown = repr(getattr(estimator, keyword))
            text = f"{keyword} = {shown if len(shown) <= 60 else shown[:57] + '...'}"
            found |= dict.fromkeys(_leaves(values[core], f"task.{core}"), text)
    return found


def keywords(estimator: Any) -> dict[str, str]:
    """Keywords of all estimators that are not what they are by default: by dotted names, as errors show them."""
    found = {_NAMES[name]: f"{name} = {getattr(estimator, name)!r}" for name in changed(estimator, tuple(_NAMES))}
    solver = estimator.solver
    if isinstance(solver, Solver):
        found |= {name: f"solver = {solver!r}" for name in _leaves(plain(solver._tree(), "solver"), "solver")}
    elif changed(estimator, ("solver",)):
        found["solver.name"] = f"solver = {solver!r}"
    return found


def _leaves(value: Any, name: str) -> Iterator[str]:
    """The dotted names of what a value says, which stands at ``name``."""
    if not isinstance(value, dict):
        yield name
        return
    for key, below in value.items():
        yield from _leaves(below, f"{name}.{key}")


def refuse_twice(given: dict[str, str], dotted: str, value: Any) -> None:
    """Refuses a parameter that is among the keywords given, too; a choice may be named with ``.name`` or without."""
    for leaf in _leaves(value, dotted):
        for same in (leaf, f"{leaf}.name", leaf.removesuffix(".name")):
            if same in given:
                raise ValueError(f"{given[same]} and params[{dotted!r}]: give one of them")
