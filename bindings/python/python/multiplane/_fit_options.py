"""Keywords of every ``fit`` that say how it runs: callbacks, and checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np

from multiplane._words import refuse_keywords

Callback = Callable[[dict[str, Any]], object]
"""Called with a record of the fit."""


class FitOptions(TypedDict, total=False):
    """Keywords of every ``fit``.

    Recipes::

        # MLflow: the curves of a fit, live; records have numbers, names and None
        with mlflow.start_run():
            numbers = lambda record: {key: value for key, value in record.items() if type(value) in (int, float)}
            model.fit(X, y, callbacks=lambda record: mlflow.log_metrics(numbers(record), step=record["oracle_calls"]))

        # TensorBoard
        writer = SummaryWriter()
        show = lambda record: writer.add_scalar("dual", record["dual"], record["oracle_calls"])
        model.fit(X, y, callbacks=show)

        # Optuna: an unpromising trial is pruned by its test loss
        def prune(record):
            trial.report(record["test_loss"], record["iterations"])
            return trial.should_prune()
        if model.fit(X, y, X_test=X_test, y_test=y_test, callbacks=prune).stop_reason_ == "callback":
            raise optuna.TrialPruned

    Attributes:
        callbacks: Called with every record of the fit, on the thread that called it: one callable, or a list. A record is a
            dict with the keys of ``history_``. If one returns True the fit ends: ``stop_reason_`` is ``"callback"``, and
            bounds are evaluated if that takes no more than a moment. An exception ends it as well, and is raised.
        checkpoint: A file that keeps the state of the fit, written on the way, at the end, after Ctrl-C and after an exception
            of your task: the last one and the one before (``.prev``). The command line reads it, too.
        checkpoint_every: Seconds between checkpoints; by default a minute, or more if writing takes long.
        resume: A checkpoint to go on from, in place of a warm start, with the same data and parameters (stops may differ): to
            the bit the fit that was not interrupted, with ``clock="work"``. ``history_`` has the records from there on. Checkpoints
            go on there, unless ``checkpoint`` says where. A task of your own is recognised by its class, ``quality`` and the features
            of truths. After a call of it that failed the fit goes on behind that call, so not to the bit.
        update_from: A checkpoint of a fit on other data, in place of :meth:`update`: examples of both are known by their content,
            and the fit begins at its dual point. Not for a task of your own.
    """

    callbacks: Callback | Sequence[Callback] | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float | None
    resume: str | os.PathLike[str] | None
    update_from: str | os.PathLike[str] | None


class WeightedFitOptions(FitOptions, total=False):
    """Those of fits whose weights of examples are no name of the signature."""

    sample_weight: Any


FURTHER = """
        Further keywords are ``callbacks``, which hear of every record, and ``checkpoint``, ``checkpoint_every`` and ``resume``: see
        :class:`multiplane.FitOptions`. What ends the fit early, Ctrl-C or an exception of a callback or of your task, is raised when the
        results so far are in place; its attribute ``estimator`` is this estimator.
"""


def with_options(fit: Any) -> Any:
    """Adds the keywords of every ``fit`` to its documentation."""
    fit.__doc__ = fit.__doc__.rstrip() + "\n" + FURTHER
    return fit


def refuse_others(others: tuple[Any, ...], given: Any, estimator: Any, *known: str) -> None:
    """Refuses what a fit is given by position after X and y, and keywords that neither ``FitOptions`` nor this fit has, with what
    to write.
    """
    if others:
        name, count = type(estimator).__name__, len(others)
        raise TypeError(f"{name}.fit() takes X and y by position, found {count} more: weights of examples are sample_weight=...")
    own = (*FitOptions.__annotations__, *known)
    refuse_keywords({name: value for name, value in given.items() if name not in own}, estimator, "fit")


def callbacks_of(options: FitOptions) -> list[Callback]:
    """The callbacks as a list."""
    given = options.get("callbacks")
    found: Any = [] if given is None else [given] if callable(given) else given
    if not isinstance(found, (list, tuple)) or not all(map(callable, found)):
        raise ValueError(f"callbacks = {given!r}: expected a callable, or a list of them")
    return list(found)


def checkpoints(checkpoint: Any, every: Any, resume: Any) -> tuple[Any, float | None, Any]:
    """Where checkpoints go and which one to go on from, as the core takes it."""
    if every is not None and checkpoint is None and resume is None:
        raise ValueError("checkpoint_every: there is no checkpoint to write: checkpoint says where")
    if every is not None and (isinstance(every, bool) or not isinstance(every, (int, float, np.integer, np.floating))):
        raise ValueError(f"checkpoint_every = {every!r}: must be a number of seconds > 0")
    return checkpoint, None if every is None else float(every), resume
