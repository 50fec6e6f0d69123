"""A look inside: weights as tables, strongest weights by name, scores by position, explanations; all against numbers by hand."""

import json
import subprocess

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass
from sklearn.exceptions import NotFittedError

import multiplane
from multiplane import (
    ArborescenceSSVM,
    BinarySSVM,
    ChainSSVM,
    GraphSSVM,
    MulticlassSSVM,
    MultiLabelSSVM,
    StructuredSVM,
    TreeSSVM,
)

SENTENCES = [[("the", "DT"), ("cat", "NN"), ("sat", "VB")], [("dogs", "NN"), ("bark", "VB")], [("a", "DT"), ("cat", "NN")]]
CHUNKS = [["B-NP", "I-NP", "O"], ["B-NP", "O"], ["B-NP", "I-NP"]]


def tagger(**keywords):
    return ChainSSVM(template="w[0] p[-1]|p[0]", lam=0.1, gap="1%", **keywords).fit(SENTENCES, CHUNKS)


@pytest.mark.parametrize("keywords", [{}, {"bias": True}, {"ends": True}, {"ends": True, "bias": True}], ids=str)
def test_parts_of_a_chain(keywords):
    """unary_, pair_, start_ and end_ are coef_, piece by piece."""
    x, y = sequences()
    model = ChainSSVM(gap="5%", **keywords).fit(x, y)
    width = 4 + int("bias" in keywords)
    assert model.unary_.shape == (3, width) and model.pair_.shape == (3, 3)
    parts = [model.unary_, model.pair_] + ([model.start_, model.end_] if "ends" in keywords else [])
    assert np.array_equal(np.concatenate([part.ravel() for part in parts]), model.coef_)
    assert model.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "bias"][:width]
    if "ends" not in keywords:
        with pytest.raises(AttributeError, match="start_': it was fitted without ends=True"):
            model.start_
        assert not hasattr(model, "end_")


def test_parts_before_fit_and_with_kernels():
    """Each says why it is not there."""
    with pytest.raises(AttributeError, match="unary_': it is not fitted yet"):
        ChainSSVM().unary_
    for ask in (ChainSSVM().top_features, ChainSSVM().top_weights, ChainSSVM().get_feature_names_out, MulticlassSSVM().top_features):
        with pytest.raises(NotFittedError):
            ask()
    x, y = sequences()
    model = ChainSSVM(kernel="rbf", gap="20%", passes=3).fit(x, y)
    with pytest.raises(AttributeError, match="unary_': with a kernel dual_coef_ has weights of rows"):
        model.unary_
    assert model.pair_.shape == (3, 3) and {weight.table for weight in model.top_weights(1)} == {"coefficient", "pair"}
    assert all(name.startswith("row") for named in model.top_features(2).values() for name, _ in named)
    with pytest.raises(ValueError, match="explain.. is for weights of features"):
        model.explain(x[0])


@pytest.mark.parametrize("bias", [False, True])
def test_strongest_features_by_name(bias):
    """Those of a sort by hand, for text; the names are those of the templates."""
    model = tagger(bias=bias)
    names = model.get_feature_names_out()
    assert {"w[0]=the", "w[0]=cat", "p[-1]|p[0]=DT|NN"} <= set(names) and (names[-1] == "bias") == bias
    found = model.top_features(4)
    assert list(found) == ["B-NP", "I-NP", "O"] == model.classes_.tolist()
    for k, label in enumerate(model.classes_):
        order = sorted(range(len(names)), key=lambda j: (-abs(model.unary_[k, j]), j))
        expected = [(names[j], model.unary_[k, j]) for j in order if model.unary_[k, j] != 0][:4]
        assert found[label] == expected
    assert model.top_features(0) == {label: [] for label in model.classes_}
    for n in (-1, 1.5, True, "3"):
        with pytest.raises(ValueError, match="n = .*: must be a whole number >= 0"):
            model.top_features(n)


def test_strongest_weights_are_those_of_show(cli, tmp_path):
    """Table by table, transitions among them, as the command line has them."""
    model = tagger(ends=True)
    model.save(tmp_path / "m")
    shown = json.loads(subprocess.run([cli, "show", tmp_path / "m", "--top", "3", "--json"], capture_output=True, text=True).stdout)
    expected = [
        (table["name"], weight["index"], weight["weight"])
        for table in shown["tables"]
        for weight in table["highest"] + table["lowest"]
    ]
    found = model.top_weights(3)
    assert [(weight.table, weight.place, weight.weight) for weight in found] == expected
    step = next(weight for weight in found if weight.table == "pair")
    classes = model.classes_.tolist()
    assert step.weight == model.pair_[classes.index(step.at["from"]), classes.index(step.at["to"])]
    assert step.weight == model.coef_[step.place]


