"""DecisionSSVM: its objective is SPO+, its optimum that of another solver, its decisions better than those of least squares."""

import itertools
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.optimize import minimize

from multiplane.ilp import Assignment, DecisionSSVM, FromFunction, IntegerProgramme, Knapsack, Matching, ShortestPath, TopK
from multiplane.ilp._decisions import RegretTask

EDGES = [(k, k + 1) for k in (0, 1, 3, 4, 6, 7)] + [(k, k + 3) for k in range(6)]
PATHS = ShortestPath(EDGES, 0, 8)
FEASIBLE = np.array([y for y in map(np.array, itertools.product((0.0, 1.0), repeat=12)) if PATHS.fault(y) is None])


def generated(n, degree, seed, noise=0.3):
    """Inputs, and costs that are polynomials of sums of them."""
    random = np.random.default_rng(seed)
    chosen = np.random.default_rng(7).integers(0, 2, (12, 4))
    x = random.normal(size=(n, 4))
    return x, ((x @ chosen.T / 2.0 + 3.0) ** degree + 1.0) / 3.5**degree * random.uniform(1.0 - noise, 1.0 + noise, (n, 12))


X, C = generated(30, 3, 0)
GIVEN = {"lam": 0.01, "gap": 1e-4, "clock": "work"}
MODEL = DecisionSSVM(PATHS, **GIVEN).fit(X, C)


def spo_plus(predicted, costs, feasible=FEASIBLE):
    """The mean of ``max_z (c - 2 c^) . z + 2 c^ . z*(c) - c . z*(c)`` over all feasible ``z``."""
    best = feasible[(costs @ feasible.T).argmin(axis=1)]
    return float((((costs - 2.0 * predicted) @ feasible.T).max(axis=1) + ((2.0 * predicted - costs) * best).sum(axis=1)).mean())


def regrets(decisions, costs, feasible=FEASIBLE):
    return (decisions * costs).sum(axis=1) - (costs @ feasible.T).min(axis=1)


def test_the_hinge_at_any_weights_is_spo_plus():
    """Of examples alone and together, with a dense and a sparse decision."""
    model = DecisionSSVM(PATHS)
    x, best = model._examples(X, C)
    task, random = model._regrets, np.random.default_rng(1)
    for _ in range(5):
        w = random.normal(size=task.dim())
        found = []
        for one, truth, y in zip(x, best, task.decode_many(x, w, best), strict=True):
            assert np.array_equal(y, task.decode(one, w, truth))
            score = [w[at] @ values for at, values in (sparse(task, one, z) for z in (y, truth))]
            found.append(task.loss(truth, y) + score[0] - score[1])
        assert np.mean(found) == pytest.approx(spo_plus(np.array(x) @ w.reshape(12, 5).T, C))
    z = np.ones(12)
    assert sparse(task, x[0], z)[1] == pytest.approx(-2.0 * np.outer(z, x[0]).ravel())


@pytest.mark.parametrize("quality", ["exact", "heuristic"])
def test_features_and_regrets_at_once_are_those_one_by_one(quality):
    """To the bit, as warm starts need it. A cost below the best is no loss of a heuristic, but one of an exact solver."""
    x, best = DecisionSSVM(PATHS)._examples(X, C)
    worse = [replace(truth, cost=truth.cost + 0.5) for truth in best]
    task = RegretTask(FromFunction(lambda costs: PATHS.minimise(costs).y, 12, quality=quality), 12, 5)
    zs = [*FEASIBLE[[0, 3, 5]], *[truth.decision for truth in best[3:]]]
    features, losses = task.describe_many(x, worse, zs)
    for one, truth, z, row, loss in zip(x, worse, zs, features, losses, strict=True):
        at, values = sparse(task, one, z)
        assert np.array_equal(row[at], values) and np.count_nonzero(row) == np.count_nonzero(values)
        assert loss == task.loss(truth, z)
    assert (losses.min() < -0.4) == (quality == "exact") and losses.max() > 0.0


