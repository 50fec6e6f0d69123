"""multiplane.vision.graph: containers from photographs: what is in them, that they repeat, cache, files."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from vision_images import folder, needs_extra, read, scene, write

needs_extra()

from multiplane import vision  # noqa: E402

QUICK = {"superpixels": 24, "words": 6, "cache": False}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Four scenes and their container."""
    path = tmp_path_factory.mktemp("built")
    images, labels = folder(path)
    vision.graph(images, labels, path / "train.safetensors", **QUICK)
    return path


def test_tensors_have_the_shapes_and_order_of_the_format(built):
    """Names, types, order; offsets add up; edges within their example, each pair once; edge features >= 0."""
    tensors, settings, order = read(built / "train.safetensors")
    assert order[:7] == [
        "node_offsets", "node_features", "labels", "node_weights", "edge_offsets", "edges", "edge_features",
    ]  # fmt: skip
    nodes, edges = tensors["node_offsets"], tensors["edge_offsets"]
    assert len(nodes) == len(edges) == 5 and nodes[0] == edges[0] == 0
    n, f = tensors["node_features"].shape
    assert nodes[-1] == n == len(tensors["labels"]) == len(tensors["node_weights"])
    assert edges[-1] == len(tensors["edges"]) == len(tensors["edge_features"])
    for k in range(4):
        pairs = tensors["edges"][edges[k] : edges[k + 1]]
        assert pairs.min() == 0 and pairs.max() == nodes[k + 1] - nodes[k] - 1
        assert (pairs[:, 0] < pairs[:, 1]).all() and len(np.unique(pairs, axis=0)) == len(pairs)
        assert tensors["node_weights"][nodes[k] : nodes[k + 1]].mean() == pytest.approx(1)
    assert np.isfinite(tensors["node_features"]).all() and (tensors["edge_features"] >= 0).all()
    assert (tensors["edge_features"][:, 0] == 1).all()
    assert settings["names"] == ["i0", "i1", "i2", "i3"] and settings["classes"] == [0, 1]
    assert max(end for _, end in settings["node_features"].values()) == f
    assert len(settings["edge_features"]) == tensors["edge_features"].shape[1]


def test_features_are_standardised_over_the_training_nodes(built):
    """Times sqrt(f): mean 0, deviation 1 (or 0) where nothing is cut off, at most 5; the bias is 1."""
    tensors, _, _ = read(built / "train.safetensors")
    features = tensors["node_features"].astype(np.float64) * np.sqrt(tensors["node_features"].shape[1])
    assert np.abs(features).max() <= 5 + 1e-5 and np.allclose(features[:, -1], 1)
    whole = np.abs(features[:, :-1]).max(axis=0) < 4.99
    deviation = features[:, :-1][:, whole].std(axis=0)
    assert whole.mean() > 0.5 and np.abs(features[:, :-1][:, whole].mean(axis=0)).max() < 1e-3
    assert (np.isclose(deviation, 1, atol=1e-3) | (deviation < 1e-6)).all() and (deviation > 0.5).mean() > 0.8


