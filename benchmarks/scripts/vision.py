#!/usr/bin/env python3
"""Stereo and denoising energies of Szeliski et al. (2008): energy, bound and seconds of engines; renders the labels.

    vision.py --program target/dist/examples/vision --data DIR --out DIR [--engine trws] [--seconds 60] [--only a,b]

Build the program with `cargo build --profile dist -p multiplane-infer --example vision`. DIR holds mrf/stereo and
mrf/denoise. Writes raw.jsonl (one line per run, added to what is there), and the labels as <instance>-<engine>.png.
Every energy is computed again here from the labels, and must agree. Needs requirements.txt.

The settings are that paper's; where it leaves a choice, this was taken:
- Birchfield-Tomasi cost: symmetric, intervals of half pixels along the line, absolute difference, sum of the channels,
  rounded to an integer, teddy's truncated at 16 a channel; beyond the right image's border its border pixel counts.
- The gradient of two neighbours is the root mean square of their channels' differences in the left image.
- Denoising: squared differences everywhere; pixels whose mask is 0 cost nothing.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

from common import standard_parser

POTTS, LINEAR, QUADRATIC = 0, 1, 2


def load(path):
    return np.asarray(Image.open(path)).astype(np.float64)


def half_pixel_range(image):
    """Lowest and highest of each pixel and its values half-way to both neighbours on the line."""
    left = np.concatenate([image[:, :1], image[:, :-1]], axis=1)
    right = np.concatenate([image[:, 1:], image[:, -1:]], axis=1)
    values = np.stack([image, (image + left) / 2, (image + right) / 2])
    return values.min(0), values.max(0)


def birchfield_tomasi(left, right, labels, cap):
    """Costs [height, width, labels] of disparities 0 .. labels - 1 of the left image."""
    (left_low, left_high), (right_low, right_high) = half_pixel_range(left), half_pixel_range(right)
    columns = np.arange(left.shape[1])
    costs = np.empty((*left.shape[:2], labels))
    for disparity in range(labels):
        at = np.maximum(columns - disparity, 0)
        other, low, high = right[:, at], right_low[:, at], right_high[:, at]
        there = np.maximum(0, np.maximum(left - high, low - left))
        back = np.maximum(0, np.maximum(other - left_high, left_low - other))
        costs[:, :, disparity] = np.rint(np.minimum(there, back).sum(2))
    return np.minimum(costs, cap)


def grid_edges(height, width):
    """Pairs of neighbouring pixels: to the right, then down."""
    node = np.arange(height * width, dtype=np.uint32).reshape(height, width)
    right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], 1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], 1)
    return np.concatenate([right, down])


def stereo(data, name, labels, cap, term, weight, threshold, factor):
    left, right = load(data / f"mrf/stereo/{name}-imL.png"), load(data / f"mrf/stereo/{name}-imR.png")
    edges = grid_edges(*left.shape[:2])
    colours = left.reshape(-1, left.shape[2])
    gradient = np.sqrt(((colours[edges[:, 0]] - colours[edges[:, 1]]) ** 2).mean(1))
    weights = np.where(gradient < threshold, weight * factor, weight).astype(np.float64)
    return birchfield_tomasi(left, right, labels, cap), edges, weights, term


def denoise(data, name, weight, cap):
    noisy, mask = load(data / f"mrf/denoise/{name}-input.png"), load(data / f"mrf/denoise/{name}-mask.png")
    costs = np.where(mask[:, :, None] > 0, (noisy[:, :, None] - np.arange(256.0)) ** 2, 0.0)
    edges = grid_edges(*noisy.shape)
    return costs, edges, np.full(len(edges), float(weight)), (QUADRATIC, cap)


INSTANCES = {
    "tsukuba": lambda data: stereo(data, "tsukuba", 16, np.inf, (LINEAR, 2.0), 20, 8, 2),
    "teddy": lambda data: stereo(data, "teddy", 60, 48.0, (POTTS, None), 10, 10, 3),
    "house": lambda data: denoise(data, "house", 5, np.inf),
    "penguin": lambda data: denoise(data, "penguin", 25, 200.0),
}
# Grey levels per label; largest truth scale of the disparities for the share of bad pixels.
SCALES = {"tsukuba": 16, "teddy": 4, "house": 1, "penguin": 1}


def write(path, costs, edges, weights, term):
    kind, cap = term
    nodes, labels = costs.shape[0] * costs.shape[1], costs.shape[2]
    rows = np.zeros(len(edges), dtype=[("ends", "<u4", 2), ("term", "<u4"), ("weight", "<f8")])
    rows["ends"], rows["weight"] = edges, weights
    with open(path, "wb") as file:
        file.write(struct.pack("<3I", nodes, len(edges), 1))
        file.write(np.full(nodes, labels, "<u4").tobytes())
        file.write(costs.astype("<f8").tobytes())
        file.write(struct.pack("<I", kind) + (struct.pack("<d", cap) if cap is not None else b""))
        file.write(rows.tobytes())


def energy(costs, edges, weights, term, labels):
    kind, cap = term
    unary = np.take_along_axis(costs.reshape(-1, costs.shape[2]), labels[:, None].astype(np.int64), 1).sum()
    distance = np.abs(labels[edges[:, 0]].astype(np.float64) - labels[edges[:, 1]])
    pair = {POTTS: distance != 0, LINEAR: distance, QUADRATIC: distance**2}[kind]
    return unary + (weights * (pair if cap is None else np.minimum(pair, cap))).sum()


def bad_pixels(data, name, labels):
    """Share of pixels of known disparity that are off by more than one."""
    truth = data / f"mrf/stereo/{name}-truedispL.png"
    if not truth.exists():
        return None
    truth = load(truth) / SCALES[name]
    known = truth > 0
    return float((np.abs(labels - truth)[known] > 1).mean())


def run(args, name, engine, folder):
    model = INSTANCES[name](args.data)
    write(folder / "model", *model)
    command = [args.program, folder / "model", engine, str(args.seconds), folder / "labels"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}, {engine}: {done.stderr}")
    record = {"instance": name, "limit": args.seconds, **json.loads(done.stdout)}
    labels = np.fromfile(folder / "labels", "<u4")
    again = energy(*model, labels)
    if abs(again - record["energy"]) > 1e-9 * abs(again):
        sys.exit(f"{name}, {engine}: reports energy {record['energy']}, its labels have {again}")
    picture = labels.reshape(model[0].shape[:2])
    record["bad_pixels"] = bad_pixels(args.data, name, picture)
    grey = np.minimum(picture * SCALES[name], 255).astype(np.uint8)
    Image.fromarray(grey).save(args.out / f"{name}-{engine}.png")
    return record


def main():
    parser = standard_parser(__doc__)
    parser.add_argument("--engine", default="trws", help="names, separated by commas")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default=",".join(INSTANCES))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print("| instance | engine | energy | bound | gap % | iterations | seconds | bad pixels % |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, open(args.out / "raw.jsonl", "a") as raw:
        for name in args.only.split(","):
            for engine in args.engine.split(","):
                record = run(args, name, engine, pathlib.Path(folder))
                raw.write(json.dumps(record) + "\n")
                raw.flush()
                value, bound, bad = record["energy"], record["bound"], record["bad_pixels"]
                gap = "-" if bound is None else f"{100 * (value - bound) / abs(value):.4f}"
                cells = [name, engine, f"{value:.0f}", "-" if bound is None else f"{bound:.1f}", gap,
                         record["iterations"], f"{record['seconds']:.1f}", "-" if bad is None else f"{100 * bad:.2f}"]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
