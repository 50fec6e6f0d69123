"""From photographs to graphs and back: superpixels, their features, segmentations painted over the photographs.

    python -m multiplane.vision graph IMAGES LABELS --out train.safetensors
    python -m multiplane.vision paint MODEL IMAGES --like train.safetensors --out DIR

and the same as the functions ``graph`` and ``paint``. Needs ``pip install 'multiplane[vision]'``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from multiplane.vision._errors import MissingExtra, VisionError, load

__all__ = ["MissingExtra", "VisionError", "graph"]

_Path = str | os.PathLike[str]


def graph(
    images: _Path,
    labels: _Path | None,
    out: _Path,
    *,
    like: _Path | None = None,
    superpixels: int | None = None,
    threshold: int | None = None,
    ignore: int | None = None,
    side: int | None = None,
    words: int | None = None,
    seed: int | None = None,
    only: Iterable[str] | None = None,
    jobs: int = 1,
    cache: _Path | bool = True,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Builds a container of graphs, the input of task ``graph``, from photographs and their label maps.

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
        words: Visual words at each of three scales; 80 by default.
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
    builder: Any = load("multiplane.vision._graph")
    settings: Any = load("multiplane.vision._settings")
    pairing: Any = load("multiplane.vision._pairs")
    known = None if like is None else settings.Like(Path(like))
    options = {"superpixels": superpixels, "threshold": threshold, "ignore": ignore, "side": side, "words": words,
               "seed": seed}  # fmt: skip
    found = builder.checked_settings(known, **options)
    names = None if only is None else pairing.names_of(only, None)
    chosen = pairing.pairs(Path(images), None if labels is None else Path(labels), names)
    built, told = builder.build(
        chosen, Path(out), found, like=known, jobs=_jobs(jobs), cache=_folder(cache), progress=progress
    )
    for warning in told:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return dict(built)


def _jobs(jobs: int) -> int:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
        raise VisionError(f"jobs = {jobs}: expected a whole number of processes, 0 for one per core")
    return jobs


def _folder(cache: _Path | bool) -> Path | None:
    if cache is True:
        folder: Path = load("multiplane.vision._cache").default_folder()
        return folder
    return None if cache is False else Path(cache)
