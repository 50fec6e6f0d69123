"""What wrong input is told: our own errors, of the kind that Python has for it, in short lines."""

import os

import numpy as np
import pytest
from conftest import blobs
from problems import Multiclass

import multiplane
from multiplane import BinarySSVM, ChainSSVM, GraphSSVM, MulticlassSSVM, MultiLabelSSVM, StructuredSVM, TreeSSVM, solvers

HUGE = 10**400

WORDS = [["the", "cat", "sat"], ["a", "dog"]] * 5
TAGS = [["D", "N", "V"], ["D", "N"]] * 5


@pytest.mark.parametrize(
    "given, name",
    [
        ({"lam": HUGE}, "lam"),
        ({"gap": -HUGE}, "gap"),
        ({"calls": 10**5000}, "calls"),
        ({"n_jobs": HUGE}, "threads"),
        ({"params": {"stop.gap": HUGE}}, "stop.gap"),
        ({"class_weight": {0: HUGE, 1: 1}}, "class_weight"),
        ({"solver": solvers.MPBCFW(planes={"max_idle": HUGE})}, "solver"),
    ],
)
def test_numbers_that_no_float_holds(given, name):
    """A whole number of hundreds of digits is a ValueError that names its parameter and does not write it down."""
    with pytest.raises(ValueError, match=f"{name} is a number of (401|5001) digits: must be a finite number") as told:
        BinarySSVM(**given).fit(*blobs(2))
    assert len(str(told.value)) < 100


@pytest.mark.parametrize(
    "weights, message",
    [
        ("balanced", "sample_weight = 'balanced': expected an array .* class_weight=\"balanced\" is a parameter"),
        ("2", "sample_weight = '2': expected an array"),
        ({0: 1.0}, "sample_weight is a dict: expected an array"),
        ([HUGE] * 90, "sample_weight: expected finite numbers"),
        ([-1e300] * 90, "sample_weight: weight -1e300 of example 0: must be"),
        ([[1.0] * 90], "found shape"),
    ],
)
def test_weights_of_examples(weights, message):
    """What are no weights is said to be none, in training and in scores."""
    x, y = blobs(2)
    for ask in (BinarySSVM().fit, BinarySSVM(gap="5%").fit(x, y).score):
        with pytest.raises(ValueError, match=message if ask.__name__ == "fit" else "sample_weight") as told:
            ask(x, y, sample_weight=weights)
        assert len(str(told.value)) < 200
    model = BinarySSVM(gap="5%").fit(x, y, sample_weight=2)
    assert model.score(x, y, sample_weight=2) == model.score(x, y)
    with pytest.raises(ValueError, match="3 weights for 90 examples"):
        model.score(x, y, sample_weight=[1, 2, 3])


def test_weights_as_large_as_numbers_are():
    """Where the sum of the weights makes lambda vanish the weights are blamed, not the features."""
    x, y = blobs(2)
    with pytest.warns(UserWarning, match="the weights of the examples sum up to 9.00e301.*divide them by their mean"):
        BinarySSVM(passes=20).fit(x, y, sample_weight=np.full(90, 1e300))


def test_one_sequence_is_explained():
    """Nothing and lists of sequences are refused in words, whatever tokens are."""
    columns = ChainSSVM(gap="5%", template="w[0]").fit([[(word,) for word in words] for words in WORDS], TAGS)
    named = ChainSSVM(gap="5%").fit([[{"w": word} for word in words] for words in WORDS], TAGS)
    rows = ChainSSVM(gap="5%").fit([np.ones((3, 2))] * 5, [[0, 1, 0]] * 5)
    sentences = [("the",), ("cat",)], [{"w": "the"}, {"w": "cat"}], np.ones((2, 2))
    for model, one in zip((columns, named, rows), sentences, strict=True):
        assert len(model.explain(one).positions) == 2
        with pytest.raises(ValueError, match="x is a list of 3 sequences: expected one"):
            model.explain([one, one, one])
        with pytest.raises(ValueError, match="x is empty"):
            model.explain([])
        with pytest.raises(ValueError, match="x is a NoneType: expected one sequence"):
            model.explain(None)
    with pytest.raises(ValueError, match="x is empty"):
        rows.explain(np.ones((0, 2)))


