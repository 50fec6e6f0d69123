"""multiplane.vision.paint: masks, overlays and scores from a model's labellings."""

import json

import numpy as np
import pytest
from vision_images import folder, needs_extra, read, scene, write

needs_extra()

from PIL import Image  # noqa: E402

import multiplane  # noqa: E402
from multiplane import vision  # noqa: E402
from multiplane.vision import _overlay, _paint, _predict, _scores  # noqa: E402
from multiplane.vision._command import main  # noqa: E402

QUICK = {"superpixels": 24, "words": 6, "cache": False}


class Blueness:
    """Stands in for a model: 1 where a superpixel has less blue than the photographs have on average."""

    def predict(self, path):
        tensors, settings, _ = read(path)
        blue = settings["node_features"]["colour"][0] + 2
        ids = (tensors["node_features"][:, blue] < 0).astype(np.int64)
        return np.split(ids, tensors["node_offsets"][1:-1])


@pytest.fixture
def painted(tmp_path, monkeypatch):
    """Four scenes, their container, and a stand-in for the model."""
    images, labels = folder(tmp_path, grey=True)
    vision.graph(images, labels, tmp_path / "train.safetensors", threshold=128, **QUICK)
    (tmp_path / "model").write_text("")
    monkeypatch.setattr(_predict, "load_model", lambda path: Blueness())
    return tmp_path


def load(path):
    return np.asarray(Image.open(path))


def test_masks_overlays_and_scores(painted, capsys):
    """Pictures of the photographs' size, classes where they belong, scores as counted here from the files."""
    result = vision.paint(painted / "model", painted / "images", painted / "out", like=painted / "train.safetensors",
                          labels=painted / "labels", cache=False)  # fmt: skip
    assert {path.name for path in (painted / "out").iterdir()} == {
        *(f"i{k}.png" for k in range(4)), *(f"i{k}.overlay.png" for k in range(4)), "legend.png"
    }  # fmt: skip
    hits, union, total = np.zeros(2), np.zeros(2), 0
    for k in range(4):
        mask, truth = load(painted / f"out/i{k}.png"), load(painted / f"labels/i{k}.png") > 128
        over = load(painted / f"out/i{k}.overlay.png")
        assert mask.shape == truth.shape and mask.dtype == np.uint8 and over.shape == (*mask.shape, 3)
        for label in (0, 1):
            hits[label] += ((mask == label) & (truth == label)).sum()
            union[label] += ((mask == label) | (truth == label)).sum()
        total += truth.size
    assert result["pixels"] == total and result["pixel_accuracy"] == pytest.approx(hits.sum() / total)
    assert result["pixel_accuracy"] > 0.9, "superpixels keep to the line"
    assert [one["iou"] for one in result["per_class"]] == pytest.approx((hits / union).tolist())
    assert result["mean_iou"] == pytest.approx((hits / union).mean())
    assert "pixel accuracy" in vision.table(result) and json.loads(json.dumps(result)) == result


def test_the_command_on_new_photographs(painted, capsys):
    """No label maps: pictures at the photographs' own size, however large; --only, --names, --json."""
    write(painted / "new/big.jpg", scene(5, (192, 256))[0])
    write(painted / "new/other.jpg", scene(6)[0])
    arguments = [painted / "model", painted / "new", "--like", painted / "train.safetensors", "--out", painted / "p",
                 "--only", "big", "--names", "sky, ground", "--jobs", "1", "--json", "--no-cache"]  # fmt: skip
    assert main(["paint", *map(str, arguments)]) == 0
    assert json.loads(capsys.readouterr().out) == {"images": 1, "classes": [0, 1], "out": str(painted / "p")}
    assert sorted(path.name for path in (painted / "p").iterdir()) == ["big.overlay.png", "big.png", "legend.png"]
    assert load(painted / "p/big.png").shape == (192, 256)
    assert (load(painted / "p/big.png") == scene(5, (192, 256))[1]).mean() > 0.9


def test_scores_by_hand():
    """Two classes of four pixels; 255 and an id that the model does not know."""
    truth, answer = np.array([[1, 1, 1, 4], [4, 255, 7, 4]]), np.array([[1, 1, 4, 4], [4, 1, 7, 1]])
    table = _scores.confusion(truth, answer, [1, 4, 7, 9], 255)
    assert table.tolist() == [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    found = _scores.scores(table, [1, 4, 7, 9], list("abcd"))
    assert found["pixel_accuracy"] == pytest.approx(5 / 7)
    assert found["mean_iou"] == pytest.approx((2 / 4 + 2 / 4 + 1) / 3), "a class that is nowhere has no share"
    assert found["per_class"][3]["iou"] is None
    assert found["mean_class_accuracy"] == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)


