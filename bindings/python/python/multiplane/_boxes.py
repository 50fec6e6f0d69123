"""Boxes around objects in images that are maps of visual words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _validation
from multiplane._arrays import is_path, offsets
from multiplane._fit_options import FitOptions, refuse_others, with_options
from multiplane._kernel import KernelKeywords
from multiplane._params import plain
from multiplane._report import Report
from multiplane._several import TopLabellings, at_most


def _map(x: Any, what: str) -> NDArray[np.int64]:
    """A map of words as ``[vocabularies, height, width]``."""
    found = np.asarray(x)
    if found.dtype.kind not in "iu" or found.ndim not in (2, 3) or found.size == 0:
        raise ValueError(
            f"{what}: expected whole numbers [height, width] or [vocabularies, height, width], -1 for no word; found "
            f"{found.dtype} of the shape {found.shape}"
        )
    if found.ndim == 3 and found.shape[2] in (3, 4) and found.shape[0] > 4:
        raise ValueError(
            f"{what}: found the shape {found.shape}, a photograph in colours: expected a map of visual words, as `python -m multiplane.vision "
            "words` makes it"
        )
    return found.astype(np.int64).reshape(-1, *found.shape[-2:])


def _boxes(y: Any, what: str) -> NDArray[np.int64]:
    """The boxes of an image, ``[boxes, 4]``; none of ``None``."""
    try:
        found = np.asarray([] if y is None else y)
    except ValueError:
        found = np.asarray("ragged")
    if found.size == 0:
        return np.zeros((0, 4), np.int64)
    if found.dtype.kind not in "iuf" or found.shape[-1:] != (4,) or found.ndim > 2 or (found != np.round(found)).any() or not np.isfinite(found).all():
        raise ValueError(f"{what}: expected (left, top, right, bottom) in whole pixels, or a list of such; found {y!r}")
    return found.astype(np.int64).reshape(-1, 4)


class BoxSSVM(KernelKeywords):
    """Finds the box of an object in an image, which is a map of visual words.

    ``X`` is a list of maps: whole numbers ``[height, width]``, or ``[vocabularies, height, width]`` if there are several
    vocabularies; -1 is a pixel without a word. ``y`` is a list of boxes ``(left, top, right, bottom)`` in pixels, right
    and bottom exclusive. An image with several right boxes has a list of them; the nearest counts. In the place
    of ``X`` there may be the path of a container of the format ``box``, which holds the boxes as well.

    A box is described by a spatial pyramid of ``levels`` levels: how often each word occurs in the whole box, in its
    quarters, in its sixteenths. ``normalise`` is what these numbers are divided by: ``"none"`` (the points of the image),
    ``"area"`` (the pixels of the box), ``"l1"`` (their sum) or ``"l2"`` (their Euclidean length; slow). The loss is
    ``"overlap"``, 1 - intersection / union, or ``"missed"``, 1 if that overlap is at most 1/2.

    ``bin_kernel="intersection"`` or ``"chi2"`` compares histograms bin by bin, by a map of three numbers a bin that is near the
    kernel; with ``normalise="none"`` alone, and slower to search than ``"linear"``.

    ``kernel="rbf"``, ``"poly"`` or ``"linear"`` compares whole histograms: the model is a sum over windows of training. With
    ``search="windows"`` and ``normalise="l1"`` or ``"l2"``; ``gamma``, ``degree``, ``coef0``, ``kernel_rows`` and ``kernel_budget`` as in
    :class:`MulticlassSSVM`, the variance of ``gamma="scale"`` that of the right boxes.

    ``search="branch-and-bound"`` looks at all boxes whose sides lie on every ``stride``-th line; a search that is
    not done after ``max_sets`` sets of boxes, and has no cheaper sweep, ends with a bound; ``search="windows"`` at all places of ``windows`` sizes, which are groups of
    the sizes of the boxes in training. Boxes in the list of :meth:`predict_top` overlap by at most ``apart`` (intersection /
    union). With ``none=True`` an image may have no box: ``None`` or an empty list in ``y``.

    Args:
        words: The number of words in each vocabulary, one number or a list. None: the largest word in training plus 1.
    """

    _task = "box"
    _kernels = ("linear", "rbf", "poly")
    _X = "a list of maps"

    apart: float = 0.5
    bin_kernel: str = "linear"
    levels: int = 2
    loss: str = "overlap"
    max_sets: int = 200_000
    none: bool = False
    normalise: str = "none"
    rescaling: str = "margin"
    search: str = "branch-and-bound"
    stride: int = 4
    windows: int = 2
    words: int | Sequence[int] | None = None

    def _task_value(self, name: str, value: Any) -> Any:
        if name == "words":
            return [] if value is None else np.atleast_1d(plain(value, name)).tolist()
        return super()._task_value(name, value)

    # -- data --

    def _dataset(self, x: Any, y: Any, what: str = "y", *, learn: bool = False) -> _core.Dataset:
        if is_path(x):
            if y is not None:
                raise ValueError(f"X is the path of a container, which holds its boxes: give no {what}")
            return _core.Dataset.read(x, self._task)
        maps = [_map(one, f"X[{i}]") for i, one in enumerate(x)]
        if not maps:
            raise ValueError("X: found no image")
        given = [None] * len(maps) if y is None else list(y)
        if len(given) != len(maps):
            raise ValueError(f"X has {len(maps)} images, {what} boxes of {len(given)}")
        boxes = [_boxes(one, f"{what}[{i}]") for i, one in enumerate(given)]
        counts = {len(one) for one in maps}
        if len(counts) > 1:
            raise ValueError(f"X has images of {' and '.join(map(str, sorted(counts)))} vocabularies, expected the same of all")
        if learn:
            self.word_counts_ = self._counts(maps)
        if len(self.word_counts_) != len(maps[0]):
            whose = "words has" if learn else "the model has"
            raise ValueError(f"X has images of {len(maps[0])} vocabularies, {whose} {len(self.word_counts_)}")
        return _core.dataset(
            "box",
            map_sizes=np.array([one.shape[1:] for one in maps], np.int64).ravel(),
            words=np.concatenate([one.ravel() for one in maps]),
            word_counts=np.array(self.word_counts_, np.int64),
            box_offsets=offsets([len(one) for one in boxes]),
            boxes=np.concatenate(boxes).ravel(),
        )

    def _counts(self, maps: list[NDArray[np.int64]]) -> list[int]:
        if self.words is not None:
            return list(self._task_value("words", self.words))
        return [max(1, *(int(one[k].max(initial=-1)) + 1 for one in maps)) for k in range(len(maps[0]))]

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        return self._dataset(x, y, learn=True)

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        return None if x is None else self._dataset(x, y, "y_test")

    def _to_use(self, x: Any, y: Any = None) -> _core.Dataset:
        """Images to use the model on."""
        return self._read(x) if is_path(x) and y is None else self._dataset(x, y)

    # -- training and results --

    @with_options
    def fit(
        self, X: Any, y: Any = None, *others: Never, sample_weight: Any = None,
        X_test: Any = None, y_test: Any = None, **options: Unpack[FitOptions],
    ) -> Self:  # fmt: skip
        """Trains on images ``X`` and their boxes ``y``. Returns self. Raises ValueError for bad input.

        ``sample_weight`` (``[n]``, at least 0) says how much each image counts. With test data its mean loss is in every
        entry of ``history_``.
        """
        refuse_others(others, options, self)
        with self._all_or_nothing(X=X, y=y, sample_weight=sample_weight, X_test=X_test, y_test=y_test):
            data = _validation.weighted(self._data(X, y), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data), options=options)
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        self.word_counts_ = json.loads(model.own("words") or "[]")
        self.features_id_ = json.loads(model.own("features_id") or "null")

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The boxes of the images, ``[n, 4]``: left, top, right, bottom; -1 for no box. ``X`` may be the path of a container."""
        self._check_fitted()
        if not is_path(X) and len(X) == 0:
            return np.zeros((0, 4), np.int64)
        sides = np.frombuffer(self._model.predict(self._to_use(X), self._workers()), dtype=np.uint32)
        found = sides.reshape(-1, 4).astype(np.int64)
        return np.where(found[:, 2:3] == 0, -1, found)

    def predict_top(self, X: Any, m: int) -> list[TopLabellings]:
        """The ``m`` best boxes of every image with their scores, the first that of ``predict``; none overlaps a better one by more
        than ``apart`` (greedy non-maximum suppression).

        ``labels`` are tuples (left, top, right, bottom), ``None`` for no box; fewer than ``m`` if there are no more, or if the
        search gives up (then ``exact`` is false). ``X`` may be the path of a container.
        """
        self._check_fitted()
        count = at_most(m)
        if not is_path(X) and len(X) == 0:
            return []
        counts, exact, scores, numbers = self._model.top(self._to_use(X), count, self._workers())
        ends = np.cumsum(np.frombuffer(counts, dtype=np.uint32))[:-1].tolist()
        sides = np.split(np.frombuffer(numbers, dtype=np.uint32).reshape(-1, 4), ends)
        values = np.split(np.frombuffer(scores, dtype=np.float64), ends)
        proven = np.frombuffer(exact, dtype=np.uint32).tolist()
        return [
            TopLabellings([tuple(box) if box[2] else None for box in boxes.tolist()], value.copy(), bool(is_proven))
            for boxes, value, is_proven in zip(sides, values, proven, strict=True)
        ]

    def report(self, X: Any, y: Any = None, m: int = 10) -> Report:
        """How predictions for ``X`` compare with the right boxes ``y``, both as for ``fit``: the ``m`` best boxes of each image
        ranked by score, as PASCAL VOC counts since 2010 (overlap above 1/2; a second box on the same object is wrong).

        Returns:
            A dict; ``print`` it for a table. ``n``, ``loss``, ``overlap``, ``found``, ``precision`` and ``recall`` are of the best
            box of each image; ``average_precision`` and ``area`` (under the curve of overlap and recall) of all in the lists;
            ``detections`` has ``listed`` and ``right`` (numbers of boxes), ``recall`` and ``precision`` by rank, and
            ``overlap_recall``, the share of right boxes found at the overlaps 0, 0.05, ... 1.
        """
        self._check_fitted()
        text, table = _core.detections(self._model, self._to_use(X, y), at_most(m), self._workers())
        found = Report(json.loads(text))
        found._text = table
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the images whose box overlaps a right one by more than 1/2 (intersection / union)."""
        self._check_fitted()
        _, share, _, _ = self._model.evaluate(self._to_use(X, y), self._workers())
        if share is None:
            raise ValueError("no image has a box: there is nothing to measure")
        return float(share)
