"""Poses in grids of channels: fitted, used, saved, completed, and refused with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multiplane import PoseSSVM, load

BODY = {"edges": "0-1,1-2", "torso": "0-1"}
REST = np.array([[0, 0], [0, 4], [3, 6]])


def pictures(n: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Grids of 12 x 10 cells with two channels: the first and the last joint look alike."""
    rng = np.random.default_rng(seed)
    maps, poses = [], []
    for _ in range(n):
        joints = REST + rng.integers(1, (5, 4)) + rng.integers(0, 2, size=(3, 2))
        one = 0.3 * rng.random((12, 10, 2))
        for (x, y), channel in zip(joints, (0, 1, 0), strict=True):
            one[y, x, channel] = 1.0
        maps.append(one)
        poses.append(joints.astype(float))
    return maps, poses


def test_joints_are_found_and_models_come_back(tmp_path: Path) -> None:
    maps, poses = pictures(20)
    new, truth = pictures(10, seed=1)
    model = PoseSSVM(lam=1e-3, gap="2%", template=1, **BODY).fit(maps, poses)
    assert model.gap_ >= 0 and len(model.coef_) == 3 * 2 + 8 and (model.coef_[6:10] >= 0).all()
    found = model.predict(new)
    assert found.shape == (10, 3, 2) and found.dtype == np.int64
    distances = np.linalg.norm(found - np.array(truth), axis=2)
    assert (distances == 0).mean() > 0.9, distances
    torsos = np.linalg.norm(np.array(truth)[:, 0] - np.array(truth)[:, 1], axis=1)[:, None]
    curve = model.pdj(new, truth, at=(0.05, 0.2, 0.5))
    assert np.array_equal(curve, [(distances <= at * torsos).mean(0) for at in (0.05, 0.2, 0.5)])
    assert model.score(new, truth) == pytest.approx(model.pdj(new, truth).mean())
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, PoseSSVM) and np.array_equal(again.predict(new), found) and again.edges == "0-1,1-2"
    assert model.predict([]).shape == (0, 3, 2)


def test_joints_have_types() -> None:
    """The last joint is below its parent or above it, and what looks like it is beside: one spring is at rest there."""
    maps, poses = pictures(40)
    new, truth = pictures(20, seed=1)
    for i, (one, joints) in enumerate([*zip(maps, poses, strict=True), *zip(new, truth, strict=True)]):
        if i % 2 == 0:
            (x, y), above = joints[2].astype(int), 2 * joints[1][1] - joints[2][1]
            one[y, x, 0], joints[2, 1] = 0.0, above
            one[int(above), x, 0] = 1.0
        x, y = (joints[1] + (3, 0)).astype(int)
        one[y, x, 0] = 1.0
    plain, typed = [PoseSSVM(lam=1e-3, gap="2%", template=1, types=types, **BODY).fit(maps, poses) for types in (1, 2)]
    assert len(typed.coef_) == 2 * 3 * 2 + 2 * 8 + 2 * 4 and (typed.coef_[12:20] >= 0).all()
    found = typed.predict(new)
    assert found.max() < 12 and typed.score(new, truth) > 0.9 > plain.score(new, truth)


@pytest.mark.parametrize("partial", ["left-out", "masked"])
def test_joints_may_be_unmarked(partial: str) -> None:
    maps, poses = pictures(20)
    for pose in poses[::3]:
        pose[2] = np.nan
    model = PoseSSVM(lam=1e-3, gap="2%", template=1, partial=partial, **BODY).fit(maps, poses)
    assert partial == "left-out" or len(model.summary_["rounds"]) > 0
    new, truth = pictures(10, seed=1)
    assert model.score(new, truth) > 0.9
    truth[0][:] = np.nan  # nothing is known of it
    shares = model.pdj(new[:2], [truth[0], np.vstack([truth[1][:2], [[np.nan, np.nan]]])])
    assert shares[:2].tolist() == [1.0, 1.0] and np.isnan(shares[2])
    assert model.score(new[:2], truth[:2]) > 0.5


def joints(*places: Any) -> Any:
    return np.array(places, float)


