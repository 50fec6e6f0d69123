"""Sequences of tokens in the forms of other libraries: dicts and lists of attributes, data frames."""

import enum
import json
import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import sequences

import multiplane
from multiplane import ChainSSVM

DICTS = [
    [{"w": "the", "cap": True, "length": 3}, {"w": "cat", "cap": False, "length": 3.5}, {"w": "sat", "length": 3}],
    [{"w": "dogs", "cap": True, "length": 4}, {"w": "bark", "near": {"w": "dogs", "n": 2}, "tags": ["x", "y"]}],
]
LABELS = [["DT", "NN", "VB"], ["NN", "VB"]]
LINES = """DT\tw=the\tcap\tlength:3
NN\tw=cat\tlength:3.5
VB\tw=sat\tlength:3

NN\tw=dogs\tcap\tlength:4
VB\tw=bark\tnear\\:w=dogs\tnear\\:n:2\ttags\\:x\ttags\\:y
"""


def test_dicts_are_attributes(cli, tmp_path):
    """Numbers are weights, texts and what is below a name part of it: the file of CRFsuite's format gives the same bytes."""
    model = ChainSSVM(lam=0.1, gap="1%", clock="work").fit(DICTS, LABELS)
    model.save(tmp_path / "python")
    (tmp_path / "data.crfsuite").write_text(LINES)
    command = [cli, "train", "--task", "chain", "--data", tmp_path / "data.crfsuite", "--lambda", "0.1", "--gap", "1%"]
    subprocess.run([*command, "--clock", "work", "--out", tmp_path / "cli", "--quiet"], check=True, capture_output=True)
    assert (tmp_path / "cli").read_bytes() == (tmp_path / "python").read_bytes()
    lines = [json.dumps({"tokens": tokens, "labels": labels}) for tokens, labels in zip(DICTS, LABELS, strict=True)]
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    command[command.index("--data") + 1] = tmp_path / "data.jsonl"
    subprocess.run([*command, "--clock", "work", "--out", tmp_path / "json", "--quiet"], check=True, capture_output=True)
    assert (tmp_path / "json").read_bytes() == (tmp_path / "python").read_bytes()
    names = "w=the cap length w=cat w=sat w=dogs w=bark near:w=dogs near:n tags:x tags:y".split()
    assert model.get_feature_names_out().tolist() == names
    assert [found.tolist() for found in model.predict(DICTS)] == LABELS and model.score(DICTS, LABELS) == 1
    assert not hasattr(model, "n_features_in_")
    told = model.explain(DICTS[1])
    assert {name for name, _ in told.positions[0].features} <= {"w=dogs", "cap", "length"}
    read = multiplane.load(tmp_path / "cli")
    assert [found.tolist() for found in read.predict(DICTS)] == LABELS


def test_lists_and_sets_of_names_are_attributes():
    """Lists of names are dicts of ones; sets have no order, and are sorted; a name twice counts twice."""
    dicts = [[{"a": 1, "b": 1}, {"c": 1.0}], [{"b": True}, {"a": 1, "c": 1}]]
    y = [[0, 1], [0, 1]]
    work = {"clock": "work", "gap": "1%", "lam": 0.1}
    expected = ChainSSVM(**work).fit(dicts, y)
    for form in (list, set, frozenset):
        model = ChainSSVM(**work).fit([[form(sorted(token)) for token in sequence] for sequence in dicts], y)
        assert np.array_equal(model.coef_, expected.coef_) and model.get_feature_names_out().tolist() == ["a", "b", "c"]
    twice = ChainSSVM(**work).fit([[["a", "b", "a"], ["c"]], [["b"], ["a", "c"]]], y)
    heavy = ChainSSVM(**work).fit([[{"a": 2, "b": 1}, {"c": 1}], [{"b": 1}, {"a": 1, "c": 1}]], y)
    assert np.array_equal(twice.coef_, heavy.coef_)
    rare = ChainSSVM(min_count=2, **work).fit([*dicts, [{"z": 1}]], [*y, [0]])
    assert rare.get_feature_names_out().tolist() == ["a", "b", "c"]
    empty = ChainSSVM(**work).fit([[{"a": 1}, {}], [{}, {"b": 1}]], y)
    assert len(empty.predict([[{}, {}]])[0]) == 2