def test_auto_is_a_bundle_where_answers_are_quick_and_gaps_in_percent():
    for solver, given in (
        ("bundle", {}), ("bundle", {"gap": "2%"}), ("auto", {"gap": 0.1}), ("auto", {"warm_start": True}),
        ("auto", {"params": {"solver.gap_check": 5}}), ("auto", {"feasible": lambda costs: PATHS.minimise(costs).y, "quality": "exact"}),
    ):  # fmt: skip
        model = DecisionSSVM(**{"feasible": PATHS, "lam": 0.1} | given).fit(X, C)
        assert model.certified_ and model.summary_["solver"] == solver, given
        assert model.solver == "auto"


def sparse(task, x, z):
    found = task.features(x, z)
    return found if isinstance(found, tuple) else (np.arange(task.dim()), found)


def test_the_primal_value_is_the_objective_of_the_weights():
    norm = (MODEL.coef_**2).sum() + (MODEL.intercept_**2).sum()
    assert MODEL.coef_.shape == (12, 4) and MODEL.intercept_.shape == (12,)
    assert np.allclose(MODEL.predict_costs(X), X @ MODEL.coef_.T + MODEL.intercept_)
    assert MODEL.primal_ == pytest.approx(0.005 * norm + spo_plus(MODEL.predict_costs(X), C), rel=1e-9)
    assert MODEL.certified_ and MODEL.gap_ <= 1e-4


def test_the_optimum_is_that_of_a_quadratic_programme():
    """Of 8 examples with 3 decisions, written down in full and solved by SLSQP."""
    random = np.random.default_rng(2)
    x, c, lam, feasible = random.normal(size=(8, 2)), random.normal(size=(8, 3)), 0.1, np.eye(3)
    ones = np.hstack([x, np.ones((8, 1))])
    best = feasible[c.argmin(axis=1)]
    rows, ends = [], []
    for i, z in itertools.product(range(8), feasible):  # slack_i >= (c - 2 W x) . (z - z*)
        rows.append(np.concatenate([2.0 * np.outer(z - best[i], ones[i]).ravel(), np.eye(8)[i]]))
        ends.append(c[i] @ (z - best[i]))
    rows, ends = np.array(rows), np.array(ends)
    weight = np.concatenate([np.full(9, lam), np.zeros(8)])
    price = np.concatenate([np.zeros(9), np.full(8, 1.0 / 8.0)])
    found = minimize(
        lambda v: 0.5 * weight @ v**2 + price @ v, np.full(17, 1.0), jac=lambda v: weight * v + price, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: rows @ v - ends, "jac": lambda v: rows}, options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert found.success
    for solver in ("auto", "one-slack"):
        model = DecisionSSVM(TopK(3, 1), lam=lam, gap=1e-7, solver=solver).fit(x, c)
        assert model.certified_ and model.dual_ - 1e-7 <= found.fun <= model.primal_ + 1e-7
        assert np.hstack([model.coef_, model.intercept_[:, None]]).ravel() == pytest.approx(found.x[:9], abs=2e-3)


def test_solvers_and_sets_agree_on_the_optimum():
    """The path as a programme and as a function has the optimum of the dynamic programme."""
    ends = np.zeros(9)
    ends[[0, 8]] = 1.0, -1.0
    rows = np.zeros((9, 12))
    for k, (tail, head) in enumerate(EDGES):
        rows[tail, k], rows[head, k] = 1.0, -1.0
    programme = IntegerProgramme(rows, ends, ends)
    for given in (
        {"feasible": programme}, {"feasible": lambda costs: PATHS.minimise(costs).y, "quality": "exact"},
        {"feasible": PATHS, "solver": "one-slack"}, {"feasible": PATHS, "solver": "bundle"},
    ):  # fmt: skip
        model = DecisionSSVM(lam=0.01, gap=1e-4, **given).fit(X, C)
        assert model.certified_ and model.primal_ == pytest.approx(MODEL.primal_, abs=1e-4)
        assert model.dual_ <= MODEL.primal_ and MODEL.dual_ <= model.primal_