def test_strongest_features_of_other_estimators(quiet):
    """Each that `show` serves."""
    x, y = blobs()
    model = MulticlassSSVM(gap="5%", bias=True).fit(x, y + 10)
    named = {f"x{k}": k for k in range(4)} | {"bias": 4}
    for label, features in model.top_features(2).items():
        row = model.coef_[label - 10]
        assert [value for _, value in features] == sorted(row, key=lambda value: -abs(value))[:2]
        assert all(row[named[name]] == value for name, value in features)
    two = BinarySSVM(gap="5%").fit(x, np.where(y == 0, "no", "yes"))
    assert list(two.top_features()) == ["yes"] and len(two.top_features(9)["yes"]) == 4
    name, value = two.top_features(1)["yes"][0]
    assert abs(value) == np.abs(two.coef_).max() and two.coef_[0, named[name]] == value
    sets = MultiLabelSSVM(gap="5%").fit(x, np.eye(3, dtype=int)[y])
    assert list(sets.top_features()) == [0, 1, 2] and {w.table for w in sets.top_weights()} == {"unary", "pair"}
    graphs = GraphSSVM(lam=1, gap="5%").fit([(row[None], np.zeros((0, 2), int)) for row in x], [[label] for label in y])
    assert list(graphs.top_features()) == [0, 1, 2]
    trees = TreeSSVM(gap="5%").fit([([{"w": 1.0}, {"v": 1.0}], [-1, 0])], [["a", "b"]])
    assert set(trees.top_features()) == {"a", "b"} and trees.get_feature_names_out().tolist() == ["w", "v"]
    heads = ArborescenceSSVM(gap="5%").fit([np.eye(3)] * 2, [[-1, 0, 1]] * 2)
    assert {weight.table for weight in heads.top_weights()} <= {"root", "distance", "pair"}
    own = StructuredSVM(Multiclass(), gap="5%").fit(list(x), y.tolist())
    assert max(abs(weight.weight) for weight in own.top_weights(1)) == np.abs(own.coef_).max()


def test_decision_function_of_a_chain():
    """Per position and label the best score with it there; its argmax is the prediction."""
    x, y = sequences()
    model = ChainSSVM(gap="5%", ends=True).fit(x, y)
    scores = model.decision_function(x)
    assert [score.shape for score in scores] == [(len(row), 3) for row in x]
    for score, found in zip(scores, model.predict(x), strict=True):
        assert np.array_equal(score.argmax(axis=1), found)


def by_hand(model, rows, labels):
    """The score of a labelling of rows."""
    labels = [model.classes_.tolist().index(label) for label in labels]
    score = sum(model.unary_[label] @ row for label, row in zip(labels, rows, strict=True))
    score += sum(model.pair_[a, b] for a, b in zip(labels[:-1], labels[1:], strict=True))
    if hasattr(model, "start_"):
        score += model.start_[labels[0]] + model.end_[labels[-1]]
    return score


@pytest.mark.parametrize("keywords", [{}, {"bias": True, "ends": True}, {"scale": "max-abs"}, {"rescaling": "slack"}], ids=str)
def test_explanations_add_up(keywords, monkeypatch):
    """Terms are the score, the score is w.phi by hand, the margin is that to the second best labelling."""
    monkeypatch.setenv("COLUMNS", "200")
    x, y = sequences()
    model = ChainSSVM(gap="5%", **keywords).fit(x, y)
    scale = np.abs(np.concatenate(x)).max(axis=0) if "scale" in keywords else 1.0
    for sequence in x[:5]:
        told = model.explain(sequence, n=2)
        rows = sequence / scale
        rows = np.hstack([rows, np.ones((len(rows), 1))]) if "bias" in keywords else rows
        assert told.labels.tolist() == model.predict([sequence])[0].tolist()
        assert told.score == pytest.approx(by_hand(model, rows, told.labels))
        assert told.score == pytest.approx(sum(at.emission + at.transition + at.end for at in told.positions))
        assert told.margin == pytest.approx(told.score - by_hand(model, rows, told.second))
        assert np.allclose([at.margin for at in told.positions], model.margins([sequence])[0])
        assert min(at.margin for at in told.positions) == pytest.approx(told.margin)
        for at, row in zip(told.positions, rows, strict=True):
            terms = row * model.unary_[model.classes_.tolist().index(at.label)]
            assert at.emission == pytest.approx(terms.sum())
            assert [value for _, value in at.features] == pytest.approx(sorted(terms, key=lambda term: -abs(term))[:2])
        assert f"{told.labels[0]}" in str(told) and len(str(told).splitlines()) == 2 + len(sequence)


