"""multiplane.vision: boxes that a model finds, drawn over the photographs they are found in."""

import csv
import json

import numpy as np
import pytest
from test_vision_words import photo
from vision_images import needs_extra, write

needs_extra()

from PIL import Image  # noqa: E402

import multiplane  # noqa: E402
from multiplane import vision  # noqa: E402
from multiplane.vision import _found  # noqa: E402
from multiplane.vision._command import main  # noqa: E402

BOXES = [(8, 8, 48, 40), (40, 16, 88, 56), (16, 0, 64, 32), (32, 24, 80, 64), (4, 28, 44, 60), (48, 4, 92, 36)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Photographs with their boxes, word maps of the first four, and a model of them."""
    path = tmp_path_factory.mktemp("boxes")
    for number, box in enumerate(BOXES):
        write(path / "photos" / f"p{number}.png", photo(number, box))
    rows = "".join(",".join(map(str, (f"p{number}", *box))) + "\n" for number, box in enumerate(BOXES))
    (path / "boxes.csv").write_text("name,left,top,right,bottom\n" + rows)
    train = path / "train.safetensors"
    vision.words(path / "photos", path / "boxes.csv", train, only=["p0", "p1", "p2", "p3"], words=6, size=96)
    multiplane.BoxSSVM(lam=1e-3, gap="2%").fit(train).save(path / "model")
    return path


def pixels(path):
    return np.asarray(Image.open(path)).astype(int)


def ink(picture, colour):
    """The rows and columns of pixels of a colour."""
    return np.nonzero((picture == colour).all(axis=2))


def test_boxes_are_drawn_over_the_photograph():
    """The right box in green, the found one over it in red; both are frames of two pixels inside their boxes."""
    picture = _found.drawn(np.zeros((40, 60, 3), np.uint8), [(10, 5, 30, 25)], [(10, 15, 50, 35)])
    assert (picture[5, 10:30] == _found.FOUND).all() and (picture[24, 10:30] == _found.FOUND).all()
    assert (picture[5:25, [10, 11, 28, 29]] == np.array(_found.FOUND)).all() and not picture[7:14, 12:28].any()
    assert (picture[34, 10:50] == _found.TRUE).all() and (picture[15:35, 49] == _found.TRUE).all()
    assert (picture[15, 30:50] == _found.TRUE).all() and not picture[35:].any() and not picture[:, 50:].any()
    rows, columns = ink(picture, _found.TRUE)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (15, 34, 10, 49)
    assert _found.TRUE[1] > _found.TRUE[0] and _found.FOUND[0] > _found.FOUND[1]


def test_the_object_is_found_and_drawn(trained, capsys):
    """New photographs of twice the size: frames where the csv file says, near the right boxes, which are green."""
    for number in (4, 5):
        small = Image.open(trained / "photos" / f"p{number}.png")
        write(trained / "new" / f"p{number}.png", small.resize((192, 128), Image.Resampling.BILINEAR))
    (trained / "twice.csv").write_text("".join(f"p{k}," + ",".join(str(2 * side) for side in BOXES[k]) + "\n" for k in (4, 5)))
    arguments = ["paint", trained / "model", trained / "new", "--like", trained / "train.safetensors", "--labels", trained / "twice.csv",
                 "--out", trained / "out", "--jobs", "1", "--quiet"]  # fmt: skip
    assert main([*map(str, arguments), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["images"] == result["boxes"] == 2 and result["found"] == 1.0 and result["overlap"] > 0.6
    rows = list(csv.DictReader((trained / "out" / "boxes.csv").read_text().splitlines()))
    assert sorted(path.name for path in (trained / "out").iterdir()) == ["boxes.csv", "p4.png", "p5.png"]
    overlaps = []
    for number, row in zip((4, 5), rows, strict=True):
        picture = pixels(trained / "out" / f"p{number}.png")
        assert picture.shape == (128, 192, 3) and row["name"] == f"p{number}"
        found = [int(row[side]) for side in ("left", "top", "right", "bottom")]
        down, across = ink(picture, _found.FOUND)
        assert [across.min(), down.min(), across.max() + 1, down.max() + 1] == found
        assert len(ink(picture, _found.TRUE)[0]) > 20
        overlaps.append(_found.overlap(found, [2 * side for side in BOXES[number]]))
    assert result["overlap"] == pytest.approx(np.mean(overlaps))
    assert main([*map(str, arguments)]) == 0 and "mean overlap" in capsys.readouterr().out
    vision.words(trained / "new", trained / "out" / "boxes.csv", trained / "again", like=trained / "train.safetensors")


def test_lists_and_reports(trained):
    """Best boxes apart from each other; a list of one is the prediction; average precision by hand."""
    model, data = multiplane.load(trained / "model"), trained / "train.safetensors"
    assert model.features_id_ is not None and len(model.features_id_) == 64
    lists, best = model.predict_top(data, 4), model.predict(data)
    for one, box in zip(lists, best, strict=True):
        assert one.exact and one.labels[0] == tuple(box) and list(one.scores) == sorted(one.scores, reverse=True)
        assert all(_found.overlap(a, b) <= 0.5 for k, a in enumerate(one.labels) for b in one.labels[:k])
    assert [one.labels for one in model.predict_top(data, 1)] == [[tuple(box)] for box in best]
    report = model.report(data, m=4)
    ranked = sorted(
        ((score, k == 0 and _found.overlap(box, BOXES[number]) > 0.5) for number, one in enumerate(lists) for k, (box, score) in enumerate(zip(one.labels, one.scores, strict=True))),
        reverse=True,
    )
    right = np.cumsum([hit for _, hit in ranked])
    assert report["detections"]["listed"] == len(ranked) and report["detections"]["right"] == 4
    assert report["detections"]["precision"] == pytest.approx((right / np.arange(1, len(ranked) + 1)).tolist())
    assert report["detections"]["recall"] == pytest.approx((right / 4).tolist())
    assert 0 < report["average_precision"] <= 1 and report["found"] == report["precision"] == report["recall"]
    assert report["detections"]["overlap_recall"][10] >= report["found"] and report["area"] >= report["overlap"] and "average precision" in str(report)
    with pytest.raises(ValueError, match=r"m = 0: must be a whole number from 1"):
        model.predict_top(data, 0)
    assert model.predict_top([], 2) == []


def test_what_does_not_fit_is_refused(trained, tmp_path):
    """Files of other words, options of classes, a folder of photographs as output, models of other tasks."""
    like, images = trained / "train.safetensors", trained / "photos"
    vision.words(images, trained / "boxes.csv", tmp_path / "other", words=6, size=96, seed=3)
    vision.words(images, trained / "boxes.csv", tmp_path / "more", words=7, size=96)
    core, model = multiplane._core, multiplane.load(trained / "model")._model
    assert "that the model was trained on" in model.warnings(core.Dataset.read(tmp_path / "other", "box"))[0]
    assert model.warnings(core.Dataset.read(like, "box")) == []
    with pytest.warns(UserWarning, match=r"other: the words were not made as those"):
        multiplane.load(trained / "model").predict(tmp_path / "other")
    cases = [
        ({"like": tmp_path / "other"}, r"other: its words are others than those that .*model was trained on"),
        ({"like": tmp_path / "more"}, r"model: a model of vocabularies of \[6\] words, .*more has \[7\]"),
        ({"names": ["horse"]}, r"names are of classes"), ({"top": 0}, r"top = 0: expected a whole number of boxes"),
        ({"out": images}, r"photos: holds the photographs"), ({"labels": tmp_path / "none"}, r"none: cannot be read"),
    ]  # fmt: skip
    for options, message in cases:
        with pytest.raises(vision.VisionError, match=message):
            vision.paint(trained / "model", images, **{"out": tmp_path / "out", "like": like, **options})
    assert not (tmp_path / "out").exists()
    multiplane.BinarySSVM(passes=2).fit(np.array([[1.0], [-1.0]]), [0, 1]).save(tmp_path / "rows")
    with pytest.raises(vision.VisionError, match=r"rows: a model of BinarySSVM, expected one of task box"):
        vision.paint(tmp_path / "rows", images, tmp_path / "out", like=like)
    with pytest.raises(vision.VisionError, match=r"expected one of task graph|holds graphs"):
        vision.graph(images, None, tmp_path / "graphs", superpixels=8, words=4, cache=False)
        vision.paint(trained / "model", images, tmp_path / "out", like=tmp_path / "graphs", top=2)


def test_several_boxes_are_drawn(trained, tmp_path):
    result = vision.paint(trained / "model", trained / "photos", tmp_path / "out", like=trained / "train.safetensors", top=3, only=["p4"])
    assert result["images"] == 1 and 2 <= result["boxes"] <= 3 and "overlap" not in result


def test_boxes_by_hand_are_not_overwritten(trained):
    """The table of found boxes has the name that those drawn by hand have in the guide."""
    before = (trained / "boxes.csv").read_bytes()
    with pytest.raises(vision.VisionError, match="boxes.csv"):
        vision.paint(trained / "model", trained / "photos", trained, like=trained / "train.safetensors", labels=trained / "boxes.csv")
    assert (trained / "boxes.csv").read_bytes() == before
