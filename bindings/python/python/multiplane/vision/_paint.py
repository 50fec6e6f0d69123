"""Segments photographs with a model: graphs as those it was trained on, its labellings, masks and overlays of them.

All that can be refused before work is. Pictures are drawn in a scratch folder and put in their places when all are there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _images, _overlay, _pairs, _predict, _scores
from multiplane.vision._container import Reader, scratch_folder
from multiplane.vision._errors import VisionError
from multiplane.vision._graph import Job, build, load
from multiplane.vision._settings import Like, features_id, groups
from multiplane.vision._work import Crew, Line

LEGEND = "legend.png"


def _pictures(pair: _pairs.Pair) -> dict[str, str]:
    """The names of a photograph's pictures, and what they are."""
    return {f"{pair.name}.png": "mask", f"{pair.name}.overlay.png": "overlay"}


def check_pictures(
    pictures: list[tuple[Path, dict[str, str]]], out: Path, inputs: list[Path], further: tuple[str, str]
) -> list[str]:
    """The names of all files to write: the pictures of each photograph, with what they are, and a further one. Raises
    ``VisionError`` where two are the same, or one is a file that is read.
    """
    taken = dict([further])
    for photo, names in pictures:
        for name, what in names.items():
            if name in taken:
                raise VisionError(
                    f"{photo}: its {what} would be {name}, as {taken[name]}: rename it, or leave it out (--only and "
                    "--list choose names)"
                )
            taken[name] = f"the {what} of {photo.name}"
    read = {path.resolve() for path in inputs}
    for name, what in taken.items():
        if (out / name).is_dir():
            raise VisionError(f"{out / name}: is a folder, where {what} would be written")
        if (out / name).resolve() in read:
            raise VisionError(f"{out / name}: {what} would take the place of a file that is read here")
    return list(taken)


def _shown(names: Sequence[str] | None, classes: list[int]) -> dict[int, str]:
    """What classes are called. Raises ``VisionError`` for names that do not fit them."""
    if names is None:
        return {label: str(label) for label in classes}
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise VisionError("names: expected a list of texts, one for each class")
    if len(names) != len(classes):
        raise VisionError(f"{len(names)} names, expected one for each of the classes {classes}")
    empty = [label for label, name in zip(classes, names, strict=True) if not name.strip()]
    if empty:
        raise VisionError(f"the name of class {empty[0]} is empty")
    found = dict(zip(classes, names, strict=True))
    try:
        _overlay.legend(classes, list(names))
    except (UnicodeError, ValueError) as error:
        raise VisionError(f"names: cannot be drawn: {error}") from None
    return found


def _draw(
    job: Job, folder: Path, classes: list[int], work: tuple[_pairs.Pair, NDArray[np.int64]]
) -> NDArray[np.int64] | None:
    """Writes the two pictures of an image; returns its confusion table where its labels are known."""
    pair, answer = work
    size, _, found, truth = load(job, pair)
    segments = _images.enlarge(found.segments, (size[1], size[0]))
    mask = answer.astype(np.uint8)[segments]
    photo = _images.resized(_images.read_photo(pair.photo), size)
    for name, picture in zip(_pictures(pair), (mask, _overlay.overlay(photo, mask, classes)), strict=True):
        _overlay.save(folder / name, picture)
    if truth is None:
        return None
    if job.settings.threshold is not None:
        truth = (truth > job.settings.threshold).astype(np.uint8)
    return _scores.confusion(truth, mask, classes, job.settings.ignore)


@contextlib.contextmanager
def scratch(out: Path) -> Iterator[Path]:
    """A scratch folder in ``out``, which is made where it is not there, and unmade if the work fails."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        with contextlib.ExitStack() as stack:
            try:
                out.mkdir(parents=True, exist_ok=True)
                room = stack.enter_context(scratch_folder(out, ".paint."))
            except OSError as error:
                raise VisionError(f"{out}: no folder to write to: {error.strerror}") from None
            yield room
    except BaseException:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def paint(
    model_path: Path, chosen: list[_pairs.Pair], out: Path, like: Like, *, names: Sequence[str] | None, jobs: int,
    cache: Path | None, progress: bool | None,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """Paints these photographs; see ``multiplane.vision.paint``. Returns the result and warnings."""
    files = [(pair.photo, _pictures(pair)) for pair in chosen]
    pictures = check_pictures(files, out, [model_path, like.path], (LEGEND, "the legend of the classes"))
    called = _shown(names, like.classes)
    model = _predict.load_model(model_path)
    count = sum(size for _, size in groups(like.settings.words))
    made = features_id(like.settings, like.fitted)
    _predict.check(model, model_path, count, like.classes, like.path, made)
    with scratch(out) as room:
        kept = cache or room / "cache"
        container = room / "graphs.safetensors"
        _, warnings = build(chosen, container, like.settings, like=like, jobs=jobs, cache=kept, progress=progress)
        reader = Reader(container)
        classes = [int(label) for label in reader.settings["classes"]]
        answers = _predict.predict(model, container, np.diff(reader.tensor("node_offsets")).tolist())
        strange = sorted({int(label) for answer in answers for label in np.unique(answer)} - set(classes))
        if strange:
            raise VisionError(f"{model_path}: answers with label {strange[0]}, which the file of --like does not know")
        shown = [called.get(label, str(label)) for label in classes]  # label maps may have further ones
        total = np.zeros((len(classes), len(classes)), dtype=np.int64)
        folder = room / "pictures"
        folder.mkdir()
        line = Line(progress)
        try:
            with Crew(jobs) as crew:
                draw = partial(_draw, Job(like.settings, kept), folder, classes)
                work = list(zip(chosen, answers, strict=True))
                for table in line.over("pictures", crew.each(draw, work), len(work)):
                    total += 0 if table is None else table
        finally:
            line.close()
        _overlay.save(folder / LEGEND, _overlay.legend(classes, shown))
        for name in pictures:
            os.replace(folder / name, out / name)
    result: dict[str, Any] = {"images": len(chosen), "classes": classes, "out": str(out)}
    if chosen[0].labels is not None:
        result |= _scores.scores(total, classes, shown)
    return result, warnings
