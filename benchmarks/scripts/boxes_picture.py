"""Draws boxes as SVG: the words of a container as dots, the right boxes in green, and what `multiplane predict` found in red.

    multiplane predict --model boxes.model --data test.safetensors | python benchmarks/scripts/boxes_picture.py test.safetensors > boxes.svg

The colour of a dot is the word's, the same for every eighth word; a dot begins at its pixel.
"""

from __future__ import annotations

import sys
from pathlib import Path

from poses_picture import COLOURS, tensors

SCALE, COUNT, DOT = 7, 4, 12


def frame(sides: list[int], left: int, colour: str) -> str:
    x, y, width, height = SCALE * sides[0] + left, SCALE * sides[1], sides[2] - sides[0], sides[3] - sides[1]
    return f'<rect x="{x}" y="{y}" width="{SCALE * width}" height="{SCALE * height}" fill="none" stroke="{colour}" stroke-width="3"/>'


def main() -> None:
    data = tensors(Path(sys.argv[1]))
    vocabularies = len(data["word_counts"])
    shapes, start, left, tallest = [], 0, 0, 0
    for image, line in enumerate(sys.stdin.read().splitlines()[:COUNT]):
        height, width = map(int, data["map_sizes"][image])
        words = data["words"][start : start + height * width].reshape(height, width)
        start += vocabularies * height * width
        shapes.append(f'<rect x="{left}" width="{SCALE * width}" height="{SCALE * height}" fill="#20242c"/>')
        for word, colour in enumerate(COLOURS):
            places = zip(*((words >= 0) & (words % len(COLOURS) == word)).nonzero(), strict=True)
            dots = "".join(f"M{left + SCALE * x} {SCALE * y}h{DOT}v{DOT}h-{DOT}z" for y, x in places)
            shapes.append(f'<path d="{dots}" fill="{colour}"/>')
        right = data["boxes"][data["box_offsets"][image] : data["box_offsets"][image + 1]].tolist()
        shapes += [frame(sides, left, "#35c759") for sides in right]
        shapes += [frame([int(side) for side in line.split()], left, "#ff3b30")] if line else []
        left, tallest = left + SCALE * width + 8, max(tallest, SCALE * height)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{left - 8}" height="{tallest}">')
    print("\n".join(shapes))
    print("</svg>")


if __name__ == "__main__":
    main()
