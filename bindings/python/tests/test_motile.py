"""Weights of motile's trackers: the optimum of structsvm, several movies, and truths that are completed."""

import numpy as np
import pytest

REASON = "motile, structsvm and ilpy are not installed: the tests against them did not run"
pytest.importorskip("highspy", reason="highspy is not installed: the tests against motile did not run")
ilpy = pytest.importorskip("ilpy", reason=REASON)
motile = pytest.importorskip("motile", reason=REASON)
structsvm = pytest.importorskip("structsvm", reason=REASON)
networkx = pytest.importorskip("networkx", reason=REASON)

from motile.constraints import MaxChildren, MaxParents  # noqa: E402
from motile.costs import EdgeDistanceCost, EdgeSelectedCost, NodeAppearCost, NodeSelectedCost, NodeSplitCost  # noqa: E402
from motile.variables import EdgeContinuation, EdgeSelected, NodeAppear, NodeSelected, NodeSplit  # noqa: E402

from multiplane.ilp import IntegerProgramme  # noqa: E402
from multiplane.ilp._solver import silenced  # noqa: E402
from multiplane.motile import SoftMarginLoss, example, fit_losses, fit_weights, programme  # noqa: E402

TRACKS = {0: (0, 1.0, 0.8), 1: (0, 25.0, 0.1), 2: (1, 0.0, 0.3), 3: (1, 26.0, 0.4), 4: (2, 2.0, 0.6), 5: (2, 24.0, 0.3), 6: (2, 35.0, 0.7)}
"""Frame, position and score of each node."""

EDGES = {(0, 2): 1, (1, 3): 0, (0, 3): None, (1, 2): 0, (2, 4): 1, (3, 5): 0, (3, 4): None, (2, 5): None, (3, 6): None}
"""The mark of each edge."""


def graph(marked_nodes=(0, 2, 4), unmarked_nodes=(3, 6), shift=0.0, edges=EDGES):
    found = networkx.DiGraph()
    for node, (t, x, score) in TRACKS.items():
        mark = {} if node in unmarked_nodes else {"gt": int(node in marked_nodes)}
        found.add_node(node, t=t, x=x + shift * (node % 3), score=score, **mark)
    for (u, v), mark in edges.items():
        found.add_edge(u, v, score=0.1 * (u + v), gt=mark)
    return motile.TrackGraph(found)


def solver(children=2, **of_graph):
    found = motile.Solver(graph(**of_graph))
    found.add_cost(NodeSelectedCost(weight=-1.0, attribute="score", constant=-100.0))
    found.add_cost(EdgeDistanceCost(weight=1.0, position_attribute=("x",)))
    found.add_cost(EdgeSelectedCost(weight=1.0, attribute="score"))
    found.add_cost(NodeAppearCost(constant=200.0))
    found.add_cost(NodeSplitCost(constant=100.0))
    found.add_constraint(MaxParents(1))
    found.add_constraint(MaxChildren(children))
    return found


def weights(found):
    return np.array([weight.value for weight in found.weights._weights])


def theirs(found):
    """structsvm's own loss of a movie, as motile builds it."""
    features = found.features.to_ndarray()
    mask, truth = np.zeros(found.num_variables, np.float32), np.zeros(found.num_variables, np.float32)
    for kind, objects in ((NodeSelected, found.graph.nodes), (EdgeSelected, found.graph.edges)):
        for name, variable in found.get_variables(kind).items():
            if objects[name].get("gt") is not None:
                mask[variable], truth[variable] = 1.0, objects[name]["gt"]
    return structsvm.SoftMarginLoss(found.constraints, features.T, truth, structsvm.HammingCosts(truth, mask))


def objective(losses, w, regularizer_weight=0.1):
    with silenced():
        return 0.5 * regularizer_weight * float(w @ w) + sum(loss.value_and_gradient(w)[0] for loss in losses)


@pytest.mark.parametrize("children", [1, 2])
@pytest.mark.parametrize("how", ["auto", "one-slack"])
def test_motiles_own_optimum(children, how):
    mine, other = solver(children), solver(children)
    fit = fit_weights(mine, "gt", partial="fixed", solver=how)
    with silenced():
        other.fit_weights("gt")
    reference = objective([theirs(other)], weights(other))
    assert fit.certified and fit.dual <= fit.primal and fit.gap <= 1e-6
    assert fit.primal == pytest.approx(reference, rel=1e-6)
    assert fit.dual <= reference + 1e-9
    assert objective([theirs(other)], weights(mine)) == pytest.approx(fit.primal, rel=1e-7)  # where the weights are that were written