def test_decisions_beat_those_of_least_squares_where_costs_are_not_linear():
    x, c = generated(1200, 8, 3)
    model = DecisionSSVM(PATHS, lam=1e-3).fit(x[:200], c[:200])
    plain = np.linalg.lstsq(np.hstack([x[:200], np.ones((200, 1))]), c[:200], rcond=None)[0]
    theirs = [PATHS.minimise(row).y for row in np.hstack([x[200:], np.ones((1000, 1))]) @ plain]
    assert model.regret(x[200:], c[200:]).mean() < 0.9 * regrets(np.array(theirs), c[200:]).mean()


def test_regret_and_score():
    x, c = generated(50, 3, 4)
    decisions = MODEL.predict(x)
    assert decisions.shape == (50, 12) and all(PATHS.fault(y) is None for y in decisions)
    assert np.allclose((MODEL.predict_costs(x) * decisions).sum(axis=1), (MODEL.predict_costs(x) @ FEASIBLE.T).min(axis=1))
    assert np.allclose(MODEL.decision_values(x, decisions), (MODEL.predict_costs(x) * decisions).sum(axis=1))
    expected = regrets(decisions, c)
    assert np.allclose(MODEL.regret(x, c), expected) and expected.sum() > 0.0
    assert MODEL.score(x, c) == pytest.approx(-expected.sum() / (c @ FEASIBLE.T).min(axis=1).sum())
    assert MODEL.score(x, MODEL.predict_costs(x)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("as_function", [False, True])
def test_gains_are_negated_costs(as_function):
    """The weights of gains are those of the costs, negated, and the decisions are the same."""
    feasible, given = PATHS, GIVEN
    if as_function:
        feasible, given = lambda gains: PATHS.minimise(-gains).y, {**given, "quality": "exact"}
    model = DecisionSSVM(feasible, sense="max", **given).fit(X, -C)
    assert model.certified_ and model.primal_ == pytest.approx(MODEL.primal_, abs=1e-4)
    assert np.allclose(model.coef_, -MODEL.coef_, atol=1e-3) and np.allclose(model.intercept_, -MODEL.intercept_, atol=1e-3)
    assert np.array_equal(model.predict(X), MODEL.predict(X))
    assert model.score(X, -C) == pytest.approx(MODEL.score(X, C)) and model.score(X, -C) < 0.0


def test_a_function_that_promises_nothing_certifies_nothing():
    model = DecisionSSVM(lambda costs: PATHS.minimise(np.round(costs, 1)).y, lam=0.01, passes=20).fit(X, C)
    assert not model.certified_
    assert model.regret(X, C).min() >= 0.0


def test_without_an_intercept():
    model = DecisionSSVM(PATHS, lam=0.01, gap=1e-4, fit_intercept=False).fit(X, C)
    joined = DecisionSSVM(PATHS, lam=0.01, gap=1e-4, fit_intercept=False).fit(np.hstack([X, np.ones((30, 1))]), C)
    assert not model.intercept_.any() and model.primal_ > MODEL.primal_ + 0.01
    assert joined.primal_ == pytest.approx(MODEL.primal_, abs=1e-4)


def test_lambda_is_chosen_by_regret():
    model = DecisionSSVM(PATHS, lam="cv:3", clock="work").fit(X, C)
    choice = model.summary_["lambda_choice"]
    losses = {row["lambda"]: row["mean_loss"] for row in choice["losses"]}
    assert choice["folds"] == 3 and model.lam_ == choice["lambda"] and losses[model.lam_] == min(losses.values())
    assert len(losses) > 1 and all(0.0 <= loss <= regrets(FEASIBLE[(-C @ FEASIBLE.T).argmin(axis=1)], C).max() for loss in losses.values())


def test_path_has_estimators_for_its_lambdas():
    path = DecisionSSVM(PATHS, clock="work").path(X, C, lambda_min=0.01, eps="5%", cv=3)
    found = path.at(0.01)
    assert found.coef_.shape == (12, 4) and found.intercept_.any() and found.certified_
    assert found.primal_ == pytest.approx(MODEL.primal_, rel=0.1) and found.primal_ >= MODEL.dual_
    assert path.best.score(X, C) <= 0.0 and path.best.lam in path.lambdas_
    assert np.array_equal(pickle.loads(pickle.dumps(path)).predict(X, 0.01), found.predict(X))


def test_regret_on_test_data_is_in_the_history():
    x, c = generated(20, 3, 5)
    model = DecisionSSVM(PATHS, lam=0.01, gap="1%").fit(X, C, X_test=x, C_test=c)
    assert model.summary_["test_loss"] == pytest.approx(model.regret(x, c).mean())
    assert model.summary_["train_loss"] == pytest.approx(model.regret(X, C).mean())
    assert model.history_[-1]["test_loss"] is not None


def test_models_are_saved_copied_and_warm_started(tmp_path):
    from sklearn.base import clone

    MODEL.save(tmp_path / "model")
    again = DecisionSSVM.load(tmp_path / "model", PATHS), pickle.loads(pickle.dumps(MODEL))
    for other in (*again, DecisionSSVM.load(tmp_path / "model", lambda costs: PATHS.minimise(costs).y)):
        assert np.array_equal(other.predict_costs(X), MODEL.predict_costs(X)) and np.array_equal(other.predict(X), MODEL.predict(X))
        assert other.score(X, C) == MODEL.score(X, C)
    copied = clone(MODEL)
    assert copied.lam == 0.01 and not hasattr(copied, "coef_")
    warm = DecisionSSVM(PATHS, lam=0.01, gap="5%", warm_start=True).fit(X, C)
    calls = warm.summary_["oracle_calls"]
    warm.gap = 1e-3
    warm.fit(X, C)
    assert warm.summary_["oracle_calls"] > calls and warm.primal_ == pytest.approx(MODEL.primal_, abs=1e-3)


@pytest.mark.filterwarnings("ignore:nothing better")
def test_a_function_that_breaks_its_promise_is_found_out():
    wrong = DecisionSSVM(lambda costs: PATHS.minimise(np.abs(costs)).y, quality="exact", passes=30)
    with pytest.warns(UserWarning, match="declared exact"):
        assert not wrong.fit(X, C).certified_


def test_capacities_above_one():
    """Decisions of matchings with whole numbers, and a bound of the linear programme."""
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    x, c = X, C[:, :4] - 1.0
    model = DecisionSSVM(Matching(pairs, [2, 1], [1, 2], upper=2), lam=0.01, gap=1e-3).fit(x, c)
    assert model.certified_ and model.gap_ <= 1e-3 and model.predict(x).max() == 2.0


@pytest.mark.parametrize(
    ("given", "x", "c", "text"),
    [
        ({}, X[:-1], C, "X has 29 rows, C has 30"),
        ({}, X[:0], C[:0], "at least one"),
        ({}, X[0], C, r"X has the shape \(4,\): expected two dimensions"),
        ({}, X, C[:, 0], r"C has the shape \(30,\): expected two dimensions"),
        ({}, X, C[:, :-1], "C has 11 columns, feasible has 12 variables"),
        ({}, X, np.where(np.arange(12) == 3, np.nan, C), r"C\[0, 3\] is nan: expected a finite number"),
        ({}, np.where(np.arange(4) == 2, np.inf, X), C, r"X\[0, 2\] is inf"),
        ({}, [["a"]], C, "X: expected numbers"),
        ({"sense": "least"}, X, C, "sense = 'least': must be 'min' or 'max'"),
        ({"feasible": 3}, X, C, "feasible: expected a FeasibleSet or a function"),
        ({"feasible": np.sign, "quality": "good"}, X, C, "quality = 'good'"),
        ({"feasible": lambda costs: costs[:2]}, X, C, r"solve returned has the shape \(2,\)"),
    ],
)
def test_bad_input_is_refused_with_the_rule(given, x, c, text):
    model = DecisionSSVM(**{"feasible": PATHS, **given})
    with pytest.raises(ValueError, match=text):
        model.fit(x, c)
    assert not hasattr(model, "coef_")


def test_bad_input_to_fitted_models_is_refused():
    for call, text in (
        (lambda: MODEL.predict(X[:, :3]), "X has 3 columns: expected 4"),
        (lambda: MODEL.score(X, C[:, :3]), "C has 3 columns: expected 12"),
        (lambda: MODEL.regret(X[:3], C), "X has 3 rows, C has 30"),
        (lambda: MODEL.decision_values(X, C[:3]), r"Z has the shape \(3, 12\): expected \(30, 12\)"),
        (lambda: DecisionSSVM(PATHS).fit(X, C, X_test=X[:2], C_test=C[:3]), "X has 2 rows, C_test has 3"),
        (lambda: DecisionSSVM(Assignment(1, 2)).predict(X), "not fitted"),
        (lambda: MODEL.path(X, C[:3]), "X has 30 rows, C has 3"),
        (lambda: DecisionSSVM(PATHS).fit(X, C, X_test=X), "^X_test without C_test: give both"),
        (lambda: DecisionSSVM(PATHS).fit(X, C, C_test=C), "^C_test without X_test: give both"),
        (lambda: DecisionSSVM(lambda costs: PATHS.minimise(-costs).y).fit(X, C), "^feasible: most decisions .*: does it maximise"),
        (lambda: DecisionSSVM(lambda costs: PATHS.minimise(-costs).y, quality="exact").fit(X, C), "^feasible: most decisions "),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_a_path_leaves_no_task_behind():
    """Neither one that fails nor one of other data."""
    new, used = DecisionSSVM(PATHS), DecisionSSVM(PATHS, lam=0.1).fit(X, C)
    before, found = dict(vars(new)), used.predict(X)
    with pytest.raises(TypeError, match="unexpected keyword"):
        new.path(X, C, lambda_least=0.1)
    assert vars(new) == before
    used.path(X[:, :2], C, lambda_min=0.1, eps="20%")
    assert np.array_equal(used.predict(X), found) and used.score(X, C) == DecisionSSVM(PATHS, lam=0.1).fit(X, C).score(X, C)


def test_functions_with_bounds():
    solve = FromFunction(lambda costs: (PATHS.minimise(costs).y, PATHS.minimise(costs).bound - 1e-6), 12, quality="upper-bound")
    model = DecisionSSVM(solve, lam=0.01, gap=1e-3).fit(X, C)
    assert model.certified_ and 0.9e-6 < model.summary_["bound_gap"] < 1.1e-6


def test_one_decision_for_all_is_told():
    """Gains that are taken for costs: the best knapsack is empty."""
    rng = np.random.default_rng(0)
    X, gains = rng.normal(size=(10, 2)), rng.uniform(1.0, 2.0, (10, 4))
    with pytest.warns(UserWarning, match="C: the best decision is the same for all 10 examples, .*: is sense = 'min' right"):
        DecisionSSVM(Knapsack([1, 2, 3, 4], 5)).fit(X, gains)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionSSVM(Knapsack([1, 2, 3, 4], 5), sense="max").fit(X, gains)


def test_functions_that_promise_nothing_stop_at_the_estimate():
    """As they would at a certified gap, and say that it is none."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 3))
    C = rng.uniform(1.0, 2.0, (20, 4)) + X @ rng.normal(size=(3, 4))

    def cheapest(costs):
        return np.eye(4)[int(np.argmin(costs))]

    model = DecisionSSVM(cheapest).fit(X, C)
    assert model.stop_reason_ == "gap" and not model.certified_ and model.summary_["passes"] < 200


def test_names_are_those_of_the_inputs():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(rng.normal(size=(12, 2)), columns=["rain", "heat"])
    model = DecisionSSVM(TopK(3, 1), passes=3).fit(frame, rng.uniform(size=(12, 3)))
    assert model.get_feature_names_out().tolist() == ["rain", "heat"] and model.n_features_in_ == 2
    assert DecisionSSVM(TopK(3, 1), passes=3).fit(frame.to_numpy(), rng.uniform(size=(12, 3))).get_feature_names_out().tolist() == ["x0", "x1"]
