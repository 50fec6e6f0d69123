"""Reports, and pictures of histories and paths."""

from __future__ import annotations

import json
import subprocess

import matplotlib
import numpy as np
import pytest

from conftest import blobs, sequences
from graph_data import grids, models

import multiplane
from multiplane import ArborescenceSSVM, BinarySSVM, ChainSSVM, GraphSSVM, MrfSSVM, MulticlassSSVM, MultiLabelSSVM, TreeSSVM

matplotlib.use("Agg")
X, Y = blobs()


def counted(truth, found):
    """Support, predictions and right ones of every label, by hand."""
    truth, found = np.asarray(truth), np.asarray(found)
    of = {k: (truth == k, found == k) for k in set(truth.tolist())}
    return {k: (int(is_true.sum()), int(is_found.sum()), int((is_true & is_found).sum())) for k, (is_true, is_found) in of.items()}


def trees():
    x, y = sequences()
    return [(one, [-1, *range(len(one) - 1)]) for one in x], y


@pytest.mark.parametrize("names", [None, ["red", "green", "blue"]])
@pytest.mark.parametrize(
    ("estimator", "data"),
    [(MulticlassSSVM, blobs), (BinarySSVM, lambda: blobs(2)), (ChainSSVM, sequences), (TreeSSVM, trees), (GraphSSVM, grids)],
)
def test_reports_count_what_predictions_say(estimator, data, names):
    """Support, precision, recall and intersection over union, label by label, whatever labels are called."""
    x, y = data()
    if names is not None:
        y = np.array(names)[y] if isinstance(y, np.ndarray) else [np.array(names)[one] for one in y]
    model = estimator(passes=3).fit(x, y)
    found = model.report(x, y)
    flat = lambda labels: labels if isinstance(labels, np.ndarray) else np.concatenate([np.asarray(one) for one in labels])
    expected = counted(flat(y), flat(model.predict(x)))
    rows = {row["label"]: row for row in found["report"]["labels"]}
    assert set(rows) == set(expected)
    for label, (support, predicted, correct) in expected.items():
        row = rows[label]
        assert (row["support"], row["predicted"], row["correct"]) == (support, predicted, correct)
        assert row["iou"] == pytest.approx(correct / (support + predicted - correct)) and row["recall"] == correct / support
    wrong = sum(mistake["count"] for mistake in found["report"]["confusions"])
    assert wrong == sum(support - correct for support, _, correct in expected.values())
    assert found["accuracy"] == pytest.approx(model.score(x, y)) and "precision" in str(found)
    assert all(str(label) in str(found) for label in expected)


def test_reports_of_sets():
    """Each column is a label."""
    sets = np.eye(3, dtype=int)[Y]
    sets[:, 1] |= X[:, 0] > 0
    model = MultiLabelSSVM(passes=3).fit(X, sets)
    found, guess = model.report(X, sets)["report"], model.predict(X)
    assert [row["support"] for row in found["labels"]] == sets.sum(axis=0).tolist()
    assert [row["correct"] for row in found["labels"]] == (sets & guess).sum(axis=0).tolist() and found["micro"]["f1"] > 0


def test_the_report_is_that_of_the_command_line(cli, tmp_path):
    """Of the same model and data, with chunks."""
    words = [["the", "big", "cat", "sat"], ["a", "cat", "sat"], ["cat", "sat", "up"]]
    tags = [["B-NP", "I-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP", "O"]]
    model = ChainSSVM(passes=2).fit(words, tags)
    model.save(tmp_path / "m.st")
    lines = ["\n".join(f"{word} {tag}" for word, tag in zip(a, b, strict=True)) for a, b in zip(words, tags, strict=True)]
    (tmp_path / "d.txt").write_text("\n\n".join(lines) + "\n")
    ask = [cli, "evaluate", "--model", tmp_path / "m.st", "--data", tmp_path / "d.txt", "--report"]
    done = subprocess.run([*ask, "--json"], capture_output=True, text=True, check=True)
    found = model.report(words, tags)
    assert dict(found) == json.loads(done.stdout) and found["report"]["chunks"]["types"][0]["type"] == "NP"
    assert found["report"]["chunks"]["scheme"] == "BIO" and found["report"]["chunks"]["strict"]["chunks"] == 6
    assert str(found) == subprocess.run(ask, capture_output=True, text=True, check=True).stdout


def test_chunks_score_models_in_searches():
    """By the F1 of the report, fold by fold; labels that are no chunks have none."""
    pytest.importorskip("sklearn")
    from sklearn.model_selection import KFold, cross_val_score

    words = [["the", "big", "cat", "sat"], ["a", "cat", "sat"], ["cat", "sat", "up"], ["the", "cat", "up"]]
    tags = [["B-NP", "I-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP", "O"], ["B-NP", "I-NP", "O"]]
    found = cross_val_score(ChainSSVM(passes=2), words, tags, cv=2, scoring=multiplane.chunk_scorer)
    parts = lambda given, rows: [given[row] for row in rows]
    expected = []
    for train, test in KFold(2).split(words):
        model = ChainSSVM(passes=2).fit(parts(words, train), parts(tags, train))
        report = model.report(parts(words, test), parts(tags, test))
        expected.append(report["report"]["chunks"]["f1"])
        assert report["report"]["chunks"]["f1"] != report["accuracy"]
    assert found.tolist() == expected and 0 < min(expected)
    plain = [["D", "A", "N", "V"], ["D", "N", "V"]]
    with pytest.raises(ValueError, match="chunk_scorer: labels are not tags of chunks"):
        multiplane.chunk_scorer(ChainSSVM(passes=2).fit(words[:2], plain), words[:2], plain)


