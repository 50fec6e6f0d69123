"""Advice on keywords that do not exist: scikit-learn's ten most common ones, and those that look like one that exists."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Mapping
from typing import Any

WORDS: dict[str, tuple[str, str]] = {
    "C": ("lam", 'lam="c:{value}" (lambda = 1/(C n))'),
    "alpha": ("lam", "lam={value} (lambda of the objective lambda/2 |w|^2 + mean hinge)"),
    "penalty": ("lam", "nothing: the penalty is lambda/2 |w|^2, of strength lam"),
    "max_iter": ("passes", "passes={value}: oracle calls per example"),
    "c2": ("lam", 'lam="cv", or a number: lambda of the objective lambda/2 |w|^2 + mean hinge'),
    "c1": ("lam", "nothing: the penalty is lambda/2 |w|^2, of strength lam; there is no L1"),
    "min_freq": ("min_count", "min_count={value}"),
    "algorithm": ("solver", 'solver="auto", or another of multiplane.solvers'),
    "tol": ("gap", 'gap={value}, an absolute duality gap, or percent of the primal as in gap="1%"'),
    "random_state": ("seed", "seed={value}"),
    "verbose": ("progress", "progress=True or False; by default it is shown on terminals and in notebooks"),
    "fit_intercept": ("bias", "bias={value}: a feature that is always 1, regularised like the others"),
    "early_stopping": ("patience", "patience=5, and test data among the arguments of `fit` (X_test, ...)"),
    "validation_fraction": ("holdout", 'holdout="20%", or a number of examples'),
}
"""The keyword that a word means, and what to write; ``{value}`` is the value given."""

OF_FIT = ("callbacks", "checkpoint", "checkpoint_every", "resume")
"""Keywords of every ``fit``."""

_PATH = {
    "gap": "eps={value}: the gap of every lambda of the path",
    "lam": "lambda_min=... and lambda_max=..., the range of the path",
}
"""Keywords of estimators with another name among the arguments of ``path``."""

_HOLDOUT = "X_test=... and Y_test=... among the arguments of `fit`: examples of a task of your own are yours to divide"


def _shown(value: Any) -> str:
    """A value as it is written, or dots for a long one."""
    shown = repr(value)
    return shown if len(shown) <= 40 and value is not ... else "..."


def like(name: str, known: Collection[str], cutoff: float = 0.75) -> str:
    """The end of a message that names what looks like ``name``; empty if nothing does."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f": did you mean {close[0]!r}?" if close else ""


def advice(name: str, known: Collection[str], value: Any = None) -> str:
    """The end of a message about an unknown parameter: what to write; empty if nothing is like it."""
    keyword, text = WORDS.get(name, ("", ""))
    if name in OF_FIT:
        return f": it is an argument of `fit`: write fit(X, y, {name}={_shown(value)})"
    if name in ("executor", "ray_options"):
        return ": it is of estimators whose oracle is written in Python, as StructuredSVM; compiled oracles run in threads (n_jobs)"
    if "holdout" in (name, keyword) and "holdout" not in known:
        return f": write {_HOLDOUT}"
    if text:
        return f": write {text.format(value=_shown(value))}" if keyword in known else f": there is no {keyword} here"
    return like(name.removeprefix("task."), known)  # a task's parameter by the name that it has among params


def refuse_keywords(given: Mapping[str, Any], estimator: Any, method: str) -> None:
    """Refuses arguments that a method does not have, by the name of the class that the user knows, with what to write."""
    for name, value in given.items():
        text = f"{type(estimator).__name__}.{method}() got an unexpected keyword argument {name!r}"
        raise TypeError(text + _advice_for_call(name, value, estimator, method))


def _advice_for_call(name: str, value: Any, estimator: Any, method: str) -> str:
    arguments, known = inspect.signature(getattr(type(estimator), method)).parameters, estimator._names()
    if name not in known and WORDS.get(name, ("", ""))[0] in known:
        name, value = WORDS[name][0], ...
    if method == "path" and name in _PATH:
        return f": write {_PATH[name].format(value=_shown(value))}"
    if name in known:
        label = "Y" if "Y" in arguments else "y"
        first = "task, " if "task" in known else ""
        return f": it is of the estimator: write {type(estimator).__name__}({first}{name}={_shown(value)}).{method}(X, {label})"
    options = list(OF_FIT) if "options" in arguments else []
    if "others" in arguments:  # of rows it is no name of the signature
        options.append("sample_weight")
    return like(name, [*arguments, *options])
