#!/usr/bin/env python3
"""Objects in photographs: task `box` on the Weizmann horses, fold by fold, beside a linear SVM on sliding windows; functional
descent beside `one-slack`; norms; kernels; faces, beside dlib's detector.

    boxes.py --program target/release/multiplane --data DIR --out DIR [--first 0] [--folds 5]
             [--only horses,svm,choice,sfd,sfd-l2,norms,kernels,windows,faces,dlib,containers]

A fold: every fifth image is held out, and the vocabulary is made of the others alone (`python -m multiplane.vision words`). The
SVM (scikit-learn's LinearSVC) sees the same words: pyramid histograms of length 1 of the true boxes against windows that
overlap them by at most 0.3, drawn at first, then the highest scored of each image; its windows have 8 sizes (k-means of the
training boxes) at every second point. Adds a line of JSON a result to OUT/raw.jsonl. Needs multiplane[vision], scikit-learn; `dlib` the
package dlib-bin or dlib.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.cluster import KMeans
from sklearn.svm import LinearSVC

from multiplane import vision

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from common import finish, standard_parser  # noqa: E402

HALF, STEP, WORDS = 8, 4, 500
COSTS = (0.1, 1.0)
# lambda_t, accuracy, inner solver and average of `sfd1`, by `--only choice --folds 1`; a second accuracy.
CHOSEN, FINER = (0.0003, 0.45, "one-slack", "weighted"), 0.3


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


def photographs(data, out):
    """A folder of the photographs and a file of their boxes, which were measured in the masks. `rgb/horse318.jpg` is black."""
    folder, table = out / "photos", out / "boxes.csv"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [line.split() for line in (data / "weizmann_horses/boxes_from_masks.txt").read_text().splitlines()]
    table.write_text("name,width,height,left,top,right,bottom\n" + "".join(",".join(row) + "\n" for row in rows))
    for name in (row[0] for row in rows):
        source = data / "weizmann_horses" / ("gray" if name == "horse318" else "rgb") / f"{name}.jpg"
        if not (folder / f"{name}.jpg").exists():
            os.symlink(source.resolve(), folder / f"{name}.jpg")
    return folder, table, [row[0] for row in rows]


def fold(args, number):
    """The containers of a fold, made if they are not there."""
    folder, table, names = photographs(args.data, args.out)
    paths = [args.out / f"horses{number}.{part}.safetensors" for part in ("train", "test")]
    test = names[number::5]
    if not paths[1].exists():
        vision.words(folder, table, paths[0], only=[name for name in names if name not in test], jobs=args.jobs, progress=False)
        vision.words(folder, table, paths[1], only=test, like=paths[0], jobs=args.jobs, progress=False)
    return paths


def trained(args, train, test, *options):
    """What training and evaluation say."""
    model = args.out / "model"
    report = json.loads(run(args.program, "train", "--task", "box", "--data", train, "--out", model, "--threads", "1", "--json", *options))
    found = json.loads(run(args.program, "evaluate", "--model", model, "--data", test, "--threads", "1", "--json"))
    keys = ("primal", "gap", "passes", "oracle_calls", "evaluation_calls", "oracle_seconds", "wall_seconds", "stop_reason")
    return {**{key: report[key] for key in keys}, "overlap": found["overlap"], "found": found["found"]}, model


def overlaps(boxes, truth):
    """Intersection over union of boxes ``[n, 4]`` with one."""
    sides = np.minimum(boxes[:, 2:], truth[2:]) - np.maximum(boxes[:, :2], truth[:2])
    common = np.maximum(sides, 0).prod(1)
    return common / ((boxes[:, 2:] - boxes[:, :2]).prod(1) + (truth[2:] - truth[:2]).prod() - common)


class Images:
    """The words of a container as integral histograms of the points."""

    def __init__(self, path):
        tensors = load_file(path)
        self.sizes, self.boxes = tensors["map_sizes"], tensors["boxes"].astype(float)
        maps = np.split(tensors["words"], np.cumsum(self.sizes.prod(1))[:-1])
        self.grids = [one.reshape(size)[HALF : size[0] - HALF + 1 : STEP, HALF : size[1] - HALF + 1 : STEP]
                      for one, size in zip(maps, self.sizes)]  # fmt: skip

    def __len__(self):
        return len(self.grids)

    def table(self, image):
        """Counts of words above and left of each point, ``[rows + 1, columns + 1, words]``."""
        grid = self.grids[image]
        counts = np.zeros((grid.shape[0] + 1, grid.shape[1] + 1, WORDS), np.int16)
        counts[1:, 1:][np.arange(grid.shape[0])[:, None], np.arange(grid.shape[1]), grid] = 1
        return counts.cumsum(0, dtype=np.int16).cumsum(1, dtype=np.int16)

    def counts(self, table, boxes):
        """Pyramid histograms of two levels, ``[n, 5 words]``."""
        left, top, right, bottom = boxes.T
        across, down = (left + right) // 2, (top + bottom) // 2
        cells = [(left, top, right, bottom), (left, top, across, down), (across, top, right, down), (left, down, across, bottom),
                 (across, down, right, bottom)]  # fmt: skip

        def place(sides, most):
            return np.clip(np.ceil((sides - HALF) / STEP), 0, most).astype(int)

        rows, columns = table.shape[0] - 1, table.shape[1] - 1
        parts = []
        for left, top, right, bottom in cells:
            l, r, t, b = place(left, columns), place(right, columns), place(top, rows), place(bottom, rows)
            parts.append(table[b, r] - table[t, r] - table[b, l] + table[t, l])
        return np.concatenate(parts, 1).astype(np.float32)

    def features(self, table, boxes):
        """Histograms of length 1."""
        found = self.counts(table, boxes)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)

    def windows(self, image, sizes):
        """All windows of these sizes at every second point."""
        height, width = self.sizes[image]
        found = []
        for w, h in np.minimum(sizes, (width, height)):
            x, y = np.meshgrid(np.arange(0, width - w + 1, 2 * STEP), np.arange(0, height - h + 1, 2 * STEP))
            found.append(np.stack([x.ravel(), y.ravel(), x.ravel() + w, y.ravel() + h], 1))
        return np.concatenate(found).astype(float)


def best_windows(images, image, sizes, weights):
    """Windows with their scores, the best first."""
    windows = images.windows(image, sizes)
    table = images.table(image)
    scores = np.concatenate([images.features(table, part) @ weights for part in np.array_split(windows, -(-len(windows) // 2000))])
    order = np.argsort(-scores, kind="stable")
    return windows[order], scores[order]


def svm(args, number):
    """The rival: its cost is the one of the best share of found boxes on the test images, in its favour."""
    train, test = map(Images, fold(args, number))
    rng = np.random.default_rng(number)
    sizes = KMeans(8, n_init=4, random_state=0).fit(train.boxes[:, 2:] - train.boxes[:, :2]).cluster_centers_.round().astype(int)
    start = time.monotonic()
    positives, negatives = [], []
    for image, box in enumerate(train.boxes):
        table, windows = train.table(image), train.windows(image, sizes)
        apart = windows[overlaps(windows, box) <= 0.3]
        positives.append(train.features(table, box[None]))
        negatives.append(train.features(table, rng.permutation(apart)[:20]))
    results = []
    for cost in COSTS:
        own = list(negatives)
        for mined in range(2):
            rows = np.concatenate([*positives, *own])
            labels = np.repeat([1, -1], [len(positives), len(rows) - len(positives)])
            model = LinearSVC(C=cost, class_weight="balanced", dual=True, max_iter=3000, random_state=0).fit(rows, labels)
            if mined == 1:
                break
            for image, box in enumerate(train.boxes):
                windows, _ = best_windows(train, image, sizes, model.coef_[0])
                hard = windows[overlaps(windows, box) <= 0.3][:5]
                own.append(train.features(train.table(image), hard))
        each = [overlaps(best_windows(test, image, sizes, model.coef_[0])[0][:1], box)[0] for image, box in enumerate(test.boxes)]
        results.append({"cost": cost, "overlap": float(np.mean(each)), "found": float(np.mean(np.array(each) > 0.5))})
    return {**max(results, key=lambda one: one["found"]), "all": results, "seconds": time.monotonic() - start}


def horses(args, number):
    train, test = fold(args, number)
    for value in args.lambdas.split(","):
        found, _ = trained(args, train, test, "--lambda", value, "--gap", "1%", "--seconds", args.seconds, "--set", "task.normalise=none")
        yield {"lambda": float(value), **found}


def part(args, number, name, is_chosen):
    """A container of some training images of a fold; ``is_chosen`` takes their numbers."""
    train, _ = fold(args, number)
    with safe_open(train, "np") as file:
        tensors, metadata = {key: file.get_tensor(key) for key in file.keys()}, file.metadata()
    maps = np.split(tensors["words"], np.cumsum(tensors["map_sizes"].prod(1))[:-1])
    at = np.flatnonzero(is_chosen(np.arange(len(maps))))
    own = {"map_sizes": tensors["map_sizes"][at], "words": np.concatenate([maps[k] for k in at]), "boxes": tensors["boxes"][at],
           "box_offsets": np.arange(len(at) + 1)}  # fmt: skip
    save_file({**tensors, **own}, args.out / f"horses{number}.{name}.safetensors", metadata)
    return args.out / f"horses{number}.{name}.safetensors"


def descent(value, accuracy, inner, averaging, passes=1.95):
    """Options of `sfd1` as in the thesis: a tenth of the images a step, in their order; lambda_t is `value` at every step."""
    own = {"size": 0.1, "sampling.shuffle": "false", "margins": "clamped", "schedule.value": value, "accuracy": accuracy,
           "inner": inner, "averaging": averaging}  # fmt: skip
    return ["--solver", "sfd1", "--passes", passes, *(part for key, of in own.items() for part in ("--set", f"solver.{key}={of}"))]


def choice(args, number):
    """Settings of `sfd1` on held-out images of the training part, one at a time changed from the first; `auto` beside them."""
    tried = [(0.0003, 0.1, "one-slack", "none")]
    tried += [(value, *tried[0][1:]) for value in (0.003, 0.001, 0.0001)]
    tried += [(0.0003, accuracy, "one-slack", "none") for accuracy in (0.3, 0.03)]
    tried += [(0.0003, 0.1, "mp-bcfw", "none"), (0.0003, 0.1, "one-slack", "weighted")]
    tried += [(0.0003, 0.6, "one-slack", "none"), (0.001, 0.3, "one-slack", "none")]
    tried += [(0.0003, accuracy, "one-slack", "weighted") for accuracy in (0.3, 0.6, 0.45)] + [(0.0001, 0.6, "one-slack", "weighted")]
    paths = part(args, number, "rest", lambda k: k % 5 != 2), part(args, number, "held", lambda k: k % 5 == 2)
    for settings in tried:
        found, _ = trained(args, *paths, *descent(*settings))
        yield {**dict(zip(("lambda_t", "accuracy", "inner", "averaging"), settings)), **found}
    for value in args.lambdas.split(","):
        found, _ = trained(args, *paths, "--lambda", value, "--gap", "1%", "--seconds", args.seconds)
        yield {"solver": "auto", "lambda": float(value), **found}


def sfd(args, number):
    """Functional descent after its first step, half an epoch, one and two, beside `one-slack` at 1 %, with 20 planes of each image
    kept and with none. `horses` has `auto`."""
    paths = fold(args, number)
    for moment, passes in (("first step", 0.01), ("half an epoch", 0.45), ("one epoch", 0.95), ("two epochs", 1.95)):
        found, _ = trained(args, *paths, *descent(*CHOSEN, passes))
        yield {"solver": "sfd1", "moment": moment, "accuracy": CHOSEN[1], **found}
    found, _ = trained(args, *paths, *descent(CHOSEN[0], FINER, *CHOSEN[2:]))
    yield {"solver": "sfd1", "moment": "two epochs", "accuracy": FINER, **found}
    value = args.lambdas.split(",")[-1]
    for planes in (20, 0):
        found, _ = trained(args, *paths, "--solver", "one-slack", "--lambda", value, "--gap", "1%", "--seconds", args.seconds, "--set",
                           f"solver.cache.max_planes={planes}")  # fmt: skip
        yield {"solver": "one-slack", "lambda": float(value), "planes": planes, **found}


def sizes(images):
    """Mean k(x, x) of the right boxes' histograms x over a norm; with norm `none` also of the intersection kernel."""
    found = {name: [] for name in ("none", "area", "l1", "l2", "intersection")}
    for image, box in enumerate(images.boxes):
        counts = images.counts(images.table(image), box[None])[0]
        points, square = images.grids[image].size, float(counts @ counts)
        divisors = {"none": points, "area": (box[2:] - box[:2]).prod(), "l1": counts.sum(), "l2": square**0.5}
        for name, divisor in divisors.items():
            found[name].append(square / divisor**2)
        found["intersection"].append(counts.sum() / points)
    return {name: float(np.mean(values)) for name, values in found.items()}


