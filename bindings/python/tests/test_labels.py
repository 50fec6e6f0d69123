"""Labels keep their kind through fits and files, and what is not known is left out, in whatever way it is said."""

import json
import pickle
import re
import subprocess
import warnings
from decimal import Decimal

import numpy as np
import pytest

from graph_data import graph_arrays
from test_graph_labels import save

import multiplane
from multiplane import BinarySSVM, ChainSSVM, GraphSSVM, MrfSSVM, MulticlassSSVM, TreeSSVM

RNG = np.random.default_rng(3)
ROWS = [RNG.normal(size=(5, 2)) for _ in range(16)]
ABOVE = [rows[:, 0] > 0 for rows in ROWS]
PATH = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
INPUTS = {
    ChainSSVM: ROWS,
    TreeSSVM: [(rows, [-1, 0, 1, 2, 3]) for rows in ROWS],
    GraphSSVM: [(rows, PATH) for rows in ROWS],
    MrfSSVM: [(np.stack([np.zeros_like(rows), rows], axis=1), PATH, np.tile(np.eye(2)[:, :, None], (4, 1, 1, 2))) for rows in ROWS],
}
PAIRS = {
    "booleans": (False, True), "digits": ("0", "1"), "padded digits": ("01", "1"), "floats": (0.0, 1.0), "integers": (0, 1),
    "texts": ("no", "yes"), "mixed numbers": (False, 2), "halves": (0.5, 1.5),
}  # fmt: skip


def same(one, other):
    """Returns True if labels are the same and of the same kinds."""
    plain = lambda labels: [(type(label), label) for label in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]
    return sorted(map(repr, plain(one))) == sorted(map(repr, plain(other)))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM, TreeSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_labels_keep_their_kind(kind, pair, tmp_path):
    """In classes, predictions, scores and reports, after saving and loading, and of paths."""
    dtype = object if pair == (False, 2) else None
    x = INPUTS.get(kind, ROWS[0])
    if kind in INPUTS:
        y = [np.array([pair[int(one)] for one in above], dtype=dtype) for above in ABOVE]
    else:
        y = np.array([pair[int(one)] for one in ROWS[0][:, 1] > 0], dtype=dtype)
    if 0.5 in pair and kind not in (ChainSSVM, TreeSSVM):
        pytest.skip("labels that are not whole are refused")
    model = kind(lam=0.01, gap="5%").fit(x, y)
    assert same(model.classes_, pair)
    model.save(tmp_path / "m")
    loaded = multiplane.load(tmp_path / "m")
    flat = lambda found: found if isinstance(found, np.ndarray) else np.concatenate(found)
    for one in (loaded, pickle.loads(pickle.dumps(model)), model.path(x, y, lambda_min=0.05).at(0.06)):
        assert same(one.classes_, pair), one
        assert {type(label) for label in flat(one.predict(x)).tolist()} <= {type(label) for label in pair}
    assert same(flat(loaded.predict(x)), flat(model.predict(x))) and loaded.score(x, y) == model.score(x, y) > 0.5
    for one in (model, loaded):
        assert same([row["label"] for row in one.report(x, y)["report"]["labels"]], pair)


def test_kinds_in_files(tmp_path):
    """A file has kinds only where names do not say them; one without them is read as ever, one with too few is refused."""
    for labels, kinds in (((0, 1), None), (("a", "b"), None), (("0", "1"), ["text", "text"]), ((False, True), ["bool", "bool"])):
        model = ChainSSVM(lam=0.1).fit(ROWS, [[labels[int(one)] for one in above] for above in ABOVE])
        model.save(tmp_path / "m")
        assert json.loads(model._model.info()).get("label_kinds") == kinds
        assert (b"label_kinds" in (tmp_path / "m").read_bytes()) == (kinds is not None)
    with pytest.raises(ValueError):
        model._model.with_labels(["a", "b"], ["text"])


def test_labels_that_files_cannot_hold_are_refused(tmp_path):
    """Labels of other types are learned, predicted and pickled; a file would give them back as texts."""
    X = [[0.0], [1.0]]
    for labels, kind in (([b"a", b"b"], "bytes"), ([Decimal(1), Decimal(2)], "Decimal")):
        model = MulticlassSSVM().fit(X, np.array(labels, dtype=object))
        with pytest.raises(ValueError, match=f"is of type {kind}: a model file holds texts and numbers"):
            model.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()
        assert pickle.loads(pickle.dumps(model)).predict(X)[1] == model.predict(X)[1] == labels[1]