def test_vectors_beside_names():
    """A vector under a name is a number for each of its places, however it is given; so is one of a file of JSON."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(4, 3))
    y, work = [[0, 1], [1, 0]], {"lam": 0.1, "passes": 3, "clock": "work"}
    names = [{"w": "a"}, {"w": "b", "far": {"x": 1}}, {"w": "a"}, {"cap": True}]
    made = lambda of: [[{**names[k], "v": of(vectors[k])} for k in (2 * i, 2 * i + 1)] for i in (0, 1)]  # noqa: E731
    plain = [[{**names[k], **{f"v:{c}": vectors[k, c] for c in range(3)}} for k in (2 * i, 2 * i + 1)] for i in (0, 1)]
    expected = ChainSSVM(**work).fit(plain, y)
    for of in (lambda v: v, list, tuple, lambda v: v.tolist()):
        model = ChainSSVM(**work).fit(made(of), y)
        assert np.array_equal(model.coef_, expected.coef_)
        assert model.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        assert np.array_equal(model.margins(made(of))[1], expected.margins(plain)[1])
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] has 'v': array"):
        ChainSSVM(**work).fit([[{"v": np.zeros((2, 2))}]], [[0]])
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] holds 0.5: expected the names"):
        ChainSSVM(**work).fit([[{"v": [0.5, "a"]}]], [[0]])


def test_tuples_are_columns_and_lists_where_there_are_templates(tmp_path):
    """In fit, in predict, and of a model read from a file."""
    tuples = [[("the", "DT"), ("cat", "NN")], [("a", "DT"), ("dog", "NN")]]
    lists = [[list(token) for token in sentence] for sentence in tuples]
    y = [["B", "I"], ["B", "I"]]
    columns = ChainSSVM(gap="1%").fit(tuples, y)
    assert "p[0]=DT" in columns.get_feature_names_out()
    assert ChainSSVM(gap="1%").fit(lists, y).get_feature_names_out().tolist() == ["the", "DT", "cat", "NN", "a", "dog"]
    for keywords in ({"template": "p[0]"}, {"params": {"task.template": "p[0]"}}):
        listed = ChainSSVM(gap="1%", **keywords).fit(lists, y)
        assert listed.get_feature_names_out().tolist() == ["p[0]=DT", "p[0]=NN"]
        listed.save(tmp_path / "m")
        for model in (listed, columns, multiplane.load(tmp_path / "m")):
            assert [found.tolist() for found in model.predict(lists)] == y


@pytest.mark.parametrize(
    ("x", "told"),
    [
        ([[{"a": None}]], r"X\[0\]\[0\] has 'a': None: expected a number, a text, True or False"),
        ([[{"a": 1}, "b"]], r"X\[0\]\[1\] is 'b': expected a dict, or a list of attributes"),
        ([[{"a": float("nan")}]], r"X\[0\]\[0\]: found weights of attribute `a` that add up to NaN, expected a finite number"),
        ([[{"a\tb": 1}]], r"X\[0\]\[0\] has the attribute \"a\\tb\": expected a name without tabs"),
        ([[{"": 1}]], r"X\[0\]\[0\] has the attribute \"\": expected a name"),
        ([[["a", 3]], [["b"]]], r"X\[0\]"),
        ([[{"a": 1}], []], r"X\[1\] is an empty sequence"),
        ([[]], r"X\[0\] is an empty sequence"),
        ([[{"a": 1}, ("b", "c")]], r"X\[0\]\[1\] is \('b', 'c'\): expected a dict, or a list of attributes, as in X\[0\]\[0\]"),
        ([[["a"], ("b",)]], r"X\[0\]\[1\] is \('b',\): expected a dict, or a list of attributes"),
        ([[("b", "c"), {"a": 1}]], r"X\[0\]\[1\] is {'a': 1}: expected text, as in X\[0\]\[0\]"),
        ([["b", {"a": 1}]], r"X\[0\]\[1\] is {'a': 1}: expected text"),
    ],
    ids=str,
)
def test_faults_of_attributes_are_named(x, told):
    """By sequence and token."""
    with pytest.raises(ValueError, match=told):
        ChainSSVM().fit(x, [["A"] * len(sequence) for sequence in x])


def test_empty_sequences_have_empty_answers_whatever_the_model_was_trained_on():
    """In their places."""
    columns = [[("the", "DT"), ("cat", "NN")], [("dogs", "NN")]]
    for x in (DICTS, columns, [["the", "cat"], ["dogs"]], [np.eye(2), np.eye(2)[1:]]):
        model = ChainSSVM(gap="5%").fit(x[:2], [["A"] * len(sequence) for sequence in x[:2]])
        for given in ([[]], [x[0], []]):
            assert [len(labels) for labels in model.predict(given)] == [len(sequence) for sequence in given]


def test_forms_are_not_mixed_up():
    """A model of one form refuses the others."""
    model = ChainSSVM(gap="1%").fit(DICTS, LABELS)
    with pytest.raises(ValueError, match=r"was trained on attributes \(crfsuite, jsonl\), found columns of text"):
        model.predict([["the", "cat"]])
    with pytest.raises(ValueError, match=r"the model was trained on attributes \(crfsuite, jsonl\), found tagged rows"):
        model.predict([[[1.0, 2.0]]])
    with pytest.raises(ValueError, match="^template is for columns of text"):
        ChainSSVM(template="words").fit(DICTS, LABELS)


def frame():
    pandas = pytest.importorskip("pandas")
    rows = [(2, "the", "DT", 1.0, "B"), (2, "cat", "NN", 0.5, "I"), (1, "dogs", "NN", 2.0, "B"), (2, "sat", "VB", 0.0, "O")]
    return pandas.DataFrame(rows, columns=["sentence", "word", "pos", "weight", "tag"])


def test_data_frames_become_sequences():
    """By a column, by several, by values, of a groupby: text as tuples, numbers as arrays, both as dicts."""
    table = frame()
    x, y = multiplane.sequences(table, by="sentence", label="tag", columns=["word", "pos"])
    assert x == [[("the", "DT"), ("cat", "NN"), ("sat", "VB")], [("dogs", "NN")]] and y == [["B", "I", "O"], ["B"]]
    x, y = multiplane.sequences(table, by="sentence", label="tag", columns=["weight"])
    assert [part.tolist() for part in x] == [[[1.0], [0.5], [0.0]], [[2.0]]]
    mixed, y = multiplane.sequences(table, by=["sentence"], label="tag")
    assert mixed[1] == [{"word": "dogs", "pos": "NN", "weight": 2.0}]
    assert multiplane.sequences(table, by=table["sentence"].to_numpy(), columns=["weight"])[1].tolist() == [[2.0]]
    sorted_, labels = multiplane.sequences(table.groupby("sentence"), label="tag")
    assert labels == [["B"], ["B", "I", "O"]] and sorted_[0] == mixed[1]
    model = ChainSSVM(gap="1%").fit(mixed, y)
    assert [found.tolist() for found in model.predict(multiplane.sequences(table.drop(columns="tag"), by="sentence"))] == y


def test_faults_of_data_frames_are_named():
    """Missing columns and values, and a grouping that is there twice, or not at all."""
    table = frame()
    with pytest.raises(ValueError, match="there is no column 'tga': these are"):
        multiplane.sequences(table, by="sentence", label="tga")
    with pytest.raises(ValueError, match="no column of features is left"):
        multiplane.sequences(table[["sentence", "tag"]], by="sentence", label="tag")
    for given in ((table,), (table.groupby("sentence"), "sentence")):
        with pytest.raises(ValueError, match="give a DataFrame and `by`, or a groupby"):
            multiplane.sequences(*given)
    table.loc[2, "pos"] = None
    with pytest.raises(ValueError, match="column 'pos' has no value in row 2"):
        multiplane.sequences(table, by="sentence", label="tag")


def test_data_frames_as_sequences():
    """A frame of numbers is an array, whatever its columns are called."""
    pandas = pytest.importorskip("pandas")
    x, y = sequences()
    frames = [pandas.DataFrame(part, columns=list("abcd")) for part in x]
    work = {"clock": "work", "gap": "5%"}
    model = ChainSSVM(**work).fit(frames, y)
    assert np.array_equal(model.coef_, ChainSSVM(**work).fit(x, y).coef_)
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(frames), model.predict(x), strict=True))
    series = pandas.Series(x, index=range(7, 7 + len(x)))  # of examples, as train_test_split leaves it
    assert np.array_equal(ChainSSVM(**work).fit(series, pandas.Series(y, index=series.index)).coef_, model.coef_)
    with pytest.raises(ValueError, match="X is a DataFrame: expected a list of sequences, which multiplane.sequences makes"):
        model.predict(frames[0])


def test_frames_say_what_they_lack():
    """A token without the key of its sequence, an unknown key and a name that comes twice are refused."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"s": ["S1", None, "S2"], "word": ["a", "b", "c"]})
    with pytest.raises(ValueError, match="`by` has no value in row 1"):
        multiplane.sequences(table, by="s")
    with pytest.raises(ValueError, match="there is no column 'zz'"):
        multiplane.sequences(table, by="zz")
    table.columns = ["s", "s"]
    with pytest.raises(ValueError, match="two columns have the same name"):
        multiplane.sequences(table, by="s")


