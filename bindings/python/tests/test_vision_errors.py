"""multiplane.vision: bad input gives one line that names file and rule, exit code 2, and no file."""

import os
import subprocess
import sys

import numpy as np
import pytest
from vision_images import folder, needs_extra, scene, write

needs_extra()

from multiplane import vision  # noqa: E402
from multiplane.vision._command import main  # noqa: E402

QUICK = ["--superpixels", "12", "--words", "4", "--no-cache", "--jobs", "1"]


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Runs ``graph`` on folders ``images`` and ``labels``; returns exit code and what was said. No file must stay."""
    monkeypatch.chdir(tmp_path)

    def call(*options, fine=False, quick=True):
        code = main(["graph", "images", "labels", "--out", "x.safetensors", *(QUICK if quick else []), *options])
        said = capsys.readouterr().err
        if not fine:
            assert not list(tmp_path.glob("*.safetensors")) and not list(tmp_path.glob(".*"))
            assert said.count("\n") == 1 and "Traceback" not in said
        return code, said

    return call


def _truncated(path):
    data = (path / "images/i1.jpg").read_bytes()
    (path / "images/i1.jpg").write_bytes(data[: len(data) // 2])


def _garbage(path):
    (path / "images/i1.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture at all")


def _sixteen_bits(path):
    from PIL import Image

    Image.fromarray(np.zeros((48, 64), np.uint16)).save(path / "labels/i1.png")


def _empty(path):
    for file in (path / "images").iterdir():
        file.rename(path / f"{file.stem}.txt")


FAULTS = {
    "a photograph without its map": (
        lambda path: (path / "labels/i1.png").unlink(), r"labels: no label map for i1 \(--only and --list"),
    "a map without its photograph": (
        lambda path: (path / "images/i1.jpg").unlink(), r"labels: label maps without a photograph in images: i1 \(--"),
    "another shape": (
        lambda path: write(path / "labels/i1.png", scene(0, (48, 48))[1]),
        r"labels/i1\.png: 48 x 48, but images/i1\.jpg is 64 x 48: the aspect ratios differ by more than 2 %"),
    "a photograph cut short": (_truncated, r"images/i1\.jpg: damaged, or not an image: image file is truncated"),
    "no picture": (_garbage, r"images/i1\.jpg: "),
    "an empty file": (lambda path: (path / "images/i1.jpg").write_bytes(b""), r"images/i1\.jpg: not an image that can"),
    "no image in the folder": (_empty, r"images: no image in it \(bmp, gif, jpeg"),
    "a map of colours": (
        lambda path: write(path / "labels/i1.png", scene(0)[0]),
        r"labels/i1\.png: mode RGB, expected a label map of one 8-bit channel"),
    "a map of 16 bits": (_sixteen_bits, r"labels/i1\.png: mode I;16, expected a label map of one 8-bit channel"),
    "two of one name": (
        lambda path: write(path / "images/i1.png", scene(0)[0]), r"images/i1\.png: i1\.jpg has the same name"),
    "grey masks without a threshold": (
        lambda path: write(path / "labels/i1.png", np.arange(48 * 64).reshape(48, 64) % 256),
        r"labels/i1\.png: 256 label ids \(256 in all label maps\), expected at most 64: grey masks need --threshold"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_images(fault, tmp_path, run):
    """Each fault in the second of three pairs."""
    for number in range(3):
        photo, labels = scene(number)
        write(tmp_path / f"images/i{number}.jpg", photo)
        write(tmp_path / f"labels/i{number}.png", labels)
    spoil, expected = FAULTS[fault]
    spoil(tmp_path)
    code, said = run()
    assert code == 2 and said.startswith("error: ")
    import re

    assert re.search(expected, said), said


OPTIONS = [
    (["--superpixels", "0"], "superpixels = 0: expected a whole number from 2 to 20000"),
    (["--superpixels", "1"], "superpixels = 1: expected a whole number from 2 to 20000"),
    (["--threshold", "-1"], "threshold = -1: expected a whole number from 0 to 254"),
    (["--threshold", "256"], "threshold = 256: expected a whole number from 0 to 254"),
    (["--ignore", "-1"], "ignore = -1: expected a whole number from 0 to 255"),
    (["--threshold", "9", "--ignore", "255"], "ignore = 255: with a threshold there are the labels 0 and 1 alone"),
    (["--words", "1"], "words = 1: expected a whole number from 2 to 1024"),
    (["--side", "3"], "side = 3: expected a whole number from 16 to 8192"),
    (["--jobs", "-1"], "jobs = -1: expected a whole number of processes up to 1024, 0 for one per core"),
    (["--jobs", "5000"], "jobs = 5000: expected a whole number of processes up to 1024"),
    (["--only", "i0,i9"], "images: no photograph for i9"),
    (["--only", ","], "no image is chosen: the list is empty"),
    (["--list", "none.txt"], "none.txt: cannot be read: No such file or directory"),
    (["--out", "none/x.safetensors"], "none/x.safetensors: cannot be written: No such file or directory"),
    (["--out", "images"], "images: is a folder"),
    (["--out", "."], ".: is a folder, expected the name of a file to write"),
    (["--out", "images/i0.png"], "images/i0.png: would take the place of a file that is read here"),
    (["--out", "labels/../labels/i1.png"], "labels/../labels/i1.png: would take the place of a file that is read here"),
    (["--cache", "c"], "--cache and --no-cache exclude each other"),
    (["--like", "none.safetensors"], "none.safetensors: cannot be read: No such file or directory"),
    (["--like", "images/i0.png"], "images/i0.png: not a safetensors file"),
]


@pytest.mark.parametrize(("options", "expected"), OPTIONS)
def test_bad_options(options, expected, tmp_path, run):
    """Each is refused before any work, and no file changes."""
    folder(tmp_path, count=2)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.png")}
    code, said = run(*options)
    assert code == 2 and said.startswith(f"error: {expected}"), said
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_names_of_a_list_have_their_place(tmp_path, run):
    """File and line of a name without a photograph or a label map, and of the file if there is none."""
    folder(tmp_path, count=2)
    (tmp_path / "labels" / "i1.png").unlink()
    for text, expected in [
        ("i0\n\ni9.png\n", "list.txt:3: images: no photograph for i9.png"), ("i0\ni1\n", "list.txt:2: labels: no label map for i1"),
        ("\n", "list.txt: no image is chosen: the list is empty"),
    ]:  # fmt: skip
        (tmp_path / "list.txt").write_text(text)
        code, said = run("--list", "list.txt")
        assert code == 2 and said.startswith(f"error: {expected}"), said


def test_folders_that_are_not_there(tmp_path, run):
    """Missing, or a file."""
    assert run() == (2, "error: images: no such folder, expected a folder of photographs\n")
    folder(tmp_path, count=1)
    (tmp_path / "labels").rename(tmp_path / "elsewhere")
    (tmp_path / "labels").write_text("")
    assert run() == (2, "error: labels: is no folder, expected a folder of label maps\n")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_name_that_is_no_text(tmp_path, run):
    """A file name that is not UTF-8 cannot stand in the metadata."""
    folder(tmp_path, count=1)
    os.rename(tmp_path / "images/i0.png", os.fsencode(tmp_path / "images") + b"/i\xff.png")
    assert run() == (2, "error: images: the name 'i\\udcff.png' is not UTF-8\n")


def test_nothing_is_labelled(tmp_path, run):
    """All pixels are to be ignored."""
    write(tmp_path / "images/a.png", scene(0)[0])
    write(tmp_path / "labels/a.png", np.full((48, 64), 255))
    assert run("--ignore", "255") == (2, "error: no pixel of any image has a label\n")


def test_names_can_be_chosen_where_pairs_are_not_complete(tmp_path, run):
    """--list passes over a photograph without its map."""
    folder(tmp_path, count=3)
    (tmp_path / "labels/i1.png").unlink()
    (tmp_path / "list.txt").write_text("i2\n\ni0\n")
    assert run("--list", "list.txt", fine=True)[0] == 0


@pytest.mark.parametrize("ending", ["png", "jpg", "gif", "bmp", "tif", "webp", "ppm"])
def test_damaged_images_are_told_or_read(ending, tmp_path):
    """Bytes changed and cut at 120 places: an image of some size, or a VisionError of one line; nothing else."""
    from multiplane.vision import _images

    whole = write(tmp_path / f"a.{ending}", scene(0, (20, 24))[0]).read_bytes()
    rng, told = np.random.default_rng(0), 0
    for trial in range(120):
        data = bytearray(whole)
        for at in rng.integers(0, len(data) if trial % 2 else min(len(data), 120), size=4):
            data[at] = rng.integers(256)
        (tmp_path / f"b.{ending}").write_bytes(data[: rng.integers(len(data))] if trial % 5 == 0 else data)
        for read in (_images.read_photo, _images.read_labels):
            try:
                read(tmp_path / f"b.{ending}")
            except vision.VisionError as error:
                told += 1
                assert str(error).startswith(f"{tmp_path}/b.{ending}: ") and "\n" not in str(error)
    assert told > 60, "faults are seen"


def test_a_full_disk_is_a_failure(tmp_path, run, monkeypatch):
    """An error of the system on the way: exit 1, no file."""
    from multiplane.vision._container import Writer

    folder(tmp_path, count=2)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "put", full)
    assert run() == (1, "error: [Errno 28] No space left on device\n")


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    """Nothing is kept then, and nothing fails."""
    from multiplane.vision._cache import Path, default_folder

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert default_folder() is None


def test_usage(capsys):
    """No command, an unknown option: 2 and one line. --help shows examples."""
    for arguments in ([], ["graph", "a"], ["graph", "a", "b", "--out", "c", "--what"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1
    for command in ("graph", "paint"):
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert ended.value.code == 0 and "examples:" in shown and "--like" in shown


def test_without_the_extra(tmp_path):
    """A package that is missing: the command says how to install it, and the package imports all the same."""
    (tmp_path / "skimage.py").write_text("raise ImportError('not here', name='skimage')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "multiplane.vision", "graph", "a", "b", "--out", "c"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: scikit-image is not installed: pip install 'multiplane[vision]'\n"


def test_the_functions_raise_what_the_commands_say(tmp_path):
    """VisionError is a ValueError."""
    assert issubclass(vision.VisionError, ValueError) and issubclass(vision.MissingExtra, ImportError)
    with pytest.raises(ValueError, match="no such folder"):
        vision.graph(tmp_path / "none", None, tmp_path / "x")