def test_no_report():
    """Labellings without labels of their own, data that is not there, models that are not fitted."""
    x, y = models()
    with pytest.raises(ValueError, match="MrfSSVM has no report"):
        MrfSSVM(passes=1, unary_columns=[0, 1], pair_columns=[2, 3, 4]).fit(x, y).report(x, y)
    x, _ = sequences()
    heads = [[-1, *range(len(one) - 1)] for one in x]
    with pytest.raises(ValueError, match="ArborescenceSSVM has no report"):
        ArborescenceSSVM(passes=1).fit(x, heads).report(x, heads)
    model = MulticlassSSVM(passes=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"^Found input variables"):
        model.report(X, Y[1:])
    with pytest.raises(ValueError, match="X is None"):
        model.report(None, None)
    with pytest.raises(AttributeError):
        MulticlassSSVM().report(X, Y)


def test_sequences_in_cross_val_predict():
    """Folds are put together, in the order of the examples."""
    from sklearn.model_selection import cross_val_predict

    for model, (x, y) in ((ChainSSVM(passes=5), sequences()), (GraphSSVM(passes=2), grids())):
        found = cross_val_predict(model, x, y, cv=3)
        assert [len(one) for one in found] == [len(one) for one in y]
        assert (found.dtype == object) == (len({len(one) for one in y}) > 1)
        model.fit(x, y)
        assert model.report(x, found)["n"] == len(x)
        assert np.mean(np.concatenate(list(found)) == np.concatenate([np.asarray(one) for one in y])) > 0.5
    same = ChainSSVM(passes=1).fit(np.zeros((4, 3, 2)) + np.arange(2), [[0, 1, 0]] * 4).predict(np.zeros((4, 3, 2)))
    assert isinstance(same, list) and np.asarray(same).shape == (4, 3)


def test_a_default_fit_is_drawn_where_it_was_evaluated():
    """The primal value begins at the first evaluation, with a dot, and w = 0 fills no rectangle."""
    from matplotlib import pyplot

    model = MulticlassSSVM(lam=1e-4).fit(X, Y)
    history = model.history_
    evaluated = [record for record in history if record.get("answer")]
    assert 0 < len(evaluated) < len(history) and history[0]["primal"] == 1.0
    axes = history.plot()
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["primal"].get_ydata().max() < 1.0 and len(lines["dual"].get_xdata()) == len(history)
    (dots,) = [drawn for drawn in axes.collections if drawn.get_label() == "evaluated"]
    assert dots.get_offsets()[:, 1].tolist() == [record["primal"] for record in evaluated]
    assert axes.get_ylim()[1] < 1.05  # with the margin of the picture
    pyplot.close("all")


def test_other_keys_are_drawn():
    """Losses on test data, and what there is when a key has no number."""
    from matplotlib import pyplot

    model = MulticlassSSVM(passes=5).fit(X, Y, X_test=X, y_test=Y)
    axes = model.history_.plot(y="test_loss", x="oracle_calls")
    (line,) = axes.get_lines()
    assert line.get_ydata().tolist() == model.history_.column("test_loss") and axes.get_ylabel() == "test loss"
    pyplot.close("all")
    alone = MulticlassSSVM(passes=5).fit(X, Y)
    with pytest.raises(ValueError, match=r"y = 'test_loss': no record has such a number; fit\(\.\.\., X_test"):
        alone.history_.plot(y="test_loss")
    with pytest.raises(ValueError, match=r"expected 'objective' or one of \['pass'"):
        alone.history_.plot(y="loss")


def test_the_best_lambda_is_marked():
    """In the picture of a path whose losses were measured."""
    from matplotlib import pyplot

    path = MulticlassSSVM().path(X, Y, eps=0.2, lambda_min=0.02, cv=3)
    axes = path.plot()
    (mark,) = [line for line in axes.get_lines() if line.get_label().startswith("best: ")]
    assert set(mark.get_xdata()) == {path.best.lam} and axes.get_ylabel() == "objective, loss"
    alone = MulticlassSSVM().path(X, Y, eps=0.2, lambda_min=0.02).plot()
    assert not [line for line in alone.get_lines() if line.get_label().startswith("best")] and alone.get_ylabel() == "objective"
    pyplot.close("all")


def test_features_have_the_names_of_the_pipeline():
    """Asked of the steps before, of the pipeline, or given as a list."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    text = ["good film", "bad film", "good plot", "bad plot", "fine plot"] * 4
    pipe = make_pipeline(TfidfVectorizer(), MulticlassSSVM(bias=True)).fit(text, ["+", "-", "+", "-", "+"] * 4)
    model = pipe[-1]
    assert {name for name, _ in model.top_features(6)["+"]} <= {"x0", "x1", "x2", "x3", "x4", "bias"}
    for source in (pipe[:-1], pipe, ["bad", "film", "fine", "good", "plot"]):
        named = model.top_features(6, feature_names=source)
        assert named["-"][0][0] in ("bad", "good") and {name for name, _ in named["+"]} >= {"good", "bad"}
    assert pipe.get_feature_names_out().tolist() == ["bad", "film", "fine", "good", "plot", "bias"]
    assert list(model.top_features(2, label="-")) == ["-"]
    with pytest.raises(ValueError, match=r"label = '\?': expected one of \['\+', '-'\]"):
        model.top_features(2, label="?")
    with pytest.raises(ValueError, match="feature_names: 2 names for 5 columns of X"):
        model.top_features(2, feature_names=["a", "b"])
