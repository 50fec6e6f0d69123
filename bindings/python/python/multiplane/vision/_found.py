"""Finds objects with a model of task ``box``, and draws their boxes over the photographs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from multiplane.vision import _images, _maps, _overlay, _paint, _predict
from multiplane.vision._errors import VisionError
from multiplane.vision._work import Crew, Line

TRUE, FOUND = _overlay.COLOURS[1], _overlay.COLOURS[2]
"""Colours of right boxes, green, and of boxes that were found, red."""

TABLE = "boxes.csv"


def drawn(photo: NDArray[np.uint8], found: Any, right: Any = ()) -> NDArray[np.uint8]:
    """The photograph ``[h, w, 3]`` with boxes (left, top, right, bottom), those that were found over those that are right."""
    picture = Image.fromarray(photo)
    pen = ImageDraw.Draw(picture)
    width = max(2, round(min(picture.size) / 120))
    for boxes, colour in ((right, TRUE), (found, FOUND)):
        for left, top, end, bottom in boxes:
            pen.rectangle((left, top, end - 1, bottom - 1), outline=colour, width=width)
    return np.asarray(picture, dtype=np.uint8)


def overlap(one: Any, other: Any) -> float:
    """Intersection over union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    common = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return float(common / (sum(areas) - common))


def _draw(
    settings: _maps.Settings, folder: Path, work: tuple[_maps.Photo, list[list[int]]]
) -> tuple[list[list[int]], float | None]:
    """Writes the picture of an image; returns its boxes at full size, and the best overlap of the first with one that is right."""
    photo, answer = work
    image = _images.read_photo(photo.path)
    size = image.size
    worked = _images.working_size(size, settings.size)
    factors = [full / small for full, small in zip(size, worked, strict=True)] * 2
    found = [[round(side * factor) for side, factor in zip(box, factors, strict=True)] for box in answer]
    right = [mark.on(size, size) for mark in photo.marks]
    _overlay.save(folder / f"{photo.name}.png", drawn(np.asarray(image, dtype=np.uint8), found, right))
    if not right:
        return found, None
    return found, max((overlap(found[0], box) for box in right), default=0.0) if found else 0.0


def _load_model(path: Path, like: _maps.Like) -> Any:
    model = _predict.load_model(path, "box")
    expected = [like.settings.words] * len(like.vocabularies)
    if list(model.word_counts_) != expected:
        raise VisionError(
            f"{path}: a model of vocabularies of {model.word_counts_} words, {like.path} has {expected}: was it trained on the file of --like?"
        )
    known = model.features_id_
    if known is not None and known != _maps.identity(like.settings, like.vocabularies):
        raise VisionError(f"{like.path}: its words are others than those that {path} was trained on: give the file of its training as --like")
    return model


def painted(
    photos: list[Any], inputs: list[Path], out: Path, table: tuple[str, str], answer: Callable[[Path], list[Any]],
    draw: Callable[[Path, Any], tuple[list[Any], Any]], header: Sequence[str], *, jobs: int, progress: bool | None,
) -> list[Any]:  # fmt: skip
    """Draws what a model finds in these photographs into NAME.png, and writes a table of it; all files or none.

    Args:
        photos: The photographs, each with a ``name`` and a ``path``.
        inputs: Files that stay.
        out: The folder to write to.
        table: The name of the table, and what it is.
        answer: Writes a container of the photographs to a path, and returns what the model says of each.
        draw: Writes the picture of a photograph with its answer into a folder; returns rows of the table, and what is measured.
        header: The names of the table's columns, after that of the image.
        jobs: Processes.
        progress: If there is a line of progress.

    Returns what ``draw`` returns of each photograph.
    """
    pictures = _paint.check_pictures([(photo.path, {f"{photo.name}.png": "picture"}) for photo in photos], out, inputs, table)
    with _paint.scratch(out) as room:
        try:
            answers = answer(room / "data.safetensors")
        except VisionError:
            raise
        except ValueError as error:
            raise VisionError(f"the model does not fit these images: {error}") from None
        folder = room / "pictures"
        folder.mkdir()
        line = Line(progress)
        try:
            with Crew(jobs) as crew:
                work = list(zip(photos, answers, strict=True))
                drawings = list(line.over("pictures", crew.each(partial(draw, folder), work), len(work)))
        finally:
            line.close()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("name", *header))
        writer.writerows((photo.name, *row) for photo, (rows, _) in zip(photos, drawings, strict=True) for row in rows)
        (folder / table[0]).write_text(text.getvalue(), encoding="utf-8")
        for name in pictures:
            os.replace(folder / name, out / name)
    return drawings


def paint(
    inputs: list[Path], photos: list[_maps.Photo], out: Path, like: _maps.Like, *, top: int, jobs: int, progress: bool | None
) -> dict[str, Any]:
    """Draws the boxes of these photographs; see ``multiplane.vision.paint``. The model comes first in ``inputs``, files that stay."""
    model = _load_model(inputs[0], like)

    def answer(container: Path) -> list[list[list[int]]]:
        bare = [_maps.Photo(photo.name, photo.path) for photo in photos]
        _maps.build(bare, container, like.settings, like=like, jobs=jobs, progress=progress)
        return _answers(model, container, top)

    drawings = painted(
        photos, inputs, out, (TABLE, "the table of boxes"), answer, partial(_draw, like.settings), ("left", "top", "right", "bottom"),
        jobs=jobs, progress=progress,
    )  # fmt: skip
    result: dict[str, Any] = {"images": len(photos), "boxes": sum(len(boxes) for boxes, _ in drawings), "out": str(out)}
    overlaps = [one for _, one in drawings if one is not None]
    if overlaps:
        result |= {"overlap": float(np.mean(overlaps)), "found": float(np.mean([one > 0.5 for one in overlaps]))}
    return result


def _answers(model: Any, container: Path, top: int) -> list[list[list[int]]]:
    """The best ``top`` boxes of each image."""
    if top == 1:
        return [[box] if box[0] >= 0 else [] for box in model.predict(container).tolist()]
    return [[list(box) for box in one.labels if box is not None] for one in model.predict_top(container, top)]
