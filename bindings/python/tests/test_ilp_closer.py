"""Rows that are closer to whole vectors keep all of these."""

import itertools

import numpy as np
import pytest

from multiplane.ilp import IntegerProgramme
from multiplane.ilp._solver import Rows


def vectors(core, size):
    return {y for y in itertools.product((0.0, 1.0), repeat=size) if core.fault(np.array(y)) is None}


def closer(matrix, high):
    return Rows(IntegerProgramme(np.array(matrix, dtype=float), -np.inf, high)._core().closer())


@pytest.mark.parametrize("seed", range(200))
def test_the_whole_vectors_stay(seed):
    rng = np.random.default_rng(seed)
    size = 6
    matrix = rng.integers(-1, 2, (7, size)).astype(float)
    matrix[:3] *= rng.integers(1, 4, (3, size))
    matrix[3] = [2, -1, -1, 0, 0, 0]
    matrix[4] = [0, 1, 1, 0, 0, 0]
    if seed % 2:  # 3 and 4 imply 5, which the rows before may have
        matrix[3], matrix[4] = [0, 0, 0, 1, 0, -1], [0, 0, 0, 0, 1, -1]
        matrix[:3, 3:] = rng.integers(0, 3, (3, 3)) * [1, 1, -1]
    low = np.where(rng.random(7) < 0.5, -np.inf, rng.integers(-4, 1, 7))
    high = np.where(np.isinf(low), rng.integers(0, 4, 7), np.inf)
    low[3:5], high[3:5] = (-np.inf, 0.0) if seed % 2 else (low[3:5], high[3:5])
    core = IntegerProgramme(matrix, low, high)._core()
    assert vectors(core.closer(), size) == vectors(core, size)


@pytest.mark.parametrize(
    "matrix, high, expected, ends",
    [
        ([[1, 1, -2]], [0], {(1, 0, -1), (0, 1, -1)}, {0.0}),
        ([[3, -1, -1, -1]], [2], {(1, -1, -1, -1)}, {0.0}),
        ([[1, 1, 1, -2], [1, 1, 1, 0]], [1, 2], {(1, 1, 1, -1), (1, 1, 1, 0)}, {1.0, 2.0}),
    ],
)
def test_coefficients_that_are_larger_than_they_need_be(matrix, high, expected, ends):
    rows = closer(matrix, high)
    assert {tuple(row) for row in rows.matrix.toarray()} == expected
    assert set(rows.row_upper.tolist()) == ends


@pytest.mark.parametrize("rows, high, upper", [([[2, -1, -1], [0, 1, 1]], [0, 1], [0, 1, 1]), ([[2, -1]], [0], [0, 1])])
def test_a_variable_that_must_be_0(rows, high, upper):
    assert closer(rows, high).upper.tolist() == upper


@pytest.mark.parametrize("own", [0, -1])
def test_a_limit_on_what_a_variable_implies(own):
    rows = closer([[1, 0, 0, -1], [0, 1, 0, -1], [1, 1, -1, own]], [0, 0, 1])
    found = dict(zip(map(tuple, rows.matrix.toarray().tolist()), rows.row_upper.tolist(), strict=True))
    assert found == {(1, 0, 0, -1): 0, (0, 1, 0, -1): 0, (1, 1, -1, own - 1): 0}
