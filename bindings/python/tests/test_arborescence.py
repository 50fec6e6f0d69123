"""Sentences whose trees are to be found: arrays and dicts, rules for the root, files of the command line, bad input."""

import pickle
import subprocess

import numpy as np
import pytest
from scipy.sparse import csr_array

import multiplane
from multiplane import ArborescenceSSVM, TreeSSVM, load_trees


def sentences(n=60, seed=0):
    """Articles hang on the noun after them, nouns on the verb at the end; features are noisy kinds."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        phrases = [[0, 1] if rng.random() < 0.5 else [1] for _ in range(int(rng.integers(1, 4)))]
        kinds = np.concatenate([*phrases, [2]])
        parents = [k + 1 if kind == 0 else len(kinds) - 1 for k, kind in enumerate(kinds)]
        x.append(np.eye(3)[kinds] + 0.2 * rng.normal(size=(len(kinds), 3)))
        y.append([*parents[:-1], -1])
    return x, y


def is_tree(parents):
    """Whether walks up end at the one root."""
    depth = list(range(len(parents)))
    for _ in parents:
        depth = [p if p < 0 else parents[p] for p in depth]
    return all(p < 0 for p in depth) and sum(p < 0 for p in parents) == 1


def test_trees_are_learned():
    """New sentences are parsed well, answers are trees, weights stand where their names say."""
    x, y = sentences()
    model = ArborescenceSSVM(lam=0.01, gap="2%").fit(x[:40], y[:40])
    assert model.certified_ and model.score(x[40:], y[40:]) > 0.95
    assert all(is_tree(parents.tolist()) for parents in model.predict(x))
    assert (model.root_.shape, model.distance_.shape, model.pair_.shape) == ((3,), (2, 6, 3), (3, 2, 3))
    assert model.root_.argmax() == 2 and model.pair_[1, 1].argmax() == 0  # nouns stand after their articles
    by_hand = sum(model.root_ @ row for row in x[0][-1:])
    for word, parent in enumerate(y[0][:-1]):
        arc = model.distance_[1, [0, 1, 2, 3, 3, 4][parent - word - 1]] + np.tensordot(x[0][parent], model.pair_[:, 1], 1)
        by_hand += arc @ x[0][word]
    top = model.predict_top(x[:1], 50)[0]
    scores = {tuple(tree.tolist()): score for tree, score in zip(top.labels, top.scores, strict=True)}
    assert top.exact and abs(scores[tuple(y[0])] - by_hand) < 1e-9


def test_lists_and_margins():
    """Lists begin with predictions and hold trees in order; max-marginals are the best of them with each arc."""
    x, y = sentences(20)
    model = ArborescenceSSVM(gap="5%").fit(x, y)
    for sentence, parents in zip(x, model.predict(x), strict=True):
        top, table = model.predict_top([sentence], 10_000)[0], model.max_marginals([sentence])[0]
        assert np.array_equal(top.labels[0], parents) and np.all(np.diff(top.scores) <= 1e-12)
        assert all(is_tree(tree.tolist()) for tree in top.labels)
        words = len(parents)
        if words > 4:
            continue  # more trees than are listed
        best = np.full((words, words + 1), -np.inf)
        for tree, score in zip(top.labels, top.scores, strict=True):
            place = (np.arange(words), tree + 1)
            best[place] = np.maximum(best[place], score)
        assert np.allclose(table, best)
        rest = np.where(np.arange(words + 1) == (parents + 1)[:, None], -np.inf, best).max(axis=1)
        assert np.allclose(model.margins([sentence])[0], top.scores[0] - rest)


def test_kinds_of_features_and_root():
    """Sparse rows and dicts give what dense rows do; several children of the root are for those who ask."""
    x, y = sentences(30)
    expected = ArborescenceSSVM(gap="5%", clock="work").fit(x, y)
    sparse = ArborescenceSSVM(gap="5%", clock="work").fit([csr_array(rows) for rows in x], y)
    named = [[dict(zip("abc", row.tolist(), strict=True)) for row in rows] for rows in x]
    by_name = ArborescenceSSVM(gap="5%", clock="work").fit(named, y)
    assert np.array_equal(sparse.coef_, expected.coef_) and np.array_equal(by_name.coef_, expected.coef_)
    assert [a.tolist() for a in by_name.predict(named)] == [a.tolist() for a in expected.predict(x)]
    flat = [[-1] * len(parents) for parents in y]
    with pytest.raises(ValueError, match="X\\[0\\]: node 1: found a second root after node 0"):
        ArborescenceSSVM().fit(x, flat)
    free = ArborescenceSSVM(params={"task.structure.root": "any", "task.structure.distances": [2]}, gap="5%")
    free.fit(x, flat)
    assert free.score(x, flat) == 1.0 and free.distance_.shape == (2, 2, 3)


def test_pickle_check_path_solvers_and_test_data(tmp_path):
    """What estimators have beside fit; solvers that sum over trees."""
    x, y = sentences(30)
    model = ArborescenceSSVM(gap="5%").fit(x[:20], y[:20], X_test=x[20:], y_test=y[20:])
    assert all(record["test_loss"] is not None for record in model.history_)
    model.save(tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(model)), multiplane.load(tmp_path / "m"), ArborescenceSSVM.load(tmp_path / "m")):
        assert type(again) is ArborescenceSSVM
        assert [a.tolist() for a in again.predict(x)] == [a.tolist() for a in model.predict(x)]
        assert np.array_equal(again.fit(x[:20], y[:20]).pair_, again.pair_)
    with pytest.raises(ValueError, match="holds a ArborescenceSSVM, expected a TreeSSVM"):
        TreeSSVM.load(tmp_path / "m")
    assert not ArborescenceSSVM().check(x, y, examples=5)
    path = ArborescenceSSVM().path(x, y, eps=0.3, lambda_min=0.1)
    assert path.certified_ and path.at(0.2).predict(x)[0].shape == (len(y[0]),)
    for solver in ("bcpl", "oeg"):
        other = ArborescenceSSVM(solver=solver, lam=0.1, passes=30, gap="20%").fit(x, y)
        assert other.dual_ <= ArborescenceSSVM(lam=0.1, gap="1%").fit(x, y).primal_ <= other.primal_ + 1e-2
    assert model.predict([]) == []


def test_files_of_the_command_line(cli, tmp_path):
    """`load_trees` reads what the program writes; a model from there is used here."""
    subprocess.run([cli, "data", "make", "trees", "--out", "t.jsonl", "--n", "40"], cwd=tmp_path, check=True)
    x, y = load_trees(tmp_path / "t.jsonl")
    assert len(x) == len(y) == 40 and {"root", "subject"} <= {label for labels in y for label in labels}
    features, parents, types = x[0]
    assert all(isinstance(word, dict) and len(word) == 2 for word in features)
    assert parents.min() == -1 and types[parents.argmin()] is None
    roles = TreeSSVM(gap="10%").fit(x, y)
    words, heads = [tree[0] for tree in x], [tree[1] for tree in x]
    here = ArborescenceSSVM(gap="5%", clock="work").fit(words, heads)
    train = [cli, "train", "--task", "tree", "--set", "task.structure=arborescence", "--data", "t.jsonl"]
    subprocess.run([*train, "--gap", "5%", "--clock", "work", "--quiet", "--out", "m"], cwd=tmp_path, check=True)
    there = multiplane.load(tmp_path / "m")
    assert isinstance(there, ArborescenceSSVM) and np.array_equal(there.coef_, here.coef_)
    assert roles.predict(x)[0].shape == there.predict(words)[0].shape
    (tmp_path / "d.jsonl").write_text('{"nodes": [{"features": [1, 0]}, {"features": [0, 2.5], "label": "a"}]}\n')
    (features, parents, types), labels = (part[0] for part in load_trees(tmp_path / "d.jsonl"))
    assert features.tolist() == [[1, 0], [0, 2.5]] and parents is None
    assert types == [None, None] and labels == [None, "a"]


@pytest.mark.parametrize(
    ("sentence", "parents", "message"),
    [
        (np.zeros((2, 2)), [-1, 1], "X\\[0\\]: node 1: found itself as parent"),
        (np.zeros((2, 2)), [1, 0], "X\\[0\\]: node 0: found the cycle 0 -> 1 -> 0"),
        (np.zeros((2, 2)), [-1, 7], "X\\[0\\]: node 1: found parent 7"),
        (np.zeros((2, 2)), [-1, 0.5], "y\\[0\\]\\[1\\] is 0.5: expected the number of a node"),
        (np.zeros((2, 2)), [-1], "X\\[0\\]: found 1 parents for 2 nodes"),
        ((np.zeros((2, 2)), [-1, 0]), [-1, 0], "X\\[0\\] is a tuple"),
        (np.full((1, 2), np.nan), [-1], "NaN|nan"),
        ([{"a": float("inf")}], [-1], "X\\[0\\]: node 0: found inf as feature `a`"),
    ],
)
def test_bad_sentences_are_refused(sentence, parents, message):
    """One error with the sentence, the word and the rule."""
    with pytest.raises(ValueError, match=message):
        ArborescenceSSVM().fit([sentence], [parents])


def test_structures_are_classes():
    """What is to be found is the class's affair."""
    x, y = sentences(3)
    with pytest.raises(ValueError, match="ArborescenceSSVM finds trees"):
        TreeSSVM(params={"task.structure": {"name": "arborescence"}}).fit([(x[0], y[0])], [y[0]])
    with pytest.raises(ValueError, match="TreeSSVM labels"):
        ArborescenceSSVM(params={"task.structure": "labels"}).fit(x, y)