SOUND = joints((0, 0), (3, 2), (1, 1))
GRID = np.ones((3, 4, 2))
CASES: list[tuple[dict[str, Any], Any, Any, str]] = [
    ({}, [GRID], [joints((0, 0), (4, 2), (1, 1))], r"joints: found \(4, 2\), expected 0 <= x < 4 and 0 <= y < 3, or NaN twice, as joint 1 of image 0"),
    ({}, [GRID], [joints((0, 0), (3, -1), (1, 1))], r"joints: found \(3, -1\).* as joint 1 of image 0"),
    ({}, [GRID, np.full((3, 4, 2), np.nan)], [SOUND] * 2, r"channels: found NaN in row 0, column 0, channel 0 of image 1"),
    ({}, [GRID * 1e300], [SOUND], r"channels: found inf in row 0"),
    ({}, [GRID, np.ones((3, 4, 3))], [SOUND] * 2, r"X\[1\] has 3 channels, X\[0\] has 2"),
    ({}, [np.ones((3, 4))], [SOUND], r"X\[0\]: expected numbers \[rows, columns, channels\]"),
    ({}, [GRID], [SOUND[:2]], r"y\[0\]: expected x and y of 3 joints \(edges = 0-1,1-2\), NaN if not marked; found float64 of the shape \(2, 2\)"),
    ({}, [GRID], [SOUND] * 2, r"X has 1 images, y poses of 2"),
    ({}, [GRID, GRID], [SOUND, joints((np.nan, np.nan), (1, 1), (1, 1))], r"image 1 has no marked torso \(torso = 0-1\)"),
    ({}, [GRID], [joints((1, 1), (1, 1), (0, 0))], r"image 0 has a torso of length 0 \(torso = 0-1\)"),
    ({}, [GRID], [joints(*[(np.nan, np.nan)] * 3)], r"image 0 has no marked joint"),
    ({"edges": "0-1,1-0"}, [GRID], [SOUND], r"edges = 0-1,1-0: must join 3 joints, from 0 to 2, in a tree"),
    ({"edges": "0-1,1"}, [GRID], [SOUND[:2]], r"edges = 0-1,1: must be less than 256 pairs of joints"),
    ({"torso": "0-7"}, [GRID], [SOUND], r"torso = 0-7: must be of joints 0 to 2"),
    ({"types": 17}, [GRID], [SOUND], r"types = 17: must be 1 to 16"),
    ({"template": 2}, [GRID], [SOUND], r"template = 2: must be an odd number of cells"),
    ({}, [GRID], None, r"y: expected the poses of the images, found None"),
    ({}, [], [], r"X: found no image"),
]


@pytest.mark.parametrize(("keywords", "maps", "poses", "message"), CASES)
def test_bad_input_is_refused(keywords: dict[str, Any], maps: Any, poses: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PoseSSVM(lam=1e-2, **{**BODY, **keywords}).fit(maps, poses)


def test_models_refuse_other_maps() -> None:
    model = PoseSSVM(lam=1e-1, passes=1, **BODY).fit([GRID], [SOUND])
    with pytest.raises(ValueError, match="found 3 channels in a cell, but the model has 2"):
        model.predict([np.ones((3, 4, 3))])


def test_photographs_have_hog_cells() -> None:
    vision = pytest.importorskip("multiplane.vision")
    pytest.importorskip("skimage")
    photo = np.zeros((30, 45, 3), np.uint8)
    photo[:, 20:] = 255
    found = vision.hog(photo, cell=8)
    assert found.shape == (4, 6, 18) and found.dtype == np.float32 and np.isfinite(found).all()
    assert found[:, 2].max() > 0.9 and found[:, 5].max() < 0.1, "a vertical edge, and nothing"
    assert vision.hog(photo[..., 0], cell=10, orientations=4).shape == (3, 5, 8)
    for bad, cell, message in [(photo.astype(float), 8, "expected uint8"), (photo, 11, "photo: 45 x 30 pixels, expected at least three cells"), (photo, 0, "cell = 0: expected a whole number of pixels from 1")]:
        with pytest.raises(vision.VisionError, match=message):
            vision.hog(bad, cell=cell)
