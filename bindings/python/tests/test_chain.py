"""Sequence labelling: rows and text, labels of every kind, empty lists, warm starts."""

import pickle

import numpy as np
import pytest
from conftest import sequences
from problems import Viterbi
from scipy.sparse import csr_array

from multiplane import ChainSSVM, StructuredSVM, TreeSSVM


def test_weights_have_their_layout_and_predict_as_plain_viterbi():
    """unary[label][feature], then pair[from][to]: a plain Viterbi with these weights predicts the same."""
    x, y = sequences()
    model = ChainSSVM(gap="1%").fit(x, y)
    task = Viterbi(3, 4)
    assert model.coef_.shape == (task.dim(),)
    for found, row in zip(model.predict(x), x, strict=True):
        assert found.tolist() == task.decode(row, model.coef_).tolist()


def test_the_built_in_task_and_the_same_in_python_bracket_one_optimum():
    """Dual of the one is below the primal of the other."""
    x, y = sequences()
    ours = ChainSSVM(gap="1%").fit(x, y)
    theirs = StructuredSVM(Viterbi(3, 4), gap="1%").fit(x, y)
    assert theirs.certified_
    assert ours.dual_ <= theirs.primal_ + 1e-12 and theirs.dual_ <= ours.primal_ + 1e-12


@pytest.mark.parametrize("make", [list, np.array, tuple], ids=["lists", "arrays", "tuples"])
def test_labels_come_in_every_kind_of_sequence(make):
    """Numbers and names, in lists, arrays and tuples; predictions are arrays of them."""
    x, y = sequences()
    names = np.array(["A", "B", "C"])
    plain = ChainSSVM(gap="5%", clock="work").fit(x, [make(labels.tolist()) for labels in y])
    named = ChainSSVM(gap="5%", clock="work").fit(x, [make(names[labels].tolist()) for labels in y])
    assert plain.predict(x)[0].dtype.kind == "i" and named.predict(x)[0].dtype.kind == "U"
    assert [names[found].tolist() for found in plain.predict(x)] == [found.tolist() for found in named.predict(x)]
    assert plain.score(x, y) > 0.6


def test_letters_are_listed():
    """Words are lists of letters; a text where a list is wanted is refused, in X and in y."""
    x, y = sequences()
    words = ["".join("abc"[label] for label in labels) for labels in y]
    model = ChainSSVM(gap="5%", clock="work").fit(x, [list(word) for word in words])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert ["".join(found) for found in model.predict(x)][0].isalpha()
    refused = r"^y\[0\] is the text '[abc]+': expected a list of labels; for one sentence pass \[sentence\]$"
    with pytest.raises(ValueError, match=refused):
        ChainSSVM().fit(x, words)
    with pytest.raises(ValueError, match=refused):
        model.score(x, words)
    tagger = ChainSSVM().fit([["the", "cat"]], [["DT", "NN"]])
    for ask in (tagger.predict, tagger.max_marginals, lambda x: ChainSSVM().fit(x, [["DT", "NN"]] * 2), tagger.explain):
        sentence = "the cat" if ask == tagger.explain else ["the", "cat"]
        with pytest.raises(ValueError, match=r"(X\[0\]|x) is the text 'the( cat)?': expected a list of tokens; for one sentence"):
            ask(sentence)
    with pytest.raises(ValueError, match=r"X\[0\] is the text b'the'"):
        tagger.predict([b"the"])


