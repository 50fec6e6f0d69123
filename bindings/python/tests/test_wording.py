"""Messages in the words of who reads them: keywords, names of columns, one sentence in the place of a list."""

import warnings

import numpy as np
import pytest
from conftest import blobs, sequences

import multiplane
from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM

WORDS = [[("the", "DT"), ("cat", "NN"), ("sat", "VB")], [("dogs", "NN"), ("bark", "VB")]] * 4
TAGS = [["B-NP", "I-NP", "O"], ["B-NP", "O"]] * 4
TOKENS = {
    "tuples": WORDS,
    "dicts": [[{"w": word, "p": tag} for word, tag in sentence] for sentence in WORDS],
    "names": [[[f"w={word}", f"p={tag}"] for word, tag in sentence] for sentence in WORDS],
    "rows": [np.arange(2.0 * len(sentence)).reshape(-1, 2) for sentence in WORDS],
}


class Frame:
    """Columns with names, as those of a DataFrame."""

    columns = ("age", "income", "c", "d")

    def __init__(self, x):
        self.x, self.shape = x, x.shape

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.x, dtype=dtype)


def told(model, x, y):
    """The warnings of a fit in one text."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(x, y)
    return " | ".join(str(one.message) for one in found)


def test_large_features_are_named():
    """The hint has the column's name, or its index from 0 as x1, and the keyword that helps."""
    x, y = blobs(2)
    x[:, 1] *= 4400
    for rows, name in ((x, "x1"), (Frame(x), "`income`")):
        text = told(MulticlassSSVM(passes=20), rows, y)
        assert f"(feature {name}; in the median " in text and 'scale them by scale="max-abs"' in text and "params" not in text
    text = told(MulticlassSSVM(passes=20, scale="standard"), x + 1e5, y)
    assert 'scale=standard does not centre' in text and 'use scale="max-abs"' in text and "task." not in text
    x[:, 1] *= 1e15
    assert "; feature `income` (up to " in told(BinarySSVM(passes=20), Frame(x), y)


@pytest.mark.parametrize("kind", [MulticlassSSVM, ChainSSVM])
def test_keywords_in_messages(kind):
    """What was given as a keyword is called so, what is among params by its name there; None is Python's."""
    x, y = sequences() if kind is ChainSSVM else blobs(3)
    with pytest.raises(ValueError, match="^class_weight has 2 entries, expected one for each of 3 labels"):
        kind(class_weight=[1, 2]).fit(x, y)
    with pytest.raises(ValueError, match="^task.class_weights has 2 entries"):
        kind(params={"task.class_weights": [1, 2]}).fit(x, y)
    with pytest.raises(ValueError, match="^seed = None: must be a whole number"):
        kind(seed=None).fit(x, y)
    with pytest.raises(ValueError, match="^threads = None: must be a whole number"):
        kind(threads=None).fit(x, y)
    with pytest.raises(ValueError, match="^bias = None: must be True or False"):
        kind(bias=None).fit(x, y)


def test_parameters_of_data_are_refused():
    """Data are arguments here: parameters of the command line's reader would do nothing."""
    with pytest.raises(ValueError, match=r"params\['data.folds'\]: no effect in Python, .* load_letters\(path, folds=...\)"):
        MulticlassSSVM(params={"data.folds": 1}).fit(*blobs(3))
    for params in ({"data.holdout": "20%"}, {"data": {"holdout": "20%"}}):
        with pytest.raises(ValueError, match=r"params\['data(.holdout)?'\]: write the keyword, as in holdout=\"20%\"$"):
            MulticlassSSVM(params=params).fit(*blobs(3))


@pytest.mark.parametrize("kind", TOKENS)
def test_one_sentence_in_the_place_of_a_list(kind):
    """Whatever tokens are, one sentence is told apart from a list of them, and one token from a sentence."""
    x = TOKENS[kind]
    model = ChainSSVM(lam=0.1, gap="5%").fit(x, TAGS)
    for ask in (model.predict, model.margins, model.decision_function):
        with pytest.raises(ValueError, match=r"X\[0\] is .*; for one (sentence|sequence) pass \[(sentence|sequence)\]$"):
            ask(x[0])
    with pytest.raises(ValueError, match=r"x is one token, .*: expected one sequence of them, as in explain\(X\[0\]\)"):
        model.explain(x[1][0])
    with pytest.raises(ValueError, match="x is a list of 8 sequences"):
        model.explain(x)
    assert len(model.predict(x[:2])) == 2 and model.predict([]) == []


def test_columns_are_those_of_training():
    """More or fewer columns of text than in training are refused: they were taken silently."""
    model = ChainSSVM(lam=0.1, gap="5%").fit(WORDS, TAGS)
    for token, count in ((("a", "DT", "x", "y"), "4 columns"), (("a",), "1 column"), ("a", "1 column")):
        with pytest.raises(ValueError, match=rf"^X\[0\]\[1\] is .*, of {count}: the model was trained on 2 columns$"):
            model.predict([[("the", "DT"), token]])


def test_explanations_fit_the_terminal(monkeypatch):
    """Lines have as many columns as the terminal, or 100; nothing is left out."""
    found = ChainSSVM(lam=0.1, gap="5%").fit(WORDS, TAGS).explain(WORDS[0], n=9)
    for width in (60, 80, 100, 240):
        monkeypatch.setenv("COLUMNS", str(width))
        text = str(found)
        assert max(map(len, text.splitlines()[2:])) <= width
        for at in found.positions:
            assert all(name in text for name, _ in at.features)


def test_what_files_say_of_stops(tmp_path):
    """A loaded model's repr has what was given: no stops where there were none."""
    x, y = blobs(3)
    for given in ({}, {"passes": 5}, {"gap": "5%", "passes": 30}):
        MulticlassSSVM(lam=0.1, **given).fit(x, y).save(tmp_path / "m")
        assert repr(multiplane.load(tmp_path / "m")) == repr(MulticlassSSVM(lam=0.1, **given))
