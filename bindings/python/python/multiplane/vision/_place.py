"""Features of where a superpixel lies, how it is shaped, and how it stands out from its image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from multiplane.vision._pixels import Pixels, magnitude
from multiplane.vision._pooling import Pool

Floats = NDArray[np.float32]

GRID = 6
"""Cells of the position grid along each side."""

ROWS = 10
"""Cells of the finer histogram over the height."""

MARGIN = 0.08
"""Width of the frame that stands for the background, as a share of the sides."""


def _coordinates(length: int) -> Floats:
    return ((np.arange(length, dtype=np.float32) + 0.5) / length).astype(np.float32)


def _hats(at: Floats, count: int) -> Floats:
    """Shares ``[len(at), count]`` of ``count`` cells over 0 to 1, blended linearly between their centres."""
    apart = np.abs(np.clip(at * count - 0.5, 0, count - 1)[:, None] - np.arange(count))
    return np.asarray(np.maximum(0, 1 - apart), dtype=np.float32)


def position(pool: Pool) -> Floats:
    """Centre (x, y from 0 to 1) with its polynomial of degree 2, histograms over a grid and over rows: 53 numbers."""
    height, width = pool.shape
    y, x = _coordinates(height), _coordinates(width)
    plain = np.stack(np.broadcast_arrays(y[:, None], x[None, :]), axis=-1)
    down, right = pool.mean(plain).T
    of_rows, of_columns = _hats(y, GRID), _hats(x, GRID)
    grid = (of_rows[:, None, :, None] * of_columns[None, :, None, :]).reshape(height, width, -1)
    fine = np.broadcast_to(_hats(y, ROWS)[:, None, :], (height, width, ROWS))
    centre = np.hypot(down - 0.5, right - 0.5)
    polynomial = np.stack([right, down, right**2, down**2, right * down, np.abs(right - 0.5), centre], axis=1)
    return np.concatenate([polynomial, pool.mean(grid), pool.mean(fine)], axis=1).astype(np.float32)


def shape(pool: Pool) -> Floats:
    """Area, box, border, elongation and its direction, share of the border on each side of the image: 12 numbers."""
    height, width = pool.shape
    index = pool.flat.reshape(pool.shape)
    rows, columns = np.indices(pool.shape, dtype=np.float64)
    area = pool.sizes.astype(np.float64)
    moments = [np.bincount(pool.flat, weights=values.ravel()) / area
               for values in (rows, columns, rows**2, columns**2, rows * columns)]
    of_rows, of_columns = moments[2] - moments[0] ** 2, moments[3] - moments[1] ** 2
    mixed = moments[4] - moments[0] * moments[1]
    spread = of_rows + of_columns + 1e-9
    across = np.hypot(of_columns - of_rows, 2 * mixed)
    boxes = ndimage.find_objects(index + 1)
    box = np.array([[found[0].stop - found[0].start, found[1].stop - found[1].start] for found in boxes])
    border = np.zeros(pool.n)
    for one, other in ((index[:, 1:], index[:, :-1]), (index[1:], index[:-1])):
        differs = one != other
        border += np.bincount(one[differs], minlength=pool.n) + np.bincount(other[differs], minlength=pool.n)
    sides = [np.bincount(side, minlength=pool.n) for side in (index[0], index[-1], index[:, 0], index[:, -1])]
    around = border + sum(sides)
    mean_area = height * width / pool.n
    parts = [
        area / mean_area, np.log(area / mean_area), box[:, 0] / np.sqrt(mean_area), box[:, 1] / np.sqrt(mean_area),
        area / box.prod(axis=1), around / np.sqrt(area), across / spread, (of_columns - of_rows) / spread,
        *(side / around for side in sides),
    ]  # fmt: skip
    return np.stack(parts, axis=1).astype(np.float32)


def contrast(pixels: Pixels, pool: Pool) -> Floats:
    """Log ratios of a superpixel's colour frequencies in the middle of the image against the frame, the sides, the
    whole: 3 numbers.
    """
    counts = (8, 12, 12)
    scaled = [pixels.lab[..., 0] / 100, (pixels.lab[..., 1] + 60) / 120, (pixels.lab[..., 2] + 60) / 120]
    bins = [np.clip(part * count, 0, count - 1).astype(np.int64) for part, count in zip(scaled, counts, strict=True)]
    index = (bins[0] * counts[1] + bins[1]) * counts[2] + bins[2]
    height, width = pool.shape
    rows, columns = max(1, round(MARGIN * height)), max(1, round(MARGIN * width))
    frame = np.ones(pool.shape, dtype=bool)
    frame[rows:-rows, columns:-columns] = False
    sides = np.zeros(pool.shape, dtype=bool)
    sides[:, :columns] = sides[:, -columns:] = True
    middle = np.zeros(pool.shape, dtype=bool)
    middle[height // 4 : height - height // 4, width // 4 : width - width // 4] = True

    def share(where: NDArray[np.bool_]) -> NDArray[np.float64]:
        table = np.bincount(index[where], minlength=int(np.prod(counts))).reshape(counts).astype(np.float64)
        smooth = ndimage.gaussian_filter(table, 0.8, mode="constant") + 0.02
        return np.asarray(smooth / smooth.sum()).ravel()

    everywhere = share(np.ones(pool.shape, dtype=bool))
    ratios = [np.log(share(middle) / share(frame)), np.log(share(middle) / share(sides)), np.log(everywhere)]
    return pool.mean(np.stack([ratio[index] for ratio in ratios], axis=-1))


def surroundings(pixels: Pixels, pool: Pool) -> Floats:
    """Mean colour, saturation and gradient of all that lies above, below, left and right: 24 numbers."""
    channels = np.concatenate(
        [pixels.lab / 100, pixels.hsv[..., 1:2], *(magnitude(g)[..., None] * 10 for g in pixels.gradients)], axis=-1
    )
    parts = []
    for axis in (0, 1):
        across = max(1, channels.shape[1 - axis] // 8)
        band = ndimage.uniform_filter1d(channels, across, axis=1 - axis, mode="nearest").astype(np.float64)
        before = np.cumsum(band, axis=axis)
        count = np.arange(1, channels.shape[axis] + 1).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        total = before.take([-1], axis=axis)
        parts += [before / count, (total - before + band) / (channels.shape[axis] - count + 1)]
    return pool.mean(np.concatenate(parts, axis=-1).astype(np.float32))


def whole(pixels: Pixels, pool: Pool) -> Floats:
    """Means and deviations over the image, the same for all its superpixels: 22 numbers."""
    channels = pixels.colours.reshape(-1, pixels.colours.shape[-1]).astype(np.float64)
    gradients = [float(magnitude(gradient).mean(dtype=np.float64)) for gradient in pixels.gradients]
    values = np.concatenate([channels.mean(axis=0), channels.std(axis=0), gradients]).astype(np.float32)
    return np.broadcast_to(values, (pool.n, len(values)))
