"""Containers of multiplane.vision: damaged ones given as --like, and writing that fails."""

import json
import struct

import numpy as np
import pytest
from vision_images import folder, needs_extra

needs_extra()

from multiplane.vision._command import main  # noqa: E402


def _spoiled(path, change):
    """A copy of train.safetensors whose header was changed."""
    data = (path / "train.safetensors").read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    (path / "like").write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def _settings(name, value):
    def change(header):
        found = json.loads(header["__metadata__"]["multiplane.vision"])
        found[name] = value
        header["__metadata__"]["multiplane.vision"] = json.dumps(found)

    return change


def test_bad_files_of_like(tmp_path, capsys, monkeypatch):
    """Without metadata, of another version, damaged, cut short, or against the options."""
    monkeypatch.chdir(tmp_path)
    folder(tmp_path, count=2)
    plain = ["graph", "images", "labels", "--out", "train.safetensors", "--no-cache", "--jobs", "1"]
    assert main([*plain, "--superpixels", "12", "--words", "4"]) == 0
    assert main([*plain, "--like", "train.safetensors"]) == 2
    assert "train.safetensors: would take the place of a file that is read" in capsys.readouterr().err

    def said(*options):
        fixed = ["graph", "images", "labels", "--out", "y", "--like", "like", "--no-cache", "--jobs", "1"]
        code = main([*fixed, *options])
        text = capsys.readouterr().err
        assert code == 2 and text.count("\n") == 1 and not (tmp_path / "y").exists()
        return text

    _spoiled(tmp_path, lambda header: header.pop("__metadata__"))
    assert "like: has no metadata `multiplane.vision`: expected a file that" in said()
    _spoiled(tmp_path, _settings("version", 0))
    assert "like: features of version 0, this package makes version" in said()
    _spoiled(tmp_path, _settings("settings", {"superpixels": "many"}))
    assert "like: metadata `multiplane.vision` is damaged: superpixels = many" in said()
    _spoiled(tmp_path, _settings("names", 3))
    assert "like: metadata `multiplane.vision` is damaged" in said()
    for classes in ([1, 0], [0, 0], [0, 256], [-1, 0], ["a"], 3):
        _spoiled(tmp_path, _settings("classes", classes))
        assert "like: metadata `multiplane.vision` is damaged" in said()
    for wrong in (
        {"shape": ["a"]}, {"shape": 3}, {"data_offsets": [0]}, {"data_offsets": [8, 0]}, {"shape": [-1, 2]}, {"shape": []}, {"shape": [3]},
    ):  # fmt: skip
        _spoiled(tmp_path, lambda header, wrong=wrong: header["vision.mean"].update(wrong))
        assert "like: not a safetensors file, or cut short: " in said()
    _spoiled(tmp_path, lambda header: header.update({"vision.other": header.pop("vision.words")}))
    assert "like: has no tensor `vision.words`" in said()
    _spoiled(tmp_path, lambda header: header["vision.mean"].update(shape=[1, *header["vision.mean"]["shape"]]))
    assert "like: tensor `vision.mean`" in said()
    data = (tmp_path / "train.safetensors").read_bytes()
    (tmp_path / "like").write_bytes(data[:-4])
    assert "like: not a safetensors file, or cut short: " in said()
    (tmp_path / "like").write_bytes(data)
    assert "superpixels = 99, but the file of --like was built with 12: leave the option out" in said(
        "--superpixels", "99"
    )
    assert main(["graph", "images", "labels", "--out", "y", "--like", "like", "--no-cache", "--superpixels", "12"]) == 0


def test_what_cannot_be_flushed_leaves_no_file(tmp_path):
    """The system refuses bytes that the writer still holds when it is left: the temporary file goes all the same."""
    resource = pytest.importorskip("resource")
    from multiplane.vision._container import Plan, writing

    plan, limits = Plan(), resource.getrlimit(resource.RLIMIT_FSIZE)
    plan.add("a", "F64", 1000)
    try:
        with pytest.raises(KeyboardInterrupt), writing(tmp_path / "x") as writer:
            writer.begin(plan, {})
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
            writer.put("a", np.ones(10), 900)
            raise KeyboardInterrupt
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
