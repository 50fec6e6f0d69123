"""MrfSSVM: shapes of models, label counts of their own, nodes without a label, containers, files, scikit-learn."""

import itertools
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import multiplane
from multiplane import MrfSSVM

COLUMNS = {"unary_columns": [0, 1], "pair_columns": [1, 2, 3]}


def models(n=12, seed=0, nodes=4, loopy=True):
    """Models of a few nodes with one to three labels; features 0 and 1 of labels, 1 to 3 of pairs."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        counts = rng.integers(1, 4, size=nodes)
        truth = np.array([rng.integers(c) for c in counts])
        edges = [(i, i + 1) for i in range(nodes - 1)] + ([(nodes - 1, 0)] if loopy else [])
        unary = [rng.normal(size=(c, 2)) for c in counts]
        pairs = [rng.normal(size=(counts[i], counts[j], 3)) for i, j in edges]
        for v, table in enumerate(unary):
            table[truth[v], 0] += 1.5
        for (i, j), table in zip(edges, pairs):
            table[truth[i], truth[j], 1] += 1.5
        x.append((unary, np.array(edges), pairs))
        y.append(truth)
    return x, y


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


def test_files_pickle_and_clone(tmp_path):
    sklearn = pytest.importorskip("sklearn.base")
    x, y = models()
    model = MrfSSVM(lam=0.1, params={"task.max_iterations": 30}, **COLUMNS).fit(x, y)
    model.save(tmp_path / "m.safetensors")
    again = multiplane.load(tmp_path / "m.safetensors")
    assert isinstance(again, MrfSSVM) and again.params == {"task.max_iterations": 30}
    with pytest.raises(ValueError, match="unary_columns"):
        again.predict(x)
    again.set_params(**COLUMNS)
    for other in (again, pickle.loads(pickle.dumps(model))):
        for a, b in zip(model.predict(x), other.predict(x)):
            np.testing.assert_array_equal(a, b)
    copy = sklearn.clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "coef_")


def test_containers_are_data(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    x, y = models()
    offsets = lambda sizes: np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)  # noqa: E731
    arrays = {
        "node_offsets": offsets([len(one) for one in y]),
        "label_offsets": offsets([len(table) for unary, _, _ in x for table in unary]),
        "unary_features": np.concatenate([table for unary, _, _ in x for table in unary]),
        "unary_feature_columns": np.array(COLUMNS["unary_columns"]),
        "labels": np.concatenate(y),
        "edge_offsets": offsets([len(edges) for _, edges, _ in x]),
        "edges": np.concatenate([edges for _, edges, _ in x]),
        "pair_offsets": offsets([table.shape[0] * table.shape[1] for _, _, pairs in x for table in pairs]),
        "pair_features": np.concatenate([table.reshape(-1, 3) for _, _, pairs in x for table in pairs]),
        "pair_feature_columns": np.array(COLUMNS["pair_columns"]),
    }
    path = tmp_path / "models.safetensors"
    safetensors.save_file(arrays, path)
    of_file = MrfSSVM(lam=0.1, clock="work").fit(path)
    of_arrays = MrfSSVM(lam=0.1, clock="work", **COLUMNS).fit(x, y)
    np.testing.assert_array_equal(of_file.coef_, of_arrays.coef_)
    assert of_file.score(path) == of_arrays.score(x, y)
    for a, b in zip(of_file.predict(str(path)), of_arrays.predict(x)):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="holds its labels"):
        MrfSSVM().fit(path, y)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(ValueError, match="cut short"):
        MrfSSVM().fit(path)
    for name, value, message in [
        ("edges", np.full_like(arrays["edges"], 50), "edges: found node 50 of an example with 4 nodes"),
        ("labels", arrays["labels"] + 3, "labels: found [3-5] at row 0 .example 0, its row 0."),
        ("pair_offsets", arrays["pair_offsets"][:-1], "pair_offsets: found 48 numbers"),
        ("pair_feature_columns", np.array([1, 2, 9]), "found no column of feature 3"),
    ]:
        safetensors.save_file({**arrays, name: value}, path)
        with pytest.raises(ValueError, match=message):
            MrfSSVM().fit(path)


def test_bad_input_is_told():
    x, y = models()
    unary, edges, pairs = x[0]
    nan = [table * np.nan for table in unary]
    short = [table[:, :, :2] for table in pairs]
    bad = [
        (([(unary, edges)], y[:1]), r"X\[0\]: expected \(unary_features, edges, pair_features\), found a tuple of 2"),
        ((x, y[:-1]), "X has 12 examples, y has 11"),
        ((x, [one[:-1] for one in y]), r"y\[0\] has the shape \(3,\)"),
        ((x, [one + 3 for one in y]), r"y\[0\]\[0\]: found \d, a node with \d labels"),
        ((x, [one + 0.5 for one in y]), r"y\[0\]: expected whole numbers"),
        (([(unary, [[0, 9]], pairs[:1])], y[:1]), r"X\[0\]\[1\]: edge 0 joins the nodes 0 and 9 of 4"),
        (([(unary, edges, pairs[:-1])], y[:1]), r"X\[0\]: found the features of 3 edges for 4 edges"),
        (([(unary, edges, [pairs[0].transpose(1, 0, 2)[:, :0], *pairs[1:]])], y[:1]), r"X\[0\]\[2\]: edge 0 has features"),
        (([(unary, edges, [pairs[0], *short[1:]])], y[:1]), r"X\[0\]\[2\]\[1\] has 2 features"),
        (([x[0], (x[1][0], x[1][1], [t[:, :, :2] for t in x[1][2]])], y[:2]), r"X\[1\] has 2 features of pairs of labels"),
        (([(nan, edges, pairs)], y[:1]), "unary_features: found NaN in row 0, column 0"),
        (([(7, edges, pairs)], y[:1]), r"X\[0\]\[0\]: expected an array or a list of arrays"),
        ((7, y), "expected a list of models"),
        (([], []), "X is empty"),
    ]
    for (inputs, labels), message in bad:
        with pytest.raises(ValueError, match=message):
            MrfSSVM(**COLUMNS).fit(inputs, labels)
    with pytest.raises(ValueError, match="X has 2 features of labels and 3 of pairs of labels: .* unary_columns"):
        MrfSSVM().fit(x, y)
    model = MrfSSVM(lam=0.1, **COLUMNS).fit(x, y)
    assert model.predict([]) == []
    with pytest.raises(ValueError, match="not fitted"):
        MrfSSVM().predict(x)


def test_grid_search_check_path_and_warm_start():
    sklearn = pytest.importorskip("sklearn.model_selection")
    x, y = models(n=18)
    search = sklearn.GridSearchCV(MrfSSVM(gap="2%", **COLUMNS), {"lam": [0.01, 1.0]}, cv=3)
    search.fit(x, y)
    assert search.best_score_ > 0.6
    findings = MrfSSVM(lam=0.1, **COLUMNS).check(x, y)
    assert list(findings) == [] and "no fault found" in str(findings)
    assert len(MrfSSVM(**COLUMNS).path(x, y, eps=0.3, lambda_min=0.01).lambdas_) >= 1
    model = MrfSSVM(lam=0.1, passes=3, warm_start=True, **COLUMNS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = model.fit(x, y).gap_
        assert model.fit(x, y).gap_ <= first + 1e-12


def test_same_bytes_on_threads():
    script = (
        "import sys; sys.path.insert(0, {here!r}); from test_mrf import models, COLUMNS; import multiplane, hashlib\n"
        "x, y = models(); m = multiplane.MrfSSVM(lam=0.05, threads={threads}, **COLUMNS).fit(x, y)\n"
        "print(hashlib.sha256(m._model.to_bytes()).hexdigest())"
    )
    here = str(Path(__file__).parent)
    runs = [
        subprocess.run(
            [sys.executable, "-c", script.format(here=here, threads=threads)], capture_output=True, text=True, check=True
        ).stdout
        for threads in (1, 2)
    ]
    assert runs[0] == runs[1]