def test_obvious_superpixels_get_their_labels_weights_and_edges(tmp_path):
    """Four quarters of plain colours, a class each, one of them unknown: superpixels keep to the quarters."""
    photo, labels = np.zeros((40, 60, 3), np.uint8), np.zeros((40, 60), np.uint8)
    quarters = [(slice(0, 20), slice(0, 30)), (slice(0, 20), slice(30, 60)), (slice(20, 40), slice(0, 30)),
                (slice(20, 40), slice(30, 60))]  # fmt: skip
    colours = [(250, 20, 20), (20, 250, 20), (20, 20, 250), (20, 20, 20)]
    for quarter, colour, label in zip(quarters, colours, [3, 5, 255, 9], strict=True):
        photo[quarter], labels[quarter] = colour, label
    write(tmp_path / "images/a.png", photo)
    write(tmp_path / "labels/a.png", labels)
    found = vision.graph(tmp_path / "images", tmp_path / "labels", tmp_path / "a.safetensors", ignore=255,
                         superpixels=4, words=4, cache=False)  # fmt: skip
    assert found["nodes"] == 4 and found["classes"] == [3, 5, 9]
    tensors, _, _ = read(tmp_path / "a.safetensors")
    ids = tensors["labels"]
    assert sorted(ids.tolist()) == [-1, 3, 5, 9]
    own = {3: [600, 0, 0], 5: [0, 600, 0], 9: [0, 0, 600], -1: [0, 0, 0]}
    assert np.abs(tensors["vision.pixels"] - [own[label] for label in ids.tolist()]).max() <= 2
    assert np.allclose(tensors["node_weights"], np.where(ids == -1, 0, 4 / 3), atol=0.01)
    expected = {(3, 5): 20, (-1, 3): 30, (5, 9): 30, (-1, 9): 20}
    lengths = tensors["edge_features"][:, 5] * np.sqrt(600)
    found = {tuple(sorted(ids[pair].tolist())): length for pair, length in zip(tensors["edges"], lengths, strict=True)}
    found = {pair: length for pair, length in found.items() if pair in expected or length > 3}
    assert found == {pair: pytest.approx(length, abs=2) for pair, length in expected.items()}
    assert (tensors["edge_features"][:, 1] < 1e-6).all(), "colours that far apart leave no contrast feature"


def test_masks_have_a_threshold_and_decide_the_size(tmp_path):
    """A photograph of twice the mask's size; mask values above the threshold are 1."""
    photo, labels = scene(0, (96, 128))
    write(tmp_path / "images/a.jpg", photo)
    write(tmp_path / "labels/a.png", np.where(labels[::2, ::2] == 1, 200, 90))
    vision.graph(tmp_path / "images", tmp_path / "labels", tmp_path / "a.safetensors", threshold=128, **QUICK)
    tensors, settings, _ = read(tmp_path / "a.safetensors")
    assert settings["sizes"] == [[64, 48]] and settings["settings"]["threshold"] == 128
    assert tensors["vision.pixels"].sum(axis=0).tolist() == [(labels[::2, ::2] == k).sum() for k in (0, 1)]
    assert set(tensors["labels"].tolist()) == {0, 1}


def test_the_same_bytes_for_any_number_of_jobs_and_with_the_cache(built, tmp_path):
    """One process, two, an empty cache, a full one, a spoiled one: one file."""
    images, labels = built / "images", built / "labels"
    expected = (built / "train.safetensors").read_bytes()
    cache = tmp_path / "cache"
    options = {**QUICK, "cache": cache}

    def build(**more):
        vision.graph(images, labels, tmp_path / "again.safetensors", **{**options, **more})
        return (tmp_path / "again.safetensors").read_bytes()

    assert build(jobs=2) == expected, "two processes, empty cache"
    entries = sorted(cache.iterdir())
    assert len(entries) == 4
    before = [entry.stat().st_mtime_ns for entry in entries]
    assert build() == expected, "full cache"
    assert [entry.stat().st_mtime_ns for entry in entries] == before, "a full cache is not written"
    sound = [entry.read_bytes() for entry in entries]
    entries[0].write_bytes(sound[0][:-10])
    entries[1].write_bytes(sound[1][:100] + b"?" + sound[1][101:])
    entries[2].write_bytes(b"")
    assert build() == expected, "spoiled cache"
    assert [entry.read_bytes() for entry in entries] == sound, "spoiled entries are rebuilt"
    assert len(list(cache.iterdir())) == 4
    assert build(superpixels=12) != expected and len(list(cache.iterdir())) == 8