def test_tokens_without_attributes():
    """A first token without any attribute does not decide what the others are; what is no name is refused by place."""
    x, y = [[[], ["a"]], [["b"], []]], [["A", "B"], ["C", "A"]]
    assert ChainSSVM().fit(x, y).score(x, y) == 1.0
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] holds 1: expected the names"):
        ChainSSVM().fit([[{"a", 1}]], [["A"]])


class Shade(str, enum.Enum):
    """A text that f-strings show by another one."""

    DARK = "d"


def test_attributes_are_read_as_python_shows_them():
    """Texts of other classes as f-strings show them, names within names, numbers of NumPy, sets in order."""
    token = {
        "shade": Shade.DARK, np.str_("é"): np.str_("ü"), "on": np.True_, "half": np.float32(0.5), "n": np.int64(-3),
        "big": 2**9, "in": {"s": {"b", "a", "é"}, "deep": {"k": ("x",), "none": {}}}, "frozen": frozenset("c"), "zero": 0,
    }  # fmt: skip
    model = ChainSSVM(passes=1).fit([[token, ["plain"]]], [["A", "B"]])
    assert model.get_feature_names_out().tolist() == [
        f"shade={Shade.DARK}", "é=ü", "on", "half", "n", "big", "in:s:a", "in:s:b", "in:s:é", "in:deep:k:x", "frozen:c", "plain",
    ]  # fmt: skip
    parts = multiplane._core.feature_rows(model._model, model._to_ask([[token]])[0])
    assert np.frombuffer(parts[2]).tolist() == [1.0, 1.0, 1.0, 0.5, -3.0, 512.0, *[1.0] * 5]


