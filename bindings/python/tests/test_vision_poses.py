"""multiplane.vision: cells with joints from photographs, skeletons over them, and what is refused on the way."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from vision_images import needs_extra, read, write

needs_extra()

from PIL import Image  # noqa: E402

import multiplane  # noqa: E402
from multiplane import vision  # noqa: E402
from multiplane.vision import _found, _joints, _skeletons  # noqa: E402
from multiplane.vision._command import main  # noqa: E402

JOINTS = ["l_hand", "r_hand", "head"]
BODY = {"edges": "2-0,2-1", "torso": "2-0,2-1"}


def places(number):
    """Hands left and right of a head, in pixels of 96 x 64."""
    x, y = 36 + 8 * (number % 4), 12 + 8 * (number % 2)
    return np.array([[x - 20, y + 30], [x + 22, y + 28], [x, y]], float)


def photo(joints, shape=(64, 96)):
    """Grey noise; hands are stripes, across on the left and along on the right, the head is a chequered disc."""
    pixels = np.full(shape, 120.0)
    rows, columns = np.indices(shape)
    patterns = rows // 2 % 2, columns // 2 % 2, (rows // 2 + columns // 2) % 2
    for (x, y), pattern in zip(joints, patterns, strict=True):
        near = np.hypot(columns - x, rows - y) < 8
        pixels[near] += 90 * pattern[near]
    noise = np.random.default_rng(int(joints.sum())).normal(size=shape) * 3
    return np.repeat(np.clip(pixels + noise, 0, 255).astype(np.uint8)[..., None], 3, 2)


def wide(poses, names=JOINTS):
    head = "file," + ",".join(f"{joint}_{part}" for joint in names for part in "xyv")
    rows = [f"{name}.png," + ",".join(f"{x:g},{y:g},1" for x, y in joints) for name, joints in poses.items()]
    return "\n".join([head, *rows]) + "\n"


@pytest.fixture
def bodies(tmp_path):
    """A folder of photographs and a csv file of their joints."""
    poses = {f"p{number}": places(number) for number in range(6)}
    for name, joints in poses.items():
        write(tmp_path / "photos" / f"{name}.png", photo(joints))
    (tmp_path / "joints.csv").write_text(wide(poses))
    return tmp_path


def test_cells_and_joints(bodies):
    """Cells are those of `hog` with places, joints are over the side of a cell; the same bytes for any number of jobs, and in memory."""
    out = bodies / "train.safetensors"
    made = vision.poses(bodies / "photos", bodies / "joints.csv", out, torso="2-0")
    assert made == {"images": 6, "joints": JOINTS, "marked": 18, "channels": 22, "left_out": [], "out": str(out)}
    tensors, settings, _ = read(out)
    assert tensors["grid_sizes"].tolist() == [[8, 12]] * 6 and settings["joints"] == JOINTS
    assert np.array_equal(tensors["joints"], [places(number) / 8 for number in range(6)])
    cells = tensors["channels"].reshape(6, 8, 12, 22)
    alone = vision.hog(np.asarray(Image.open(bodies / "photos" / "p3.png")), place=True)
    assert np.array_equal(cells[3], alone) and np.array_equal(alone[..., :18], vision.hog(np.asarray(Image.open(bodies / "photos" / "p3.png"))))
    u, v = alone[2, 3, 18:20]
    assert np.allclose(alone[2, 3, 18:], [7 / 12 - 1, 5 / 8 - 1, u * u, v * v])
    vision.poses(bodies / "photos", bodies / "joints.csv", bodies / "again", torso="2-0", jobs=2)
    assert (bodies / "again").read_bytes() == out.read_bytes()
    names, maps, joints = vision.poses(bodies / "photos", bodies / "joints.csv", torso="2-0")
    assert names == settings["names"] and np.array_equal(np.array(maps), cells) and np.array_equal(joints, tensors["joints"])
    small = vision.poses(bodies / "photos", bodies / "joints.csv", torso="2-0", size=48, cell=4, place=False, orientations=6)
    assert small[1][0].shape == (8, 12, 12) and np.allclose(small[2], joints)


def test_components_and_colours(bodies):
    """Components of all windows have no mean, one deviation and nothing in common; test images take those of the training file."""
    def made(out, **options):
        told = vision.poses(bodies / "photos", bodies / "joints.csv", out, **{"torso": "2-0", "colours": True, "components": 6, "window": 3, **options})
        return told, *read(out)[:2]

    told, tensors, _ = made(bodies / "train")
    cells = tensors["channels"].astype(float)
    assert told["channels"] == 10 == cells.shape[1] and tensors["vision.axes"].shape == (9 * 38, 6)
    assert np.allclose(cells[:, :6].mean(0), 0, atol=1e-4) and np.allclose(np.cov(cells[:, :6].T, bias=True), 0.36 * np.eye(6), atol=1e-3)
    assert np.allclose(cells[:96, 6:], 2 * vision.hog(photo(places(0)), place=True)[..., 18:].reshape(96, 4))
    made(bodies / "again", jobs=2)
    assert (bodies / "again").read_bytes() == (bodies / "train").read_bytes()
    vision.poses(bodies / "photos", None, bodies / "new", like=bodies / "train", only=["p3"])
    alone = read(bodies / "new")[0]
    assert np.array_equal(alone["channels"], tensors["channels"][288:384]) and np.array_equal(alone["vision.mean"], tensors["vision.mean"])
    model = multiplane.PoseSSVM(**BODY, lam=0.01, passes=3, template=1).fit(bodies / "train")
    model.save(bodies / "model")
    painted = vision.paint(bodies / "model", bodies / "photos", bodies / "painted", like=bodies / "train", labels=bodies / "joints.csv")
    assert painted["images"] == 6 and painted["pdj"] == pytest.approx(model.score(bodies / "train"))
    made(bodies / "others", only=["p0", "p1", "p2"])
    with pytest.raises(vision.VisionError, match=r"others: its cells are made otherwise"):
        vision.paint(bodies / "model", bodies / "photos", bodies / "out", like=bodies / "others")
    plain, coloured = (vision.poses(bodies / "photos", None, colours=colours, place=False)[1][0] for colours in (False, True))
    assert np.array_equal(coloured[..., :18], plain) and coloured.shape == (8, 12, 38) and (coloured[..., 18:] >= 0).all()


def test_formats_say_the_same(bodies):
    """A row for each joint, other columns, other pixels, COCO: the same poses; marks of v = 0, empty and NaN are none."""
    poses = {name: places(number) for number, name in enumerate(["p0", "p1", "p2"])}
    nowhere = "p2,l_hand,,,1\n"
    rows = [(name, joint, *place) for name, joints in poses.items() for joint, place in zip(JOINTS, joints, strict=True)]
    kept = [row for row in rows if row[:2] != ("p2", "l_hand")]
    (bodies / "long.csv").write_text("name,joint,x,y,v\n" + "# by hand\n" + "".join(f"{a},{b},{x},{y},2\n" for a, b, x, y in kept) + nowhere)
    order = [2, 0, 1]
    text = wide({name: 2 * joints[order] for name, joints in poses.items()}, [JOINTS[k] for k in order]).splitlines()
    text = [line + tail for line, tail in zip(text, [",height,width", *[",128,192"] * 3], strict=True)]
    (bodies / "twice.csv").write_text("\n".join(text).replace(",64,84,1", ",7,nan,0"))
    images = [{"id": k, "file_name": f"a/{name}.png"} for k, name in enumerate(poses)]
    marks = [{"image_id": k, "category_id": 1, "keypoints": np.c_[joints, [2, 1, 1]].ravel().tolist()} for k, joints in enumerate(poses.values())]
    marks[2]["keypoints"][:3] = [0, 0, 0]
    marks.append({"image_id": 1, "keypoints": [0] * 9, "num_keypoints": 0})
    (bodies / "coco.json").write_text(json.dumps({"images": images, "annotations": marks, "categories": [{"id": 1, "keypoints": JOINTS}]}))
    known = None
    for file in ("long.csv", "twice.csv", "coco.json"):
        out = bodies / f"{file}.safetensors"
        made = vision.poses(bodies / "photos", bodies / file, out, like=known, torso=None if known else "2-0,2-1")
        tensors, settings, _ = read(out)
        assert made["marked"] == 8 and settings["joints"] == JOINTS and settings["names"] == list(poses), file
        expected = np.array(list(poses.values())) / 8
        expected[2, 0] = np.nan
        assert np.allclose(tensors["joints"], expected, equal_nan=True), file
        known = bodies / "long.csv.safetensors"
    (bodies / "numbers.csv").write_text("file,joint,x,y\n" + "".join(f"p0,{k},{x},{y}\n" for k, (x, y) in list(enumerate(places(0)))[::-1]))
    assert np.array_equal(vision.poses(bodies / "photos", bodies / "numbers.csv", torso="2-0")[2], [places(0) / 8])


def test_mirror_images(bodies):
    """Left is right, by names and by pairs; the picture is turned, and a joint at the left edge stays inside."""
    joints = places(0)
    joints[0, 0] = 0
    (bodies / "one.csv").write_text(wide({"p0": joints}))
    names, maps, poses = vision.poses(bodies / "photos", bodies / "one.csv", torso="2-1", mirrored=True)
    assert names == ["p0", "p0 (mirrored)"]
    assert np.allclose(poses[1], [[96 - joints[1, 0], joints[1, 1]], [96, joints[0, 1]], [96 - joints[2, 0], joints[2, 1]]] / np.array(8.0))
    assert poses[1][1, 0] < 12
    turned = np.ascontiguousarray(np.asarray(Image.open(bodies / "photos" / "p0.png"))[:, ::-1])
    assert np.array_equal(maps[1], vision.hog(turned, place=True))
    assert np.array_equal(vision.poses(bodies / "photos", bodies / "one.csv", torso="2-1", mirrored=True, swap="1-0")[2], poses)
    assert _joints.mirrored_order(["LeftEye", "left_ear", "nose", "right_ear", "R-toe", "l-toe"], None) == [0, 3, 2, 1, 5, 4]
    for options, message in [
        ({"mirrored": True, "swap": "0-7"}, r"swap = 0-7: found '0-7', expected two of the joints 0 to 2 \(l_hand, r_hand, head\)"),
        ({"mirrored": True, "swap": "0-1,1-2"}, r"swap = 0-1,1-2: found joint 1 twice"), ({"swap": "0-1"}, r"swap = 0-1: of mirror images"),
    ]:  # fmt: skip
        with pytest.raises(vision.VisionError, match=message):
            vision.poses(bodies / "photos", bodies / "one.csv", torso="2-1", **options)
    (bodies / "one.csv").write_text(wide({"p0": joints}, ["a", "b", "c"]))
    with pytest.raises(vision.VisionError, match=r"no joint has a left and a right in its name \(a, b, c\): .*--swap"):
        vision.poses(bodies / "photos", bodies / "one.csv", torso="2-1", mirrored=True)


def test_what_is_left_out(bodies, capsys):
    """Joints outside are not used, photographs without a torso are left out; warnings say so. Without joints all are taken."""
    poses = {f"p{number}": places(number) for number in range(4)}
    poses["p1"][0] = [-26, 3]
    poses["p3"][:2] = [500, 500]
    text = wide(poses).splitlines()
    text[3] = "p2.png,,,0,,,0,1,2,1"
    (bodies / "some.csv").write_text("\n".join(text))
    arguments = ["poses", bodies / "photos", bodies / "some.csv", "--out", bodies / "out", "--torso", "2-0,2-1", "--jobs", "1", "--quiet"]
    assert main([*map(str, arguments)]) == 0
    told = capsys.readouterr()
    assert told.out == f"2 images, 3 joints (5 marked), 22 channels: {bodies / 'out'}\n"
    warnings = told.err.splitlines()
    assert len(warnings) == 2 and warnings[0] == (
        "warning: 2 images have no torso (a pair of 2-0,2-1 that is marked in two cells) and are left out: p2, p3"
    )
    assert warnings[1] == "warning: marked joints outside of their photographs, taken for not marked: 1"
    assert main([*map(str, arguments), "--only", "p0,p5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == ["p5"]
    with pytest.raises(vision.VisionError, match=r"no photograph has a torso .*p2.png"):
        vision.poses(bodies / "photos", bodies / "some.csv", bodies / "none", torso="2-0", only=["p2", "p3"])
    assert not (bodies / "none").exists()
    assert vision.poses(bodies / "photos", None, bodies / "bare", like=bodies / "out")["images"] == 6
    assert "joints" not in read(bodies / "bare")[0]


HEAD = "file,a_x,a_y,b_x,b_y\n"

BAD = {
    "no header": ("p0,1,2,3,4\n", r"joints:1: found 'p0,1,2,3,4': expected csv with a header"),
    "other header": ("file,joint,left,top\n", r"joints:1: found 'file,joint,left,top'"),
    "no y": ("file,a_x,b_x,b_y\n", r"joints:1: a header with a_x, but without a_y"),
    "column twice": ("file,a_x,a_y,a_x\n", r"joints:1: a header with a_x twice"),
    "columns": (HEAD + "p0,1,2,3\n", r"joints:2: 4 columns, expected name,a_x,a_y,b_x,b_y"),
    "number": (HEAD + "p0,1,2,3,far\n", r"joints:2: y of b = 'far': expected a finite number"),
    "half a place": (HEAD + "p0,1,2,3,nan\n", r"joints:2: y of b = 'nan': expected a finite number"),
    "infinite": (HEAD + "p0,1,inf,3,4\n", r"joints:2: y of a = 'inf'"),
    "twice": (HEAD + "p0,1,2,3,9\np0.png,1,2,3,9\n", r"joints:3: a second pose of p0, after .*joints:2"),
    "joint twice": ("name,joint,x,y\np0,a,1,2\np0,a,3,4\n", r"joints:3: a second a of p0"),
    "no photograph": (HEAD + "p0,1,2,3,20\np9,1,2,3,4\n", r"joints:3: .*photos has no photograph p9"),
    "no pose": (HEAD, r"joints: has no pose"), "empty": ("", r"joints: found '': expected csv"),
    "no text": ("\udcff", r"joints:1: not UTF-8 text"), "torso": (HEAD + "p0,,,,\n", r"no photograph has a torso"),
    "shape": ("file,a_x,a_y,b_x,b_y,width,height\np0,1,2,3,20,50,50\n", r"joints:2: the pose of p0 is of an image of 50 x 50 pixels, but the photograph has 96 x 64"),
    "no size": ("file,a_x,a_y,b_x,b_y,width,height\np0,1,2,3,20,0,50\n", r"joints:2: width = 0: expected a positive number"),
    "no JSON": ("{", r"joints:1:2: not JSON"), "no keypoints": ('{"images": []}', r"joints: found 0 categories with a list `keypoints`"),
    "keypoints": ('{"images": [{"id": 1, "file_name": "p0"}], "categories": [{"keypoints": ["a"]}], "annotations": [{"image_id": 1, "keypoints": [1]}]}', r"annotations\[0\]: keypoints: expected x, y, v of 1 joints"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_bad_joints(fault, bodies, capsys):
    """One line that says file, place and rule; nothing is written."""
    text, expected = BAD[fault]
    (bodies / "joints").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(vision.VisionError, match=expected):
        vision.poses(bodies / "photos", bodies / "joints", bodies / "out", torso="0-1")
    assert main(["poses", str(bodies / "photos"), str(bodies / "joints"), "--out", str(bodies / "out"), "--torso", "0-1", "--jobs", "1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and not (bodies / "out").exists()


def test_bad_options_and_files(bodies):
    out, table = bodies / "out", bodies / "joints.csv"
    cases = [
        ({"cell": 0}, r"cell = 0: expected a whole number from 1 to 256"), ({"size": 8}, r"size = 8: expected"), ({"place": 3}, r"place = 3"),
        ({"torso": "0-1,"}, r"torso = 0-1,: found '', expected two of the joints 0 to 2"), ({}, r"torso = 9-2,8-3: found '9-2', expected two of the joints 0 to 2"),
        ({"cell": 30}, r"p0.png: 96 x 64 pixels, expected at least three cells along each side: 90 pixels"),
        ({"window": 4}, r"window = 4: expected an odd number of cells"), ({"components": 451}, r"components = 451: windows have 450 numbers"),
        ({"only": ["p9"]}, r"no photograph for p9"), ({"jobs": -1}, r"jobs = -1"),
    ]  # fmt: skip
    for options, message in cases:
        with pytest.raises(vision.VisionError, match=message):
            vision.poses(bodies / "photos", table, out, **{"torso": "2-0", **options} if options else {})
    write(bodies / "photos" / "p2.png", np.zeros((9, 9, 3)))
    with pytest.raises(vision.VisionError, match=r"p2.png: 9 x 9 pixels, expected at least three cells"):
        vision.poses(bodies / "photos", table, out, torso="2-0")
    (bodies / "photos" / "p2.png").write_bytes(b"nothing")
    with pytest.raises(vision.VisionError, match=r"p2.png: not an image that can be read"):
        vision.poses(bodies / "photos", None, out)
    for faulty, message in [((9, 45), "photo: 45 x 9 pixels, expected at least three cells along each side: 24 pixels")]:
        with pytest.raises(vision.VisionError, match=message):
            vision.hog(np.zeros(faulty, np.uint8))
    assert not out.exists()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Photographs, cells of the first ten, and a model of them."""
    path = tmp_path_factory.mktemp("poses")
    poses = {f"p{number:02}": places(number) + [[number % 3, 0], [0, number % 3], [0, 0]] for number in range(14)}
    for name, joints in poses.items():
        write(path / "photos" / f"{name}.png", photo(joints))
    (path / "joints.csv").write_text(wide(poses))
    vision.poses(path / "photos", path / "joints.csv", path / "train", torso="2-0,2-1", only=list(poses)[:10])
    multiplane.PoseSSVM(lam=1e-3, gap="5%", template=3, **BODY).fit(path / "train").save(path / "model")
    return path, poses