def some(args, number, every):
    """Containers of one in `every` training images of a fold, and of its test images."""
    return part(args, number, "some", lambda k: k % every == 0), fold(args, number)[1]


def compared(args, number, every, cases):
    """Trains on `some` images at stride 16 with each of (name, factor, options); lambda is `factor` times that of `none`, times the ratio
    of sizes."""
    train, test = some(args, number, every)
    own, truth = sizes(Images(train)), Images(test).boxes
    for name, factor, options in cases:
        value = factor * float(args.lambdas.split(",")[-1]) * own[name] / own["none"]
        found, model = trained(args, train, test, "--lambda", value, "--gap", "1%", "--seconds", args.seconds, "--set", "task.stride=16",
                               *options)  # fmt: skip
        answers = np.array([line.split() for line in run(args.program, "predict", "--model", model, "--data", test).splitlines()], float)
        areas = [(boxes[:, 2:] - boxes[:, :2]).prod(1).mean() for boxes in (answers, truth)]
        yield {"name": name, "lambda": value, "area": areas[0] / areas[1], **found}


def sfd_l2(args, number):
    """Functional descent on histograms of length 1, as the thesis has them, beside `one-slack`: every third image, stride 16."""
    train, test = some(args, number, 3)
    own = sizes(Images(train))
    ratio = own["l2"] / own["none"]
    batch = ("--solver", "one-slack", "--lambda", float(args.lambdas.split(",")[-1]) * ratio, "--gap", "1%", "--seconds", args.seconds)
    for solver, options in (("sfd1", descent(CHOSEN[0] * ratio, *CHOSEN[1:])), ("one-slack", batch)):
        found, _ = trained(args, train, test, *options, "--set", "task.normalise=l2", "--set", "task.stride=16")
        yield {"solver": solver, "ratio": ratio, **found}