@pytest.mark.parametrize("name", [1, None, ("a", 1), b"a"])
def test_names_of_features_are_texts(name):
    """Other keys of dicts were turned into texts in silence."""
    with pytest.raises(ValueError, match=r"X\[1\]\[0\] has the name .* of type .*: expected a text"):
        ChainSSVM().fit([[{"b": 1.0}], [{name: 1.0}]], [["D"], ["N"]])
    with pytest.raises(ValueError, match=r"X\[0\]\[0\]\[1\] has the name .* of type .*: expected a text"):
        TreeSSVM().fit([([{"b": 1.0}, {name: 2.0}], [-1, 0])], [["D", "N"]])


def test_texts_that_no_file_holds():
    """A lone surrogate in a label or a name: the text is told, with the rule, by an error that no call of the core shows in."""
    lone, rows = "\ud800", np.array([[0.0, 1.0], [1.0, 0.0]])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=pandas.Index(["a", lone], dtype=object))  # texts of pyarrow cannot be such
    graphs = [(rows, [(0, 1)])]
    for fit in (
        lambda: MulticlassSSVM().fit(rows, [lone, "a"]),
        lambda: MulticlassSSVM().fit(frame, [0, 1]),
        lambda: MulticlassSSVM(solver="sfd1").partial_fit(rows, [lone, "a"], classes=["a", lone]),
        lambda: ChainSSVM().fit([rows], [[lone, "a"]]),
        lambda: ChainSSVM().fit([[lone, "a"]], [["x", "y"]]),
        lambda: ChainSSVM().fit([[{lone: 1.0}, {"a": 1.0}]], [["x", "y"]]),
        lambda: GraphSSVM().fit(graphs, [[lone, "a"]]),
        lambda: MultiLabelSSVM().fit(rows, ["a", lone]),
    ):
        with pytest.raises(ValueError, match=r"found the text '\\ud800': expected labels and names") as told:
            fit()
        assert type(told.value) is ValueError and told.value.__suppress_context__


def test_an_own_task_may_fail_so():
    """The same error of the user's own code stays as it is."""

    class Own(Multiclass):
        def loss(self, truth, y):
            return len("\ud800".encode())

    with pytest.raises(UnicodeEncodeError):
        StructuredSVM(Own(), passes=1).fit([np.ones(4)], [0])


@pytest.mark.parametrize(
    "place, kind",
    [("nowhere/model", FileNotFoundError), ("", IsADirectoryError), ("file/model", NotADirectoryError), ("x" * 300, OSError)],
)
def test_places_that_cannot_be_written(tmp_path, place, kind):
    """The error is the one that open() has, with the number and our text; models and paths alike."""
    x, y = blobs(2)
    (tmp_path / "file").write_text("kept")
    model = BinarySSVM(gap="5%").fit(x, y)
    for saved in (model, model.path(x, y, eps=0.3)):
        with pytest.raises(kind, match="the model could not be written") as told:
            saved.save(tmp_path / place)
        assert told.value.errno is not None
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_places_that_must_not_be_written(tmp_path):
    """PermissionError where it is one."""
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="the model could not be written"):
        BinarySSVM(gap="5%").fit(*blobs(2)).save(tmp_path / "model")


def test_data_learned_by_heart():
    """What the command line says where nothing is left to learn at the default lambda; not where lambda was given."""
    rng = np.random.default_rng(0)
    x, y = 10 * rng.normal(size=(60, 300)), rng.integers(0, 3, 60)
    with pytest.warns(UserWarning, match="next to nothing at lambda = 1/n.*lam=\"cv\" chooses one"):
        model = MulticlassSSVM().fit(x, y)
    assert model.summary_["train_loss"] == 1 - model.score(x, y) == 0
    assert "train_loss" not in {key for key, value in MulticlassSSVM(lam=1 / 60).fit(x, y).summary_.items() if value is not None}


def test_reading_what_is_not_there(tmp_path):
    """A file that is not there is the system's to refuse, as `open` does."""
    with pytest.raises(FileNotFoundError, match="No such file"):
        multiplane.load(tmp_path / "nothing")
