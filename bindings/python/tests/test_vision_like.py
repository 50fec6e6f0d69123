"""multiplane.vision: files say how their features were made, and what does not fit is told; hints on label ids."""

import json
import struct
import warnings

import numpy as np
import pytest
from vision_images import folder, needs_extra, read, scene, write

needs_extra()

import multiplane  # noqa: E402
from multiplane import vision  # noqa: E402
from multiplane.vision._settings import Like, features_id  # noqa: E402

QUICK = {"superpixels": 24, "words": 6, "cache": False}


def told(path):
    """The metadata of a container."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length])["__metadata__"]


def test_files_say_how_their_features_were_made(tmp_path):
    """Files built with ``like`` have its id; other images and other settings give another one."""
    images, labels = folder(tmp_path)
    built = {}
    for name, options in {
        "train": {"only": ["i0", "i1"], **QUICK}, "test": {"only": ["i2"], "like": tmp_path / "train", "cache": False},
        "again": {"only": ["i0", "i1"], **QUICK}, "others": {"only": ["i2", "i3"], **QUICK},
        "settings": {"only": ["i0", "i1"], **QUICK, "superpixels": 25},
    }.items():  # fmt: skip
        vision.graph(images, labels, tmp_path / name, **options)
        built[name] = told(tmp_path / name)["multiplane.features"]
        like = Like(tmp_path / name)
        assert built[name] == features_id(like.settings, like.fitted)
    assert built["train"] == built["test"] == built["again"]
    assert len({built["train"], built["others"], built["settings"]}) == 3


def test_models_are_held_to_the_features_of_their_training(tmp_path):
    """``paint`` refuses a ``like`` that the model was not trained on, before any work; a file built without ``like`` gets a
    warning where the model is asked.
    """
    images, labels = folder(tmp_path)
    train, other, test = (tmp_path / f"{name}.safetensors" for name in ("train", "other", "test"))
    vision.graph(images, labels, train, only=["i0", "i1"], **QUICK)
    vision.graph(images, labels, other, only=["i2", "i3"], **QUICK)
    vision.graph(images, labels, test, only=["i2", "i3"], like=train, cache=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such files always hold node_weights: nothing is to be said of them
        model = multiplane.GraphSSVM(lam=1.0, gap="5%").fit(train)
    model.save(tmp_path / "model")
    with pytest.raises(vision.VisionError, match=r"other\.safetensors: its features are scaled by other images"):
        vision.paint(tmp_path / "model", images, tmp_path / "out", like=other, cache=False)
    assert not (tmp_path / "out").exists()
    vision.paint(tmp_path / "model", images, tmp_path / "out", like=train, only=["i2"], cache=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.score(test)
    with pytest.warns(UserWarning, match="the features were not made as those"):
        model.score(other)


def test_names_may_have_their_ending(tmp_path):
    """``only`` takes names as they are shown in a folder."""
    images, labels = folder(tmp_path)
    vision.graph(images, labels, tmp_path / "x", only=["i1.png", "i2"], **QUICK)
    assert read(tmp_path / "x")[1]["names"] == ["i1", "i2"]
    with pytest.raises(vision.VisionError, match=r"no photograph for i9\.png"):
        vision.graph(images, labels, tmp_path / "y", only=["i9.png"], **QUICK)


def test_photographs_of_one_colour(tmp_path):
    """They are warned of, also where JPEG has made some levels of noise of them."""
    images, labels = folder(tmp_path, count=2)
    black = np.random.default_rng(0).integers(0, 3, size=(48, 64, 3))
    write(images / "black.jpg", black), write(labels / "black.png", scene(0)[1])
    with pytest.warns(UserWarning, match=r"black\.jpg: is of one colour, so it says nothing: leave it out") as told:
        vision.graph(images, labels, tmp_path / "x", **QUICK)
    assert len(told) == 1


def test_label_ids_that_mean_something_else(tmp_path):
    """255 among few ids may be no label, and 0 and 255 alone are a mask: each gets a hint, and the right option none."""
    for number in range(2):
        photo, labels = scene(number)
        write(tmp_path / f"images/i{number}.png", photo)
        write(tmp_path / f"masks/i{number}.png", labels * 255)
        labels[:5] = 255
        write(tmp_path / f"maps/i{number}.png", labels)
    with pytest.warns(UserWarning, match=r"label ids 0, 255: grey masks need --threshold 128"):
        vision.graph(tmp_path / "images", tmp_path / "masks", tmp_path / "x", **QUICK)
    with pytest.warns(UserWarning, match="label id 255 among the ids up to 1: .* give --ignore 255"):
        vision.graph(tmp_path / "images", tmp_path / "maps", tmp_path / "x", **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vision.graph(tmp_path / "images", tmp_path / "masks", tmp_path / "x", threshold=128, **QUICK)
        vision.graph(tmp_path / "images", tmp_path / "maps", tmp_path / "x", ignore=255, **QUICK)
    assert set(np.unique(read(tmp_path / "x")[0]["labels"])) <= {-1, 0, 1}


def test_label_maps_that_leave_one_label(tmp_path):
    """Maps of 0 and 1 with a threshold for grey masks, and masks of 0 and 255 with 255 ignored, are told, for test images, too."""
    images, labels = folder(tmp_path / "ids", count=2)
    message = r"threshold = 128, but the label maps hold numbers from 0 to 1: all their pixels have the label 0; maps of class ids need"
    with pytest.warns(UserWarning, match=message):
        vision.graph(images, labels, tmp_path / "x", threshold=128, **QUICK)
    with pytest.warns(UserWarning, match="threshold = 0, .* from 3 to 3: all their pixels have the label 1"):
        write(tmp_path / "threes/i0.png", np.full_like(scene(0)[1], 3))
        vision.graph(images, tmp_path / "threes", tmp_path / "x", threshold=0, only=["i0"], **QUICK)
    photos, masks = folder(tmp_path / "grey", count=2, grey=True)
    with pytest.warns(UserWarning, match="all pixels have the label id 0, or the one to ignore: .* from 0 to 255"):
        vision.graph(photos, masks, tmp_path / "x", ignore=255, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vision.graph(photos, masks, tmp_path / "train", threshold=128, **QUICK)
        vision.graph(photos, masks, tmp_path / "test", like=tmp_path / "train", only=["i0"], cache=False, jobs=1)
        write(tmp_path / "black/i0.png", scene(0)[1] * 0)
        vision.graph(photos, tmp_path / "black", tmp_path / "test", like=tmp_path / "train", only=["i0"], cache=False, jobs=1)
    with pytest.warns(UserWarning, match=message):
        vision.graph(images, labels, tmp_path / "test", like=tmp_path / "train", cache=False, jobs=1)
