"""Poses of bodies in images that are grids of feature channels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Never, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _validation
from multiplane._arrays import is_path
from multiplane._builtin import BuiltIn
from multiplane._fit_options import FitOptions, refuse_others, with_options

_COLUMN = 0xFFFF  # the bits of a column, and of a row; above them is the type of a joint


def _map(x: Any, what: str) -> NDArray[np.float32]:
    """The channels of an image as ``[rows, columns, channels]``."""
    found = np.asarray(x)
    if found.dtype.kind not in "fiu" or found.ndim != 3 or found.size == 0:
        raise ValueError(f"{what}: expected numbers [rows, columns, channels]; found {found.dtype} of the shape {found.shape}")
    with np.errstate(over="ignore"):  # infinite numbers are refused with their place
        return found.astype(np.float32)


def _joints(y: Any, what: str, joints: int, edges: Any) -> NDArray[np.float64]:
    """The joints of an image, ``[joints, 2]``; NaN of ``None``."""
    found = np.full((joints, 2), np.nan) if y is None else np.asarray(y)
    if found.dtype.kind not in "fiu" or found.shape != (joints, 2):
        raise ValueError(f"{what}: expected x and y of {joints} joints (edges = {edges}), NaN if not marked; found {found.dtype} of the shape {found.shape}")
    return found.astype(np.float64)


def _pairs(text: str) -> list[tuple[int, int]]:
    """The pairs of joints of a text that the core has read."""
    return [(int(a), int(b)) for a, b in (pair.split("-") for pair in text.split(","))]


class PoseSSVM(BuiltIn):
    """Finds the joints of a body in an image, which is a grid of cells with feature channels.

    ``X`` is a list of maps: numbers ``[rows, columns, channels]``, such as the HOG cells of a photograph
    (:func:`multiplane.vision.hog`). ``y`` is a list of poses ``[joints, 2]``: x and y of each joint in cells, so that it is in
    the cell of column ``floor(x)`` and row ``floor(y)``; NaN twice if it is not marked. In the place of ``X`` there may be the
    path of a container of the format ``pose``, which holds the joints as well.

    A joint is seen by ``template`` x ``template`` cells. Joints hang together in a tree: the offset of the ends of each limb is
    scored by a quadratic function, which is learned; the best pose of all is found by distance transforms. The loss of a
    marked joint is its distance from the truth over ``alpha`` torsos, at most 1.

    Args:
        edges: The limbs, as pairs of joints from 0: ``"0-1,1-2"``. The default is for the 14 joints of Leeds Sports Pose.
        torso: Pairs of joints, each a measure of the torso: the first pair that is marked in two different cells counts.
        types: The number of types of a joint, 1 to 16, each with a template and springs of its own. The type of a joint in training is
            the group of its offset from its parent.
        partial: The part that unmarked joints have in training: ``"left-out"`` or, completed in rounds, ``"masked"``.
    """

    _task = "pose"

    alpha: float = 0.5
    edges: str = "12-13,12-8,8-7,7-6,12-9,9-10,10-11,8-2,2-1,1-0,9-3,3-4,4-5"
    partial: str = "left-out"
    rescaling: str = "margin"
    template: int = 5
    torso: str = "9-2,8-3"
    types: int = 1

    # -- data --

    def _dataset(self, x: Any, y: Any, what: str = "y") -> _core.Dataset:
        if is_path(x):
            if y is not None:
                raise ValueError(f"X is the path of a container, which holds its joints: give no {what}")
            return _core.Dataset.read(x, self._task)
        maps = [_map(one, f"X[{i}]") for i, one in enumerate(x)]
        if not maps:
            raise ValueError("X: found no image")
        for i, one in enumerate(maps):
            if one.shape[2] != maps[0].shape[2]:
                raise ValueError(f"X[{i}] has {one.shape[2]} channels, X[0] has {maps[0].shape[2]}: expected the same of all")
        given = [] if y is None else list(y)
        if y is not None and len(given) != len(maps):
            raise ValueError(f"X has {len(maps)} images, {what} poses of {len(given)}")
        count = str(self.edges).count("-") + 1
        joints = [_joints(one, f"{what}[{i}]", count, self.edges) for i, one in enumerate(given)]
        return _core.dataset(
            "pose",
            grid_sizes=np.array([one.shape[:2] for one in maps], np.int64).ravel(),
            channels=np.concatenate([one.reshape(-1, one.shape[2]) for one in maps]),
            joints=np.concatenate(joints).ravel() if joints else np.zeros(0),
        )

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        return self._dataset(x, y)

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
        """Trains on images ``X`` and their poses ``y``. Returns self. Raises ValueError for bad input.

        ``sample_weight`` (``[n]``, at least 0) says how much each image counts. With test data its mean loss is in every
        entry of ``history_``.
        """
        refuse_others(others, options, self)
        if y is None and not is_path(X):
            raise ValueError("y: expected the poses of the images, found None")
        with self._all_or_nothing(X=X, y=y, sample_weight=sample_weight, X_test=X_test, y_test=y_test):
            data = _validation.weighted(self._data(X, y), sample_weight)
            self._train(data, self._test_data(X_test, y_test), self._was_fitted_on(data), options=options)
        return self

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        self.features_id_ = json.loads(model.own("features_id") or "null")

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The poses in the images, ``[n, joints, 2]``: column and row of the cell of each joint. ``X`` may be a path."""
        self._check_fitted()
        count = str(self.edges).count("-") + 1
        if not is_path(X) and len(X) == 0:
            return np.zeros((0, count, 2), np.int64)
        places = np.frombuffer(self._model.predict(self._to_use(X), self._workers()), dtype=np.uint32)
        return (places & _COLUMN).reshape(-1, count, 2).astype(np.int64)

    def score(self, X: Any, y: Any = None) -> float:
        """The share of the marked joints that are found within a fifth of a torso (PDJ at 0.2)."""
        self._check_fitted()
        _, share, _, _ = self._model.evaluate(self._to_use(X, y), self._workers())
        if share is None:
            raise ValueError("no joint is marked: there is nothing to measure")
        return float(share)

    def pdj(self, X: Any, y: Any, at: float | Sequence[float] = 0.2) -> NDArray[np.float64]:
        """The share of each joint's marks that are found within ``at`` torsos, ``[joints]``, or ``[len(at), joints]`` of several.

        NaN for joints that are marked nowhere. Torsos and distances are those of cells.
        """
        found = self.predict(X)
        if len(y) != len(found):
            raise ValueError(f"X has {len(found)} images, y poses of {len(y)}")
        truth = np.floor([_joints(one, f"y[{i}]", found.shape[1], self.edges) for i, one in enumerate(y)])
        torsos = np.full(len(truth), np.nan)
        for a, b in _pairs(self.torso):
            length = np.hypot(*(truth[:, a] - truth[:, b]).T)
            torsos = np.where(np.isnan(torsos) & (length > 0.0), length, torsos)
        shares = np.hypot(*(found - truth).transpose(2, 0, 1)) / torsos[:, None]
        marked = np.isfinite(shares)
        with np.errstate(invalid="ignore"):
            curve = [(marked & (shares <= one)).sum(0) / marked.sum(0) for one in np.atleast_1d(at)]
        return np.array(curve[0] if np.ndim(at) == 0 else curve)
