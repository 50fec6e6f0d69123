"""Builds a container of graphs from photographs and label maps, in three passes over the images: superpixels (cached),
patches for visual words, features. Memory holds a few images and the labels, whatever the number of images.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multiplane.vision import _cache, _features, _images, _pairs, _words
from multiplane.vision._container import FEATURES_KEY, KEY, Plan, Writer, scratch_folder, writing
from multiplane.vision._errors import VisionError
from multiplane.vision._regions import EDGE_NAMES, Regions
from multiplane.vision._settings import (
    Fitted,
    Like,
    Settings,
    features_id,
    fitted_shapes,
    fitted_tensors,
    groups,
    record,
)
from multiplane.vision._work import Crew, Line

Floats = NDArray[np.float32]

PATCHES = 150_000
"""Patches of each scale, at most, from which visual words are made."""

MOST_CLASSES = 64
"""More label ids than this are taken for a grey mask without its threshold."""


ONE_COLOUR = 10
"""Levels of 256 by which a photograph of one colour differs within a channel: what JPEG makes of it."""


@dataclass(frozen=True)
class Job:
    """What a worker needs to know beside the pair."""

    settings: Settings
    cache: Path | None


@dataclass
class Described:
    """What the first pass says of an image."""

    size: tuple[int, int]
    """Width and height of the label map, or of the photograph where there is none."""
    worked: tuple[int, int]
    """The same of the image as it was worked on."""
    ids: list[int]
    """The label ids that occur, in order, the one to ignore left out."""
    counts: NDArray[np.int64]
    """Pixels of each superpixel by these ids, ``[n, len(ids)]``."""
    pixels: NDArray[np.int64]
    """Pixels of each superpixel at full size, ``[n]``."""
    edges: NDArray[np.int64]
    edge_features: Floats
    plain: bool
    """Whether the photograph is of one colour, or nearly."""
    values: tuple[int, int]
    """The smallest and the largest number of the label map, before the threshold; 0 without a map."""


def _photo(
    pair: _pairs.Pair, shape: tuple[int, int] | None, settings: Settings
) -> tuple[tuple[int, int], NDArray[np.uint8]]:
    """Full size (width, height) and the pixels at working size; with the shape of a label map that decides the size."""
    photo = _images.read_photo(pair.photo)
    size: tuple[int, int] = photo.size
    if shape is not None:
        assert pair.labels is not None
        _images.check_ratio(pair.photo, photo.size, pair.labels, shape)
        size = (shape[1], shape[0])
    return size, _images.resized(photo, _images.working_size(size, settings.side))


def load(job: Job, pair: _pairs.Pair) -> tuple[tuple[int, int], NDArray[np.uint8], Regions, NDArray[np.uint8] | None]:
    """Full size, pixels at working size, regions, label map."""
    labels = None if pair.labels is None else _images.read_labels(pair.labels)
    shape = None if labels is None else (labels.shape[0], labels.shape[1])
    size, image = _photo(pair, shape, job.settings)
    key = _cache.key_of(_images.content(pair.photo), (image.shape[1], image.shape[0]), job.settings.superpixels)
    return size, image, _cache.cached(job.cache, key, lambda: image, job.settings.superpixels), labels


def _describe(job: Job, pair: _pairs.Pair) -> Described:
    size, image, found, labels = load(job, pair)
    n = len(found.local)
    segments = _images.enlarge(found.segments, (size[1], size[0])).ravel().astype(np.int64)
    pixels = np.bincount(segments, minlength=n)
    ids: list[int] = []
    counts = np.zeros((n, 256), dtype=np.int64)
    values = (0, 0)
    if labels is not None:
        values = int(labels.min()), int(labels.max())
        if job.settings.threshold is not None:
            labels = (labels > job.settings.threshold).astype(np.uint8)
        counts = np.bincount(segments * 256 + labels.ravel(), minlength=n * 256).reshape(n, 256)
        ids = [label for label in np.flatnonzero(counts.any(axis=0)).tolist() if label != job.settings.ignore]
    plain = image.size > 3 and int(np.ptp(image, axis=(0, 1)).max()) <= ONE_COLOUR
    worked = (image.shape[1], image.shape[0])
    return Described(size, worked, ids, counts[:, ids], pixels, found.edges, found.edge_features, plain, values)


def _sample(job: Job, count: int, pair: _pairs.Pair) -> list[Floats]:
    """Patches of an image, drawn by its name: they do not depend on which other images there are."""
    shape = None if pair.labels is None else _images.read_labels(pair.labels).shape
    _, image = _photo(pair, None if shape is None else (shape[0], shape[1]), job.settings)
    digest = hashlib.sha256(f"{job.settings.seed} {pair.name}".encode()).digest()
    return _words.sample(image, count, int.from_bytes(digest[:8], "little"))


def _finish(job: Job, books: list[_words.Book], pair: _pairs.Pair) -> Floats:
    _, image, found, _ = load(job, pair)
    return _features.assemble(found, _words.words(image, found.segments, books))


def _fit_words(chosen: list[_pairs.Pair], job: Job, crew: Crew, line: Line) -> list[_words.Book]:
    """Visual words of each scale, from patches of all images."""
    drawn: list[list[Floats]] = [[] for _ in _words.SCALES]
    count = max(1, min(PATCHES // len(chosen), 1000))
    for parts in line.over("patches", crew.each(partial(_sample, job, count), chosen), len(chosen)):
        for gathered, part in zip(drawn, parts, strict=True):
            gathered.append(part)
    books = []
    for number, gathered in enumerate(drawn):
        line.show(f"visual words: scale {number + 1} of {len(drawn)}")
        patches = np.concatenate(gathered)
        gathered.clear()
        books.append(_words.fit(patches, job.settings.words, job.settings.seed))
    return books


def _labels(image: Described) -> NDArray[np.int64]:
    """The class that most pixels of each superpixel have (the lower id of equals); -1 where most have none."""
    if not image.ids:
        return np.full(len(image.pixels), -1)
    best = np.array(image.ids)[image.counts.argmax(axis=1)]
    return np.where(2 * image.counts.sum(axis=1) >= image.pixels, best, -1)


def build(
    chosen: list[_pairs.Pair], out: Path, settings: Settings, *, like: Like | None, jobs: int, cache: Path | None,
    progress: bool | None,
) -> tuple[dict[str, object], list[str]]:  # fmt: skip
    """Builds the container of these pairs; labels are -1 without label maps. Returns the result of
    ``multiplane.vision.graph`` and warnings.
    """
    warnings: list[str] = []
    with ExitStack() as stack:
        writer = stack.enter_context(writing(out))
        if cache is None:
            cache = stack.enter_context(scratch_folder(out.parent, ".vision."))
        crew = stack.enter_context(Crew(jobs))
        line = Line(progress)
        stack.callback(line.close)
        job = Job(settings, cache)
        first = list(line.over("superpixels", crew.each(partial(_describe, job), chosen), len(chosen)))
        if like is None:
            settings = replace(settings, side=max(max(image.worked) for image in first))
        labelled = chosen[0].labels is not None
        plain = [pair.photo for pair, image in zip(chosen, first, strict=True) if image.plain]
        warnings += [f"{photo}: is of one colour, so it says nothing: leave it out (--only, --list)" for photo in plain]
        if labelled:
            warnings += _doubts(first, settings, like)
        classes = _known_classes(chosen, first, like, warnings) if labelled else (like.classes if like else [])
        fitted = like.fitted if like else None
        books = fitted.books if fitted else _fit_words(chosen, job, crew, line)
        plan = _plan(first, settings, classes)
        info = record(settings, classes, [pair.name for pair in chosen])
        info["sizes"] = [list(image.size) for image in first]
        told = {KEY: json.dumps(info, separators=(",", ":"), ensure_ascii=False), FEATURES_KEY: "0" * 64}
        writer.begin(plan, told)
        _write_labels(writer, first, classes)
        moments = _features.Moments(plan.tensors["node_features"][1][1])
        row = 0
        for values in line.over("features", crew.each(partial(_finish, job, books), chosen), len(chosen)):
            if fitted is None:
                moments.add(values)
            else:
                values = _features.scaled(values, fitted.mean, fitted.scale)
            writer.put("node_features", values, row)
            row += len(values)
        if fitted is None:
            fitted = Fitted(books, *moments.result())
            row = 0
            for image in first:
                count = len(image.pixels)
                values = writer.get("node_features", row, count)
                writer.put("node_features", _features.scaled(values, fitted.mean, fitted.scale), row)
                row += count
        for name, tensor in fitted_tensors(fitted).items():
            writer.put(name, tensor)
        writer.retell({**told, FEATURES_KEY: features_id(settings, fitted)})
        line.show("writing")
        writer.close()
    return {
        "images": len(chosen),
        "nodes": row,
        "edges": sum(len(image.edges) for image in first),
        "node_features": plan.tensors["node_features"][1][1],
        "edge_features": len(EDGE_NAMES),
        "classes": classes,
        "out": str(out),
    }, warnings


def _doubts(first: list[Described], settings: Settings, like: Like | None) -> list[str]:
    """What label ids look like, where that is not what the options say."""
    found = sorted({label for image in first for label in image.ids})
    low, high = min(image.values[0] for image in first), max(image.values[1] for image in first)
    if settings.threshold is not None and not low <= settings.threshold < high and (like is None or high > low):
        return [
            f"threshold = {settings.threshold}, but the label maps hold numbers from {low} to {high}: all their pixels have the label "
            f"{int(low > settings.threshold)}; maps of class ids need no threshold"
        ]
    if like is None and found != [255] and len(found) == 1:
        return [f"all pixels have the label id {found[0]}, or the one to ignore: the label maps hold numbers from {low} to {high}"]
    if like is not None or 255 not in found or settings.threshold is not None:
        return []
    if found in ([255], [0, 255]):
        return [f"label ids {', '.join(map(str, found))}: grey masks need --threshold 128, and have the labels 0 and 1 then"]
    if settings.ignore is None and found[-2] < MOST_CLASSES:
        return [f"label id 255 among the ids up to {found[-2]}: if it means that nobody knows, give --ignore 255"]
    return []


def _known_classes(
    chosen: list[_pairs.Pair], first: list[Described], like: Like | None, warnings: list[str]
) -> list[int]:
    """The class ids of the images and of `like`."""
    found = sorted({label for image in first for label in image.ids})
    if not found:
        raise VisionError("no pixel of any image has a label")
    if len(found) > MOST_CLASSES:
        most, pair = max(zip(first, chosen, strict=True), key=lambda one: len(one[0].ids))
        raise VisionError(
            f"{pair.labels}: {len(most.ids)} label ids ({len(found)} in all label maps), expected at most {MOST_CLASSES}: "
            "grey masks need --threshold (128 for most)"
        )
    if like is None:
        return found
    new = [label for label in found if label not in like.classes]
    if new:
        where = next(str(pair.labels) for pair, image in zip(chosen, first, strict=True) if new[0] in image.ids)
        warnings.append(f"{where}: label id {new[0]}, which the file of --like does not know: it counts as an error")
    return sorted({*like.classes, *found})


def _plan(first: list[Described], settings: Settings, classes: list[int]) -> Plan:
    nodes, edges = sum(len(image.pixels) for image in first), sum(len(image.edges) for image in first)
    plan = Plan()
    plan.add("node_offsets", "I64", len(first) + 1)
    plan.add("node_features", "F32", nodes, sum(size for _, size in groups(settings.words)))
    plan.add("labels", "I64", nodes)
    plan.add("node_weights", "F64", nodes)
    plan.add("edge_offsets", "I64", len(first) + 1)
    plan.add("edges", "I64", edges, 2)
    plan.add("edge_features", "F32", edges, len(EDGE_NAMES))
    plan.add("vision.pixels", "I64", nodes, len(classes))
    for name, shape in fitted_shapes(settings).items():
        plan.add(name, "F32", *shape)
    return plan


def _write_labels(writer: Writer, first: list[Described], classes: list[int]) -> None:
    """Writes all tensors but features and what is fitted."""
    writer.put("node_offsets", np.cumsum([0, *(len(image.pixels) for image in first)]))
    writer.put("edge_offsets", np.cumsum([0, *(len(image.edges) for image in first)]))
    node = edge = 0
    for image in first:
        labelled = image.counts.sum(axis=1) if image.ids else image.pixels
        counts = np.zeros((len(image.pixels), len(classes)), dtype=np.int64)
        counts[:, [classes.index(label) for label in image.ids]] = image.counts
        writer.put("labels", _labels(image), node)
        writer.put("node_weights", labelled / labelled.mean(), node)
        writer.put("edges", image.edges, edge)
        writer.put("edge_features", image.edge_features, edge)
        writer.put("vision.pixels", counts, node)
        node, edge = node + len(image.pixels), edge + len(image.edges)