def test_skeletons_are_drawn():
    """Limbs and dots of what is found over the photograph, rings around what is marked."""
    found, right = [(20, 10), (20, 40)], [(50, 30), (np.nan, np.nan)]
    picture = _skeletons.drawn(np.zeros((60, 80, 3), np.uint8), found, [(0, 1)], np.array(right))
    assert (picture[10:41, 20] == _found.FOUND).all() and (picture[25, 17:24] == _found.FOUND).all(axis=1).sum() in (2, 3)
    assert (picture[10, 16:25] == _found.FOUND).all() and not picture[:, 30:40].any()
    rows, columns = np.nonzero((picture == _found.TRUE).all(axis=2))
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (24, 36, 44, 56) and not picture[30, 50].any()


def test_bodies_are_found_and_drawn(trained, capsys):
    """New photographs of twice the size: dots where the csv file says, near the marks; the share found is the model's."""
    path, poses = trained
    for name in list(poses)[10:]:
        small = Image.open(path / "photos" / f"{name}.png")
        write(path / "new" / f"{name}.png", small.resize((192, 128), Image.Resampling.NEAREST))
    (path / "twice.csv").write_text(wide({name: 2 * joints for name, joints in list(poses.items())[10:13]}))
    vision.poses(path / "photos", path / "joints.csv", path / "small", torso="2-0,2-1", size=96)
    small = multiplane.PoseSSVM(lam=1e-3, gap="5%", template=3, **BODY).fit(path / "small")
    small.save(path / "smaller")
    arguments = ["paint", path / "smaller", path / "new", "--like", path / "small", "--labels", path / "twice.csv", "--out", path / "out",
                 "--only", ",".join(list(poses)[10:]), "--jobs", "1", "--quiet"]  # fmt: skip
    assert main([*map(str, arguments), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["images"] == 4 and result["joints"] == 3 and result["pdj"] > 0.8
    rows = list(csv.DictReader((path / "out" / "poses.csv").read_text().splitlines()))
    assert sorted(file.name for file in (path / "out").iterdir()) == sorted(["poses.csv", *(f"{name}.png" for name in list(poses)[10:])])
    assert [row["joint"] for row in rows[:3]] == JOINTS and len(rows) == 12
    for name in list(poses)[10:]:
        picture = np.asarray(Image.open(path / "out" / f"{name}.png"))
        assert picture.shape == (128, 192, 3)
        for row in (row for row in rows if row["name"] == name):
            assert (picture[int(float(row["y"])), int(float(row["x"]))] == _found.FOUND).all()
        ringed = (picture == _found.TRUE).all(axis=2).any()
        assert ringed == (name != list(poses)[13]), "the last one has no marks"
    near = [np.hypot(float(row["x"]) - 2 * x, float(row["y"]) - 2 * y) < 32 for row, (x, y) in zip(rows, np.concatenate(list(poses.values())[10:]), strict=True)]
    assert np.mean(near) > 0.8
    assert main([*map(str, arguments)]) == 0 and "joints found within 0.2 torsos (PDJ) " in capsys.readouterr().out
    names, _, joints = vision.poses(path / "new", path / "out" / "poses.csv", like=path / "small")
    assert len(names) == 4 and np.isfinite(joints).all(), "what is written can be read"


def test_models_know_their_cells(trained, tmp_path):
    """Cells of another side are refused by paint and warned of by the model, like options that are not of poses."""
    path, _ = trained
    model = multiplane.load(path / "model")
    assert isinstance(model, multiplane.PoseSSVM) and len(model.features_id_ or "") == 64
    vision.poses(path / "photos", path / "joints.csv", tmp_path / "other", torso="2-0,2-1", cell=6)
    core = multiplane._core
    (warning,) = model._model.warnings(core.Dataset.read(tmp_path / "other", "pose"))
    assert "the channels were not made as those that the model was trained on" in warning
    assert model._model.warnings(core.Dataset.read(path / "train", "pose")) == []
    with pytest.warns(UserWarning, match=r"other: the channels were not made as those"):
        model.predict(tmp_path / "other")
    cases = [
        ({"like": tmp_path / "other"}, r"other: its cells are made otherwise than those that .*model was trained on"),
        ({"top": 2}, r"top and category are of boxes, but .*train holds poses"), ({"names": ["a"]}, r"names are of classes: .*train holds poses"),
        ({"out": path / "photos"}, r"photos: holds the photographs"), ({"labels": tmp_path / "none"}, r"none: cannot be read"),
    ]  # fmt: skip
    for options, message in cases:
        with pytest.raises(vision.VisionError, match=message):
            vision.paint(path / "model", path / "photos", **{"out": tmp_path / "out", "like": path / "train", **options})
    (tmp_path / "joints.csv").write_text("file,joint,x,y\np00,tail,1,2\n")
    with pytest.raises(vision.VisionError, match=r"joints.csv:2: found the joint tail, expected those of the file of --like: l_hand, r_hand, head"):
        vision.paint(path / "model", path / "photos", tmp_path / "out", like=path / "train", labels=tmp_path / "joints.csv")
    with pytest.raises(vision.VisionError, match=r"expected a file that `multiplane.vision words` wrote"):
        vision.words(path / "photos", None, tmp_path / "words", like=path / "train")
    assert not (tmp_path / "out").exists()


def test_photographs_of_the_data_sets(tmp_path):
    """A few photographs of Leeds Sports Pose Extended, from the file of joints to pictures."""
    folder = Path(os.environ.get("MULTIPLANE_DATA", "../../../shared/data")) / "lspet_400"
    if not folder.is_dir():
        pytest.skip(f"no {folder}: poses were not made of photographs of lspet_400")
    only = [f"im{number:05}" for number in range(2, 12)]
    with pytest.warns(UserWarning, match=r"2 images have no torso .*: im00005, im00011"):
        made = vision.poses(folder / "images", folder / "joints.csv", tmp_path / "train", mirrored=True, only=only)
    assert made["images"] == 16 and made["left_out"] == ["im00005", "im00011"] and len(made["joints"]) == 14
    model = multiplane.PoseSSVM(lam=0.03, passes=2, template=1).fit(tmp_path / "train")
    model.save(tmp_path / "model")
    painted = vision.paint(tmp_path / "model", folder / "images", tmp_path / "out", like=tmp_path / "train", labels=folder / "joints.csv", only=only[:2])
    assert painted["images"] == 2 and 0 <= painted["pdj"] <= 1
    assert len((tmp_path / "out" / "poses.csv").read_text().splitlines()) == 1 + 2 * 14
