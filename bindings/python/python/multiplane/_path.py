"""The regularisation path: weights for every lambda of a range, each with its certificate."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import numpy as np

from multiplane import _core
from multiplane._errors import warn
from multiplane._fit_options import checkpoints
from multiplane._history import axes


def further(cv: Any, checkpoint: Any = None, every: Any = None, resume: Any = None) -> tuple[Any, Any]:
    """What ``path()`` is asked beside its path, as the core takes it."""
    if cv is not None and (checkpoint is not None or resume is not None):
        raise ValueError(
            "cv: cross-validation has no checkpoints: its folds are runs of their own, one after the other; give checkpoint and "
            "resume without cv"
        )
    return _folds(cv), checkpoints(checkpoint, every, resume)


def _folds(cv: Any) -> int | list[int] | None:
    """A number of folds, or for every example the number of its own, from 0 on in the order of what they are called."""
    if cv is None:
        return None
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        count = int(cv)
        if not 2 <= count < 2**32:
            raise ValueError(f"cv = {count if abs(count) < 2**64 else '...'}: expected a number of folds, at least 2")
        return count
    names = None if isinstance(cv, (str, bytes, dict, bool)) or not hasattr(cv, "__len__") else np.asarray(cv)
    if names is None or names.ndim != 1 or names.dtype.kind not in "iuUS":
        raise ValueError(f"cv = {str(cv)[:40]}: expected a number of folds, or a list with the number of each example's fold")
    numbers: Any = np.unique(names, return_inverse=True)[1]
    if len(names) == 0 or numbers.max() == 0:
        raise ValueError("cv: all examples are of one fold: expected at least two")
    return [int(number) for number in numbers]


class PathResult:
    """What ``path`` returns.

    Attributes:
        lambdas_: Breakpoints, falling, ``[B]``; the weights of row k hold down to the next one.
        primal_: P at each breakpoint, ``[B]``.
        dual_: F at each breakpoint, ``[B]``.
        coef_: Weights, ``[B, d]`` in the layout of model files.
        lambda_end_: The smallest lambda that the path answers for.
        stop_reason_: ``"lambda-min"`` where it is complete, else the stop that ended it.
        summary_: The report as a dict: ``breakpoints`` with gaps, passes, seconds and losses, ``cross_validation`` with the losses
            of examples held out, ``stop_reason``, ...
    """

    def __init__(self, model: _core.PathModel, summary: dict[str, Any], estimator: Any) -> None:
        self._model = model
        self._estimator = estimator  # that the path was made with: `at` copies it
        self.summary_ = summary
        lambdas, primal, dual, w = (np.frombuffer(part, dtype=np.float64) for part in model.parts())
        self.lambdas_, self.primal_, self.dual_ = lambdas, primal, dual
        self.coef_ = w.reshape(len(lambdas), -1)
        self.certified_ = bool(summary["certified"])
        info = json.loads(model.info())
        self.lambda_end_, self.stop_reason_ = float(info["lambda_end"]), str(info["stop_reason"])

    def __len__(self) -> int:
        return len(self.lambdas_)

    def at(self, lam: float) -> Any:
        """A fitted estimator for one lambda of the path."""
        model, warning = self._model.at(lam), self._model.warning_at(lam)
        if warning is not None:
            warn(warning)
        found = copy.copy(self._estimator)
        found.lam = lam
        found._from_model(model)
        known, loaded = (getattr(estimator, "classes_", []) for estimator in (self._estimator, found))
        if len(known) and [str(name) for name in known] == [str(name) for name in loaded]:
            vars(found)["classes_"] = known  # of the type that they had in training
        return found

    def predict(self, X: Any, lam: float) -> Any:
        """Predictions with the weights of one lambda, as those of ``at(lam)``."""
        return self.at(lam).predict(X)

    @property
    def best(self) -> Any:
        """A fitted estimator for the lambda whose weights have the smallest loss on examples held out (``cv``), without such on
        the test data, the largest of them where there are several. Raises ``ValueError`` unless the path was given one of them.
        """
        chosen = self._best_lambda()
        if chosen is None:
            raise ValueError(
                "no test loss was measured: path(X, y, X_test=..., y_test=...) measures it at every breakpoint; path(X, y, cv=5) "
                "cross-validates"
            )
        return self.at(chosen)

    def _best_lambda(self) -> float | None:
        """The lambda of ``best``, if losses were measured."""
        chosen = json.loads(self._model.info()).get("chosen")
        if chosen is None:  # as in files that do not remember what test data have chosen
            losses = [(point.get("test_loss"), point["lambda"]) for point in self.summary_["breakpoints"]]
            measured = [(loss, -lam) for loss, lam in losses if loss is not None]
            chosen = -min(measured)[1] if measured else None
        return None if chosen is None else float(chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the path's model file, which ``multiplane predict --lambda`` reads too. Raises OSError where it cannot be written."""
        self._model.save(path)

    def plot(self, ax: Any = None) -> Any:
        """Draws primal and dual over lambda, rising as in the command line's pictures, and, if losses were measured, these and the
        lambda of ``best``; needs matplotlib.
        """
        ax = axes(ax)
        ax.plot(self.lambdas_, self.primal_, ".-", label="primal")
        ax.plot(self.lambdas_, self.dual_, ".-", label="dual")
        for key, label in (("train_loss", "training loss"), ("test_loss", "test loss")):
            losses = [point.get(key) for point in self.summary_["breakpoints"]]
            if all(loss is not None for loss in losses):
                ax.plot(self.lambdas_, losses, "--", label=label)
        held_out = (self.summary_.get("cross_validation") or {}).get("losses", [])
        if held_out:
            at, mean, spread = (np.array([row[key] for row in held_out], dtype=float) for key in ("lambda", "mean_loss", "std_loss"))
            (line,) = ax.plot(at, mean, "--", label="held-out loss")
            ax.fill_between(at, mean - spread, mean + spread, color=line.get_color(), alpha=0.2, linewidth=0)
        best = self._best_lambda()
        if best is not None:
            ax.axvline(best, color="black", linestyle=":", linewidth=1, label=f"best: {best:.3g}")
        ax.set_xscale("log")
        ax.set_xlabel("lambda")
        ax.set_ylabel("objective" if best is None else "objective, loss")
        ax.legend()
        return ax

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": self._model.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._model = _core.PathModel.from_bytes(state["_model"])

    def __repr__(self) -> str:
        return f"PathResult({len(self)} breakpoints, lambda {self.lambdas_[0]:.4g} to {self.lambda_end_:.4g})"
