"""The one place where a trained model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multiplane
from multiplane.vision._errors import VisionError

Ids = NDArray[np.int64]


def load_model(path: Path, task: str = "graph") -> Any:
    """A model of a task. Raises ``VisionError`` for anything else."""
    try:
        model = multiplane.load(path)
    except (OSError, ValueError) as error:
        text = str(error)
        raise VisionError(text if str(path) in text else f"{path}: {text}") from None
    if getattr(type(model), "_task", None) != task:
        raise VisionError(f"{path}: a model of {type(model).__name__}, expected one of task {task}")
    return model


def check(model: Any, path: Path, features: int, classes: list[int], like: Path, made: str) -> None:
    """Raises ``VisionError`` if a model does not fit the node features or class ids, or its features were not ``made``
    like those of the file ``like``.
    """
    expected = getattr(model, "n_features_in_", features)
    if expected != features:
        raise VisionError(
            f"the model has {expected} features a node, these graphs {features}: was it trained on the file of --like?"
        )
    known = getattr(model, "features_id_", None)
    if known is not None and known != made:
        raise VisionError(
            f"{like}: its features are scaled by other images, or made with other settings, than those that {path} was "
            "trained on: give the file of its training as --like"
        )
    for label in getattr(model, "classes_", []):
        if label not in classes:
            raise VisionError(f"{path}: answers with label {label}, which the file of --like does not know")


def predict(model: Any, container: Path, nodes: list[int]) -> list[Ids]:
    """Class ids of the nodes of each graph in a container.

    Args:
        model: What ``load_model`` gave.
        container: The graphs, built with ``like`` the file that the model was trained on.
        nodes: How many nodes each graph has.

    Raises ``VisionError`` where the model does not fit the graphs.
    """
    try:
        answers = [np.asarray(answer).astype(np.int64) for answer in model.predict(container)]
    except ValueError as error:
        raise VisionError(f"the model does not fit these graphs: {error}") from None
    if [len(answer) for answer in answers] != nodes:
        raise VisionError("the model does not fit these graphs: it gives labellings of other lengths")
    return answers
