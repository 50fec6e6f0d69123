"""predict_top, max_marginals and margins of every estimator of a built-in task, against scores by hand."""

import itertools
import math

import numpy as np
import pytest
from problems import Multiclass
from test_graph import grids
from test_graph import score_of as graph_score
from test_mrf import COLUMNS, models
from test_mrf import score_of as mrf_score
from test_multilabel import scenes

from multiplane import BinarySSVM, ChainSSVM, GraphSSVM, MrfSSVM, MultiLabelSSVM, MulticlassSSVM, StructuredSVM

FEW = {"passes": 3, "lam": 0.05}


def held(found, margins, table, labels, score):
    """Holds what was found of one example against all its labellings; ``labels`` lists those of each variable."""
    every = [np.array(y) for y in itertools.product(*labels)]
    scores = np.array([score(y) for y in every])
    order = np.sort(scores)[::-1]
    assert found.exact
    assert len(found.labels) == len(found.scores) == min(4, len(every))
    np.testing.assert_allclose(found.scores, order[: len(found.scores)], atol=1e-9)
    for y, value in zip(found.labels, found.scores):
        assert math.isclose(score(np.atleast_1d(y)), value, abs_tol=1e-9)
    assert len({tuple(np.atleast_1d(y).tolist()) for y in found.labels}) == len(found.labels)
    for v, own in enumerate(labels):
        best = [max(s for y, s in zip(every, scores) if y[v] == label) for label in own]
        np.testing.assert_allclose(table[v], best, atol=1e-9)
        chosen = list(own).index(np.atleast_1d(found.labels[0])[v])
        others = [value for k, value in enumerate(best) if k != chosen]
        assert math.isclose(margins[v], best[chosen] - max(others, default=-math.inf), abs_tol=1e-9)


@pytest.mark.parametrize("names", [[3, 5, 9], ["low", "mid", "top"]])
def test_classes(names):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(30, 4)), np.array(names)[rng.integers(3, size=30)]
    several = MulticlassSSVM(**FEW).fit(x, y)
    scores = several.decision_function(x)
    np.testing.assert_allclose(several.max_marginals(x), scores, atol=1e-12)
    ordered = np.sort(scores, axis=1)
    np.testing.assert_allclose(several.margins(x), ordered[:, -1] - ordered[:, -2], atol=1e-12)
    for found, row, best in zip(several.predict_top(x, 9), scores, several.predict(x)):
        assert found.labels == list(several.classes_[np.argsort(-row)]) and found.labels[0] == best
        np.testing.assert_allclose(found.scores, np.sort(row)[::-1], atol=1e-12)
    two = BinarySSVM(**FEW).fit(x, y == names[0])
    np.testing.assert_allclose(two.margins(x), np.abs(two.decision_function(x)), atol=1e-12)
    assert [found.labels[0] for found in two.predict_top(x, 2)] == two.predict(x).tolist()
    assert two.max_marginals(x).shape == (30, 2)


def test_chains():
    rng = np.random.default_rng(2)
    x = [rng.normal(size=(length, 3)) for length in (3, 1, 4)]
    y = [[("a", "b", "c")[k] for k in rng.integers(3, size=len(one))] for one in x]
    y[0] = ["a", "b", "c"]
    chain = ChainSSVM(**FEW).fit(x, y)
    unary, pair = chain.coef_[:9].reshape(3, 3), chain.coef_[9:].reshape(3, 3)
    number = {name: k for k, name in enumerate(chain.classes_)}
    found, margins, tables = chain.predict_top(x, 4), chain.margins(x), chain.max_marginals(x)
    for i, predicted in enumerate(chain.predict(x)):

        def score(labels, i=i):
            k = [number[label] for label in labels]
            return sum(unary[k[t]] @ x[i][t] for t in range(len(k))) + sum(pair[a, b] for a, b in zip(k, k[1:]))

        assert tables[i].shape == (len(x[i]), 3) and (found[i].labels[0] == predicted).all()
        held(found[i], margins[i], tables[i], [list(chain.classes_)] * len(x[i]), score)
    assert chain.predict_top([], 2) == chain.margins([]) == []