def norms(args, number):
    """Mean area of the answers over that of the right boxes, for each norm."""
    cases = [(name, 1, ("--set", f"task.normalise={name}")) for name in ("none", "area", "l1", "l2")]
    cases += [(name, 0.01, ("--set", f"task.normalise={name}")) for name in ("area", "l1")]
    yield from compared(args, number, 3, cases)


def kernels(args, number):
    """The intersection kernel beside the linear one."""
    yield from compared(args, number, 5, [("none", 1, ()), ("intersection", 1, ("--set", "task.bin_kernel=intersection"))])


def windows(args, number):
    """Kernels of windows of four sizes beside none, histograms of length 1: every third image, stride 16."""
    train, test = some(args, number, 3)
    shared = ("search=windows", "windows=4", "stride=16", "normalise=l2")
    for name, kernel in (("none", ()), ("linear", ("kernel.name=linear",)), ("rbf", ("kernel.name=rbf", "kernel.gamma=1"))):
        options = [word for setting in (*shared, *kernel) for word in ("--set", f"task.{setting}")]
        for value in (0.01, 0.001):
            found, _ = trained(args, train, test, "--lambda", value, "--gap", "2%", "--seconds", args.seconds, *options)
            yield {"name": name, "lambda": value, **found}


def face_words(args):
    """Containers of four images to train and five to test, with several faces in each."""
    folder = args.data / "faces_voc2011"
    paths = [args.out / f"faces.{part}.safetensors" for part in ("train", "test")]
    vision.words(folder, folder / "training.xml", paths[0], descriptor="hog", words=200, size=500, jobs=args.jobs, progress=False)
    vision.words(folder, folder / "testing.xml", paths[1], like=paths[0], jobs=args.jobs, progress=False)
    return paths