def test_a_cache_that_cannot_be_written_costs_nothing_else(built, tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    options = {**QUICK, "cache": tmp_path / "file"}
    vision.graph(built / "images", built / "labels", tmp_path / "x.safetensors", **options)
    assert (tmp_path / "x.safetensors").read_bytes() == (built / "train.safetensors").read_bytes()


def test_like_takes_over_what_was_fitted(built, tmp_path):
    """The training images again: the same features. One image alone: its rows of the whole."""
    train = built / "train.safetensors"
    tensors, settings, _ = read(train)
    vision.graph(built / "images", built / "labels", tmp_path / "same.safetensors", like=train, cache=False)
    assert (tmp_path / "same.safetensors").read_bytes() == train.read_bytes()
    vision.graph(built / "images", built / "labels", tmp_path / "one.safetensors", like=train, only=["i2"], cache=False)
    one, info, _ = read(tmp_path / "one.safetensors")
    rows = slice(*tensors["node_offsets"][2:4])
    assert np.array_equal(one["node_features"], tensors["node_features"][rows])
    assert np.array_equal(one["labels"], tensors["labels"][rows])
    assert np.array_equal(one["vision.mean"], tensors["vision.mean"]) and info["names"] == ["i2"]
    assert info["settings"] == settings["settings"] and info["classes"] == [0, 1]


def test_like_without_labels_and_with_new_ones(built, tmp_path):
    """No label maps: all labels -1. A label id that training did not have stays, and is warned of."""
    train = built / "train.safetensors"
    vision.graph(built / "images", None, tmp_path / "bare.safetensors", like=train, cache=False)
    bare, info, _ = read(tmp_path / "bare.safetensors")
    assert (bare["labels"] == -1).all() and info["classes"] == [0, 1]
    assert np.array_equal(bare["node_features"], read(train)[0]["node_features"])
    photo, labels = scene(9)
    write(tmp_path / "images/n.png", photo)
    write(tmp_path / "labels/n.png", labels * 7)
    with pytest.warns(UserWarning, match=r"n\.png: label id 7, which the file of --like does not know"):
        vision.graph(tmp_path / "images", tmp_path / "labels", tmp_path / "new.safetensors", like=train, cache=False)
    new, info, _ = read(tmp_path / "new.safetensors")
    assert info["classes"] == [0, 1, 7] and set(new["labels"].tolist()) == {0, 7}


def test_odd_images_are_taken(tmp_path):
    """Greys, palettes, transparency, a plain colour, few pixels: finite features."""
    from PIL import Image

    photo, labels = scene(1)
    (tmp_path / "images").mkdir()
    picture = Image.fromarray(photo)
    picture.convert("L").save(tmp_path / "images/grey.png")
    picture.convert("P").save(tmp_path / "images/palette.png")
    picture.convert("RGBA").save(tmp_path / "images/alpha.png")
    for name in ("grey", "palette", "alpha", "plain"):
        write(tmp_path / f"labels/{name}.png", labels)
    write(tmp_path / "images/plain.png", np.full_like(photo, 77))
    write(tmp_path / "images/tiny.png", photo[:2, :3])
    write(tmp_path / "labels/tiny.png", labels[:2, :3])
    write(tmp_path / "images/point.png", photo[:1, :1])
    write(tmp_path / "labels/point.png", labels[:1, :1])
    with pytest.warns(UserWarning, match=r"plain\.png: is of one colour"):
        vision.graph(tmp_path / "images", tmp_path / "labels", tmp_path / "x.safetensors", **QUICK)
    tensors, _, _ = read(tmp_path / "x.safetensors")
    assert np.isfinite(tensors["node_features"]).all() and np.isfinite(tensors["edge_features"]).all()


def test_large_photographs_are_worked_on_smaller(built, tmp_path):
    """With --like, no larger than training's; labels are counted at full size."""
    photo, labels = scene(3, (192, 256))
    write(tmp_path / "images/a.png", photo)
    write(tmp_path / "labels/a.png", labels)
    found = vision.graph(tmp_path / "images", tmp_path / "labels", tmp_path / "a.safetensors",
                         like=built / "train.safetensors", cache=False)  # fmt: skip
    tensors, info, _ = read(tmp_path / "a.safetensors")
    assert info["settings"]["side"] == 64 and found["nodes"] < 40
    assert tensors["vision.pixels"].sum() == labels.size and info["sizes"] == [[256, 192]]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(built, tmp_path, monkeypatch):
    """A failure on the way leaves the file that was there, and nothing else."""
    from multiplane.vision import _features

    out = tmp_path / "out.safetensors"
    out.write_bytes(b"before")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_features, "assemble", fail)
    with pytest.raises(KeyboardInterrupt):
        vision.graph(built / "images", built / "labels", out, **QUICK)
    assert out.read_bytes() == b"before" and [path.name for path in tmp_path.iterdir()] == ["out.safetensors"]


