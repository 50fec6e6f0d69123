"""Superpixels, graphs and overlays of photographs in memory."""

import numpy as np
import pytest

pytest.importorskip("skimage")
pytest.importorskip("scipy")

from multiplane import GraphSSVM, vision


def photo(seed, size=48):
    """A dark disc on a light ground, and its mask."""
    chance = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size]
    inside = (y - chance.integers(16, 32)) ** 2 + (x - chance.integers(16, 32)) ** 2 < 120
    grey = np.where(inside, 60, 190) + chance.integers(-15, 16, size=(size, size))
    return np.stack([grey, grey + 10, grey], axis=2).astype(np.uint8), inside


def squares(size=48, side=8):
    """Segments of one's own."""
    y, x = np.mgrid[:size, :size] // side
    return (y * (size // side) + x).astype(np.int64)


@pytest.mark.parametrize("own", [False, True])
def test_a_photograph_is_segmented_in_memory(own):
    """From arrays to a picture, with superpixels and with segments of one's own."""
    images = [photo(seed) for seed in range(6)]
    segments = [squares() if own else vision.superpixels(image, 60) for image, _ in images]
    graphs = [vision.graph(image, found) for (image, _), found in zip(images, segments, strict=True)]
    labels = [
        (np.bincount(found.ravel(), mask.ravel()) * 2 > np.bincount(found.ravel())).astype(int)
        for (_, mask), found in zip(images, segments, strict=True)
    ]
    every = np.concatenate([features for features, _, _ in graphs[:4]])
    mean, spread = every.mean(axis=0), every.std(axis=0)
    spread[spread < 1e-6] = 1.0
    graphs = [((features - mean) / spread, edges, kinds) for features, edges, kinds in graphs]
    model = GraphSSVM(lam=1.0, passes=20).fit(graphs[:4], labels[:4])
    assert model.score(graphs[4:], labels[4:]) > 0.9
    (answer,) = model.predict(graphs[5:])
    picture = vision.overlay(images[5][0], segments[5], answer)
    assert picture.shape == (48, 48, 3) and picture.dtype == np.uint8 and (picture == 255).all(axis=2).any()


def test_edges_are_borders():
    """Segments that touch, each pair once."""
    image, _ = photo(0)
    features, edges, kinds = vision.graph(image, squares())
    assert features.shape[0] == 36 and len(edges) == len(kinds) == 60
    assert {tuple(edge) for edge in edges} == {
        (k, k + step) for k in range(36) for step in (1, 6) if (k + step < 36 and (step == 6 or k % 6 < 5))
    }
    assert vision.graph(image[..., 0], squares())[0].shape == features.shape, "grey photographs"


def test_bad_arrays_are_refused():
    image, _ = photo(0)
    for wrong, segments, message in [
        (image.astype(float), squares(), "photo: found an array of float64"),
        (image, squares()[1:], r"segments: found an array of int64 of shape \[47, 48\], expected whole numbers \[48, 48\]"),
        (image, squares() + 1, "number 0 has no pixel"),
        (image, np.where(squares() == 3, 4, squares()), "number 3 has no pixel"),
        (image, squares() - 1, "found -1"),
    ]:
        with pytest.raises(vision.VisionError, match=message):
            vision.graph(wrong, segments)
    with pytest.raises(vision.VisionError, match="expected a class id from 0 to 255 for each of 36 segments"):
        vision.overlay(image, squares(), [0, 1])
    with pytest.raises(vision.VisionError, match="count = 1"):
        vision.superpixels(image, 1)
    with pytest.raises(vision.VisionError, match="out is missing"):
        vision.graph("photos", "labels")
