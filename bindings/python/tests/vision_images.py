"""Small photographs and label maps for the tests of multiplane.vision; a reader of containers that is not its own."""

import json
import struct

import numpy as np
import pytest

EXTRA = ("skimage", "PIL", "scipy", "threadpoolctl")

TYPES = {"I64": "<i8", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I16": "<i2"}


def needs_extra():
    """Skips a file of tests by name where the extra is not installed."""
    for module in EXTRA:
        pytest.importorskip(module, reason=f"{module} is not installed: the tests of multiplane.vision did not run")


def write(path, pixels):
    """An image file of these pixels; the ending decides the format."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"quality": 95} if path.suffix == ".jpg" else {}
    Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path, **options)
    return path


def scene(seed, shape=(48, 64)):
    """A noisy photograph, bluish above and greenish below a slanted line, and its label map (0, 1)."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(shape)
    labels = (rows > shape[0] * rng.uniform(0.4, 0.6) + columns * rng.uniform(-0.2, 0.2)).astype(np.uint8)
    colours = np.array([[90, 120, 220], [60, 150, 50]])[labels] + rng.normal(size=(*shape, 3)) * 12
    return np.clip(colours, 0, 255).astype(np.uint8), labels


def folder(path, count=4, shape=(48, 64), grey=False):
    """Photographs ``path/images/iK.png`` and maps ``path/labels/iK.png``; grey: masks of 0 and 255."""
    for number in range(count):
        photo, labels = scene(number, shape)
        write(path / "images" / f"i{number}.png", photo)
        write(path / "labels" / f"i{number}.png", labels * (255 if grey else 1))
    return path / "images", path / "labels"


def read(path):
    """Tensors and settings of a container, and names of tensors in the order of their places."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    settings = json.loads(header.pop("__metadata__")["multiplane.vision"])
    tensors, at, order = {}, 0, sorted(header, key=lambda name: header[name]["data_offsets"])
    for name in order:
        first, last = header[name]["data_offsets"]
        assert first == at, f"a hole before {name}"
        at = last
        kind = TYPES[header[name]["dtype"]]
        assert (8 + length + first) % np.dtype(kind).itemsize == 0
        tensors[name] = np.frombuffer(data[8 + length + first : 8 + length + last], kind).reshape(header[name]["shape"])
    assert at == len(data) - 8 - length
    return tensors, settings, order
