"""How good a segmentation is, counted in pixels at full size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def confusion(truth: NDArray[Any], answer: NDArray[Any], classes: list[int], ignore: int | None) -> NDArray[np.int64]:
    """Pixels ``[true class, class found]``; those without a label are left out."""
    known = np.full(256, -1, dtype=np.int64)
    known[classes] = np.arange(len(classes))
    if ignore is not None:
        known[ignore] = -1
    rows, columns = known[truth.ravel()], known[answer.ravel()]
    keep = rows >= 0
    count = len(classes)
    index = rows[keep] * count + columns[keep]
    return np.asarray(np.bincount(index, minlength=count * count).reshape(count, count), dtype=np.int64)


def scores(table: NDArray[np.int64], classes: list[int], names: list[str]) -> dict[str, Any]:
    """Accuracy and intersection over union per class from a confusion table, None for a class that does not occur, and
    their means.
    """
    hits, true, found = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    union = true + found - hits
    per_class: list[dict[str, Any]] = [
        {
            "id": label,
            "name": name,
            "pixels": int(true[k]),
            "accuracy": float(hits[k] / true[k]) if true[k] else None,
            "iou": float(hits[k] / union[k]) if union[k] else None,
        }
        for k, (label, name) in enumerate(zip(classes, names, strict=True))
    ]
    present = [one for one in per_class if one["iou"] is not None]
    accuracies = [one["accuracy"] for one in present if one["accuracy"] is not None]
    total = int(table.sum())
    return {
        "pixels": total,
        "pixel_accuracy": float(hits.sum() / total) if total else None,
        "mean_class_accuracy": float(np.mean(accuracies)) if accuracies else None,
        "mean_iou": float(np.mean([one["iou"] for one in present])) if present else None,
        "per_class": per_class,
        "confusion": table.tolist(),
    }
