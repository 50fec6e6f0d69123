"""The commands' options, and how their results and errors are told.

Exit codes: 0 done, 1 ran but failed (disk full), 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from multiplane import vision
from multiplane.vision._errors import VisionError
from multiplane.vision._options import OPTIONS, WORDS

_ALL = """From photographs to graphs, word maps or HOG cells with joints, and back.

For arrays in memory multiplane.vision has the functions superpixels, graph, hog and overlay."""

_GRAPH = """Builds the graphs that task `graph` trains on: superpixels are the nodes, common borders the edges.

Photographs and label maps go by their names: horse1.jpg and horse1.png are a pair. A label map has one 8-bit channel
that holds class ids (or a palette's indices); it decides the size, the photograph is brought to it."""

_GRAPH_EXAMPLES = """examples:
  python -m multiplane.vision graph rgb figure_ground --threshold 128 --out horses.safetensors
  python -m multiplane.vision graph images labels --ignore 255 --list train.txt --out train.safetensors
  python -m multiplane.vision graph images labels --list test.txt --like train.safetensors --out test.safetensors"""

_WORDS = """Builds the word maps that task `box` trains on: descriptors on a grid, each the nearest word of a vocabulary.

BOXES is csv (name,left,top,right,bottom in pixels, right and bottom exclusive; perhaps category,width,height), XML of
Pascal VOC (a file or a folder) or dlib, or JSON of COCO; without it the maps have no boxes."""

_WORDS_EXAMPLES = """examples:
  python -m multiplane.vision words photos boxes.csv --list train.txt --out train.safetensors
  python -m multiplane.vision words photos boxes.csv --list test.txt --like train.safetensors --out test.safetensors
  python -m multiplane.vision words faces training.xml --descriptor hog --words 200 --size 500 --out faces.safetensors"""

_POSES = """Builds the HOG cells that task `pose` trains on, with the joints of a body, divided by the side of a cell.

JOINTS is csv (file,NAME_x,NAME_y,NAME_v,... with a row for each image, or file,joint,x,y,v with a row for each joint; v = 0
or empty: not marked; perhaps width,height) or JSON of COCO with keypoints; without it the cells have no joints. Photographs
without a torso are left out, joints outside of their photographs are taken for not marked; warnings say which."""

_POSES_EXAMPLES = """examples:
  python -m multiplane.vision poses photos joints.csv --list train.txt --mirrored --out train.safetensors
  python -m multiplane.vision poses photos joints.csv --list test.txt --like train.safetensors --out test.safetensors"""

_PAINT = """Segments photographs with a trained model, and writes for each NAME.png (class ids, or the model's 0 and 1)
and NAME.overlay.png (classes in colour over the photograph, with their borders). With a model of task `box` or `pose`
NAME.png is the photograph with what is found in orange and what is right (--labels FILE) in teal: boxes, or joints (dots
with limbs, and rings); boxes.csv or poses.csv holds what is found."""

_PAINT_EXAMPLES = """examples:
  python -m multiplane.vision paint model.safetensors photos --like train.safetensors --out painted
  python -m multiplane.vision paint model.safetensors images --labels labels --list test.txt \\
      --like train.safetensors --out painted
  python -m multiplane.vision paint poses.model photos --labels joints.csv --like train.safetensors --out painted"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help lists the options)\n")


def _common(parser: argparse.ArgumentParser, cached: bool = True) -> None:
    parser.add_argument("--only", metavar="NAMES", help="take these images alone: names without ending, with commas")
    parser.add_argument("--list", metavar="FILE", type=Path, help="the same from a file, one name a line")
    parser.add_argument("--jobs", metavar="J", type=int, default=0, help="processes; 0 (default): one per core")
    if cached:
        parser.add_argument("--cache", metavar="DIR", type=Path,
                            help="folder that keeps what is computed per image (default: multiplane/vision in the user's "
                            "cache folder)")  # fmt: skip
        parser.add_argument("--no-cache", action="store_true", help="keep nothing")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of text")
    parser.add_argument("--quiet", action="store_true", help="no progress line")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m multiplane.vision", description=_ALL, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    raw = argparse.RawDescriptionHelpFormatter
    graph = commands.add_parser("graph", help="build graphs of superpixels from photographs and label maps",
                                description=_GRAPH, epilog=_GRAPH_EXAMPLES, formatter_class=raw)  # fmt: skip
    graph.add_argument("images", metavar="IMAGES", type=Path, help="folder of photographs")
    graph.add_argument("labels", metavar="LABELS", type=Path, help="folder of label maps or masks")
    graph.add_argument("--out", metavar="F.safetensors", type=Path, required=True, help="the file to write")
    graph.add_argument("--like", metavar="TRAIN.safetensors", type=Path,
                       help="take settings, scaling and visual words from this file, as test images need")  # fmt: skip
    graph.add_argument("--superpixels", metavar="N", type=int, help="about how many an image has (default 250)")
    graph.add_argument("--threshold", metavar="T", type=int, help="of grey masks: label 1 above T, else 0")
    graph.add_argument("--ignore", metavar="ID", type=int, help="the label id of pixels without a label")
    graph.add_argument("--side", metavar="PIXELS", type=int, help="longest side of images as they are worked on; "
                       "larger ones are made smaller (default 512)")  # fmt: skip
    graph.add_argument("--words", metavar="K", type=int, help="visual words at each of three scales (default %d)"
                       % WORDS)  # fmt: skip
    graph.add_argument("--seed", metavar="K", type=int, help="of the visual words (default 0)")
    _common(graph)
    words = commands.add_parser("words", help="build maps of visual words from photographs and boxes", description=_WORDS,
                                epilog=_WORDS_EXAMPLES, formatter_class=raw)  # fmt: skip
    words.add_argument("images", metavar="IMAGES", type=Path, help="folder of photographs")
    words.add_argument("boxes", metavar="BOXES", type=Path, nargs="?", help="file or folder of boxes")
    words.add_argument("--out", metavar="F.safetensors", type=Path, required=True, help="the file to write")
    words.add_argument("--like", metavar="TRAIN.safetensors", type=Path,
                       help="take settings and vocabularies from this file, as test images need")  # fmt: skip
    words.add_argument("--descriptor", metavar="NAME", help="sift (default): 4 x 4 cells of 4 pixels; hog: 2 x 2 of 8")
    words.add_argument("--channels", metavar="NAMES", help="a vocabulary for each, with commas: grey (default), hue, hsv")
    words.add_argument("--size", metavar="PIXELS", type=int, help="longest side of images as they are worked on; larger "
                       "ones are made smaller (default 320)")  # fmt: skip
    words.add_argument("--words", metavar="K", type=int, help="words in each vocabulary (default 500)")
    words.add_argument("--step", metavar="PIXELS", type=int, help="from descriptor to descriptor (default 4)")
    words.add_argument("--seed", metavar="K", type=int, help="of the vocabularies (default 0)")
    words.add_argument("--category", metavar="NAME", help="the kind of objects, if the boxes are of several")
    words.add_argument("--none", action="store_true", help="take images without a box as well")
    _common(words, cached=False)
    poses = commands.add_parser("poses", help="build HOG cells with joints from photographs", description=_POSES,
                                epilog=_POSES_EXAMPLES, formatter_class=raw)  # fmt: skip
    poses.add_argument("images", metavar="IMAGES", type=Path, help="folder of photographs")
    poses.add_argument("joints", metavar="JOINTS", type=Path, nargs="?", help="file of joints")
    poses.add_argument("--out", metavar="F.safetensors", type=Path, required=True, help="the file to write")
    poses.add_argument("--like", metavar="TRAIN.safetensors", type=Path,
                       help="take settings and joints from this file, as test images need")  # fmt: skip
    poses.add_argument("--cell", metavar="PIXELS", type=int, help="side of a cell (default 8)")
    poses.add_argument("--orientations", metavar="K", type=int, help="directions of gradients (default 9)")
    poses.add_argument("--size", metavar="PIXELS", type=int, help="longest side of images as they are worked on; larger "
                       "ones are made smaller (default 512)")  # fmt: skip
    poses.add_argument("--no-place", dest="place", action="store_const", const=False,
                       help="no channels that say where in the photograph a cell is")  # fmt: skip
    poses.add_argument("--colours", action="store_const", const=True, help="twenty channels of colours as well")
    poses.add_argument("--components", metavar="K", type=int, help="the K strongest components of windows of cells in the place of "
                       "the cells' own channels")  # fmt: skip
    poses.add_argument("--window", metavar="CELLS", type=int, help="rows and columns of such a window (default 5)")
    poses.add_argument("--torso", metavar="PAIRS", help="joints that a torso is measured between, as task.torso (default 9-2,8-3)")
    poses.add_argument("--mirrored", action="store_true", help="add the mirror image of each photograph")
    poses.add_argument("--swap", metavar="PAIRS", help="left and right joints, as in 0-5,1-4 (default: by their names)")
    _common(poses, cached=False)
    paint = commands.add_parser("paint", help="segment photographs, find boxes or bodies with a trained model", description=_PAINT,
                                epilog=_PAINT_EXAMPLES, formatter_class=raw)  # fmt: skip
    paint.add_argument("model", metavar="MODEL", type=Path, help="a model of task graph, box or pose")
    paint.add_argument("images", metavar="IMAGES", type=Path, help="folder of photographs")
    paint.add_argument("--like", metavar="TRAIN.safetensors", type=Path, required=True,
                       help="the file that the model was trained on")  # fmt: skip
    paint.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for masks and overlays")
    paint.add_argument("--labels", metavar="DIR", type=Path,
                       help="folder of label maps, or file of boxes or joints: measures what is right")  # fmt: skip
    paint.add_argument("--names", metavar="NAMES", help="names of the classes, in the order of their ids, with commas")
    paint.add_argument("--top", metavar="K", type=int, help="boxes to look for in each photograph (default 1)")
    paint.add_argument("--category", metavar="NAME", help="the kind of objects, if the boxes of --labels are of several")
    _common(paint)
    return parser


def _run(given: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The result, and the text that says it."""
    only = vision.chosen_names(given.only, given.list)
    common: dict[str, Any] = {
        "only": only, "jobs": given.jobs, "progress": False if given.quiet else None, "like": given.like,
    }  # fmt: skip
    if given.command == "words":
        channels = None if given.channels is None else [name.strip() for name in given.channels.split(",")]
        options = {name: getattr(given, name) for name in ("descriptor", "size", "words", "step", "seed", "category", "none")}
        made = vision.words(given.images, given.boxes, given.out, channels=channels, **options, **common)
        return made, f"{made['images']} images, {made['boxes']} boxes, {' + '.join(map(str, made['words']))} words: {made['out']}"
    if given.command == "poses":
        options = {name: getattr(given, name) for name in ("cell", "orientations", "size", "place", "colours", "components", "window", "torso", "mirrored",
                                                         "swap")}  # fmt: skip
        posed = vision.poses(given.images, given.joints, given.out, **options, **common)
        return posed, (
            f"{posed['images']} images, {len(posed['joints'])} joints ({posed['marked']} marked), {posed['channels']} channels: {posed['out']}"
        )
    if given.no_cache and given.cache is not None:
        raise VisionError("--cache and --no-cache exclude each other")
    common["cache"] = False if given.no_cache else given.cache or True
    if given.command == "graph":
        options = {name: getattr(given, name) for name in OPTIONS}
        built = vision.graph(given.images, given.labels, given.out, **options, **common)
        return built, (
            f"{built['images']} images, {built['nodes']} superpixels, {built['edges']} edges, "
            f"{built['node_features']} + {built['edge_features']} features, classes "
            f"{', '.join(map(str, built['classes']))}: {built['out']}"
        )
    names = None if given.names is None else [name.strip() for name in given.names.split(",")]
    painted = vision.paint(given.model, given.images, given.out, labels=given.labels, names=names, top=given.top, category=given.category,
                           **common)  # fmt: skip
    return painted, vision.table(painted)


def _told(message: object, *_: object, **__: object) -> None:
    sys.stderr.write(f"warning: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; returns its exit code."""
    given = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _told
            result, text = _run(given)
    except VisionError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was written\n")
        return 130
    except (OSError, MemoryError) as error:
        sys.stderr.write(f"error: {error if str(error) else 'out of memory'}\n")
        return 1
    print(json.dumps(result) if given.json else text)
    return 0
