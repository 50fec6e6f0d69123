"""Feasible sets without an integer programme: against enumeration, against the same set as a programme, and their faults."""

import itertools
import pickle

import numpy as np
import pytest

pytest.importorskip("scipy")

from multiplane.ilp import (
    Assignment,
    FromFunction,
    IlpSSVM,
    IntegerProgramme,
    Knapsack,
    Matching,
    ShortestPath,
    SpanningTree,
    TopK,
)

PATHS = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (2, 4), (0, 1), (5, 4), (3, 6)]
BONDS = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
GRAPH = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3), (0, 1)]


def incidence(edges, nodes, tail=1.0, head=1.0):
    """The rows of nodes, with a number where an edge begins and one where it ends."""
    rows = np.zeros((nodes, len(edges)))
    for k, (a, b) in enumerate(edges):
        rows[a, k] += tail
        rows[b, k] += head
    return rows


def paths_programme():
    ends = np.zeros(7)
    ends[[0, 4]] = 1.0, -1.0
    return IntegerProgramme(incidence(PATHS, 7, 1.0, -1.0), ends, ends)


def tree_programme():
    groups = [group for size in (2, 3) for group in itertools.combinations(range(4), size)]
    rows = np.array([[a in group and b in group for a, b in GRAPH] for group in groups] + [[True] * len(GRAPH)], dtype=float)
    return IntegerProgramme(rows, [-np.inf] * len(groups) + [3.0], [len(group) - 1.0 for group in groups] + [3.0])


def assignment_programme():
    rows = np.vstack([np.kron(np.eye(2), np.ones(4)), np.kron(np.ones(2), np.eye(4))])
    return IntegerProgramme(rows, [1.0] * 2 + [-np.inf] * 4, 1.0)


def matching_programme(low):
    rows = np.array([[float(edge[side] == node) for edge in BONDS] for side in (0, 1) for node in range(3)])
    capacity = np.array([2.0, 1.0, 2.0, 2.0, 2.0, 1.0])
    return IntegerProgramme(rows, capacity if low else -np.inf, capacity, upper=[2.0, 1.0, 1.0, 1.0, 2.0, 1.0])


MATCHING = (BONDS, [2, 1, 2], [2, 2, 1])
WEIGHTS = [3, 0, 5, 2, 9, 2]
SETS = {
    "assignment": (Assignment(2, 4), assignment_programme()),
    "path": (ShortestPath(PATHS, 0, 4), paths_programme()),
    "matching": (Matching(*MATCHING, upper=[2, 1, 1, 1, 2, 1]), matching_programme(False)),
    "perfect": (Matching(*MATCHING, upper=[2, 1, 1, 1, 2, 1], perfect=True), matching_programme(True)),
    "tree": (SpanningTree(GRAPH), tree_programme()),
    "knapsack": (Knapsack(WEIGHTS, 7), IntegerProgramme([WEIGHTS], -np.inf, 7.0)),
    "top-k": (TopK(6, 2), IntegerProgramme(np.ones((1, 6)), 2.0, 2.0)),
    "at most k": (TopK(6, 2, exactly=False), IntegerProgramme(np.ones((1, 6)), -np.inf, 2.0)),
}
NAMES = list(SETS)


