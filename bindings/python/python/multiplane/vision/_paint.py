"""Segments photographs with a model: graphs as those it was trained on, its labellings, masks and overlays of them."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _images, _overlay, _pairs, _predict, _scores
from multiplane.vision._container import Reader
from multiplane.vision._errors import VisionError
from multiplane.vision._graph import Job, build, load
from multiplane.vision._settings import Like
from multiplane.vision._work import Crew, Line


def _draw(
    job: Job, out: Path, classes: list[int], work: tuple[_pairs.Pair, NDArray[np.int64]]
) -> NDArray[np.int64] | None:
    """Writes the two pictures of an image; returns its confusion table where its labels are known."""
    pair, answer = work
    size, _, found, truth = load(job, pair)
    segments = _images.enlarge(found.segments, (size[1], size[0]))
    mask = answer.astype(np.uint8)[segments]
    photo = _images.resized(_images.read_photo(pair.photo), size)
    _overlay.save(out / f"{pair.name}.png", mask)
    _overlay.save(out / f"{pair.name}.overlay.png", _overlay.overlay(photo, mask, classes))
    if truth is None:
        return None
    if job.settings.threshold is not None:
        truth = (truth > job.settings.threshold).astype(np.uint8)
    return _scores.confusion(truth, mask, classes, job.settings.ignore)


def _folder(out: Path) -> None:
    """Makes the folder for pictures."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise VisionError(f"{out}: no folder to write to: {error.strerror}") from None


def paint(
    model_path: Path, chosen: list[_pairs.Pair], out: Path, like: Like, *, names: list[str] | None, jobs: int,
    cache: Path | None, progress: bool | None,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """Paints these photographs; see ``multiplane.vision.paint``. Returns the result and warnings."""
    model = _predict.load_model(model_path)
    _folder(out)
    with tempfile.TemporaryDirectory(prefix=".paint.", dir=out) as scratch:
        kept = cache or Path(scratch)
        container = Path(scratch) / "graphs.safetensors"
        _, warnings = build(chosen, container, like.settings, like=like, jobs=jobs, cache=kept, progress=progress)
        reader = Reader(container)
        classes = [int(label) for label in reader.settings["classes"]]
        nodes = np.diff(reader.tensor("node_offsets")).tolist()
        answers = _predict.predict(model, container, nodes, reader.tensors["node_features"][1][1])
        strange = sorted({int(label) for answer in answers for label in np.unique(answer)} - set(classes))
        if strange:
            raise VisionError(f"{model_path}: answers with label {strange[0]}, which the file of --like does not know")
        shown = [str(label) for label in classes] if names is None else names
        if len(shown) != len(classes):
            raise VisionError(f"{len(shown)} names, expected one for each of the classes {classes}")
        total = np.zeros((len(classes), len(classes)), dtype=np.int64)
        line = Line(progress)
        try:
            with Crew(jobs) as crew:
                draw = partial(_draw, Job(like.settings, kept), out, classes)
                work = list(zip(chosen, answers, strict=True))
                for table in line.over("pictures", crew.each(draw, work), len(work)):
                    total += 0 if table is None else table
        finally:
            line.close()
    _overlay.save(out / "legend.png", _overlay.legend(classes, shown))
    result: dict[str, Any] = {"images": len(chosen), "classes": classes, "out": str(out)}
    if chosen[0].labels is not None:
        result |= _scores.scores(total, classes, shown)
    return result, warnings
