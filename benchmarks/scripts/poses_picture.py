"""Draws poses as SVG: the cells of a container that shine, and what `multiplane predict` found there.

    multiplane predict --model poses.model --data test.safetensors | python benchmarks/scripts/poses_picture.py test.safetensors > poses.svg

The colour of a cell is that of its strongest channel; joints that are marked are rings, those that are found dots.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np

LIMBS = "12-13,12-8,8-7,7-6,12-9,9-10,10-11,8-2,2-1,1-0,9-3,3-4,4-5"
COLOURS = "#66c2a5 #fc8d62 #8da0cb #e78ac3 #a6d854 #ffd92f #e5c494 #b3b3b3".split()
SIDE, COUNT, SHINES = 9, 4, 0.5


def tensors(path: Path) -> dict[str, np.ndarray]:
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    types = {"I64": "<i8", "F64": "<f8", "F32": "<f4"}
    found = {}
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        found[name] = np.frombuffer(raw[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    return found


def main() -> None:
    data = tensors(Path(sys.argv[1]))
    lines = sys.stdin.read().splitlines()[:COUNT]
    shapes, start, left = [], 0, 0
    for line, (rows, columns), marks in zip(lines, data["grid_sizes"], data["joints"], strict=False):
        cells = data["channels"][start : start + rows * columns]
        start += rows * columns
        middle = lambda place, left=left: (left + SIDE * (place[0] + 0.5), SIDE * (place[1] + 0.5))  # noqa: E731
        shapes.append(f'<rect x="{left}" width="{columns * SIDE}" height="{rows * SIDE}" fill="#20242c"/>')
        for cell in np.flatnonzero(cells.max(1) > SHINES):
            x, y = left + SIDE * (cell % columns), SIDE * (cell // columns)
            shapes.append(f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" fill="{COLOURS[cells[cell].argmax()]}"/>')
        pose = [middle([int(number) for number in joint.split()]) for joint in line.split("; ")]
        for a, b in (map(int, limb.split("-")) for limb in LIMBS.split(",")):
            (x1, y1), (x2, y2) = pose[a], pose[b]
            shapes.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="white" stroke-width="2"/>')
        shapes += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="white"/>' for x, y in pose]
        marked = [middle(np.floor(mark)) for mark in marks if np.isfinite(mark[0])]
        shapes += [f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#ff3b30" stroke-width="1.5"/>' for x, y in marked]
        left += int(columns) * SIDE + 8
    height = max(rows for rows, _ in data["grid_sizes"][:COUNT]) * SIDE
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{left - 8}" height="{height}">')
    print("\n".join(shapes))
    print("</svg>")


if __name__ == "__main__":
    main()