def test_kinds_of_x():
    """Object arrays, sparse matrices, lists of lists, float32: the same weights."""
    x, y = sequences()
    expected = ChainSSVM(gap="5%", clock="work").fit(x, y).coef_
    array = np.empty(len(x), dtype=object)
    array[:] = x
    labels = np.empty(len(y), dtype=object)
    labels[:] = y
    assert np.array_equal(ChainSSVM(gap="5%", clock="work").fit(array, labels).coef_, expected)
    assert np.array_equal(ChainSSVM(gap="5%", clock="work").fit([csr_array(a) for a in x], y).coef_, expected)
    assert np.array_equal(ChainSSVM(gap="5%", clock="work").fit([a.tolist() for a in x], y).coef_, expected)
    assert np.array_equal(ChainSSVM(gap="5%", clock="work").fit(tuple(x), tuple(y)).coef_, expected)
    assert np.array_equal(ChainSSVM(gap="5%", clock="work").fit([np.asfortranarray(a) for a in x], y).coef_, expected)
    ChainSSVM(gap="5%").fit([a.astype(np.float32) for a in x], y)


def test_equal_lengths_as_one_array():
    """An array [n, length, features] with labels [n, length] is a list of sequences too."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=(10, 4))
    x = y[:, :, None] + 0.1 * rng.normal(size=(10, 4, 3))
    model = ChainSSVM(gap="5%").fit(x, y)
    assert model.score(x, y) > 0.8
    assert all(found.shape == (4,) for found in model.predict(x))


def test_text_with_a_template():
    """Tokens of text make features by a template."""
    x = [[("the", "D"), ("cat", "N")], [("a", "D"), ("dog", "N")], [("cat", "N"), ("the", "D")]]
    y = [["det", "noun"], ["det", "noun"], ["noun", "det"]]
    model = ChainSSVM(gap="5%").fit(x, y)
    assert [found.tolist() for found in model.predict(x)] == y
    assert model.predict([[("bird", "N")]])[0].tolist() == ["noun"]
    array = np.empty(3, dtype=object)
    array[:] = x
    assert [found.tolist() for found in ChainSSVM(gap="5%").fit(array, y).predict(array)] == y


def test_words_are_tokens_of_one_column():
    """Sentences given as lists of words."""
    x, y = [["the", "cat"], ["a", "dog"], ["cat", "the"]], [["d", "n"], ["d", "n"], ["n", "d"]]
    model = ChainSSVM(gap="5%", params={"task.template": ["w[0]", "w[-1]"]}).fit(x, y)
    assert [found.tolist() for found in model.predict(x)] == y
    with pytest.raises(ValueError, match=r"X\[0\]\[1\] is \('the', 3\): expected text"):
        model.predict([["the", ("the", 3)]])


def test_nothing_to_predict():
    """An empty list of sequences has an empty list of predictions, and an empty sequence an empty prediction in its place."""
    x, y = sequences()
    model = ChainSSVM(gap="5%").fit(x, y)
    assert model.predict([]) == []
    found = model.predict([x[0], np.zeros((0, 4)), x[1]])
    assert [len(labels) for labels in found] == [len(x[0]), 0, len(x[1])]
    assert found[2].tolist() == model.predict([x[1]])[0].tolist() and found[1].dtype == found[0].dtype
    assert model.score([np.zeros((0, 4)), x[0]], [[], y[0]]) == model.score(x[:1], y[:1])
    with pytest.raises(ValueError, match="X\\[0\\] has 3 features, but ChainSSVM is expecting 4"):
        model.predict([np.zeros((2, 3))])


def test_ends_have_weights():
    """task.ends adds start[label] and end[label]."""
    x, y = sequences()
    model = ChainSSVM(gap="5%", params={"task.ends": True}).fit(x, y)
    assert model.coef_.shape == (3 * 4 + 9 + 6,)


def test_warm_start_and_pickle():
    """A second fit goes on; a pickled model predicts the same and goes on from new."""
    x, y = sequences()
    model = ChainSSVM(passes=2, clock="work", warm_start=True).fit(x, y)
    first = model.gap_
    assert model.fit(x, y).gap_ < first
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(x)] == [a.tolist() for a in model.predict(x)]
    assert again.fit(x, y).gap_ == pytest.approx(first)


def test_test_data_is_measured():
    """X_test adds its loss to every entry."""
    x, y = sequences()
    model = ChainSSVM(gap="5%").fit(x[:20], y[:20], X_test=x[20:], y_test=y[20:])
    assert all(record["test_loss"] is not None for record in model.history_)
    with pytest.raises(ValueError, match="y_test"):
        model.fit(x, y, X_test=x)


@pytest.mark.parametrize("kind", [ChainSSVM, TreeSSVM], ids=lambda kind: kind.__name__)
def test_labels_of_several_kinds(kind):
    """Equal labels (1, 1.0, True) are one, as for rows; numbers with texts are refused with their place; tuples come back."""
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(5, 2)) for _ in range(20)]
    above = [(rows[:, 0] > 0).tolist() for rows in x]
    x = [(rows, [-1, 0, 1, 2, 3]) for rows in x] if kind is TreeSSVM else x
    plain = [[int(one) for one in labels] for labels in above]
    right = kind(lam=0.05, clock="work").fit(x, plain)
    floats = [[float(one) for one in labels] if i % 2 else labels for i, labels in enumerate(plain)]
    arrays = [np.array(labels, dtype=float if i % 2 else int) for i, labels in enumerate(plain)]
    for given in (floats, arrays, [labels if i else plain[0] for i, labels in enumerate(above)]):
        model = kind(lam=0.05, clock="work").fit(x, given, X_test=x, y_test=above)
        assert model.classes_.tolist() == [0, 1] and np.array_equal(model.coef_, right.coef_)
        assert model.score(x, given) == right.score(x, plain) and model.summary_["test_loss"] == model.summary_["train_loss"]
    for other in (1, 0.5):
        with pytest.raises(ValueError, match=rf"y\[\d\]\[\d\] is ({other}, .* is 'a'|'a', .* is {other}): expected labels of one kind"):
            kind().fit(x, [["a" if one else other for one in labels] for labels in above])
    for yes, no in [(("B", "x"), ("O",)), (("B", "x"), ("O", "x"))]:
        given = [[yes if one else no for one in labels] for labels in above]
        model = kind(lam=0.05).fit(x, given)
        assert set(model.classes_.tolist()) == {yes, no} and model.score(x, given) > 0.9
    with pytest.raises(ValueError, match=r"y\[0\] is .*: expected numbers, texts, or tuples"):
        kind().fit(x, [[[one] for one in labels] for labels in above])


def test_sequences_of_one_length_may_be_one_array():
    """Arrays of any strides and whole or real numbers give the bits of lists, and their fingerprint; so do labels that are not known."""
    rng = np.random.default_rng(3)
    y = rng.integers(-1, 3, size=(12, 5))
    x = np.round(2 * rng.normal(size=(12, 5, 4)) + y[:, :, None])
    for given, labels in ((x, y), (x.astype(np.float32), y.astype(np.int8)), (x.astype(int), y), (x[::-1][::-1], np.asfortranarray(y))):
        whole, listed = (ChainSSVM(gap="5%", clock="work", unknown=-1).fit(*data) for data in ((given, labels), (list(x), list(y))))
        assert whole.coef_.tobytes() == listed.coef_.tobytes() and whole.classes_.tolist() == listed.classes_.tolist() == [0, 1, 2]
        assert whole._fit.fingerprint == listed._fit.fingerprint
        assert whole.score(given, labels) == listed.score(list(x), list(y))
    masked = np.ma.masked_array(x, x > 3)
    x[1, 2, 3] = np.nan
    for bad, message in ((x, r"X\[1\]\[2, 3\] is NaN"), (masked, "masked"), (x[:, :4], r"X\[0\] has 4 rows, y\[0\] has 5 labels")):
        with pytest.raises(ValueError, match=message):
            ChainSSVM().fit(bad, y)
    with pytest.raises(ValueError, match="y holds no known label"):
        ChainSSVM(unknown=-1).fit(np.ones((2, 3, 1)), np.full((2, 3), -1))