@pytest.mark.parametrize("kind", [MulticlassSSVM, ChainSSVM, TreeSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_a_nul_at_the_end_is_part_of_a_label(kind, cli, tmp_path):
    """NumPy's texts lose it: two labels that differ in nothing else stay two, in fits, in files and in scores."""
    names = [["a\0" if one else "a" for one in above] for above in ABOVE]
    x, y = (INPUTS[kind], names) if kind in INPUTS else (np.concatenate(ROWS), sum(names, []))
    model = kind(lam=0.01, gap="1%").fit(x, y)
    model.save(tmp_path / "m")
    for found in (model, kind.load(tmp_path / "m")):
        assert found.classes_.tolist() == ["a", "a\0"]
        predicted = found.predict(x)
        assert set(predicted if kind is MulticlassSSVM else np.concatenate(predicted).tolist()) == {"a", "a\0"}
        assert found.score(x, y) == model.score(x, y) > 0.9
    assert model.score(x, [one.replace("\0", "") if isinstance(one, str) else ["a"] * len(one) for one in y]) < 0.9, "other labels"


def test_labels_of_rows_in_files_may_end_in_nul(cli, tmp_path):
    """The command line has two classes of them, and so has the estimator that reads its model."""
    lines = "".join(f"{'a' + chr(0) if above else 'a'} 1:{row[0]:.6f}\n" for row, above in zip(ROWS[0], ABOVE[0], strict=True))
    (tmp_path / "d.svm").write_text(lines)
    command = [cli, "train", "--task", "multiclass", "--data", tmp_path / "d.svm", "--quiet", "--out", tmp_path / "m"]
    subprocess.run(command, check=True)
    assert multiplane.load(tmp_path / "m").classes_.tolist() == ["a", "a\0"]
    model = MulticlassSSVM(solver="sfd1").partial_fit(ROWS[0], ["a", "a", "b", "a", "b"], classes=["a", "a\0", "b"])
    assert model.classes_.tolist() == ["a", "a\0", "b"]


def test_labels_of_lines_of_json_keep_their_kind(cli, tmp_path):
    """Texts of digits stay texts, and numbers are numbers; a number beside the text that looks the same is refused by both names."""
    def trained(*labels):
        lines = [{"tokens": [{"a": 1}, {"b": 1}], "labels": list(pair)} for pair in labels]
        (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        command = [cli, "train", "--task", "chain", "--data", tmp_path / "d.jsonl", "--quiet", "--out", tmp_path / "m"]
        return subprocess.run(command, capture_output=True, text=True)

    for given in (("1", "2"), (1, 2), ("a", "b")):
        assert trained(given, given).returncode == 0
        assert same(multiplane.load(tmp_path / "m").classes_, given)
    told = trained((1, 2), ("1", 2))
    assert told.returncode == 2 and "d.jsonl:2:" in told.stderr
    assert "found the text `1` as label, expected the number 1 as on line 1" in told.stderr


@pytest.mark.parametrize("kind", [MulticlassSSVM, ChainSSVM, TreeSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_a_number_is_no_text(kind):
    """1 and "1" are two labels that files cannot tell apart: both are named, and none is made the other."""
    x, y = INPUTS.get(kind, ROWS), [[1, "1", 0, 0, 0]] * len(ROWS)
    x, y = (x, y) if kind in INPUTS else (ROWS[0], y[0])
    with pytest.raises(ValueError, match=r"is (1, .* is '1'|'1', .* is 1): expected labels of one kind"):
        kind().fit(x, y)


MARKS = {
    "None": (None, {}),
    "NaN": (float("nan"), {}),
    "-1": (-1, {}),
    "unknown=-1": (-1, {"unknown": -1}),
    "unknown=255": (255, {"unknown": 255}),
    "unknown=[-100, 7]": (-100, {"unknown": [-100, 7]}),
    "mask": ("mask", {}),
}


@pytest.mark.parametrize(("mark", "given"), MARKS.values(), ids=MARKS)
@pytest.mark.parametrize("kind", INPUTS, ids=lambda kind: kind.__name__)
def test_what_is_not_known_is_left_out(kind, mark, given):
    """Unknown labels at the ends of examples: the weights are those of shorter ones, and no score counts them."""
    x = INPUTS[kind]
    plain = {"lam": 0.05, "gap": "1%", "clock": "work", "solver": "one-slack"}
    marked = []
    for above in ABOVE:
        labels = [int(one) for one in above[:3]]
        if mark == "mask":
            marked.append(np.ma.MaskedArray([*labels, 0, 1], [False] * 3 + [True] * 2))
        else:
            marked.append([*labels, mark, mark])
    if kind in (ChainSSVM, TreeSSVM) and mark == -1 and not given:
        with pytest.warns(UserWarning, match="y holds -1: such parts are left out"):
            model = kind(**plain).fit(x, marked)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="y holds")
            model = kind(**plain, **given).fit(x, marked)
    cut = {
        ChainSSVM: lambda one: one[:3],
        TreeSSVM: lambda one: (one[0][:3], one[1][:3]),
        GraphSSVM: lambda one: (one[0][:3], one[1][:2]),
        MrfSSVM: lambda one: (one[0][:3], one[1][:2], one[2][:2]),
    }[kind]
    shorter = kind(**plain).fit([cut(one) for one in x], [above[:3].astype(int) for above in ABOVE])
    np.testing.assert_allclose(model.coef_, shorter.coef_, rtol=0, atol=1e-9)
    assert model.dual_ == pytest.approx(shorter.dual_, abs=1e-9) and model.certified_
    found = model.predict(x)
    assert {int(label) for one in found for label in one} <= {0, 1} and [len(one) for one in found] == [5] * len(x)
    known = np.concatenate([one[:3] for one in found]) == np.concatenate([above[:3] for above in ABOVE])
    assert model.score(x, marked) == pytest.approx(known.mean())
    if kind is not MrfSSVM:
        assert sum(row["support"] for row in model.report(x, marked)["report"]["labels"]) == 3 * len(x)
    with pytest.raises(ValueError, match="nothing to learn from|no node has a label"):
        kind(**given).fit(x[:1], [np.ma.MaskedArray(np.zeros(5, dtype=int), True)])


def test_gaps_within_sequences(cli, tmp_path):
    """Positions without a label cut a sequence; every solver family takes them, a list and the checker of models, too."""
    names = [[None if (i + k) % 4 == 0 else "BA"[int(one)] for k, one in enumerate(above)] for i, above in enumerate(ABOVE)]
    for kind in (ChainSSVM, TreeSSVM):
        x, bounds = INPUTS[kind], []
        for solver in ("auto", "bcfw", "mp-bcfw", "one-slack", "ssg", "fw"):
            model = kind(lam=0.05, gap="2%", passes=300, solver=solver).fit(x, names, X_test=x, y_test=names)
            bounds.append((model.dual_, model.primal_))
        assert max(low for low, _ in bounds if low == low) <= min(high for _, high in bounds)
        assert not model.check(x, names) and model.predict_top(x[:1], 3)[0].exact
        assert kind(lam=0.05, rescaling="slack", passes=20).fit(x, names).score(x, names) > 0.8
    with pytest.raises(RuntimeError, match="a label of it is not known: sums over labellings"):
        ChainSSVM(lam=0.05, solver="eg").fit(ROWS, names)
    lines = [{"tokens": rows.tolist(), "labels": labels} for rows, labels in zip(ROWS, names, strict=True)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = lambda *args: subprocess.run([cli, *map(str, args)], capture_output=True, text=True, cwd=tmp_path)
    assert run("train", "--task", "chain", "--data", "d.jsonl", "--lambda", 0.05, "--quiet", "--out", "m").returncode == 0
    told = run("verify", "--model", "m", "--data", "d.jsonl")
    assert told.returncode == 0, told.stderr
    told = json.loads(run("evaluate", "--model", "m", "--data", "d.jsonl", "--json").stdout)
    assert told["accuracy"] == pytest.approx(ChainSSVM.load(tmp_path / "m").score(ROWS, names))


def test_marks_of_other_packages_are_told():
    """255 and -100 are labels here, with a hint, but where they are one of many; -1 beside one other label is a class."""
    for kind in (ChainSSVM, GraphSSVM):
        y = [np.where(np.arange(5) > 3, 255, above) for above in ABOVE]
        with pytest.warns(UserWarning, match="y holds the label 255, .*: unknown=255 leaves such parts out"):
            assert kind(lam=0.1).fit(INPUTS[kind], y).classes_.tolist() == [0, 1, 255]
    with pytest.warns(UserWarning, match="unknown=-100 leaves such parts out"):
        ChainSSVM(lam=0.1).fit(ROWS, [np.where(np.arange(5) > 3, -100, above) for above in ABOVE])
    with pytest.raises(ValueError, match="the label -100, .*; unknown=-100 makes it"):
        GraphSSVM().fit(INPUTS[GraphSSVM], [np.where(np.arange(5) > 3, -100, above) for above in ABOVE])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="y holds")
        assert ChainSSVM(lam=0.1).fit(ROWS, [2 * above.astype(int) - 1 for above in ABOVE]).classes_.tolist() == [-1, 1]
        many = [np.array([250 + i % 6] * 5) for i in range(len(ROWS))]
        assert 255 in ChainSSVM(lam=0.1).fit(ROWS, many).classes_
        trits = [np.where(np.arange(5) > 3, -1, above) for above in ABOVE]
        assert ChainSSVM(lam=0.1, unknown=[]).fit(ROWS, trits).classes_.tolist() == [-1, 0, 1]


def test_signs_of_two_classes_of_nodes_are_told():
    """1 and -1 alone are told once for graphs and models, where -1 is no label; not if -1 is named, nor beside another label."""
    signs = [2 * above.astype(int) - 1 for above in ABOVE]
    told = "y holds 1 and -1 alone, and -1 marks nodes whose label is not known, .* as 0 and 1; unknown=-1 says"
    for kind in (GraphSSVM, MrfSSVM):
        x, fitted = INPUTS[kind], [one.tolist() for one in signs]
        for y, unknown, count in ((signs, None, 1), (fitted, None, 1), (signs, -1, 0), ([above * 1 for above in ABOVE], None, 0)):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                kind(lam=1.0, passes=1, unknown=unknown).fit(x, y)
            assert sum(bool(re.match(told, str(one.message))) for one in found) == count, (kind, y, unknown)


def test_empty_sequences_have_empty_answers(cli, tmp_path):
    """In every answer of Python, in reports and scores, and as lines of a stream."""
    words, tags = [["the", "cat"], ["a", "dog", "barks"]], [["D", "N"], ["D", "N", "V"]]
    model = ChainSSVM(lam=0.01, template="w[0]").fit(words, tags)
    asked, truth = [words[0], [], words[1], []], [tags[0], [], tags[1], []]
    for x, y in ((asked, truth), ([[]], [[]])):
        sizes = [len(one) for one in x]
        for answers in (ask(x) for ask in (model.predict, model.margins, model.max_marginals, model.predict_marginals)):
            assert [len(one) for one in answers] == sizes
        assert [len(top.labels[0]) for top in model.predict_top(x, 2)] == sizes
    assert model.score(asked, truth) == model.score(words, tags)
    assert model.report(asked, truth) == model.report(words, tags)
    model.save(tmp_path / "m")
    lines = "".join(json.dumps({"tokens": one}) + "\n" for one in [[], *asked])
    command = [cli, "predict", "--model", tmp_path / "m", "--data", "-", "--format", "jsonl"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    assert done.stdout == "\nD N\n\nD N V\n\n" and done.returncode == 0


def sets_of(kind, labels):
    """Sequences, trees or graphs of these labels, whose features say them."""
    rng = np.random.default_rng(1)
    rows = [np.array([[1.0 if label in (1, "b") else -1.0] for label in one]) + rng.normal(size=(len(one), 3)) / 4 for one in labels]
    if kind is ChainSSVM:
        return rows
    if kind is TreeSSVM:
        return [(one, np.arange(-1, len(one) - 1), None) for one in rows]
    return [(one, np.array([[k, k + 1] for k in range(len(one) - 1)])) for one in rows]


@pytest.mark.parametrize("kind", [ChainSSVM, TreeSSVM, GraphSSVM])
@pytest.mark.parametrize("unknown", [255, "?", [255, 254], np.int64(255), []], ids=repr)
def test_files_hold_what_is_not_known(kind, unknown, tmp_path):
    """A loaded estimator, and one of a loaded path, leaves out the same labels."""
    words, none = isinstance(unknown, str), isinstance(unknown, list) and not unknown
    known = [["a", "b", "b"], ["b", "a", "a"]] if words else [[0, 1, 1], [1, 0, 0]]
    void = "?" if words else -1 if none else 255
    y = [[*one, void] for one in known] * 4
    x = sets_of(kind, y)
    if none and kind is GraphSSVM:
        pytest.skip("labels of nodes are never below 0")
    fitted = kind(lam=0.1, unknown=unknown).fit(x, y)
    assert void in fitted.classes_.tolist() if none else len(fitted.classes_) == 2
    fitted.save(tmp_path / "model")
    path = fitted.path(x, y, eps="20%", lambda_min=0.01)
    path.save(tmp_path / "path")
    every = [[void] * len(one) for one in y]
    for found in (multiplane.load(tmp_path / "model"), multiplane.load(tmp_path / "path").at(0.1), path.at(0.1), multiplane.load(tmp_path / "model")):
        assert np.array_equal(found.unknown, unknown)
        assert found.score(x, y) == found.report(x, y)["accuracy"] == (1.0 if not none else fitted.score(x, y))
        if not none:
            with pytest.raises(ValueError, match="known label"):
                found.score(x, every)
    default = kind(lam=0.1).fit(x, [one[:3] + one[:1] for one in y])
    default.save(tmp_path / "default")
    assert multiplane.load(tmp_path / "default").unknown is None
    assert void == -1 or multiplane.load(tmp_path / "default").score(x, y) < 1.0


def test_files_of_pairwise_models_hold_what_is_not_known(tmp_path):
    y = [np.where(np.arange(5) == 2, 9, above) for above in ABOVE]
    fitted = MrfSSVM(lam=0.1, unknown=9).fit(INPUTS[MrfSSVM], y)
    fitted.save(tmp_path / "model")
    found = multiplane.load(tmp_path / "model")
    assert found.unknown == 9 and found.score(INPUTS[MrfSSVM], y) == fitted.score(INPUTS[MrfSSVM], y)


@pytest.mark.parametrize("kind", [ChainSSVM, TreeSSVM, GraphSSVM])
def test_evaluate_leaves_out_what_python_did(kind, cli, tmp_path):
    """The command line honours what a model file says of unknown labels, as Python's score does; other labels count as errors."""
    rng = np.random.default_rng(5)
    y = [[1, 0, 0, 255], [0, 1, 255, 1]] * 4
    x = [np.array([[label + rng.normal() / 2, label == 0] for label in one]) for one in y]
    if kind is GraphSSVM:
        x = [(rows, PATH[:3]) for rows in x]
        arrays = {**graph_arrays(x, [np.array(one) for one in y]), "edge_features": np.ones((3 * len(x), 1))}
        save(tmp_path / "data", arrays)
    elif kind is TreeSSVM:
        x = [([{"a": float(row[0]), "b": float(row[1])} for row in rows], [-1, 0, 1, 2]) for rows in x]
        node = lambda row, label, at: {"features": row, "label": str(label), **({"parent": at - 1} if at else {})}
        lines = [{"nodes": [*map(node, rows, one, range(4))]} for (rows, _), one in zip(x, y)]
    else:
        x = [[{"a": float(row[0]), "b": float(row[1])} for row in rows] for rows in x]
        lines = [{"tokens": rows, "labels": one} for rows, one in zip(x, y)]
    if kind is not GraphSSVM:
        (tmp_path / "data").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def evaluate(y, **given):
        fitted = kind(lam=0.1, gap="1%", **given).fit(x, y)
        fitted.save(tmp_path / "model")
        command = [cli, "evaluate", "--model", tmp_path / "model", "--data", tmp_path / "data", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return fitted, json.loads(done.stdout)["accuracy"], done.stderr

    mark = -1 if kind is GraphSSVM else None
    for given in (255, [254, 255]):
        fitted, found, told = evaluate(y, unknown=given)
        assert found == fitted.score(x, y) > 0.9 and "never saw" not in told
    fitted, found, told = evaluate([[mark if label == 255 else label for label in one] for one in y])
    assert found <= 0.75 and "8 " in told and "never saw" in told


def test_whole_floats_in_graphs():
    """2.0 and 2 are one label, an integer, in whatever arrays they come."""
    for second in ([2.0, 1, 1.0, 2], np.array([2.0, 1, 1.0, 2], dtype=object), np.array([2.0, 1, 1, 2])):
        y = [np.array([1, 2, 2.0, 1.0], dtype=object), second, [1, 2, 1, 2]] * 2
        x = sets_of(GraphSSVM, [np.array(one, dtype=float) for one in y])
        graph, chain = GraphSSVM(lam=0.1).fit(x, y), ChainSSVM(lam=0.1).fit([one[0] for one in x], y)
        for found in (graph, chain):
            assert found.classes_.dtype == np.int64 and found.classes_.tolist() == [1, 2]
        assert graph.score(x, y) == 1.0 and graph.report(x, y)["accuracy"] == 1.0
    floats = GraphSSVM(lam=0.1).fit(x, [np.array(one, dtype=float) for one in y])
    assert floats.classes_.dtype == np.float64
