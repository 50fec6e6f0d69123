"""From photographs to graphs, word maps or HOG cells and back: segmentations, boxes and bodies painted over the photographs.

    python -m multiplane.vision graph IMAGES LABELS --out train.safetensors
    python -m multiplane.vision words IMAGES BOXES --out train.safetensors
    python -m multiplane.vision poses IMAGES JOINTS --out train.safetensors
    python -m multiplane.vision paint MODEL IMAGES --like train.safetensors --out DIR

and the same as the functions ``graph``, ``words``, ``poses`` and ``paint``. Needs ``pip install 'multiplane[vision]'``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from multiplane._errors import warn
from multiplane.vision._errors import MissingExtra, VisionError, load
from multiplane.vision._options import MOST_JOBS, settings_of

__all__ = ["MissingExtra", "VisionError", "graph", "hog", "overlay", "paint", "poses", "superpixels", "words"]

_Path = str | os.PathLike[str]


def superpixels(photo: Any, count: int = 250) -> NDArray[np.int32]:
    """Divides a photograph, ``[h, w, 3]`` or ``[h, w]`` of uint8, into about ``count`` superpixels (SLIC).

    Returns:
        The number of each pixel's superpixel, ``[h, w]``, from 0 on. Raises VisionError for bad input.
    """
    found: NDArray[np.int32] = load("multiplane.vision._own").superpixels(photo, count)
    return found


def hog(photo: Any, cell: int = 8, orientations: int = 9, place: bool = False) -> NDArray[np.float32]:
    """The HOG cells of a photograph, ``[h, w, 3]`` or ``[h, w]`` of uint8: a map as ``PoseSSVM`` takes it.

    Each square of ``cell`` x ``cell`` pixels has a histogram of ``orientations`` of gradients twice: over its own norm, and over that
    of the 3 x 3 cells around it. The last row and column may reach over the photograph's edge. With ``place`` four channels say where
    a cell is: u, v, u^2, v^2, where u and v go from -1 to 1 over columns and rows.

    Returns:
        ``[rows, columns, 2 * orientations]``, or 4 channels more, float32. Raises VisionError for bad input.
    """
    found: NDArray[np.float32] = load("multiplane.vision._hog").cells(photo, cell, orientations, place)
    return found


def overlay(photo: Any, segments: Any, labels: Any) -> NDArray[np.uint8]:
    """Paints the classes of segments over their photograph, with white borders, as ``paint`` does.

    Args:
        photo: ``[h, w, 3]`` or ``[h, w]``, uint8.
        segments: The number of each pixel's segment, ``[h, w]``, from 0 on without gaps.
        labels: The class id of each segment, 0 to 255, ``[segments]``, as ``GraphSSVM.predict`` gives it.

    Returns:
        The picture, ``[h, w, 3]``, uint8. Raises VisionError for bad input.
    """
    found: NDArray[np.uint8] = load("multiplane.vision._own").painted(photo, segments, labels)
    return found


@overload
def graph(
    images: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]: ...  # fmt: skip


@overload
def graph(
    images: _Path, labels: _Path | None, out: _Path, *, like: _Path | None = None, superpixels: int | None = None,
    threshold: int | None = None, ignore: int | None = None, side: int | None = None, words: int | None = None,
    seed: int | None = None, only: Iterable[str] | None = None, jobs: int = 1, cache: _Path | bool = True,
    progress: bool | None = None,
) -> dict[str, Any]: ...  # fmt: skip


def graph(
    images: Any, labels: Any, out: _Path | None = None, *, like: _Path | None = None, superpixels: int | None = None,
    threshold: int | None = None, ignore: int | None = None, side: int | None = None, words: int | None = None,
    seed: int | None = None, only: Iterable[str] | None = None, jobs: int = 1, cache: _Path | bool = True,
    progress: bool | None = None,
) -> Any:  # fmt: skip
    """Builds a container of graphs, the input of task ``graph``, from photographs and their label maps; or of two arrays, a
    photograph and its segments, one graph in memory.

    ``graph(photo, segments)`` takes ``[h, w, 3]`` or ``[h, w]`` of uint8 and the number of each pixel's segment, ``[h, w]``, from 0
    on without gaps (:func:`superpixels` makes such), and returns what ``GraphSSVM`` takes as one of ``X``: features ``[segments, f]``
    of looks, neighbours and place, edges ``[E, 2]`` and edge features ``[E, g]``. Features are not scaled:
    ``sklearn.preprocessing.StandardScaler`` does it, fitted on the nodes of the training images. The rest is of the first form.

    A node is a superpixel, an edge a common border of two. The file holds ``node_offsets [n + 1]``,
    ``node_features [N, f]`` (float32, standardised over the training nodes, cut off at 5 deviations and divided by
    sqrt(f)), ``labels [N]`` (the class id of most of the superpixel's pixels, -1 where most have none),
    ``node_weights [N]`` (labelled pixels, divided by their mean over the image), ``edge_offsets [n + 1]``,
    ``edges [E, 2]`` (each pair once), ``edge_features [E, g]`` (at least 0), ``vision.pixels [N, classes]`` (pixels of
    each class), and what ``like`` takes over. The same input gives the same bytes, for any ``jobs``.

    Args:
        images: Folder of photographs.
        labels: Folder of label maps, or of grey masks with ``threshold``, of the same names; they decide the size.
            None: graphs without labels.
        out: The file to write.
        like: A file of this function: its settings, scaling and visual words are used, as test images need.
        superpixels: About how many an image has; 250 by default.
        threshold: Of grey masks: above it the label is 1, else 0.
        ignore: The label id of pixels without a label.
        side: Longest side in pixels of images as they are worked on; 512 by default. Larger ones are made smaller.
        words: Visual words at each of three scales; 60 by default.
        seed: Of the visual words.
        only: Names of images (without ending) to take; all by default.
        jobs: Processes; 0 is one per core.
        cache: Folder for what is computed per image; True is the user's cache folder, False none.
        progress: A progress line: yes, no, or only where somebody watches (None).

    Returns:
        ``images nodes edges node_features edge_features classes out``.

    Raises:
        VisionError: For bad images, label maps or options; ``MissingExtra`` where packages are missing.
    """
    if hasattr(images, "shape") and out is None:
        return load("multiplane.vision._own").graph(images, labels)
    if out is None:
        raise VisionError("out is missing: graph(images, labels, out) writes a file, graph(photo, segments) takes two arrays")
    builder: Any = load("multiplane.vision._graph")
    settings: Any = load("multiplane.vision._settings")
    pairing: Any = load("multiplane.vision._pairs")
    known = None if like is None else settings.Like(Path(like))
    options = {"superpixels": superpixels, "threshold": threshold, "ignore": ignore, "side": side, "words": words,
               "seed": seed}  # fmt: skip
    found = settings_of(settings.Settings, None if known is None else known.settings, options)
    chosen = pairing.pairs(Path(images), None if labels is None else Path(labels), pairing.names_of(only, None))
    read = [pair.photo for pair in chosen] + [pair.labels for pair in chosen if pair.labels is not None]
    _spare(out, *read, None if known is None else known.path)
    built, told = builder.build(
        chosen, Path(out), found, like=known, jobs=_jobs(jobs), cache=_folder(cache), progress=progress
    )
    for warning in told:
        warn(warning, UserWarning)
    return dict(built)


def words(
    images: _Path, boxes: _Path | None, out: _Path, *, like: _Path | None = None, descriptor: str | None = None,
    channels: Sequence[str] | None = None, size: int | None = None, words: int | None = None, step: int | None = None,
    seed: int | None = None, category: str | None = None, none: bool = False, only: Iterable[str] | None = None, jobs: int = 1,
    progress: bool | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Builds a container of word maps with boxes, the input of task ``box``, from photographs.

    Around every ``step``-th pixel a descriptor is made, and a vocabulary of all by k-means; the word of a pixel is the centre
    that its descriptor is nearest to. The file holds ``map_sizes [n, 2]`` (height, width), ``words`` (int16; -1 at pixels
    between the points), ``word_counts [vocabularies]``, ``box_offsets [n + 1]``, ``boxes [B, 4]``, and the vocabularies, which
    ``like`` takes over. The same input gives the same bytes, for any ``jobs``.

    Args:
        images: Folder of photographs.
        boxes: A file or folder of boxes in pixels of the photographs, told apart by content: csv with the columns name, left, top,
            right, bottom (right and bottom exclusive) and perhaps category, width and height (of the image that the sides are
            measured in); XML of Pascal VOC or dlib; JSON of COCO. Those marked difficult, ignored or crowds are left out.
            None: maps without boxes.
        out: The file to write.
        like: A file of this function: its settings and vocabularies are used, as test images need.
        descriptor: ``"sift"`` (4 x 4 cells of 4 pixels; the default) or ``"hog"`` (2 x 2 cells of 8 pixels).
        channels: A vocabulary for each: ``"grey"`` (the default), ``"hue"``, ``"hsv"`` (all three together).
        size: Longest side in pixels of images as they are worked on; 320 by default. Larger ones are made smaller, and their
            boxes with them.
        words: Words in each vocabulary; 500 by default.
        step: Pixels from point to point; 4 by default.
        seed: Of the vocabularies.
        category: The kind of objects, if the boxes are of several.
        none: If images without a box are taken; an error otherwise.
        only: Names of images (without ending) to take; by default those that a file of dlib, VOC or COCO lists, else all.
        jobs: Processes; 0 is one per core.
        progress: As in ``graph``.

    Returns:
        ``images boxes words out``.

    Raises:
        VisionError: For bad images, boxes or options; ``MissingExtra`` where packages are missing.
    """
    maps: Any = load("multiplane.vision._maps")
    known = None if like is None else maps.Like(Path(like))
    given = {"descriptor": descriptor, "channels": None if channels is None else tuple(channels), "size": size, "words": words,
             "step": step, "seed": seed}  # fmt: skip
    settings = settings_of(maps.Settings, None if known is None else known.settings, given)
    photos = _marked(images, boxes, category, only, none)
    _spare(out, *(photo.path for photo in photos), *(None if one is None else Path(one) for one in (boxes, like)))
    return dict(maps.build(photos, Path(out), settings, like=known, jobs=_jobs(jobs), progress=progress))


def _marked(images: _Path, boxes: _Path | None, category: str | None, only: Iterable[str] | None, none: bool) -> list[Any]:
    """The photographs with their boxes."""
    maps: Any = load("multiplane.vision._maps")
    marks: Any = load("multiplane.vision._marks")
    pairing: Any = load("multiplane.vision._pairs")
    if boxes is None and category is not None:
        raise VisionError(f"category = {category}, but there is no file of boxes")
    found = None if boxes is None else marks.read(Path(boxes), category)
    chosen: list[Any] = maps.chosen(Path(images), found, pairing.names_of(only, None), none)
    return chosen


@overload
def poses(
    images: _Path, joints: _Path | None, out: None = None, *, like: _Path | None = None, cell: int | None = None,
    orientations: int | None = None, size: int | None = None, place: bool | None = None, colours: bool | None = None,
    components: int | None = None, window: int | None = None, torso: str | None = None, mirrored: bool = False, swap: str | None = None, only: Iterable[str] | None = None, jobs: int = 1, progress: bool | None = None,
) -> tuple[list[str], list[NDArray[np.float32]], list[NDArray[np.float64]]]: ...  # fmt: skip


@overload
def poses(
    images: _Path, joints: _Path | None, out: _Path, *, like: _Path | None = None, cell: int | None = None,
    orientations: int | None = None, size: int | None = None, place: bool | None = None, colours: bool | None = None,
    components: int | None = None, window: int | None = None, torso: str | None = None, mirrored: bool = False, swap: str | None = None, only: Iterable[str] | None = None, jobs: int = 1, progress: bool | None = None,
) -> dict[str, Any]: ...  # fmt: skip


def poses(
    images: _Path, joints: _Path | None, out: _Path | None = None, *, like: _Path | None = None, cell: int | None = None,
    orientations: int | None = None, size: int | None = None, place: bool | None = None, colours: bool | None = None,
    components: int | None = None, window: int | None = None, torso: str | None = None, mirrored: bool = False, swap: str | None = None, only: Iterable[str] | None = None, jobs: int = 1, progress: bool | None = None,
) -> Any:  # fmt: skip
    """Builds a container of HOG cells with joints, the input of task ``pose``, from photographs; or returns the same in memory.

    The file holds ``grid_sizes [n, 2]`` (rows, columns), ``channels [cells, channels]`` as :func:`hog` makes them, and
    ``joints [n, joints, 2]`` in cells; NaN for joints that are not marked or outside of the photograph. The same input gives the
    same bytes, for any ``jobs``. A photograph without a torso is left out, with a warning: the loss is measured in torsos.

    Args:
        images: Folder of photographs.
        joints: A file of joints in pixels of the photographs, one body in each, told apart by content: csv with a header ``file``
            (or ``name``) and for each joint ``NAME_x``, ``NAME_y`` and perhaps ``NAME_v``; csv with a header ``file,joint,x,y``,
            perhaps ``v``, and a row for each joint; JSON of COCO with keypoints. A joint is not marked if v is 0, or if x and y are
            empty or NaN. csv may have width and height of the image that joints are measured in. None: cells without joints.
        out: The file to write; None: names, maps and joints are returned, as ``PoseSSVM`` takes them.
        like: A file of this function: its settings and joints are used, as test images need.
        cell: Side of a cell in pixels; 8 by default.
        orientations: Directions of gradients; 9 by default.
        size: Longest side in pixels of images as they are worked on; 512 by default. Larger ones are made smaller.
        place: If cells have four channels of where they are in the photograph, so that a joint can prefer a part of it; True by default.
        colours: If cells have twenty channels of their colours; False by default.
        components: The strongest principal components of windows of ``window`` x ``window`` cells take the place of the cells' own
            channels; 0, which is the default, for none. They are found on the photographs, or taken from ``like``.
        window: Rows and columns of such a window, an odd number; 5 by default.
        torso: Pairs of joints, as in ``PoseSSVM``; ``"9-2,8-3"`` by default.
        mirrored: If the mirror image of each photograph is added.
        swap: Pairs of left and right joints for mirror images, such as ``"0-5,1-4"``; by default those whose names differ by l and
            r, or left and right.
        only: Names of images (without ending) to take; by default those that the file of joints lists, else all.
        jobs: Processes; 0 is one per core.
        progress: As in ``graph``.

    Returns:
        ``images joints marked channels left_out out``, where ``left_out`` are names; without ``out`` a tuple of names, maps and joints.

    Raises:
        VisionError: For bad images, joints or options; ``MissingExtra`` where packages are missing.
    """
    maker: Any = load("multiplane.vision._cells")
    known = None if like is None else maker.Like(Path(like))
    given = {"cell": cell, "orientations": orientations, "size": size, "place": place, "colours": colours, "components": components,
             "window": window, "torso": torso}  # fmt: skip
    settings = settings_of(maker.Settings, None if known is None else known.settings, given)
    photos, names = _posed(images, joints, only, known)
    if swap is not None and not mirrored:
        raise VisionError(f"swap = {swap}: of mirror images, but mirrored is not given")
    if mirrored:
        photos = maker.mirrored(photos, names, swap)
    if out is not None:
        _spare(out, *(photo.path for photo in photos), *(None if one is None else Path(one) for one in (joints, like)))
    target = None if out is None else Path(out)
    fitted = None if known is None else known.fitted
    made, told = maker.build(photos, names, target, settings, fitted, keep=False, jobs=_jobs(jobs), progress=progress)
    for warning in told:
        warn(warning, UserWarning)
    return made


def _posed(images: _Path, joints: _Path | None, only: Iterable[str] | None, known: Any) -> tuple[list[Any], list[str]]:
    """The photographs with their poses, and the names of joints; none without a file of joints."""
    maker: Any = load("multiplane.vision._cells")
    pairing: Any = load("multiplane.vision._pairs")
    found = None
    if joints is not None:
        found = load("multiplane.vision._joints").read(Path(joints), None if known is None else known.joints)
    chosen: list[Any] = maker.chosen(Path(images), found, pairing.names_of(only, None))
    return chosen, [] if found is None else found.joints


def _spare(out: _Path, *read: Path | None) -> None:
    """Refuses an output that is one of the files that are read."""
    if Path(out).resolve() in {path.resolve() for path in read if path is not None}:
        raise VisionError(f"{out}: would take the place of a file that is read here")


def paint(
    model: _Path, images: _Path, out: _Path, *, like: _Path, labels: _Path | None = None,
    names: Sequence[str] | None = None, top: int | None = None, category: str | None = None, only: Iterable[str] | None = None,
    jobs: int = 1, cache: _Path | bool = True, progress: bool | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Segments photographs with a trained model, or draws the boxes or bodies that it finds.

    With a model of task ``box`` and ``like`` a file of ``words`` it writes ``NAME.png``, the photograph with the boxes that are
    found in orange over those of ``labels``, if given, in teal; and ``boxes.csv`` with those found, in pixels of the photographs.

    With a model of task ``pose`` and ``like`` a file of ``poses`` it writes ``NAME.png``, the photograph with the joints that are
    found as orange dots, with limbs, and those of ``labels``, if given, as teal rings; and ``poses.csv`` with those found (name,
    joint, x, y: the middles of cells in pixels of the photographs).

    With a model of task ``graph`` it writes ``NAME.png`` (class ids; 0 and 1 where training had a threshold), ``NAME.overlay.png`` (the classes in colour
    over the photograph, their borders in white) and ``legend.png``, all of them or none. A class has the same colour in
    all pictures. Photographs whose pictures would have the same name are refused before any work.

    Args:
        model: A model file of task ``graph``, ``box`` or ``pose``.
        images: Folder of photographs.
        out: Folder for the pictures, not one of the others.
        like: The file that the model was trained on: features are made as there.
        labels: Folder of label maps, if the segmentation shall be measured; a file of boxes as for
            ``words``, or of joints as for ``poses``.
        names: Names of the classes of ``like``, in the order of their ids.
        top: Of boxes: how many are looked for in each photograph; 1 by default.
        category: Of boxes: as in ``words``.
        only: Names of images (without ending) to take; all by default.
        jobs: Processes; 0 is one per core.
        cache: As in ``graph``.
        progress: As in ``graph``.

    Returns:
        ``images classes out``; with ``labels``, over all pixels that have one at full size, ``pixels pixel_accuracy
        mean_class_accuracy mean_iou per_class confusion`` (a list per true class). Of boxes ``images boxes out``; with ``labels``
        the mean ``overlap`` of the best box with a right one, and ``found``, the share above 1/2. Of bodies ``images joints out``; with
        ``labels`` ``pdj``, the share of marked joints found within 0.2 torsos.

    Raises:
        VisionError: For bad input.
    """
    painter: Any = load("multiplane.vision._paint")
    settings: Any = load("multiplane.vision._settings")
    pairing: Any = load("multiplane.vision._pairs")
    kind = load("multiplane.vision._container").Reader(Path(like)).settings.get("kind")
    if kind is not None and names is not None:
        raise VisionError(f"names are of classes: {like} holds {kind}")
    if kind == "poses" and top is None and category is None:
        return _paint_poses(model, images, out, like, labels, only, _jobs(jobs), progress)
    if kind == "words":
        return _paint_boxes(model, images, out, like, labels, 1 if top is None else top, category, only, _jobs(jobs), progress)
    if top is not None or category is not None:
        raise VisionError(f"top and category are of boxes, but {like} holds {kind or 'graphs'}")
    known = settings.Like(Path(like))
    chosen = pairing.pairs(Path(images), None if labels is None else Path(labels), pairing.names_of(only, None))
    if Path(out).resolve() in {Path(folder).resolve() for folder in (images, labels) if folder is not None}:
        raise VisionError(f"{out}: holds the photographs or label maps: pictures need a folder of their own")
    result, told = painter.paint(
        Path(model), chosen, Path(out), known, names=names, jobs=_jobs(jobs), cache=_folder(cache), progress=progress
    )
    for warning in told:
        warn(warning, UserWarning)
    return dict(result)


def _paint_boxes(
    model: _Path, images: _Path, out: _Path, like: _Path, labels: _Path | None, top: int, category: str | None,
    only: Iterable[str] | None, jobs: int, progress: bool | None,
) -> dict[str, Any]:  # fmt: skip
    if isinstance(top, bool) or not isinstance(top, int) or not 1 <= top <= 1000:
        raise VisionError(f"top = {top}: expected a whole number of boxes from 1 to 1000")
    maps: Any = load("multiplane.vision._maps")
    photos = _marked(images, labels, category, only, True)
    painter: Any = load("multiplane.vision._found")
    inputs = _inputs(model, images, out, like, labels)
    return dict(painter.paint(inputs, photos, Path(out), maps.Like(Path(like)), top=top, jobs=jobs, progress=progress))


def _paint_poses(
    model: _Path, images: _Path, out: _Path, like: _Path, labels: _Path | None, only: Iterable[str] | None, jobs: int,
    progress: bool | None,
) -> dict[str, Any]:  # fmt: skip
    maker: Any = load("multiplane.vision._cells")
    known = maker.Like(Path(like))
    photos, joints = _posed(images, labels, only, known)
    painter: Any = load("multiplane.vision._skeletons")
    inputs = _inputs(model, images, out, like, labels)
    return dict(painter.paint(inputs, photos, Path(out), known, joints, jobs=jobs, progress=progress))


def _inputs(model: _Path, images: _Path, out: _Path, like: _Path, labels: _Path | None) -> list[Path]:
    """The files that painting reads, the model first. Refuses to paint among the photographs."""
    if Path(out).resolve() == Path(images).resolve():
        raise VisionError(f"{out}: holds the photographs: pictures need a folder of their own")
    return [Path(model), Path(like), *([] if labels is None else [Path(labels)])]


def table(painted: dict[str, Any]) -> str:
    """What ``paint`` returned, as text."""
    lines = [f"{painted['images']} images: {painted['out']}"]
    if "pdj" in painted:
        lines.append(f"joints found within 0.2 torsos (PDJ) {100 * painted['pdj']:.2f} %")
        return "\n".join(lines)
    if "overlap" in painted:
        lines.append(f"mean overlap {100 * painted['overlap']:.2f} %, overlap above 1/2 {100 * painted['found']:.2f} %")
        return "\n".join(lines)
    if "pixel_accuracy" not in painted:
        return lines[0]

    def percent(share: float | None) -> str:
        return "-" if share is None else f"{100 * share:.2f} %"

    rows = [("class", "pixels", "accuracy", "IoU")]
    for one in painted["per_class"]:
        label = one["name"] if one["name"] == str(one["id"]) else f"{one['id']} {one['name']}"
        rows.append((label, str(one["pixels"]), percent(one["accuracy"]), percent(one["iou"])))
    rows.append(("mean", "", percent(painted["mean_class_accuracy"]), percent(painted["mean_iou"])))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.append(f"pixel accuracy {percent(painted['pixel_accuracy'])}, mean IoU {percent(painted['mean_iou'])}")
    return "\n".join(lines)


def chosen_names(only: str | None, list_file: _Path | None) -> dict[str, str] | None:
    """Names given as text with commas and as a file with one a line, with their places in it; None where neither is given."""
    pairing: Any = load("multiplane.vision._pairs")
    names: dict[str, str] | None = pairing.names_of(only, None if list_file is None else Path(list_file))
    return names


def _jobs(jobs: int) -> int:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not 0 <= jobs <= MOST_JOBS:
        raise VisionError(f"jobs = {jobs}: expected a whole number of processes up to {MOST_JOBS}, 0 for one per core")
    return jobs


def _folder(cache: _Path | bool) -> Path | None:
    if cache is True:
        folder: Path | None = load("multiplane.vision._cache").default_folder()
        return folder
    return None if cache is False else Path(cache)
