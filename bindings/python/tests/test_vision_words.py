"""multiplane.vision: word maps with boxes from photographs, and what is refused on the way."""

import json
from collections import Counter

import numpy as np
import pytest
from vision_images import needs_extra, read, write

needs_extra()

from multiplane import vision  # noqa: E402
from multiplane.vision import _dense  # noqa: E402
from multiplane.vision._command import main  # noqa: E402

QUICK = {"words": 8, "size": 96}


def photo(seed, box, shape=(64, 96)):
    """Grey noise with stripes in a box."""
    rng = np.random.default_rng(seed)
    pixels = np.full((*shape, 3), 120.0)
    left, top, right, bottom = box
    pixels[top:bottom, left:right] += 80 * (np.arange(left, right) // 3 % 2)[None, :, None]
    return np.clip(pixels + rng.normal(size=pixels.shape) * 4, 0, 255).astype(np.uint8)


BOXES = {"a": (10, 8, 50, 40), "b": (40, 20, 88, 60), "c": (0, 0, 40, 30), "d": (30, 16, 80, 50)}


@pytest.fixture
def horses(tmp_path):
    """A folder of photographs and a csv file of their boxes."""
    for number, (name, box) in enumerate(BOXES.items()):
        write(tmp_path / "photos" / f"{name}.png", photo(number, box))
    rows = [",".join(map(str, (name, *box))) for name, box in BOXES.items()]
    (tmp_path / "boxes.csv").write_text("name,left,top,right,bottom\n" + "\n".join(rows) + "\n")
    return tmp_path


def words_of(path):
    tensors, settings, _ = read(path)
    return tensors, settings


def test_maps_boxes_and_vocabularies(horses):
    """Shapes, words on the grid alone, boxes as given; the same bytes for any number of jobs; stripes have words of their own."""
    out = horses / "train.safetensors"
    made = vision.words(horses / "photos", horses / "boxes.csv", out, channels=["grey", "hsv"], **QUICK)
    assert made == {"images": 4, "boxes": 4, "words": [8, 8], "out": str(out)}
    tensors, settings = words_of(out)
    assert tensors["map_sizes"].tolist() == [[64, 96]] * 4 and settings["names"] == list("abcd")
    assert tensors["boxes"].tolist() == [list(box) for box in BOXES.values()]
    assert tensors["box_offsets"].tolist() == [0, 1, 2, 3, 4] and tensors["word_counts"].tolist() == [8, 8]
    maps = tensors["words"].reshape(4, 2, 64, 96)
    rows, columns = np.nonzero(maps[0, 0] >= 0)
    assert set(rows) == set(range(8, 57, 4)) and set(columns) == set(range(8, 89, 4)) and maps.max() < 8
    assert tensors["vision.words.hsv"].shape == (8, 3 * 128)
    inside, outside = Counter(maps[1, 0, 32:52:4, 52:80:4].ravel().tolist()), Counter(maps[1, 0, 8:57:4, 8:29:4].ravel().tolist())
    assert not set(inside) & set(outside), "stripes do not look like noise"
    again = horses / "again.safetensors"
    vision.words(horses / "photos", horses / "boxes.csv", again, channels=["grey", "hsv"], jobs=2, **QUICK)
    assert again.read_bytes() == out.read_bytes()
    other = horses / "seed.safetensors"
    vision.words(horses / "photos", horses / "boxes.csv", other, seed=1, **QUICK)
    assert (words_of(other)[0]["vision.words.grey"] != tensors["vision.words.grey"]).any()


def test_like_applies_what_was_fitted(horses):
    """Words of the same photograph are the same, whatever it is built with; options that contradict are refused."""
    train, test = horses / "train.safetensors", horses / "test.safetensors"
    vision.words(horses / "photos", horses / "boxes.csv", train, descriptor="hog", step=6, **QUICK)
    vision.words(horses / "photos", None, test, like=train, only=["c"])
    (one, settings), (other, told) = words_of(train), words_of(test)
    assert settings["settings"] == told["settings"] and (one["vision.words.grey"] == other["vision.words.grey"]).all()
    assert (one["words"].reshape(4, 64, 96)[2] == other["words"].reshape(64, 96)).all() and len(other["boxes"]) == 0
    with pytest.raises(vision.VisionError, match=r"words = 9, but the file of --like was built with 8: leave the option out"):
        vision.words(horses / "photos", None, horses / "no", like=train, words=9)
    with pytest.raises(vision.VisionError, match=r"holds words, expected what `multiplane.vision` wrote for the same command"):
        vision.graph(horses / "photos", None, horses / "no", like=train)
    with pytest.raises(vision.VisionError, match=r"would take the place of a file that is read here"):
        vision.words(horses / "photos", None, train, like=train)


def test_descriptors_by_hand():
    """A ramp to the right has one direction everywhere; upside down it is the opposite with sign, and the same without. Hues go
    around: no step between 255 and 0.
    """
    ramp = np.repeat(np.arange(0, 160, 5, dtype=np.uint8)[None, :, None], 20, 0).repeat(3, 2)
    sift = _dense.describe(ramp, "sift", "grey", 4)
    assert sift.shape == (2, 5, 128) and sift.reshape(2, 5, 16, 8)[0, 1].argmax(axis=1).tolist() == [0] * 16
    assert _dense.describe(ramp[:, ::-1], "sift", "grey", 4).reshape(2, 5, 16, 8)[0, 1].argmax(axis=1).tolist() == [4] * 16
    hog = [_dense.describe(one, "hog", "grey", 4)[0, 1] for one in (ramp, ramp[:, ::-1])]
    assert hog[0].shape == (36,) and np.allclose(hog[0], hog[1], atol=1e-5)
    assert _dense.describe(ramp[:12], "sift", "grey", 4).shape[0] == 0
    assert _dense._slope(np.array([[254, 255, 0, 1]], np.float32), 1, True).tolist() == [[0.5, 1.0, 1.0, 0.5]]


VOC = """<annotation><filename>{name}.png</filename><size><width>96</width><height>64</height></size>
<object><name>horse</name><bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>
<object><name>horse</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>
</annotation>"""


def coco(category=1):
    images = [{"id": k, "file_name": f"train/{name}.png", "width": 192, "height": 128} for k, name in enumerate(BOXES)]
    marks = [{"image_id": k, "category_id": 1 + (category if k == 3 else 0), "bbox": [2 * box[0], 2 * box[1], 2 * (box[2] - box[0]), 2 * (box[3] - box[1])]}
             for k, box in enumerate(BOXES.values())]  # fmt: skip
    marks.append({"image_id": 0, "category_id": 1, "iscrowd": 1, "bbox": [0, 0, 3, 3]})
    return json.dumps({"images": images, "annotations": marks, "categories": [{"id": 1, "name": "horse"}, {"id": 2, "name": "cow"}]})


def dlib():
    def image(name, box):
        left, top, right, bottom = box
        one = f"<box left='{left}' top='{top}' width='{right - left}' height='{bottom - top}'/>"
        return f"<image file='p\\{name}.png'>{one}<box ignore='1' left='-5' top='0' width='9' height='9'/></image>"

    return "<dataset><images>" + "".join(image(*item) for item in BOXES.items()) + "</images></dataset>"


def test_all_formats_say_the_same(horses):
    """VOC counts from 1 and includes the last pixel, COCO's sides here are of images of twice the size; plain csv needs no header."""
    for name, (left, top, right, bottom) in BOXES.items():
        write_text(horses / "voc" / f"{name}.xml", VOC.format(left + 1, top + 1, right, bottom, name=name))
    (horses / "coco.json").write_text(coco(0))
    (horses / "dlib.xml").write_text(dlib())
    (horses / "plain.csv").write_text("\n".join(",".join(map(str, (f"{name}.png", *box))) for name, box in BOXES.items()))
    (horses / "twice.csv").write_text(
        "bottom,right,top,left,file,width,height\n" + "\n".join(",".join(map(str, [2 * side for side in box[::-1]])) + f",{name},192,128" for name, box in BOXES.items())
    )
    for file in ("boxes.csv", "voc", "coco.json", "dlib.xml", "plain.csv", "twice.csv"):
        vision.words(horses / "photos", horses / file, horses / "out", **QUICK)
        tensors, settings = words_of(horses / "out")
        assert tensors["boxes"].tolist() == [list(box) for box in BOXES.values()], file
        assert settings["names"] == list("abcd")
    vision.words(horses / "photos", horses / "voc" / "b.xml", horses / "out", **QUICK)
    assert words_of(horses / "out")[1]["names"] == ["b"]
    vision.words(horses / "photos", horses / "boxes.csv", horses / "out", words=8, size=48)
    tensors, _ = words_of(horses / "out")
    assert tensors["map_sizes"][0].tolist() == [32, 48] and tensors["boxes"][0].tolist() == [5, 4, 25, 20]
    (horses / "coco.json").write_text(coco())
    vision.words(horses / "photos", horses / "coco.json", horses / "out", category="cow", only=["d"], **QUICK)
    assert len(words_of(horses / "out")[0]["boxes"]) == 1


def write_text(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


HEAD = "name,left,top,right,bottom\na,1,1,5,5\n"
FULL = HEAD + "b,1,1,5,5\nc,1,1,5,5\nd,1,1,5,5\n"
BAD = {
    "outside": (FULL + "b,1,1,97,5", r"boxes:6: the box \(1, 1, 97, 5\) of b reaches outside the image of 96 x 64 pixels"),
    "negative": (FULL + "b,-1,1,9,5", r"boxes:6: the box .* reaches outside"),
    "empty": (FULL + "b,4,1,4,5", r"boxes:6: the box \(4, 1, 4, 5\) of b is empty or inverted: expected left < right"),
    "inverted": (FULL + "b,1,9,4,5", r"boxes:6: the box .* is empty or inverted"),
    "no number": (FULL + "b,1,x,4,5", r"boxes:6: top = 'x': expected a finite number"),
    "not finite": (FULL + "b,1,nan,4,5", r"boxes:6: top = 'nan': expected a finite number"),
    "columns": (FULL + "b,1,4,5", r"boxes:6: 4 columns, expected name,left,top,right,bottom"),
    "header": ("image,left,top,right,bottom\na,1,1,5,5\n", r"boxes:1: a header without name: expected csv"),
    "other header": ("image,xmin,ymin,xmax,ymax\na,1,1,5,5\n", r"boxes:1: a header without name, left, top, right, bottom: expected csv"),
    "shape": ("name,left,top,right,bottom,width,height\n" + "".join(f"{name},1,1,5,5,96,{96 if name == 'a' else 64}\n" for name in BOXES), r"boxes:2: .* of 96 x 96 pixels, but the photograph has 96 x 64"),
    "unknown format": ("hello world\n", r"boxes:1: found 'hello world': expected csv .*, XML of VOC .* or dlib, or JSON of COCO"),
    "no text": ("\udcff\udcfe", r"boxes:1: not UTF-8 text: expected csv"),
    "no box": (HEAD, r"photos.b\.png: .*boxes has no box of it \(--none allows it"),
    "no photograph": (HEAD + "e,1,1,5,5", r"boxes:3: .*photos has no photograph e"),
    "no XML": ("<dataset><images>", r"boxes:1:18: not XML: no element found"),
    "other XML": ("<html/>", r"boxes: XML of <html>: expected <annotation> \(VOC\) or <dataset> \(dlib\)"),
    "no side": ("<annotation><object><bndbox><xmin>1</xmin></bndbox></object></annotation>", r"boxes: object 1: <bndbox> has no <ymin>"),
    "no file": ("<dataset><image/></dataset>", r"boxes: image 1: <image> has no attribute `file`"),
    "no JSON": ('{"images": [}', r"boxes:1:13: not JSON: Expecting value"),
    "no list": ('{"images": []}', r"boxes: has no list `annotations`, as JSON of COCO"),
    "no such image": ('{"images": [], "annotations": [{"image_id": 3, "bbox": [0, 0, 1, 1]}]}', r"annotations\[0\]: image_id = 3: there is no such image"),
    "no bbox": ('{"images": [], "annotations": [{"image_id": 3}]}', r"annotations\[0\]: has no `bbox`"),
    "bbox": ('{"images": [{"id": 3, "file_name": "a"}], "annotations": [{"image_id": 3, "bbox": [0, 0, 1]}]}', r"annotations\[0\]: bbox = \[0, 0, 1\]"),
    "categories": (coco(), r"boxes: boxes of the categories cow, horse: choose one \(--category\)"),
    "twice": ("<dataset><image file='x/a.png'/><image file='y/a.png'/></dataset>", r"boxes: lists two images of the name a"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_bad_boxes(fault, horses, capsys):
    """One line that says file, place and rule; nothing is written."""
    text, expected = BAD[fault]
    (horses / "boxes").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(vision.VisionError, match=expected):
        vision.words(horses / "photos", horses / "boxes", horses / "out", **QUICK)
    assert main(["words", str(horses / "photos"), str(horses / "boxes"), "--out", str(horses / "out"), "--size", "96", "--jobs", "1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and not (horses / "out").exists()
    assert not list(horses.glob(".*"))


OPTIONS = [
    ({"size": 8}, r"size = 8: expected a whole number from 32 to 8192"), ({"words": True}, r"words = True: expected"),
    ({"step": 0}, r"step = 0: expected"), ({"descriptor": "surf"}, r"descriptor = surf: expected sift or hog"),
    ({"channels": ["red"]}, r"channels = red: expected some of grey, hue, hsv"), ({"channels": []}, r"channels = : expected"),
    ({"category": "cat"}, r"category = cat: there are boxes of no category"), ({"jobs": -1}, r"jobs = -1"),
    ({"only": ["zebra"]}, r"no photograph for zebra"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), OPTIONS)
def test_bad_options(options, expected, horses):
    with pytest.raises(vision.VisionError, match=expected):
        vision.words(horses / "photos", horses / "boxes.csv", horses / "out", **{**QUICK, **options})


def test_bad_images_and_files(horses):
    """Images that cannot be read or are too small, and files of --like of other kinds."""
    (horses / "photos" / "a.png").write_bytes(b"nothing")
    with pytest.raises(vision.VisionError, match=r"a\.png: not an image that can be read"):
        vision.words(horses / "photos", horses / "boxes.csv", horses / "out", **QUICK)
    write(horses / "photos" / "a.png", np.zeros((9, 96, 3)))
    with pytest.raises(vision.VisionError, match=r"a\.png: 96 x 9 pixels, expected at least 16 along each side"):
        vision.words(horses / "photos", None, horses / "out", **QUICK)
    with pytest.raises(vision.VisionError, match=r"missing: cannot be read"):
        vision.words(horses / "photos", horses / "missing", horses / "out", **QUICK)
    with pytest.raises(vision.VisionError, match=r"empty: no \.xml file in it"):
        (horses / "empty").mkdir()
        vision.words(horses / "photos", horses / "empty", horses / "out", **QUICK)
    with pytest.raises(vision.VisionError, match=r"category = x, but there is no file of boxes"):
        vision.words(horses / "photos", None, horses / "out", category="x")


def test_images_without_a_box_if_asked(horses):
    """With --none all photographs of the folder are taken."""
    (horses / "boxes.csv").write_text(HEAD)
    assert vision.words(horses / "photos", horses / "boxes.csv", horses / "out", none=True, **QUICK)["images"] == 4
    assert words_of(horses / "out")[0]["box_offsets"].tolist() == [0, 1, 1, 1, 1]


def test_the_command_says_what_it_made(horses, capsys):
    arguments = ["words", str(horses / "photos"), str(horses / "boxes.csv"), "--out", str(horses / "out"), "--jobs", "1", "--quiet"]
    assert main([*arguments, "--words", "8", "--channels", "grey,hue", "--only", "a,b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"images": 2, "boxes": 2, "words": [8, 8], "out": str(horses / "out")}
    assert main([*arguments, "--words", "8"]) == 0
    assert capsys.readouterr().out == f"4 images, 4 boxes, 8 words: {horses / 'out'}\n"