def test_graphs_and_models():
    x, y = grids(n=4, width=2)
    graph = GraphSSVM(**FEW).fit(x, y)
    found, margins, tables = graph.predict_top(x, 4), graph.margins(x), graph.max_marginals(x)
    for i, predicted in enumerate(graph.predict(x)):
        assert (found[i].labels[0] == predicted).all()
        held(found[i], margins[i], tables[i], [[0, 1]] * 4, lambda z, i=i: graph_score(graph.coef_, x[i], z, 2))
    x, y = models(n=5)
    mrf = MrfSSVM(**FEW, **COLUMNS).fit(x, y)
    found, margins, tables = mrf.predict_top(x, 4), mrf.margins(x), mrf.max_marginals(x)
    for i, predicted in enumerate(mrf.predict(x)):
        labels = [list(range(len(table))) for table in x[i][0]]
        assert (found[i].labels[0] == predicted).all()
        assert all(math.isinf(m) for m, own in zip(margins[i], labels) if len(own) == 1)
        held(found[i], margins[i], tables[i], labels, lambda z, i=i: mrf_score(mrf.coef_, x[i], z))


def test_sets():
    x, y = scenes(n=20)
    sets = MultiLabelSSVM(**FEW).fit(x, y)
    found, margins, tables = sets.predict_top(x, 4), sets.margins(x), sets.max_marginals(x)
    assert margins.shape == (20, 3) and tables.shape == (20, 3, 2)

    def score(row, z):
        total = sum(sets.unary_[k] @ row for k in range(3) if z[k])
        return total + sum(table[2 * z[j] + z[k]] for (j, k), table in zip(sets.edges_, sets.pairwise_))

    for i, predicted in enumerate(sets.predict(x)):
        assert (found[i].labels[0] == predicted).all()
        held(found[i], margins[i], tables[i], [[0, 1]] * 3, lambda z, i=i: score(x[i], z))


def test_wrong_questions_are_refused():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 4)), rng.integers(3, size=20)
    several = MulticlassSSVM(**FEW).fit(x, y)
    for m in (0, -1, 1.5, True, "2", None, 100_001, 10**30):
        with pytest.raises(ValueError, match="must be a whole number from 1 to 100000"):
            several.predict_top(x, m)
    with pytest.raises(ValueError, match="features"):
        several.predict_top(x[:, :2], 2)
    with pytest.raises(ValueError, match="not fitted"):
        MulticlassSSVM().margins(x)
    own = StructuredSVM(Multiclass(), passes=1).fit(x, y)
    for ask in (lambda: own.predict_top(x, 2), lambda: own.max_marginals(x), lambda: own.margins(x)):
        with pytest.raises(NotImplementedError, match="Multiclass, a task of your own, knows its best labelling only"):
            ask()


def test_approximate_decoders_are_honest():
    x, y = grids(n=4, labels=3)
    graph = GraphSSVM(passes=1, params={"task.inference": "trws", "task.max_iterations": 1}).fit(x, y)
    found = graph.predict_top(x, 3)
    assert all((top.labels[0] == best).all() for top, best in zip(found, graph.predict(x)))
    small, truth = grids(n=4, labels=3, width=2)
    graph.fit(small, truth)
    for ask in (graph.margins, graph.max_marginals):
        with pytest.warns(UserWarning, match="4 of 4 examples are decoded approximately: their margins are lower bounds") as told:
            found = ask(small)
        assert len(told) == 1
    with pytest.warns(UserWarning):
        margins = graph.margins(small)
    close = 0
    for one, best, own, table in zip(small, graph.predict(small), margins, found):
        every = [np.array(labels) for labels in itertools.product(range(3), repeat=4)]
        scores = np.array([graph_score(graph.coef_, one, labels, 3) for labels in every])
        for v in range(4):
            exact = [max(s for labels, s in zip(every, scores) if labels[v] == label) for label in range(3)]
            assert (table[v] >= np.array(exact) - 1e-9).all()
            margin = graph_score(graph.coef_, one, best, 3) - max(s for label, s in enumerate(exact) if label != best[v])
            assert own[v] <= margin + 1e-9
            close += own[v] > margin - 0.05
    assert close >= 12
