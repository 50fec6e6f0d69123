"""Boxes in maps of words: fitted, used, saved, and refused with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multiplane import BoxSSVM, load
from multiplane._support import support_of

RNG = np.random.default_rng(3)


def pictures(n: int, seed: int = 0) -> tuple[list[Any], list[tuple[int, int, int, int]]]:
    """Maps of 12 x 16 pixels with two vocabularies, and the box of an object with words of its own."""
    rng = np.random.default_rng(seed)
    maps, boxes = [], []
    for _ in range(n):
        left, top = (int(k) for k in rng.integers(0, (8, 6)))
        box = (left, top, left + 8, top + 6)
        one = rng.integers(-1, 2, size=(2, 12, 16))
        one[:, box[1] : box[3], box[0] : box[2]] += 2
        maps.append(one)
        boxes.append(box)
    return maps, boxes


def overlap(a: Any, b: Any) -> float:
    common = np.prod(np.maximum(0, np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])))
    return float(common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common))


def test_objects_are_found_and_models_come_back(tmp_path: Path) -> None:
    maps, boxes = pictures(20)
    new, truth = pictures(10, seed=1)
    model = BoxSSVM(lam=1e-3, gap="2%", stride=1).fit(maps, boxes)
    assert model.gap_ >= 0 and model.word_counts_ == [4, 4] and len(model.coef_) == 5 * 8
    found = model.predict(new)
    overlaps = [overlap(one, np.array(box)) for one, box in zip(found, truth, strict=True)]
    assert found.shape == (10, 4) and np.mean(overlaps) > 0.8, overlaps
    assert model.score(new, truth) == np.mean([one > 0.5 for one in overlaps])
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, BoxSSVM) and np.array_equal(again.predict(new), found) and again.stride == 1
    assert BoxSSVM(lam=1e-3).fit(maps, boxes).predict([]).shape == (0, 4)


def test_windows_are_rows_of_a_kernel(tmp_path: Path) -> None:
    """A linear kernel of windows finds what none finds; a Gaussian one comes back from a file, with its sums by hand."""
    maps, boxes = pictures(20)
    new, truth = pictures(10, seed=1)
    shared: dict[str, Any] = {"lam": 1e-2, "gap": "0.1%", "stride": 2, "search": "windows", "normalise": "l2"}
    plain, linear = (BoxSSVM(**shared, **more).fit(maps, boxes) for more in ({}, {"kernel": "linear", "kernel_rows": {"storage": "f64"}}))
    assert linear.primal_ == pytest.approx(plain.primal_, rel=2e-3)
    found = plain.predict_top(new, 1), linear.predict_top(new, 1)
    assert all(abs(a.scores[0] - b.scores[0]) < 0.1 for a, b in zip(*found, strict=True))
    model = BoxSSVM(**shared, kernel="rbf", gamma=0.5).fit(maps, boxes)
    assert 2 <= model.summary_["support_vectors"] == len(model.coef_) and model.summary_["kernel_evaluations"] > 0
    assert np.mean([overlap(a, b) > 0.4 for a, b in zip(model.predict(new), truth, strict=True)]) > 0.6
    model.save(tmp_path / "boxes.model")
    again = load(tmp_path / "boxes.model")
    assert again.kernel == "rbf" and again.gamma == 0.5
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    tested = BoxSSVM(**shared, kernel="rbf", gamma=0.5).fit(maps, boxes, X_test=new, y_test=truth)
    losses = [entry["test_loss"] for entry in tested.history_ if entry.get("test_loss") is not None]
    assert losses and tested.summary_["test_loss"] == pytest.approx(tested.report(new, truth)["loss"], abs=1e-9)
    BoxSSVM(**shared, kernel="rbf", gamma=0.5, holdout=5).fit(maps, boxes)
    few = BoxSSVM(**shared, kernel="poly", degree=2, kernel_budget=5).fit(maps, boxes)
    assert few.summary_["support_vectors"] == 5
    # The score of the best window is the sum over the windows of the model, by plain histograms.
    _, columns, values = support = support_of(model._model)
    rows = np.zeros((len(support[0]) - 1, 5 * 8))
    for row, (first, last) in enumerate(zip(support[0][:-1], support[0][1:], strict=True)):
        rows[row, columns[first:last]] = values[first:last]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    best = model.predict_top(new[:1], 1)[0]
    left, top, right, bottom = best.labels[0]
    middle = (left + right) // 2, (top + bottom) // 2
    cells = [(left, top, right, bottom)] + [
        (a, c, b, d) for c, d in ((top, middle[1]), (middle[1], bottom)) for a, b in ((left, middle[0]), (middle[0], right))
    ]
    counts = np.zeros((5, 8))
    for cell, (a, b, c, d) in zip(counts, cells, strict=True):
        for vocabulary, words in enumerate(new[0][:, b:d, a:c]):
            np.add.at(cell, 4 * vocabulary + words[words >= 0], 1)
    row = counts.ravel() / np.linalg.norm(counts)
    score = model.coef_ @ np.exp(-0.5 * ((rows - row) ** 2).sum(1))
    assert best.scores[0] == pytest.approx(score, abs=1e-5)


def test_images_may_have_several_boxes_or_none() -> None:
    maps, boxes = pictures(12)
    several: list[Any] = [[box, box] for box in boxes]
    empty = RNG.integers(-1, 2, size=(2, 12, 16))
    model = BoxSSVM(lam=1e-3, gap="2%", stride=2, none=True).fit([*maps, empty, empty], [*several, None, []])
    assert len(model.coef_) == 5 * 8 + 1
    found = model.predict([maps[0], empty])
    assert found[0].min() >= 0 and found[1].tolist() == [-1] * 4


CASES: list[tuple[dict[str, Any], Any, Any, str]] = [
    ({}, [np.zeros((3, 4), int)], [None], r'image 0 has no box: leave it out, or allow "no box" as an answer \(none\)'),
    ({}, [np.zeros((3, 4), int)], [(0, 0, 5, 3)], r"boxes: found \(0, 0, 5, 3\) as box 0 of image 0"),
    ({}, [np.zeros((3, 4), int)], [(0, 0, 4)], r"y\[0\]: expected \(left, top, right, bottom\)"),
    ({}, [np.zeros((3, 4))], [(0, 0, 1, 1)], r"X\[0\]: expected whole numbers \[height, width\]"),
    ({}, [np.zeros((30, 40, 3), np.uint8)], [(0, 0, 1, 1)], r"X\[0\]: found the shape \(30, 40, 3\), a photograph in colours: expected a map"),
    ({}, [np.full((3, 4), -2)], [(0, 0, 1, 1)], r"words: found -2 in vocabulary 0, row 0, column 0 of image 0"),
    ({}, [np.zeros((3, 4), int)] * 2, [(0, 0, 1, 1)], r"X has 2 images, y boxes of 1"),
    ({}, [np.zeros((3, 4), int), np.zeros((2, 3, 4), int)], [(0, 0, 1, 1)] * 2, r"images of 1 and 2 vocabularies"),
    ({"kernel": "rbf"}, [np.zeros((3, 4), int)], [(0, 0, 1, 1)], r"search = branch-and-bound: must be windows with a kernel"),
    ({"kernel": "rbf", "search": "windows"}, [np.zeros((3, 4), int)], [(0, 0, 1, 1)], r"normalise = none: must be l1 or l2"),
    ({"kernel": "intersection"}, [np.zeros((3, 4), int)], [(0, 0, 1, 1)], r"expected None, 'poly' or one of 'linear', 'rbf', 'polynomial'"),
    ({"kernel": "precomputed"}, [np.zeros((3, 4), int)], [(0, 0, 1, 1)], r"a list of maps has no matrix: 'linear', 'rbf' or 'poly'"),
    ({"levels": 9}, [np.zeros((3, 4), int)], [(0, 0, 1, 1)], r"levels = 9: must be 1 to 4"),
    ({"words": 1}, [np.ones((3, 4), int)], [(0, 0, 1, 1)], r"words: found 1 in vocabulary 0"),
    ({}, [], [], r"X: found no image"),
]


@pytest.mark.parametrize(("keywords", "maps", "boxes", "message"), CASES)
def test_bad_input_is_refused(keywords: dict[str, Any], maps: Any, boxes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoxSSVM(lam=1e-2, **keywords).fit(maps, boxes)