def test_weights_by_name_and_a_curve():
    mine = solver()
    fit = fit_weights(mine, "gt", partial="fixed")
    assert list(fit.weights)[:2] == [("NodeSelectedCost", "weight"), ("NodeSelectedCost", "constant")]
    assert all(mine.weights[name] == weight for name, weight in fit.weights.items())
    assert np.array_equal(fit.estimator.coef_, weights(mine))
    assert fit.history[-1]["primal"] == pytest.approx(fit.primal, abs=1e-6)
    assert all(record["dual"] <= fit.primal + 1e-9 for record in fit.history)
    x, _ = example(mine, "gt")
    predicted = fit.estimator.predict([x])[0]
    assert x[0].fault(predicted) is None
    assert np.allclose(fit.estimator.predict_costs([x])[0], mine.costs, rtol=1e-5, atol=1e-5)


def test_several_movies_are_the_sum_of_their_losses():
    movies = [solver(shift=shift) for shift in (0.0, 1.5, -2.0)]
    fit = fit_weights(movies, "gt", 0.3, partial="fixed")
    losses = [theirs(movie) for movie in movies]
    sums = lambda w: tuple(map(sum, zip(*(loss.value_and_gradient(w) for loss in losses), strict=True)))  # noqa: E731
    with silenced():
        w = structsvm.BundleMethod(sums, dims=len(weights(movies[0])), regularizer_weight=0.3, eps=1e-6).optimize(1000)
    assert fit.primal == pytest.approx(objective(losses, w, 0.3), rel=1e-6)
    assert fit.certified and fit.gap <= 1e-6
    assert all(np.array_equal(weights(movie), fit.estimator.coef_) for movie in movies)


def test_what_follows_from_others_is_completed():
    mine = solver(unmarked_nodes=(3,))
    x, truth = example(mine, "gt")
    derived = [int(v) for kind in (NodeAppear, NodeSplit, EdgeContinuation) for v in mine.get_variables(kind).values()]
    assert np.isnan(truth[derived]).all()
    assert x[0].fault(np.nan_to_num(truth)) is not None  # motile's truth breaks motile's constraints
    fit = fit_weights(mine, "gt")
    assert fit.certified and fit.gap <= 1e-6 and fit.estimator.rounds_
    known = ~np.isnan(truth)
    completed = x[0].nearest(x[1] @ fit.estimator.coef_, np.nan_to_num(truth), known.astype(float))
    assert x[0].fault(completed) is None
    assert np.array_equal(completed[known], truth[known])
    values = {kind: {name: completed[int(v)] for name, v in mine.get_variables(kind).items()} for kind in (NodeAppear, EdgeContinuation)}
    assert values[NodeAppear][0] == 1.0 and values[EdgeContinuation][(0, 2)] == 1.0  # 0 in motile's truth
    costs = x[1] @ fit.estimator.coef_  # the certified objective, from the completed truth
    worst = SoftMarginLoss(x[0], x[1].T, completed, _Costs(truth)).value_and_gradient(fit.estimator.coef_)[0]
    assert np.isfinite(costs).all()
    assert fit.primal == pytest.approx(0.05 * float(fit.estimator.coef_ @ fit.estimator.coef_) + worst, rel=1e-6)


class _Costs:
    def __init__(self, truth):
        self.truth = truth

    def get_coefficients(self):
        return np.where(np.isnan(self.truth), 0.0, 1.0 - 2.0 * np.nan_to_num(self.truth))

    def get_offset(self):
        return float(np.nansum(self.truth))


def test_a_drop_in_for_structsvm():
    other = solver()
    theirs_, features = theirs(other), other.features.to_ndarray()
    truth = np.nan_to_num(example(other, "gt")[1])
    mine = SoftMarginLoss(other.constraints, features.T, truth)
    plain = structsvm.SoftMarginLoss(other.constraints, features.T, truth.astype(np.float32))
    masked = SoftMarginLoss(other.constraints, features.T, truth, theirs_._costs)
    rng = np.random.default_rng(3)
    for _ in range(5):
        w = rng.normal(size=features.shape[1])
        with silenced():
            expected, expected_masked = plain.value_and_gradient(w), theirs_.value_and_gradient(w)
        value, gradient = mine.value_and_gradient(w)
        assert value == pytest.approx(expected[0], rel=1e-6, abs=1e-6)
        assert np.allclose(gradient, expected[1], atol=1e-4)
        assert masked.value_and_gradient(w)[0] == pytest.approx(expected_masked[0], rel=1e-6, abs=1e-6)
    with silenced():
        # At 0.1 SCIP's master fails or ends by the last bits of the values, also with structsvm's own loss.
        w = structsvm.BundleMethod(mine.value_and_gradient, dims=len(w), regularizer_weight=1.0, eps=1e-6).optimize(1000)
    fit = mine.fit(1.0)
    assert fit.primal == pytest.approx(0.5 * float(w @ w) + mine.value_and_gradient(w)[0], rel=1e-6)
    assert fit_losses([mine, mine], 2.0).primal == pytest.approx(2.0 * fit.primal, abs=2e-6)


