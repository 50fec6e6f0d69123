"""Data and tools that several test files use."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import multiplane

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def cli():
    """The command line's binary; skips by name where there is none."""
    path = os.environ.get("MULTIPLANE_BIN", "")
    if not path:
        pytest.skip("MULTIPLANE_BIN is not set: the tests against the command line did not run")
    if not Path(path).is_file():
        pytest.skip(f"MULTIPLANE_BIN={path} is not there: the tests against the command line did not run")
    return path


@pytest.fixture(scope="session")
def data():
    """Finds a file or folder of real data by its parts; skips by name if it is missing."""

    def find(*parts):
        path = Path(os.environ.get("MULTIPLANE_DATA", REPOSITORY.parent / "shared" / "data"), *parts)
        if not path.exists():
            pytest.skip(f"{path} is not there ($MULTIPLANE_DATA): the tests on real data did not run")
        return path

    return find


@pytest.fixture
def quiet():
    """No warnings of gaps that nobody certifies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", multiplane.HeuristicWarning)
        yield


def blobs(classes=3, n=90, features=4, seed=0):
    """Rows in clouds, one per class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = 2.0 * rng.normal(size=(classes, features))
    return centres[y] + rng.normal(size=(n, features)), y


def sequences(n=30, labels=3, features=4, seed=0):
    """Sequences of rows whose labels follow their features and each other."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(labels, features))
    xs, ys = [], []
    for _ in range(n):
        length = int(rng.integers(2, 7))
        y = np.cumsum(rng.integers(0, 2, size=length)) % labels
        xs.append(centres[y] + 0.7 * rng.normal(size=(length, features)))
        ys.append(y)
    return xs, ys
