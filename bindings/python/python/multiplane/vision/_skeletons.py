"""Finds bodies with a model of task ``pose``, and draws their joints and limbs over the photographs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from multiplane.vision import _cells, _found, _images, _overlay, _predict
from multiplane.vision._errors import VisionError
from multiplane.vision._joints import Pairs, pairs_of

TABLE = "poses.csv"


def drawn(photo: NDArray[np.uint8], found: Any, limbs: Pairs, right: Any = ()) -> NDArray[np.uint8]:
    """The photograph ``[h, w, 3]`` with joints (x, y): those that were found as dots with limbs, over rings of those that are right."""
    picture = Image.fromarray(photo)
    pen = ImageDraw.Draw(picture)
    width = max(2, round(min(picture.size) / 100))

    def circle(place: Any, radius: int, **style: Any) -> None:
        x, y = place
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), **style)

    for place in right:
        if np.isfinite(place).all():
            circle(place, 3 * width, outline=_found.TRUE, width=width)
    for one, other in limbs:
        pen.line((*found[one], *found[other]), fill=_found.FOUND, width=width)
    for place in found:
        circle(place, 2 * width, fill=_found.FOUND)
    return np.asarray(picture, dtype=np.uint8)


def _draw(
    settings: _cells.Settings, names: list[str], limbs: Pairs, folder: Path, work: tuple[_cells.Photo, Any]
) -> tuple[list[tuple[str, float, float]], None]:
    """Writes the picture of an image; returns its joints at full size, the middles of their cells."""
    photo, answer = work
    image = _images.read_photo(photo.path)
    size = image.size
    worked = _images.working_size(size, settings.size)
    middles = (np.asarray(answer) + 0.5) * settings.cell
    found = np.minimum(middles, np.array(worked) - 0.5) * (np.array(size) / worked)
    right = () if photo.pose is None else photo.pose.on(size, size)
    _overlay.save(folder / f"{photo.name}.png", drawn(np.asarray(image, dtype=np.uint8), found.tolist(), limbs, right))
    return [(name, round(x, 1), round(y, 1)) for name, (x, y) in zip(names, found.tolist(), strict=True)], None


def _load_model(path: Path, like: _cells.Like) -> Any:
    model = _predict.load_model(path, "pose")
    known = model.features_id_
    if known is not None and known != like.settings.identity(like.fitted):
        raise VisionError(f"{like.path}: its cells are made otherwise than those that {path} was trained on: give the file of its training as --like")
    return model


def paint(
    inputs: list[Path], photos: list[_cells.Photo], out: Path, like: _cells.Like, joints: Sequence[str], *, jobs: int,
    progress: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """Draws the bodies in these photographs; see ``multiplane.vision.paint``. The model comes first in ``inputs``, files that stay.

    ``joints`` are the names of the joints that are marked in ``photos``; none if no pose is known.
    """
    model = _load_model(inputs[0], like)
    count = model.edges.count("-") + 1
    names = like.joints or [str(joint) for joint in range(count)]
    limbs = pairs_of(model.edges, [str(joint) for joint in range(count)], "edges")
    if len(names) != count:
        raise VisionError(f"{inputs[0]}: a model of {count} joints, {like.path} has {len(names)}: was it trained on the file of --like?")

    share = None

    def answer(container: Path) -> Any:
        nonlocal share
        _cells.build(photos, joints, container, like.settings, like.fitted, keep=True, jobs=jobs, progress=progress)
        if joints:
            share = model.score(container)
        return model.predict(container)

    _found.painted(
        photos, inputs, out, (TABLE, "the table of joints"), answer, partial(_draw, like.settings, names, limbs), ("joint", "x", "y"),
        jobs=jobs, progress=progress,
    )  # fmt: skip
    result = {"images": len(photos), "joints": count, "out": str(out)}
    return result if share is None else {**result, "pdj": share}
