#!/usr/bin/env python3
"""The picture of docs/segmentation.md: made-up landscapes, a model trained on them, and what it makes of a new one.

    segmentation_picture.py --program target/dist/multiplane --out docs/images/segmentation.png

No data set is needed. Writes photograph, truth and overlay side by side. Needs multiplane[vision].
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from multiplane import vision
from multiplane.vision._overlay import colour_of

SIZE = (180, 240)


def landscape(rng):
    """A photograph of sky, hills, a lake and trees, and its label map: 0 sky, 1 hill, 2 water, 3 tree."""
    height, width = SIZE
    rows, columns = np.mgrid[:height, :width]
    noise = lambda sigma: gaussian_filter(rng.normal(size=SIZE), sigma) * sigma
    ridge = 70 + 25 * np.sin(columns / rng.uniform(25, 45) + rng.uniform(0, 6)) + 40 * noise(12)
    shore = 130 + 12 * np.sin(columns / rng.uniform(30, 60) + rng.uniform(0, 6))
    labels = np.where(rows < ridge, 0, np.where(rows < shore, 1, 2))
    for _ in range(rng.integers(2, 5)):
        x, y, r = rng.uniform(20, width - 20), rng.uniform(80, 130), rng.uniform(12, 24)
        labels[((columns - x) / r) ** 2 + ((rows - y) / (1.3 * r)) ** 2 + 0.6 * noise(2) < 1] = 3
    colours = np.array([[150, 185, 225], [125, 135, 75], [95, 130, 165], [55, 90, 50]], dtype=float)
    photo = colours[labels] + 12 * rng.normal(size=3)
    photo += (30 * noise(6))[..., None] + (rng.normal(size=SIZE) * np.choose(labels, [5, 16, 9, 28]))[..., None]
    photo[..., 2] += np.where(labels == 0, 30 * (rows / height), 0)
    shade = np.where((labels == 2) & (np.sin(rows / 2 + 3 * noise(3)) > 0.6), 18, 0)
    return np.clip(photo + shade[..., None], 0, 255).astype(np.uint8), labels.astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("photos", "maps", "new", "truth"):
            (folder / name).mkdir()
        for number in range(20):
            photo, labels = landscape(rng)
            photos, maps = ("photos", "maps") if number < 18 else ("new", "truth")
            Image.fromarray(photo).save(folder / photos / f"{number}.png")
            Image.fromarray(labels).save(folder / maps / f"{number}.png")
        train = folder / "train.safetensors"
        vision.graph(folder / "photos", folder / "maps", train, cache=False)
        report = json.loads(subprocess.run(
            [args.program, "train", "--task", "graph", "--data", train, "--lambda", "3", "--gap", "0.001", "--out", folder / "model",
             "--json"], capture_output=True, text=True, check=True).stdout)
        found = vision.paint(folder / "model", folder / "new", like=train, out=folder / "painted", labels=folder / "truth")
        print(json.dumps({key: report[key] for key in ("primal", "gap", "certified", "passes")}), found)
        names = ("18", "19")
        palette = np.array([colour_of(label) for label in range(4)], dtype=np.uint8)
        lines = []
        for name in names:
            truth = palette[np.asarray(Image.open(folder / "truth" / f"{name}.png"))]
            overlay = np.asarray(Image.open(folder / "painted" / f"{name}.overlay.png").convert("RGB"))
            photo = np.asarray(Image.open(folder / "new" / f"{name}.png"))
            gap = np.full((SIZE[0], 6, 3), 255, dtype=np.uint8)
            lines.append(np.hstack([photo, gap, truth, gap, overlay]))
        args.out.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.vstack(lines)).quantize(96).save(args.out, optimize=True)


if __name__ == "__main__":
    main()
