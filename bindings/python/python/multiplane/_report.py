"""Reports of how a model does, and labellings of many examples as users index them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane import _core


class Report(dict[str, Any]):
    """What ``multiplane evaluate --report --json`` says, as a dict. ``print`` it for a table.

    Keys: ``n`` (examples), ``loss`` (mean task loss), ``accuracy`` and the other figures of the task; and below ``report``:

    - ``labels``: for each label ``precision``, ``recall``, ``f1``, ``iou`` (intersection over union), ``support``
      (variables that have it), ``predicted``, ``correct``;
    - ``macro``, ``weighted`` and, for sets of labels, ``micro``: means of precision, recall and F1;
    - ``confusions``: mistakes with ``truth``, ``predicted`` and ``count``, the most frequent first; ``confusion``: their table
      ``[truth][prediction]``, up to 1000 labels;
    - ``chunks``: counts, precision, recall and F1 of all chunks and of each of ``types``, if labels are tags of chunks.
    """

    _text = ""

    @classmethod
    def _of(
        cls, model: _core.Model, data: _core.Dataset, threads: int, names: list[str] | None, labels: dict[str, Any]
    ) -> Report | None:
        """The report of a model on labelled data, with other names for its labels, and these labels by name; None if the task has none."""
        found = _core.report(model, data, threads, names)
        if found is None:
            return None
        report = cls(json.loads(found[0]))
        of_labels = report["report"]
        for row in [*of_labels["labels"], *(of_labels["confusions"] or [])]:
            row.update((key, labels.get(row[key], row[key])) for key in ("label", "truth", "predicted") if isinstance(row.get(key), str))
        report._text = found[1].replace("--json lists all", '["report"]["confusions"] lists all')
        return report

    def __str__(self) -> str:
        return self._text


def chunk_scorer(estimator: Any, X: Any, y: Any) -> float:
    """The F1 of chunks of an estimator's predictions for ``X``, which ``report(X, y)["f1"]`` is: a ``scoring=`` for
    ``cross_val_score`` and searches. Raises ValueError if labels are not tags of chunks.
    """
    report = estimator.report(X, y)
    if (report["report"] or {}).get("chunks") is None:
        raise ValueError("chunk_scorer: labels are not tags of chunks: expected O, and letters of BIO, BIOES or BILOU with types, as in B-NP")
    return float(report["f1"])


class Labellings(list[NDArray[Any]]):
    """A list of arrays, one for each example. As an array of NumPy it has an axis for examples alone unless all are of one
    length, so that ``sklearn.model_selection.cross_val_predict`` can put folds together.
    """

    def tolist(self) -> list[list[Any]]:
        """Returns lists of Python's own values, as JSON and seqeval take them."""
        return [one.tolist() for one in self]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        if len({len(one) for one in self}) == 1:
            return np.array(list(self), dtype=dtype)
        found = np.empty(len(self), dtype=object)
        found[:] = list(self)
        return found