def enumerated(programme):
    """All vectors of the programme, ``[count, variables]``, by its rows alone."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(programme.lower, programme.upper, strict=True)]
    every = np.array(list(itertools.product(*ranges)), dtype=float)
    sums = every @ programme.matrix.T
    return every[((sums >= programme.row_lower) & (sums <= programme.row_upper)).all(axis=1)]


@pytest.mark.parametrize("name", NAMES)
def test_least_is_that_of_enumeration_and_of_the_programme(name):
    """Costs of both signs, zeros and ties; one at a time and many; the bound is the cost."""
    shortcut, programme = SETS[name]
    feasible, random = enumerated(programme), np.random.default_rng(1)
    assert len(feasible) > 1
    costs = np.concatenate([random.normal(size=(20, len(shortcut))), random.integers(-1, 2, (20, len(shortcut))), -np.eye(len(shortcut))])
    for row, many in zip(costs, shortcut.minimise_many(costs), strict=True):
        best = (feasible @ row).min()
        for least in (many, shortcut.minimise(row), programme.minimise(row)):
            assert row @ least.y == pytest.approx(best, abs=1e-9) and least.bound == pytest.approx(best, abs=1e-8)
            assert (feasible == least.y).all(axis=1).any() and shortcut.fault(least.y) is None


@pytest.mark.parametrize("name", NAMES)
def test_faults_are_those_of_the_programme(name):
    """Of every vector of whole numbers between the bounds, and of one that is not whole."""
    shortcut, programme = SETS[name]
    ranges = [range(int(high) + 1) for high in shortcut.upper]
    found = {True: 0, False: 0}
    for y in itertools.product(*ranges):
        vector = np.array(y, dtype=float)
        is_sound = programme.fault(vector) is None
        assert (shortcut.fault(vector) is None) == is_sound, y
        found[is_sound] += 1
    assert min(found.values()) > 0
    half = np.array(shortcut.minimise(np.ones(len(shortcut))).y)
    half[0] = 0.5
    assert shortcut.fault(half) is not None


@pytest.mark.parametrize("name", NAMES)
def test_nearest_agrees_with_what_is_known(name):
    shortcut, programme = SETS[name]
    random, feasible = np.random.default_rng(2), enumerated(programme)
    ends = feasible[((feasible == shortcut.lower) | (feasible == shortcut.upper)).all(axis=1)]
    for truth in ends[:5]:
        costs, known = random.normal(size=len(truth)), (random.random(len(truth)) < 0.5).astype(float)
        agreeing = feasible[((feasible == truth) | (known == 0.0)).all(axis=1)]
        assert costs @ shortcut.nearest(costs, truth, known) == pytest.approx((agreeing @ costs).min())


@pytest.mark.parametrize("name", NAMES)
def test_training_reaches_the_optimum_of_the_programme(name):
    """Both gaps are certified, so both intervals hold the optimum."""
    shortcut, programme = SETS[name]
    random = np.random.default_rng(3)
    features = [random.normal(size=(len(shortcut), 3)) for _ in range(12)]
    truths = [shortcut.minimise(x @ [1.0, -2.0, 0.5] + 0.5 * random.normal(size=len(shortcut))).y for x in features]
    fits = [IlpSSVM(gap=1e-3, lam=0.01).fit([(which, x) for x in features], truths) for which in (shortcut, programme)]
    assert all(fit.certified_ and fit.gap_ <= 1e-3 for fit in fits)
    assert max(fit.dual_ for fit in fits) <= min(fit.primal_ for fit in fits) + 1e-7
    assert fits[0].primal_ == pytest.approx(fits[1].primal_, abs=2e-3) and fits[0].primal_ > 0.01


@pytest.mark.parametrize(
    ("name", "chosen", "rule"),
    [
        ("assignment", [0, 1, 4], "row 0 has 2 columns"),
        ("assignment", [0], "row 1 has 0 columns"),
        ("assignment", [1, 5], "column 1 has 2 rows"),
        ("path", [0, 3], "node 3 has 1 edges in and 0 out"),
        ("path", [0, 8, 5, 7], "node 0 has 0 edges in and 2 out"),
        ("matching", [3, 5], "right node 2 is used 2 times: expected at most 1"),
        ("matching", [2, 3], "left node 1 is used 2 times"),
        ("perfect", [0], "left node 0 is used 1 times: expected 2"),
        ("tree", [0, 1, 4], "edge 4 closes a cycle"),
        ("tree", [0, 1], "expected 3"),
        ("knapsack", [0, 2], "weigh 8: expected at most 7"),
        ("top-k", [0], "1 variables are 1: expected 2"),
        ("at most k", [0, 1, 2], "3 variables are 1: expected at most 2"),
    ],
)
def test_faults_name_the_rule(name, chosen, rule):
    y = np.zeros(len(SETS[name][0]))
    y[chosen] = 1.0
    assert rule in SETS[name][0].fault(y)


def test_knapsacks_that_do_not_fit_one_table_are_filled_in_turns(monkeypatch):
    knapsack, costs = SETS["knapsack"][0], np.random.default_rng(6).normal(size=(9, 6))
    expected = [least.y for least in knapsack.minimise_many(costs)]
    monkeypatch.setattr("multiplane.ilp._shortcuts.TABLE", 100)
    assert np.array_equal([least.y for least in knapsack.minimise_many(costs)], expected)


def test_a_truth_that_breaks_a_rule_is_refused():
    with pytest.raises(ValueError, match=r"Y\[0\] is not feasible: row 0 has 0 columns"):
        IlpSSVM().fit([(Assignment(1, 2), np.eye(2))], [[0, 0]])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Assignment(3, 2), "rows = 3, columns = 2"),
        (lambda: Assignment(0, 2), "rows = 0: must be a whole number >= 1"),
        (lambda: Assignment(1.5, 2), "rows = 1.5: must be a whole number"),
        (lambda: ShortestPath([(0, 1), (1, 2), (2, 1), (2, 3)], 0, 3), "edges: (1 -> 2 -> 1|2 -> 1 -> 2) is a cycle"),
        (lambda: ShortestPath([(0, 1), (0, 0)], 0, 1), "edges: 0 -> 0 is a cycle"),
        (lambda: ShortestPath([(0, 1), (2, 1)], 0, 2), "no path from node 0 to node 2"),
        (lambda: ShortestPath([(0, 1)], 0, 0), "both node 0"),
        (lambda: ShortestPath([(0, 1)], 0, 2), "target = 2: must be a whole number from 0 to 1"),
        (lambda: ShortestPath([(0, 3)], 0, 1, nodes=2), r"edges\[0\] is \(0, 3\): nodes are from 0 to 1"),
        (lambda: ShortestPath([(0, -1)], 0, 0), r"edges\[0\] is \(0, -1\)"),
        (lambda: ShortestPath([], 0, 1), "edges: expected whole numbers"),
        (lambda: ShortestPath([(0, 1.5)], 0, 1), "edges: expected whole numbers"),
        (lambda: ShortestPath([(0, 1), (1,)], 0, 1), "edges: expected whole numbers"),
        (lambda: Matching([(0, 2)], [1], [1, 1]), r"edges\[0\] has the right node 2: right has 2 capacities"),
        (lambda: Matching([(0, 0)], [-1], [1]), r"left\[0\] is -1: must be a whole number >= 0"),
        (lambda: Matching([(0, 0)], [1], [0.5]), r"right\[0\] is 0.5"),
        (lambda: Matching([(0, 0)], [1], [2], perfect=True), "sum to 1, on the right to 2"),
        (lambda: Matching([(0, 0)], [1], [1], upper=[0.5]), r"upper\[0\] is 0.5"),
        (lambda: SpanningTree([(0, 1), (2, 3)]), "falls into 2 parts"),
        (lambda: SpanningTree([(0, 1)], nodes=3), "falls into 2 parts"),
        (lambda: Knapsack([1.5], 3), r"weights\[0\] is 1.5"),
        (lambda: Knapsack([np.nan], 3), r"weights\[0\] is NaN"),
        (lambda: Knapsack([1], -1), "capacity = -1: must be a whole number >= 0"),
        (lambda: TopK(3, 4), "k = 4: must be a whole number from 0 to 3"),
        (lambda: TopK(3, True), "k = True"),
        (lambda: FromFunction(3, 2), "solve: expected a function"),
        (lambda: FromFunction(np.sign, 2, quality="good"), "quality = 'good'"),
        (lambda: FromFunction(lambda costs: [1.0], 2).minimise(np.ones(2)), r"solve returned has the shape \(1,\)"),
        (lambda: FromFunction(lambda costs: 1.0, 2).minimise(np.ones(2)), "one number: expected a vector of 2"),
        (lambda: FromFunction(lambda costs: [0.0, 2.0], 2).minimise(np.ones(2)), "solve returned 2 for variable 1: expected 0 to 1"),
        (lambda: FromFunction(lambda costs: None, 2).minimise(np.ones(2)), "solve returned"),
        (lambda: FromFunction(np.sign, 2, quality="upper-bound").minimise(np.zeros(2)), r"expected \(vector, lower bound\)"),
    ],
)
def test_bad_input_is_refused_with_the_rule(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_sets_can_be_pickled():
    for name in NAMES:
        shortcut = SETS[name][0]
        costs = np.random.default_rng(4).normal(size=len(shortcut))
        assert np.array_equal(pickle.loads(pickle.dumps(shortcut)).minimise(costs).y, shortcut.minimise(costs).y)


def greedy(costs):
    """The two cheapest of all: exact for this set."""
    y = np.zeros(len(costs))
    y[np.argsort(costs, kind="stable")[:2]] = 1.0
    return y


@pytest.mark.parametrize("quality", ["exact", "upper-bound", "heuristic"])
def test_functions_are_sets(quality):
    """The same optimum as that of the set; certified unless the function promises nothing."""
    solve = (lambda costs: (greedy(costs), float(np.sort(costs)[:2].sum()) - 1e-9)) if quality == "upper-bound" else greedy
    random = np.random.default_rng(5)
    features = [random.normal(size=(6, 3)) for _ in range(10)]
    truths = [greedy(x @ [1.0, -1.0, 0.5] + 0.5 * random.normal(size=6)) for x in features]
    sets = FromFunction(solve, 6, quality=quality), TopK(6, 2)
    fits = [IlpSSVM(gap=1e-3, lam=0.01, passes=500).fit([(which, x) for x in features], truths) for which in sets]
    assert fits[0].certified_ == (quality != "heuristic") and fits[1].certified_
    assert fits[0].primal_ == pytest.approx(fits[1].primal_, abs=2e-3)