def constraint(coefficients, relation="LessEqual", value=1.0):
    return ilpy.Constraint.from_coefficients(coefficients, relation=ilpy.Relation[relation], value=value)


def test_constraints_of_ilpy():
    rows = ilpy.Constraints()
    for row in (constraint({0: 1, 2: 2}), constraint({1: -1}, "LessEqual", 3.0), constraint({1: 2}, "LessEqual", 5.0),
                constraint({0: 1, 1: 1}, "Equal", 2.0), constraint({2: 1}, "GreaterEqual", 0.5)):  # fmt: skip
        rows.add(row)
    found = programme(rows, 3, {1: ilpy.VariableType.Continuous, 2: ilpy.VariableType.Binary})
    assert isinstance(found, IntegerProgramme)
    assert found.matrix.toarray().tolist() == [[1, 0, 2], [0, -1, 0], [0, 2, 0], [1, 1, 0], [0, 0, 1]]
    assert found.row_lower.tolist() == [-np.inf, -np.inf, -np.inf, 2.0, 0.5] and found.row_upper.tolist() == [1.0, 3.0, 5.0, 2.0, np.inf]
    assert found.lower.tolist() == [0.0, -3.0, 0.0] and found.upper.tolist() == [1.0, 2.5, 1.0]
    assert found.integral.tolist() == [True, False, True]


def unbounded():
    rows = ilpy.Constraints()
    rows.add(constraint({0: 1}, "LessEqual", 3.0))
    return programme(rows, 2, {0: ilpy.VariableType.Integer})


def quadratic():
    row = constraint({0: 1})
    row.set_quadratic_coefficient(0, 1, 1.0)
    rows = ilpy.Constraints()
    rows.add(constraint({0: 1}))
    rows.add(row)
    return programme(rows, 2)


def beyond():
    rows = ilpy.Constraints()
    rows.add(constraint({5: 1}))
    return programme(rows, 2)


def other_costs():
    found = solver()
    found.add_cost(NodeSelectedCost(weight=1.0, attribute="score"), name="More")
    return found


BAD = {
    "constraint 1 has quadratic terms": quadratic,
    "constraint 0 has the variable 5: there are 2": beyond,
    "variable 0 is integer and not bounded": unbounded,
    "solvers: expected a motile solver": lambda: fit_weights([], "gt"),
    r"solvers\[1\] has the weights .*More.*solvers\[0\] has": lambda: fit_weights([solver(), other_costs()], "gt"),
    r"solvers\[0\]: no node or edge has the attribute 'truth'": lambda: fit_weights(solver(), "truth"),
    r"solvers\[0\]: node 0: t2 = 0.5: must be 0, 1 or None": lambda: fit_weights(odd_mark(), "t2"),
    "partial = 'hidden': must be 'masked' or 'fixed'": lambda: fit_weights(solver(), "gt", partial="hidden"),
    "eps = 0: must be a finite number > 0": lambda: fit_weights(solver(), "gt", eps=0),
    "lam: here this is regularizer_weight": lambda: fit_weights(solver(), "gt", lam=0.5),
    r"what is known of Y\[0\] is not feasible": lambda: fit_weights(solver(edges=EDGES | {(1, 2): 1}, marked_nodes=(0, 1, 2, 4)), "gt"),
    "features have 2 columns: expected one for each of 3": lambda: SoftMarginLoss(ilpy.Constraints(), np.ones((1, 2)), np.ones(3)),
    r"ground_truth\[1\] is 2: must be 0 or 1": lambda: SoftMarginLoss(ilpy.Constraints(), np.ones((1, 2)), np.array([0.0, 2.0])),
}


def odd_mark():
    found = solver()
    found.graph.nodes[0]["t2"] = 0.5
    return found


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()


def test_marks_that_are_not_feasible_are_fine_where_they_are_fixed():
    mine = solver(edges=EDGES | {(1, 2): 1}, marked_nodes=(0, 1, 2, 4))  # two parents
    fit = fit_weights(mine, "gt", partial="fixed")
    assert fit.certified
    assert objective([theirs(mine)], weights(mine)) == pytest.approx(fit.primal, rel=1e-6)