def faces(args):
    """Average precision of the best 10 windows of 4 sizes."""
    paths = face_words(args)
    for name, value in (("none", "0.000001"), ("l2", "0.0001")):
        found, model = trained(args, *paths, "--lambda", value, "--gap", "5%", "--seconds", args.seconds, "--set",
                               f"task.normalise={name}", "--set", "task.search=windows", "--set", "task.windows=4")  # fmt: skip
        lists = json.loads(run(args.program, "evaluate", "--model", model, "--data", paths[1], "--top", "10", "--json"))
        keys = ("average_precision", "area", "precision", "recall")
        yield {"normalise": name, "lambda": float(value), **found, **{key: lists[key] for key in keys}}


def dlib_faces(args):
    """dlib's detector (windows of 80 x 80 pixels, HOG, max-margin object detection) on the photographs that `faces` has words of: its
    own precision, recall and average precision, and overlaps of the best 10 of an image, which are apart as dlib has them."""
    import dlib

    folder, detector = args.data / "faces_voc2011", str(args.out / "faces.svm")
    options = dlib.simple_object_detector_training_options()
    options.C, options.add_left_right_image_flips, options.num_threads = 5, True, 1
    start = time.monotonic()
    dlib.train_simple_object_detector(str(folder / "training.xml"), detector, options)
    seconds = time.monotonic() - start
    told = dlib.test_simple_object_detector(str(folder / "testing.xml"), detector)
    search, larger = dlib.fhog_object_detector(detector), dlib.simple_object_detector(detector).upsampling_amount
    largest, best = [], []
    for image in ElementTree.parse(folder / "testing.xml").iter("image"):
        truths = [[int(box.get(side)) for side in ("left", "top", "width", "height")] for box in image.iter("box")]
        lists, _, _ = search.run(dlib.load_rgb_image(str(folder / image.get("file"))), larger, -2.0)
        answers = np.array([[box.left(), box.top(), box.right() + 1, box.bottom() + 1] for box in lists][:10], float)
        each = np.array([overlaps(answers, np.array([x, y, x + w, y + h])) for x, y, w, h in truths])
        largest.extend(each.max(1))
        best.append(each[:, 0].max())
    return {"found": float(np.mean(np.array(best) > 0.5)), "overlap": float(np.mean(best)), "area": float(np.mean(largest)),
            **{key: getattr(told, key) for key in ("average_precision", "precision", "recall")}, "wall_seconds": seconds}  # fmt: skip


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--only", default="horses,svm,sfd,norms,faces")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--lambdas", default="0.00003,0.00001")
    parser.add_argument("--seconds", default="120")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    def told(what, number, result):
        line = json.dumps({"what": what, "fold": number, **result})
        print(line, flush=True)
        with open(args.out / "raw.jsonl", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    for what in args.only.split(","):
        if what == "containers":  # those that `multiplane reproduce sfd-boxes` reads as boxes/ of its data folder
            face_words(args), fold(args, 0)
            continue
        if what in ("faces", "dlib"):
            for result in faces(args) if what == "faces" else [dlib_faces(args)]:
                told(what, None, result)
            continue
        of = {"horses": horses, "choice": choice, "sfd": sfd, "sfd-l2": sfd_l2, "norms": norms, "kernels": kernels, "windows": windows, "svm": svm}[what]
        for number in range(args.first, args.first + args.folds):
            for result in [of(args, number)] if what == "svm" else of(args, number):
                told(what, number, result)


if __name__ == "__main__":
    finish(main, subprocess.CalledProcessError)
