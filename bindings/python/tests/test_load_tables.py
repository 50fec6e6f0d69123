"""Tables as people have them, CRFsuite's text, and files that cannot be read."""

import json
import subprocess

import numpy as np
import pytest

import multiplane
from multiplane import ChainSSVM, GraphSSVM, MrfSSVM, MulticlassSSVM, load_crfsuite, load_csv

ROWS = np.array([[1.0, 0.0], [0.0, 2.5], [3.0, 1.0], [0.5, 4.0]])
KINDS = ["x", "c, d", "x", "c, d"]


@pytest.fixture
def table(tmp_path):
    """A table whose label stands in the middle."""
    lines = ["age;kind;income", *(f"{a};{kind};{b}" for (a, b), kind in zip(ROWS, KINDS, strict=True))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("column", ["kind", 2, -2, np.int64(2)])
def test_labels_stand_in_any_column(table, column):
    """By name or number, as on the command line; names of the other columns are handed out."""
    x, y, names = load_csv(table, label_column=column, names=True, sparse=False)
    assert np.array_equal(x, ROWS) and y.tolist() == KINDS and names == ["age", "income"]
    assert len(load_csv(table, label_column=column, separator=";")) == 2


@pytest.mark.parametrize("ignore", ["age", 1, -3, np.int64(1), ["age"], (1,), np.array([1])])
def test_columns_that_are_left_out(table, ignore):
    """One or a list of them, by name or number."""
    x, _, names = load_csv(table, label_column="kind", ignore=ignore, names=True, sparse=False)
    assert np.array_equal(x, ROWS[:, 1:]) and names == ["income"]


def test_the_advice_on_a_column_of_words_can_be_written_as_it_stands(tmp_path):
    """A column's name is a text in Python."""
    (tmp_path / "t.csv").write_text("who is it,age,kind\nann,1,x\nbob,2,y\n")
    with pytest.raises(ValueError, match=r"to leave this column out: ignore=1 \(or ='who is it'\)$"):
        load_csv(tmp_path / "t.csv")
    assert load_csv(tmp_path / "t.csv", ignore=1)[0].shape == (2, 1)


def test_separators(tmp_path):
    """Any mark divides columns; a file without a header has no names."""
    for name, mark in (("|", "|"), ("tab", "\t"), ("\t", "\t"), (None, ",")):
        (tmp_path / "t").write_text(f"1{mark}0{mark}3\n0{mark}2{mark}4\n")
        x, y, names = load_csv(tmp_path / "t", separator=name, names=True, sparse=False)
        assert x.tolist() == [[1, 0], [0, 2]] and y.tolist() == [3, 4] and names is None


def test_the_command_line_trains_on_the_same(table, tmp_path, cli):
    """What `--set data.label_column` reads is what the estimator gets: the same weights."""
    x, y = load_csv(table, label_column="kind", sparse=False)
    ask = [cli, "train", "--task", "multiclass", "--data", str(table), "--set", "data.label_column=kind", "--lambda", "0.1"]
    subprocess.run([*ask, "--clock", "work", "--out", str(tmp_path / "m")], check=True, capture_output=True)
    ours, theirs = MulticlassSSVM(lam=0.1, clock="work").fit(x, y), multiplane.load(tmp_path / "m")
    assert np.array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label_column": "sex"}, r"people.csv:1:1: found no column `sex` \(label_column\), expected `age`, `kind`, `income`, or a number"),
        ({"label_column": 0}, "found no column `0`"),
        ({"label_column": 1.5}, "label_column = 1.5: expected the name of a column, or its number"),
        ({"separator": "ab"}, "^separator = ab: must be `tab`"),
        ({"separator": 3}, "^separator = 3: expected one character"),
        ({"ignore": True}, "^ignore = True: expected the name of a column, or its number .*, or a list of them"),
        ({"ignore": {"age": 1}}, "^ignore = .*age.*: expected the name of a column"),
        ({"ignore": 4}, "found no column `4` .ignore."),
    ],
)
def test_what_is_no_column(table, given, message):
    """Faults are told by the names of the arguments."""
    with pytest.raises(ValueError, match=message):
        load_csv(table, **given)


def test_attributes_of_crfsuite(tmp_path, cli):
    """Dicts of attributes and weights, which are the command line's data to the bit."""
    path = tmp_path / "d.crfsuite"
    path.write_text("B\tw=the\tp=DT:2\nI\tw=cat\n\nO\tw=\\:x\tw=a\n\nB\tw=the\nO\n")
    x, y = load_crfsuite(path)
    assert x[0] == [{"w=the": 1.0, "p=DT": 2.0}, {"w=cat": 1.0}] and x[1] == [{"w=:x": 1.0, "w=a": 1.0}] and x[2][1] == {}
    assert y == [["B", "I"], ["O"], ["B", "O"]]
    model = ChainSSVM(lam=0.1, clock="work").fit(x, y)
    ask = [cli, "train", "--task", "chain", "--data", str(path), "--lambda", "0.1", "--clock", "work", "--out", str(tmp_path / "m")]
    subprocess.run(ask, check=True, capture_output=True)
    assert np.array_equal(model.coef_, multiplane.load(tmp_path / "m").coef_)
    assert json.loads(model._model.info())["fingerprint"] == json.loads(multiplane.load(tmp_path / "m")._model.info())["fingerprint"]


def test_files_that_the_system_does_not_let_be_read(tmp_path):
    """The OSError that `open` would raise, with a message that names the file; what is there and no good is a ValueError."""
    readers = [multiplane.load, MulticlassSSVM.load, GraphSSVM().fit, MrfSSVM().fit, multiplane.infer]
    loaders = [getattr(multiplane, name) for name in multiplane.__all__ if name.startswith("load")]
    missing = tmp_path / "missing.safetensors"
    for read in [*readers, *loaders]:
        with pytest.raises(FileNotFoundError, match="missing.safetensors"):
            read(missing)
        with pytest.raises((IsADirectoryError, PermissionError)):
            read(tmp_path)
    (tmp_path / "bad").write_bytes(b"\0\1\2" * 9)
    for read in (multiplane.load, load_csv):
        with pytest.raises(ValueError, match="bad"):
            read(tmp_path / "bad")