@pytest.mark.parametrize("wrong, told", [(10**400, "too large"), ("\ud800", "without lone surrogates")])
def test_values_that_nothing_can_hold_are_refused(wrong, told):
    """With the reason: no 64-bit float, no bytes in UTF-8."""
    with pytest.raises((OverflowError, ValueError), match=told):
        ChainSSVM().fit([[{"a": wrong}]], [["A"]])


def test_dicts_within_themselves_are_refused():
    """By place, before any stack is full."""
    token = {"a": 1}
    token["self"] = token
    with pytest.raises(ValueError, match=r"^X\[0\]\[0\] has dicts in dicts, deeper than 100"):
        ChainSSVM().fit([[token]], [["A"]])


def test_a_loaded_model_stays_open(tmp_path):
    """Answers need no copy of the weights, neither in Python nor in pickles, and are those of the fitted model; a fit puts
    another model in its place.
    """
    model = ChainSSVM(lam=0.1, gap="1%", clock="work").fit(DICTS, LABELS)
    model.save(tmp_path / "m")
    loaded = multiplane.load(tmp_path / "m")
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [loaded.predict([x])[0].tolist() for x in DICTS], range(8)):
            assert found == [labels.tolist() for labels in model.predict(DICTS)]
    assert loaded.score(DICTS, LABELS) == model.score(DICTS, LABELS) and len(loaded.margins(DICTS)) == 2
    assert "coef_" not in vars(loaded) and "coef_" not in vars(pickle.loads(pickle.dumps(loaded)))
    assert np.array_equal(loaded.coef_, model.coef_) and loaded.coef_ is loaded.coef_
    why, known = model.explain(DICTS[1]), set(model.get_feature_names_out())
    assert {name for position in why.positions for name, _ in position.features} <= known
    other = [["X"] * len(labels) for labels in LABELS]
    assert [set(labels) for labels in loaded.fit(DICTS, other).predict(DICTS)] == [{"X"}, {"X"}]
    assert loaded.coef_.size != model.coef_.size


def test_large_models_leave_out_what_repeats(tmp_path):
    """A model of many names and zeros takes a fraction of 8 bytes a weight, and comes back to the bit."""
    x = [[{f"feature number {k}": 1.0 for k in range(60_000)}, {"a": 1}], [{"b": 1}]]
    model = ChainSSVM(lam=0.1, gap="5%", clock="work").fit(x, [["A", "B"], ["C"]])
    model.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 8 * model.coef_.size / 4
    loaded = multiplane.load(tmp_path / "m")
    assert loaded.coef_.tobytes() == model.coef_.tobytes()
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
