"""MrfSSVM: shapes of models, label counts of their own, nodes without a label, containers, files, scikit-learn."""

import itertools
import warnings

import numpy as np
import pytest
from graph_data import COLUMNS, models

from multiplane import MrfSSVM

def score_of(w, x, y):
    """Score of a labelling by hand."""
    unary, edges, pairs = x
    alone = sum(w[[0, 1]] @ table[label] for table, label in zip(unary, y))
    return alone + sum(w[[1, 2, 3]] @ table[y[i], y[j]] for (i, j), table in zip(edges, pairs))


def test_predictions_are_the_best_labellings():
    for loopy in (False, True):
        x, y = models(loopy=loopy)
        model = MrfSSVM(lam=0.1, gap="1%", **COLUMNS).fit(x, y)
        assert model.certified_ and model.gap_ <= 0.011 * model.primal_
        assert model.coef_.shape == (4,) and model.n_features_in_ == 4
        for one, found in zip(x, model.predict(x)):
            assert found.dtype == np.int64
            every = itertools.product(*(range(len(table)) for table in one[0]))
            best = max(score_of(model.coef_, one, list(other)) for other in every)
            assert score_of(model.coef_, one, found.tolist()) == pytest.approx(best, abs=1e-9)
        assert model.score(x, y) > 0.7


