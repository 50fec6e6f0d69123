"""Trees: arrays and dicts, types of edges, paths as chains, files of the command line, bad input."""

import pickle
import subprocess

import numpy as np
import pytest
from conftest import sequences
from scipy.sparse import csr_array

import multiplane
from multiplane import ChainSSVM, TreeSSVM


def trees(n=40, labels=3, seed=0):
    """Trees whose labels follow their parents' labels, by the type of the edge, and their features."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        nodes = int(rng.integers(1, 8))
        parents = [-1] + [int(rng.integers(k)) for k in range(1, nodes)]
        types = [None] + [("same", "next")[int(rng.integers(2))] for _ in range(1, nodes)]
        found = [int(rng.integers(labels))]
        for k in range(1, nodes):
            found.append((found[parents[k]] + (types[k] == "next")) % labels)
        x.append((np.eye(labels)[found] + 0.8 * rng.normal(size=(nodes, labels)), np.array(parents), types))
        y.append(found)
    return x, y


def test_types_of_edges_are_learned():
    """One table for each type, which says what the data were made with; new trees are labelled well."""
    x, y = trees(120)
    model = TreeSSVM(lam=0.02, gap="1%").fit(x[:80], y[:80])
    assert model.certified_ and model.types_ == ["next", "same"]
    assert model.coef_.shape == (9 + 2 * 9,) and model.pairwise_.shape == (2, 3, 3)
    assert model.pairwise_[1].argmax(axis=1).tolist() == [0, 1, 2]
    assert model.pairwise_[0].argmax(axis=1).tolist() == [1, 2, 0]
    assert model.score(x[80:], y[80:]) > 0.85


def test_a_path_is_a_chain():
    """One optimum: brackets overlap, and so close to it the weights are near. Ties are broken in another order."""
    x, y = sequences()
    paths = [(rows, [None, *range(len(rows) - 1)]) for rows in x]
    tree = TreeSSVM(gap=1e-7, clock="work").fit(paths, y)
    chain = ChainSSVM(gap=1e-7, clock="work").fit(x, y)
    assert tree.dual_ <= chain.primal_ and chain.dual_ <= tree.primal_
    # Half of lambda |w - w*|^2 is at most the gap.
    assert np.linalg.norm(tree.coef_ - chain.coef_) <= 2 * (2 * 1e-7 * len(x)) ** 0.5


def test_kinds_of_features():
    """Sparse rows and dicts: what dense rows give, in the order in which names appear."""
    x, y = trees()
    expected = TreeSSVM(gap="5%", clock="work").fit(x, y)
    sparse = TreeSSVM(gap="5%", clock="work").fit([(csr_array(a), *rest) for a, *rest in x], y)
    assert np.array_equal(sparse.coef_, expected.coef_)
    named = [([dict(zip("abc", row.tolist(), strict=True)) for row in a], *rest) for a, *rest in x]
    by_name = TreeSSVM(gap="5%", clock="work").fit(named, y)
    assert np.array_equal(by_name.coef_, expected.coef_)
    assert [a.tolist() for a in by_name.predict(named)] == [a.tolist() for a in expected.predict(x)]


def test_pickle_check_path_and_test_data():
    """What estimators have beside fit."""
    x, y = trees()
    model = TreeSSVM(gap="5%").fit(x[:30], y[:30], X_test=x[30:], y_test=y[30:])
    assert all(record["test_loss"] is not None for record in model.history_)
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(x)] == [a.tolist() for a in model.predict(x)]
    assert not TreeSSVM().check(x, y, examples=5)
    path = TreeSSVM().path(x, y, eps=0.3, lambda_min=0.1)
    assert path.certified_ and path.at(0.2).predict(x)[0].shape == (len(y[0]),)
    assert model.predict([]) == []


def test_the_command_line_reads_the_model(cli, tmp_path):
    """A model from here is used there, and the other way round."""
    subprocess.run([cli, "data", "make", "trees", "--out", "t.jsonl", "--n", "30"], cwd=tmp_path, check=True)
    train = [cli, "train", "--task", "tree", "--data", "t.jsonl", "--gap", "5%", "--quiet", "--out", "m"]
    subprocess.run(train, cwd=tmp_path, check=True)
    model = multiplane.load(tmp_path / "m")
    assert isinstance(model, TreeSSVM) and model.types_ == ["after", "before"]
    words = [{"w=the": 1, "t=DT": 1}, {"w=plane": 1, "t=NN": 1}, {"w=say": 1, "t=VB": 1}]
    found = model.predict([(words, [1, 2, None], ["before", "before", None])])[0]
    assert found.tolist() == ["article", "subject", "root"]
    with pytest.raises(ValueError, match="holds a TreeSSVM, expected a ChainSSVM"):
        ChainSSVM.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("tree", "labels", "message"),
    [
        (np.zeros((2, 2)), [0, 1], "expected \\(features, parents\\)"),
        ((np.zeros((2, 2)), [-1, 1]), [0, 1], "X\\[0\\]: node 1: found itself as parent"),
        ((np.zeros((2, 2)), [1, 0]), [0, 1], "X\\[0\\]: node 0: found the cycle 0 -> 1 -> 0"),
        ((np.zeros((2, 2)), [-1, -1]), [0, 1], "X\\[0\\]: node 1: found a second root after node 0"),
        ((np.zeros((2, 2)), [-1, 7]), [0, 1], "X\\[0\\]: node 1: found parent 7"),
        ((np.zeros((2, 2)), [-1, 0.5]), [0, 1], "X\\[0\\]\\[1\\]\\[1\\] is 0.5: expected the number of a node"),
        ((np.zeros((2, 2)), [-1]), [0, 1], "X\\[0\\]: found 1 parents for 2 nodes"),
        ((np.zeros((2, 2)), [-1, 0], ["a"]), [0, 1], "X\\[0\\]: found 1 types for 2 nodes"),
        ((np.zeros((2, 2)), [-1, 0]), [0], "X\\[0\\]: found 1 labels for 2 nodes"),
        ((np.zeros((2, 2)), [-1, 0]), [None, float("nan")], "y holds no known label: there is nothing to learn from"),
        ((np.zeros((2, 2)), None), [0, 1], "found 2 nodes without any parent"),
        ((np.full((1, 2), np.nan), [-1]), [0], "NaN|nan"),
        (([{"a": float("inf")}], [-1]), [0], "X\\[0\\]: node 0: found inf as feature `a`"),
        (([{"a": "b"}], [-1]), [0], "X\\[0\\]\\[0\\]\\[0\\] is"),
    ],
)
def test_bad_trees_are_refused(tree, labels, message):
    """One error with the tree, the node and the rule."""
    with pytest.raises(ValueError, match=message):
        TreeSSVM().fit([tree], [labels])


def test_labels_that_are_not_known_and_rows_of_another_width():
    x = [(np.eye(3)[[0, 1, 2, 1]], [-1, 0, 0, 1]), (np.eye(3)[[2, 1, 0]], [-1, 0, 1])]
    y = [["a", "b", "c", "b"], ["c", "b", "a"]]
    model = TreeSSVM(lam=0.01, passes=50, gap="1%").fit(x, y)
    assert model.score(x, y) == 1.0
    assert model.score(x, [["a", None, None, "c"], ["c", None, None]]) == 2 / 3
    with pytest.raises(ValueError, match="no known label"):
        model.score(x, [[None] * 4, [None] * 3])
    with pytest.raises(ValueError, match=r"X\[1\] has 2 features, but TreeSSVM is expecting 3 features as input"):
        model.predict([x[0], (np.ones((2, 2)), [-1, 0])])
    for parent in ("a", -2, 0.5, True):
        with pytest.raises(ValueError, match=r"X\[0\]\[1\]\[1\] is .*: expected the number of a node, or -1 or None at the root"):
            TreeSSVM().fit([(np.eye(3)[:2], [-1, parent])], [["a", "b"]])
