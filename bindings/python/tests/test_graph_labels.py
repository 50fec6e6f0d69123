"""Graphs and pairwise models of which not all is known, or that are not what the model was trained on."""

import json
import struct
import warnings

import numpy as np
import pytest
from graph_data import COLUMNS, graph_arrays, grids, models, mrf_arrays

from multiplane import GraphSSVM, MrfSSVM


def save(path, arrays, **metadata):
    """A container of these tensors."""
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    kinds = {"f": "F64", "i": "I64"}
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": kinds[array.dtype.kind], "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]
        }  # fmt: skip
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


KINDS = {
    "graph": (GraphSSVM(lam=0.1, clock="work"), grids, graph_arrays, "graphs"),
    "mrf": (MrfSSVM(lam=0.1, clock="work", **COLUMNS), models, mrf_arrays, "models"),
}


def full_arrays(kind, x, y):
    """All tensors of a container."""
    return KINDS[kind][2](x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_examples_without_a_known_label_are_no_part_of_the_score(kind, tmp_path):
    """They are left out with one warning; where no label is known there is no score. The same of lists and of files."""
    model, data, _, things = KINDS[kind]
    x, y = data()
    model.fit(x, y)
    wrong = [one.copy() for one in y]
    for one in wrong[2:]:
        one[:] = -1
    expected = model.score(x[:2], wrong[:2])
    path = save(tmp_path / "partly.safetensors", full_arrays(kind, x, wrong))
    for given in ((x, wrong), (path,)):
        with pytest.warns(UserWarning, match=f"10 of 12 {things} have no known label: they are left out") as told:
            assert model.score(*given) == expected
        assert len(told) == 1
    unknown = [np.full(len(one), -1) for one in y]
    path = save(tmp_path / "unknown.safetensors", full_arrays(kind, x, unknown))
    for given in ((x, unknown), (path,)):
        with pytest.raises(ValueError, match=f"no node of these {things} has a known label"):
            model.score(*given)
    bare = {name: array for name, array in full_arrays(kind, x, y).items() if name != "labels"}
    path = save(tmp_path / "bare.safetensors", bare)
    for one, other in zip(model.predict(path), model.predict(x), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="has a known label"):
        model.score(path)


@pytest.mark.parametrize("kind", KINDS)
def test_checks_are_not_alarmed_by_nodes_without_a_label(kind):
    """Labellings of labelled nodes do not compete with those of all nodes."""
    model, data, *_ = KINDS[kind]
    x, y = data()
    holes = [one.copy() for one in y]
    for i, one in enumerate(holes):
        one[i % 3] = -1
    for params in ({}, {"task.inference": "trws"}):
        found = model.set_params(params=params).check(x, holes, seconds=20)
        assert not found, str(found)


def test_features_of_another_making_are_warned_of(tmp_path):
    """A file that says that its features were made otherwise gets one warning; the model's file remembers."""
    x, y = grids()
    train = save(tmp_path / "train.safetensors", graph_arrays(x, y), **{"multiplane.features": "one"})
    other = save(tmp_path / "other.safetensors", graph_arrays(x, y), **{"multiplane.features": "two"})
    plain = save(tmp_path / "plain.safetensors", graph_arrays(x, y))
    model = GraphSSVM(lam=0.1).fit(train)
    model.save(tmp_path / "model")
    for one in (model, GraphSSVM.load(tmp_path / "model")):
        assert one.features_id_ == "one"
        for ask in (one.predict, one.score):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                ask(train), ask(plain), ask(x) if ask == one.predict else ask(x, y)
            with pytest.warns(UserWarning, match="the features were not made as those that the model was trained on") as told:
                ask(other)
            assert len(told) == 1
    assert GraphSSVM(lam=0.1).fit(x, y).features_id_ is None


def test_faults_of_lists_name_example_and_place():
    """Labels, ends of edges and features of edges: which example, which node or row, what was found."""
    x, y = grids()
    (f, e), late = x[4], [one.copy() for one in y]
    late[4][7] = -5
    with pytest.raises(ValueError, match=r"y\[4\]\[7\]: found the label -5, expected labels >= 0, or -1"):
        GraphSSVM().fit(x, late)
    cases = [
        (np.vstack([e[:3], [[0, -2]]]), r"X\[4\]\[1\]\[3\]: joins the nodes 0 and -2, expected numbers from 0 to 8"),
        (np.vstack([e[:2], [[0, 9]]]), r"X\[4\]\[1\]\[2\]: joins the nodes 0 and 9"),
        (np.vstack([e[:2], [[1.5, 2]]]), r"X\[4\]\[1\]\[2\]: found \[1.5, 2.0\], expected whole numbers"),
        (np.vstack([e[:2], [[np.nan, 2]]]), r"X\[4\]\[1\]\[2\]: found \[nan, 2.0\], expected whole numbers"),
        (np.vstack([e[:2], [[3, 3]]]), r"X\[4\]\[1\]\[2\]: joins node 3 to itself"),
    ]
    for edges, message in cases:
        with pytest.raises(ValueError, match=message):
            GraphSSVM().fit([*x[:4], (f, edges), *x[5:]], y)
    np.testing.assert_array_equal(
        GraphSSVM(lam=0.1, clock="work").fit([(f, e.astype(float)) for f, e in x], y).coef_,
        GraphSSVM(lam=0.1, clock="work").fit(x, y).coef_,
    )


def test_edge_features_are_not_made_up():
    """Features of edges are given for all graphs or for none, in training and afterwards."""
    x, y = grids()
    featured = [(f, e, np.full((len(e), 1), 0.5)) for f, e in x]
    with pytest.raises(ValueError, match=r"X\[0\] has no edge features, and X\[1\] has"):
        GraphSSVM().fit([x[0], *featured[1:]], y)
    model = GraphSSVM(lam=0.1).fit(featured, y)
    with pytest.raises(ValueError, match=r"X\[0\] has no edge features, but GraphSSVM was fitted on graphs that have them"):
        model.predict(x)
    assert len(model.predict(featured)) == len(x)
    assert len(GraphSSVM(lam=0.1).fit(x, y).predict(x)) == len(x)


def test_nodes_of_networkx_have_the_rows_of_their_numbers():
    """Whole numbers go by number in whatever order they came; other nodes by the order in which they were added."""
    networkx = pytest.importorskip("networkx")
    x, y = grids()
    model = GraphSSVM(lam=0.1, clock="work").fit([(f, e, np.ones((len(e), 1))) for f, e in x], y)

    def network(edges, order, name):
        g = networkx.Graph()
        g.add_nodes_from(name(node) for node in order)
        g.add_edges_from((name(i), name(j)) for i, j in edges.tolist())
        return g

    for order, name in ((range(9), int), (range(8, -1, -1), int), (range(9), "n{}".format), (range(9), lambda n: n + 10)):
        found = GraphSSVM(lam=0.1, clock="work").fit([(f, network(e, order, name)) for f, e in x], y)
        np.testing.assert_allclose(found.coef_, model.coef_, rtol=1e-2, atol=2e-2)  # the order of the edges differs
    mirrored = GraphSSVM(lam=0.1, clock="work").fit([(f, network(e, range(8, -1, -1), "n{}".format)) for f, e in x], y)
    assert len(mirrored.coef_) == len(model.coef_)
    loop = network(x[0][1], range(9), int)
    loop.add_edge(4, 4)
    with pytest.raises(ValueError, match=r"X\[0\]\[1\]: joins node 4 to itself"):
        GraphSSVM().fit([(x[0][0], loop)], y[:1])


def test_coefficients_in_their_parts():
    """``node_coef_`` and ``edge_coef_`` are ``coef_``, shaped, of a loaded model as well."""
    x, y = grids(labels=3)
    featured = [(f, e, np.ones((len(e), 2))) for f, e in x]
    for params, shape in (({}, (2,)), ({"task.pairwise": "full"}, (2, 3, 3))):
        model = GraphSSVM(lam=0.1, passes=20, params=params).fit(featured, y)
        assert model.node_coef_.shape == (3, 4) and model.edge_coef_.shape == shape
        np.testing.assert_array_equal(np.concatenate([model.node_coef_.ravel(), model.edge_coef_.ravel()]), model.coef_)
    assert not hasattr(GraphSSVM(), "node_coef_")


def test_weights_that_a_loss_ignores():
    """One warning in ``fit``; weights that are all 0 are refused where the loss goes by them."""
    x, y = grids()
    weights = [np.ones(9)] * len(x)
    with pytest.warns(UserWarning, match="node_weights have no effect on training with loss=hamming") as told:
        GraphSSVM(lam=0.1).fit(x, y, node_weights=weights)
    assert len(told) == 1
    by_weight = GraphSSVM(lam=0.1, params={"task.loss": "node-weighted"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_weight.fit(x, y, node_weights=weights)
    with pytest.raises(ValueError, match="the node_weights of all labelled nodes are 0"):
        by_weight.fit(x, y, node_weights=[np.zeros(9)] * len(x))
    x, y = models()
    with pytest.raises(ValueError, match="the node_weights of all labelled nodes are 0"):
        MrfSSVM(params={"task.loss": "node-weighted"}, **COLUMNS).fit(x, y, node_weights=[np.zeros(4)] * len(x))


def test_small_default_lambdas_are_hinted_at():
    """Passes that are spent at lambda = 1/n come with what to begin with."""
    x, y = grids()
    with pytest.warns(UserWarning, match="lambda = 1/n is small here; for task `graph` begin with 1"):
        GraphSSVM(passes=1).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GraphSSVM(passes=1, lam=1.0).fit(x, y)