def test_overlays_show_classes_and_borders():
    """Two halves: each takes on its colour, the border is white; the background of a mask keeps its hue."""
    photo = np.full((4, 8, 3), 100, np.uint8)
    mask = np.repeat(np.array([[2, 2, 2, 2, 3, 3, 3, 3]]), 4, axis=0)
    over = _overlay.overlay(photo, mask, [2, 3])
    assert (over[:, 3:5] == 255).all()
    assert np.array_equal(over[0, 0], np.rint((100 + np.array(_overlay.colour_of(2))) / 2))
    assert np.array_equal(over[0, 7], np.rint((100 + np.array(_overlay.colour_of(3))) / 2))
    assert (_overlay.overlay(photo, mask * 0, [0, 1])[0, 0] == 65).all()
    assert len({_overlay.colour_of(label) for label in range(256)}) == 256


def fails(painted, capsys, *changes, labels=False, out="p"):
    """What is said of a command line that is refused; nothing must stay of it."""
    before = sorted(painted.rglob("*"))
    arguments = [painted / "model", painted / "images", "--like", painted / "train.safetensors", "--out", painted / out,
                 "--jobs", "1", "--no-cache", *changes]  # fmt: skip
    code = main(["paint", *map(str, arguments), *(["--labels", str(painted / "labels")] if labels else [])])
    said = capsys.readouterr().err
    assert code == 2 and said.count("\n") == 1, said
    assert sorted(painted.rglob("*")) == before
    return said


@pytest.fixture
def idle(monkeypatch):
    """No graph is built: what is refused is refused before work."""

    def build(*_, **__):
        raise AssertionError("work was done")

    monkeypatch.setattr(_paint, "build", build)


COLLISIONS = [
    (["legend.png"], "images/legend.png: its mask would be legend.png, as the legend of the classes: rename it, or"),
    (["a.png", "a.overlay.png"], "a.overlay.png: its mask would be a.overlay.png, as the overlay of a.png: rename it"),
    (["a.png", "a.jpg"], "images/a.png: a.jpg has the same name: images and labels go by their names"),
]


@pytest.mark.parametrize(("photos", "message"), COLLISIONS)
def test_pictures_of_one_name_are_refused(photos, message, painted, capsys, idle):
    """Two photographs, or a photograph and the legend, that would write the same file."""
    for name in photos:
        write(painted / "images" / name, scene(1)[0])
    assert message in fails(painted, capsys)


def test_files_that_are_read_are_kept(painted, capsys, idle):
    """A model or a file of --like under the name of a picture."""
    (painted / "train.safetensors").rename(painted / "i1.png")
    said = fails(painted, capsys, "--like", painted / "i1.png", out=".")
    assert "i1.png: the mask of i1.png would take the place of a file that is read here" in said
    (painted / "i2.overlay.png").mkdir()
    said = fails(painted, capsys, "--like", painted / "i1.png", "--only", "i2", out=".")
    assert "i2.overlay.png: is a folder, where the overlay of i2.png would be written" in said


NAMES = [
    ("a", "1 names, expected one for each of the classes [0, 1]"),
    ("a,b,c", "3 names, expected one for each of the classes [0, 1]"),
    ("a,", "the name of class 1 is empty"),
]


@pytest.mark.parametrize(("names", "message"), NAMES)
def test_names_are_checked_before_work(names, message, painted, capsys, idle):
    """Too few, too many, an empty one; by the function, a text in place of a list."""
    assert message in fails(painted, capsys, "--names", names)
    with pytest.raises(vision.VisionError, match="names: expected a list of texts"):
        vision.paint(painted / "model", painted / "images", painted / "p", like=painted / "train.safetensors", names=names)


def test_names_of_all_alphabets_and_of_further_classes(painted):
    """Names that Latin letters do not suffice for; an id that only the label maps have is called by its number."""
    write(painted / "maps/i0.png", scene(0)[1])
    write(painted / "other/i0.png", scene(0)[1] * 2)
    like = painted / "like.safetensors"
    vision.graph(painted / "images", painted / "maps", like, only=["i0"], **QUICK)
    with pytest.warns(UserWarning, match="label id 2"):
        result = vision.paint(painted / "model", painted / "images", painted / "p", like=like, labels=painted / "other",
                              names=["небо", "空"], only=["i0"], cache=False)  # fmt: skip
    assert [one["name"] for one in result["per_class"]] == ["небо", "空", "2"]