def test_a_worker_that_dies_is_told(tmp_path):
    """A process that is killed at work: an error that says so, no file."""
    from multiplane.vision._work import Crew

    with Crew(2) as crew, pytest.raises(ChildProcessError, match="a worker process ended before its work"):
        list(crew.each(os._exit, [3, 3, 3]))


def test_ctrl_c_waits_until_a_worker_has_begun(monkeypatch):
    """An interrupt while a process is being started comes when it is, whatever thread of the process the system gives it."""
    from concurrent.futures import ProcessPoolExecutor

    from multiplane.vision._work import Crew

    submit, done = ProcessPoolExecutor.submit, []

    def interrupted(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)  # the system gives it to the other thread, and Python to this one
        time.sleep(0.1)
        found = submit(self, *arguments)
        done.append(found)
        return found

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    before, end = signal.getsignal(signal.SIGINT), threading.Event()
    other = threading.Thread(target=end.wait, daemon=True)
    other.start()
    with pytest.raises(KeyboardInterrupt), Crew(2) as crew:
        list(crew.each(abs, [-1, -2, -3]))
    end.set()
    assert len(done) == 1 and signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("what", ["writing", "scratch_folder"])
def test_ctrl_c_at_any_moment_leaves_no_temporary_file(what, tmp_path):
    """An interrupt at each line, one after the other, from the choice of the name until the block has begun."""
    from contextlib import ExitStack

    from multiplane.vision import _container

    reached = 0
    for moment in range(500):
        lines = itertools.count()

        def trace(frame, event, _, moment=moment, lines=lines):
            if event == "line" and next(lines) == moment:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        begun, before = False, sys.gettrace()
        try:
            with ExitStack() as stack:
                arguments = (tmp_path / "x",) if what == "writing" else (tmp_path, ".x.")
                sys.settrace(trace)
                stack.enter_context(getattr(_container, what)(*arguments))
                sys.settrace(before)
                begun = True
        except KeyboardInterrupt:
            reached += 1
        finally:
            sys.settrace(before)
        gc.collect()
        assert list(tmp_path.iterdir()) == [], f"line {moment}"
        if begun:
            break
    assert 10 < reached < 499


@pytest.mark.parametrize("sign", [".x.safetensors.*", ".vision.*", ".vision.*/*.regions"])
def test_ctrl_c_leaves_nothing_half_written(sign, tmp_path):
    """The command on two processes, interrupted when it begins, when they begin, and at work: 130, no file, no scratch."""
    images, labels = folder(tmp_path, count=60, shape=(150, 200))
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-m", "multiplane.vision", "graph", images, labels, "--out", out / "x.safetensors",
               "--jobs", "2", "--no-cache"]  # fmt: skip
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(out.glob(sign)) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the workers as well
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and told == "interrupted: nothing was written\n"
    assert list(out.iterdir()) == []


def test_superpixels_of_real_photographs_keep_to_borders(data, tmp_path):
    """Horses, masks of another size than the photographs: whole superpixels get at least 95 % of all pixels right."""
    horses = data("weizmann_horses")
    out = tmp_path / "horses.safetensors"
    names = [f"horse00{k}" for k in range(1, 6)]
    found = vision.graph(horses / "rgb", horses / "figure_ground", out, threshold=128, only=names, words=8, cache=False)
    tensors, settings, _ = read(out)
    assert 230 <= found["nodes"] / 5 <= 290, "about 250 superpixels"
    best = tensors["vision.pixels"].max(axis=1).sum() / tensors["vision.pixels"].sum()
    assert best >= 0.95 and settings["sizes"][0] == [315, 232]