def test_arrays_and_lists_are_one():
    rng = np.random.default_rng(3)
    edges = np.array([[0, 1], [1, 2]])
    x = [(rng.normal(size=(3, 2, 2)), edges, rng.normal(size=(2, 2, 2, 2))) for _ in range(8)]
    y = [rng.integers(0, 2, size=3) for _ in x]
    lists = [(list(unary), edges.tolist(), [table.tolist() for table in pairs]) for unary, _, pairs in x]
    one = MrfSSVM(lam=0.1, clock="work").fit(x, y)
    other = MrfSSVM(lam=0.1, clock="work").fit(lists, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    explicit = MrfSSVM(lam=0.1, clock="work", unary_columns=[0, 1], pair_columns=[0, 1]).fit(x, y)
    np.testing.assert_array_equal(one.coef_, explicit.coef_)
    zeros = [
        (np.pad(u, ((0, 0), (0, 0), (0, 2))), e, np.pad(p, ((0, 0), (0, 0), (0, 0), (2, 0)))) for u, e, p in x
    ]
    sparse = MrfSSVM(lam=0.1, clock="work", unary_columns=[0, 1], pair_columns=[2, 3]).fit(x, y)
    dense = MrfSSVM(lam=0.1, clock="work").fit(zeros, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)
    alone = [(unary, np.zeros((0, 2), dtype=int), []) for unary, _, _ in x]
    assert MrfSSVM(lam=0.1).fit(alone, y).coef_.shape == (2,)
    narrow = [(u.astype(np.float32), e, p.astype(np.float32)) for u, e, p in x]
    np.testing.assert_allclose(MrfSSVM(lam=0.1, clock="work").fit(narrow, y).coef_, one.coef_, rtol=0.05, atol=0.05)


def test_nodes_without_a_label_leave_with_their_edges():
    x, y = models(loopy=False)
    holes = [np.concatenate([[-1], one[1:]]) for one in y]
    partly = MrfSSVM(lam=0.1, gap=1e-8, **COLUMNS).fit(x, holes)
    cut = [(unary[1:], edges[1:] - 1, pairs[1:]) for unary, edges, pairs in x]
    without = MrfSSVM(lam=0.1, gap=1e-8, **COLUMNS).fit(cut, [one[1:] for one in y])
    np.testing.assert_allclose(partly.coef_, without.coef_, atol=1e-3)  # what 1e-8 allows at this lambda
    assert all(len(found) == 4 and (found >= 0).all() for found in partly.predict(x))
    assert partly.score(x, holes) == pytest.approx(without.score(cut, [one[1:] for one in y]), abs=0.1)


def test_engines_and_losses():
    x, y = models(n=10, nodes=5)
    auto = MrfSSVM(lam=0.1, gap="1%", **COLUMNS).fit(x, y)
    for params in ({"task.inference": "trws"}, {"task.inference": "brute"}):
        other = MrfSSVM(lam=0.1, gap="1%", params=params, **COLUMNS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other.fit(x, y)
        assert other.certified_ and other.dual_ <= auto.primal_ + 1e-9 and auto.dual_ <= other.primal_ + 1e-9
    with pytest.raises(ValueError, match="needs models without cycles, and example 0 has one"):
        MrfSSVM(params={"task.inference": "tree"}, **COLUMNS).fit(x, y)
    weighted = MrfSSVM(lam=0.1, params={"task.loss": "node-weighted"}, **COLUMNS)
    assert weighted.fit(x, y, node_weights=[np.arange(1.0, 6.0)] * len(x)).certified_
    assert len(weighted.predict(x)) == len(x)  # who predicts needs no weights
    with pytest.raises(ValueError, match="needs node_weights"):
        MrfSSVM(params={"task.loss": "node-weighted"}, **COLUMNS).fit(x, y)


def test_bad_input_is_told():
    x, y = models()
    unary, edges, pairs = x[0]
    nan = [table * np.nan for table in unary]
    short = [table[:, :, :2] for table in pairs]
    bad = [
        (([(unary, edges)], y[:1]), r"X\[0\]: expected \(unary_features, edges, pair_features\), found a tuple of 2"),
        ((x, [one + 3 for one in y]), r"y\[0\]\[0\]: found \d, a node with \d labels"),
        ((x, [one + 0.5 for one in y]), r"y\[0\]: expected whole numbers"),
        (([(unary, [[0, 9]], pairs[:1])], y[:1]), r"X\[0\]\[1\]\[0\]: joins the nodes 0 and 9, expected numbers from 0 to 3"),
        (([(unary, [[0, 1], [2, 2]], pairs[:2])], y[:1]), r"X\[0\]\[1\]\[1\]: joins node 2 to itself"),
        (([([unary[0], unary[1][:0], *unary[2:]], edges, pairs)], y[:1]), r"X\[0\]\[0\]\[1\]: a node with no label"),
        (([(unary, edges, pairs[:-1])], y[:1]), r"X\[0\]: found the features of 3 edges for 4 edges"),
        (([(unary, edges, [pairs[0].transpose(1, 0, 2)[:, :0], *pairs[1:]])], y[:1]), r"X\[0\]\[2\]: edge 0 has features"),
        (([(unary, edges, [pairs[0], *short[1:]])], y[:1]), r"X\[0\]\[2\]\[1\] has 2 features"),
        (([x[0], (x[1][0], x[1][1], [t[:, :, :2] for t in x[1][2]])], y[:2]), r"X\[1\] has 2 features of pairs of labels"),
        (([(nan, edges, pairs)], y[:1]), r"X\[0\]\[0\]\[0\]\[0, 0\]: found nan, expected finite numbers"),
        (([(7, edges, pairs)], y[:1]), r"X\[0\]\[0\]: expected an array or a list of arrays"),
    ]
    for (inputs, labels), message in bad:
        with pytest.raises(ValueError, match=message):
            MrfSSVM(**COLUMNS).fit(inputs, labels)
    for columns, message in (
        ([0], "unary_columns: found 1 numbers, expected one per column: 2"), ([0.5, 0], r"unary_columns = \[0.5, 0\]: expected whole"),
        ("ab", "unary_columns: expected numbers"), ([0, 9], "unary_columns and pair_columns: found no column of feature 4"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{message}"):
            MrfSSVM(unary_columns=columns, pair_columns=COLUMNS["pair_columns"]).fit(x, y)
    with pytest.raises(ValueError, match="X has 2 features of labels and 3 of pairs of labels: .* unary_columns"):
        MrfSSVM().fit(x, y)
    with pytest.raises(ValueError, match="X has 5 features, but MrfSSVM is expecting 4 .* unary_columns"):
        MrfSSVM(lam=0.1, **COLUMNS).fit(x, y).set_params(unary_columns=[0, 1], pair_columns=[2, 3, 4]).predict(x)
