"""The regularisation path: weights for every lambda of a range, each with its certificate."""

from __future__ import annotations

import copy
import json
import os
from typing import Any

import numpy as np

from multiplane import _core
from multiplane._history import axes


class PathResult:
    """What ``path`` returns.

    Attributes:
        lambdas_: Breakpoints, falling, ``[B]``; the weights of row k hold down to the next one.
        primal_: P at each breakpoint, ``[B]``.
        dual_: F at each breakpoint, ``[B]``.
        coef_: Weights, ``[B, d]`` in the layout of model files.
        lambda_end_: The smallest lambda that the path answers for.
        stop_reason_: ``"lambda-min"`` where it is complete, else the stop that ended it.
        summary_: The report as a dict: ``breakpoints`` with gaps, passes, seconds and losses, ``stop_reason``, ...
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
        model = self._model.at(lam)
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
        """A fitted estimator for the lambda whose weights have the smallest test loss, the largest of them where there are
        several; raises ``ValueError`` unless the path was given ``X_test`` and ``y_test``.
        """
        losses = [point.get("test_loss") for point in self.summary_["breakpoints"]]
        measured = [(loss, k) for k, loss in enumerate(losses) if loss is not None]
        if not measured:
            raise ValueError("no test loss was measured: path(X, y, X_test=..., y_test=...) measures it at every breakpoint")
        return self.at(float(self.lambdas_[min(measured)[1]]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the path's model file, which ``multiplane predict --lambda`` reads too."""
        self._model.save(path)

    def plot(self, ax: Any = None) -> Any:
        """Draws primal and dual over lambda, rising as in the command line's pictures, and losses where they were measured; needs matplotlib."""
        ax = axes(ax)
        ax.plot(self.lambdas_, self.primal_, ".-", label="primal")
        ax.plot(self.lambdas_, self.dual_, ".-", label="dual")
        for key, label in (("train_loss", "training loss"), ("test_loss", "test loss")):
            losses = [point.get(key) for point in self.summary_["breakpoints"]]
            if all(loss is not None for loss in losses):
                ax.plot(self.lambdas_, losses, "--", label=label)
        ax.set_xscale("log")
        ax.set_xlabel("lambda")
        ax.legend()
        return ax

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": self._model.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._model = _core.PathModel.from_bytes(state["_model"])

    def __repr__(self) -> str:
        return f"PathResult({len(self)} breakpoints, lambda {self.lambdas_[0]:.4g} to {self.lambdas_[-1]:.4g})"