def test_explanations_of_text_and_files(tmp_path):
    """Features have their names, unknown words say nothing, and a model of a file explains, too."""
    model = tagger()
    told = model.explain([("the", "DT"), ("cow", "NN")])
    assert {name for name, _ in told.positions[0].features} <= {"w[0]=the", "p[-1]|p[0]=_B-1|DT"}
    assert {name for name, _ in told.positions[1].features} <= {"p[-1]|p[0]=DT|NN"}
    model.save(tmp_path / "m")
    again = multiplane.load(tmp_path / "m")
    assert str(again.explain([("the", "DT"), ("cow", "NN")])) == str(told)
    assert again.top_features(3) == model.top_features(3)
    single = ChainSSVM(gap="5%").fit([[[1.0]], [[2.0]]], [["a"], ["a"]]).explain([[1.0]])
    assert single.second is None and single.margin == np.inf == single.positions[0].margin
    with pytest.raises(NotFittedError):
        ChainSSVM().explain([[1.0]])


def test_names_of_columns_come_back_from_files(tmp_path, recwarn):
    """feature_names_in_ of a DataFrame stands in the file: no warnings, and the same refusals."""
    pandas = pytest.importorskip("pandas")
    x, y = blobs()
    frame = pandas.DataFrame(x, columns=["a\tb", "b", "c", "d"])
    for model in (
        BinarySSVM(gap="5%"), MulticlassSSVM(gap="5%", bias=True), MulticlassSSVM(kernel="rbf", gap="9%"),
        MulticlassSSVM(gap="5%", scale="max-abs"),
    ):  # fmt: skip
        labels = (y > 0).astype(int) if isinstance(model, BinarySSVM) else y
        model.fit(frame, labels).save(tmp_path / "m")
        again = multiplane.load(tmp_path / "m")
        assert again.feature_names_in_.tolist() == list(frame.columns) == model.feature_names_in_.tolist()
        assert again.feature_names_in_.dtype == object and again.n_features_in_ == 4
        assert np.array_equal(again.predict(frame), model.predict(frame))
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            again.predict(frame[["b", "a\tb", "c", "d"]])
        if model.kernel is None:
            assert model.get_feature_names_out().tolist()[1:4] == ["b", "c", "d"]
    assert not [one for one in recwarn if "feature names" in str(one.message)]
    BinarySSVM(gap="5%").fit(x, y > 0).save(tmp_path / "m")
    assert not hasattr(multiplane.load(tmp_path / "m"), "feature_names_in_")
    sets = np.stack([y > 0, y > 1], axis=1).astype(int)
    MultiLabelSSVM(gap="5%", bias=True).fit(frame, sets).save(tmp_path / "m")
    again = multiplane.load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == list(frame.columns) and again.predict(frame).shape == (90, 2)
    assert {name for top in again.top_features().values() for name, _ in top} <= {"a=b", "b", "c", "d", "bias"}  # readable
    stream = MulticlassSSVM().partial_fit(frame[:50], y[:50], classes=[0, 1, 2]).partial_fit(frame[50:], y[50:])
    assert stream.predict(frame).shape == (90,)


@pytest.mark.parametrize("kind", ["text", "attributes", "named columns", "transitions"])
def test_terms_of_any_features_sum_to_the_score(kind):
    """Those of ``explain``, with the margins to the second best labelling, are those of the lists."""
    y = [["B-NP", "I-NP", "O"], ["O", "B-NP"]] * 4
    words = [["the", "cat", "sat"], ["see", "dogs"]] * 4
    given = {
        "text": [[(word, word[:1]) for word in one] for one in words],
        "attributes": [[{"word": word, "length": len(word) / 4, "bias": True} for word in one] for one in words],
        "named columns": [np.array([[len(word), word < "n"] for word in one], dtype=float) for one in words],
    }
    x = given.get(kind, given["text"])
    rules = {"transitions": "bio"} if kind == "transitions" else {}
    model = ChainSSVM(lam=0.05, ends=kind != "text", gap="5%", **rules).fit(x, y)
    for sequence, top in zip(x[:2], model.predict_top(x[:2], 2), strict=True):
        told = model.explain(sequence, n=50)
        assert told.labels.tolist() == top.labels[0].tolist() and told.second.tolist() == top.labels[1].tolist()
        assert sum(at.emission + at.transition + at.end for at in told.positions) == pytest.approx(top.scores[0])
        assert told.margin == pytest.approx(top.scores[0] - top.scores[1]) and told.margin > 0
        for at in told.positions:
            assert sum(value for _, value in at.features) == pytest.approx(at.emission)