def test_all_pictures_or_none(painted, monkeypatch, capsys):
    """Where drawing fails in the third of four images, the pictures that were there stay, and no other comes."""
    (painted / "p").mkdir()
    (painted / "p/i0.png").write_bytes(b"before")
    drawn = []
    overlay = _overlay.overlay

    def fail(*arguments):
        drawn.append(1)
        if len(drawn) == 3:
            raise KeyboardInterrupt
        return overlay(*arguments)

    monkeypatch.setattr(_overlay, "overlay", fail)
    arguments = [painted / "model", painted / "images", "--like", painted / "train.safetensors", "--jobs", "1"]
    for out in ("p", "new/deep"):
        drawn.clear()
        assert main(["paint", *map(str, arguments), "--out", str(painted / out), "--no-cache"]) == 130
        assert capsys.readouterr().err == "interrupted: nothing was written\n" and len(drawn) == 3
    assert [path.name for path in (painted / "p").iterdir()] == ["i0.png"]
    assert (painted / "p/i0.png").read_bytes() == b"before" and not (painted / "new").exists()


def test_bad_input(painted, capsys, monkeypatch):
    """Folders that would be overwritten, wrong names, a model that does not fit."""
    assert "images: holds the photographs or label maps: pictures need" in fails(painted, capsys, out="images")
    assert "labels: holds the photographs" in fails(painted, capsys, out="labels", labels=True)
    assert "model: no folder to write to" in fails(painted, capsys, out="model")
    monkeypatch.setattr(Blueness, "n_features_in_", 7, raising=False)
    assert "the model has 7 features a node, these graphs 387: was it trained on" in fails(painted, capsys)
    monkeypatch.delattr(Blueness, "n_features_in_")
    monkeypatch.setattr(Blueness, "classes_", np.array([0, 3]), raising=False)
    assert "answers with label 3, which the file of --like does not know" in fails(painted, capsys)
    monkeypatch.delattr(Blueness, "classes_")
    (painted / "labels/i1.png").unlink()
    assert "labels: no label map for i1" in fails(painted, capsys, labels=True)
    monkeypatch.setattr(Blueness, "predict", lambda self, path: [np.zeros(3, int)] * 4)
    assert "the model does not fit these graphs: it gives labellings of other" in fails(painted, capsys)

    def refuse(self, path):
        raise ValueError("d")

    monkeypatch.setattr(Blueness, "predict", refuse)
    assert "the model does not fit these graphs: d" in fails(painted, capsys)
    sizes = np.diff(read(painted / "train.safetensors")[0]["node_offsets"])
    monkeypatch.setattr(Blueness, "predict", lambda self, path: [np.full(size, 9) for size in sizes])
    assert "answers with label 9, which the file of --like does not know" in fails(painted, capsys)
    assert not list((painted / "p").glob("*")), "nothing stays of what failed"


def test_models_of_other_tasks_are_refused(tmp_path):
    """A missing file, no model, and a model of rows."""
    with pytest.raises(vision.VisionError, match="none"):
        _predict.load_model(tmp_path / "none")
    (tmp_path / "text").write_text("no model")
    with pytest.raises(vision.VisionError, match="text"):
        _predict.load_model(tmp_path / "text")
    model = multiplane.BinarySSVM(passes=2).fit(np.array([[1.0], [-1.0]]), [0, 1])
    model.save(tmp_path / "rows")
    with pytest.raises(vision.VisionError, match="rows: a model of BinarySSVM, expected one of task graph"):
        _predict.load_model(tmp_path / "rows")


def test_from_photographs_to_pictures_with_a_model(tmp_path, capsys):
    """A model trained on the container paints held-out scenes."""
    if not hasattr(multiplane, "GraphSSVM"):
        pytest.skip("multiplane has no GraphSSVM: painting with a trained model was not tested")
    images, labels = folder(tmp_path, count=6)
    train, test = ["i0", "i1", "i2", "i3"], ["i4", "i5"]
    vision.graph(images, labels, tmp_path / "train.safetensors", only=train, **QUICK)
    model = multiplane.GraphSSVM(lam=1.0, gap="5%", passes=50).fit(tmp_path / "train.safetensors")
    model.save(tmp_path / "model")
    result = vision.paint(tmp_path / "model", images, tmp_path / "out", like=tmp_path / "train.safetensors",
                          labels=labels, only=test, cache=False)  # fmt: skip
    assert result["pixel_accuracy"] > 0.95 and result["images"] == 2
    vision.graph(images, labels, tmp_path / "other.safetensors", **{**QUICK, "words": 5})
    with pytest.raises(vision.VisionError, match="the model has 387 features a node, these graphs"):
        vision.paint(tmp_path / "model", images, tmp_path / "out", like=tmp_path / "other.safetensors", cache=False)
