"""IlpSSVM and integer programmes: bounds, optima and completions beside enumeration."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

from multiplane._errors import ConvergenceWarning

pytest.importorskip("scipy")
from multiplane.ilp import Box, DecisionSSVM, FromFunction, IlpSSVM, IntegerProgramme, Target  # noqa: E402
from multiplane.ilp import _solver  # noqa: E402

ENGINES = ["SciPy", "highspy"]


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    """The solver behind programmes."""
    if request.param == "SciPy":
        monkeypatch.setattr(_solver, "Engines", (_solver.SciPy,))
    else:
        pytest.importorskip("highspy", reason="highspy is not installed: HiGHS was used through SciPy alone")
    return request.param


def programme(rng, variables=6, rows=3, top=1):
    """A random programme that holds its first point, and all its feasible vectors."""
    matrix = rng.integers(-2, 4, (rows, variables)).astype(float)
    inside = rng.integers(0, top + 1, variables)
    row_upper = matrix @ inside + rng.integers(0, 2, rows)
    row_lower = np.where(rng.random(rows) < 0.5, -np.inf, matrix @ inside - rng.integers(0, 3, rows))
    found = IntegerProgramme(matrix, row_lower, row_upper, upper=float(top))
    every = np.array(list(itertools.product(range(top + 1), repeat=variables)), dtype=float)
    sums = every @ matrix.T
    return found, every[(sums <= row_upper + 1e-9).all(axis=1) & (sums >= row_lower - 1e-9).all(axis=1)]


def hinges(w, x, values, loss, every):
    """The hinge of one example, over all its feasible vectors."""
    _, features, costs = x
    paid = features @ w + costs
    return max(loss(y) + paid @ (values - y) for y in every)


def problem(rng, count=4, width=3, top=1):
    """Examples with solutions at planted weights, beside their feasible vectors."""
    planted, X, Y, every = rng.normal(size=width), [], [], []
    for _ in range(count):
        feasible, vectors = programme(rng, top=top)
        features, costs = rng.normal(size=(6, width)), 0.1 * rng.normal(size=6)
        paid = features @ planted + costs + 0.5 * rng.normal(size=6)
        X.append((feasible, features, costs))
        Y.append(vectors[np.argmin(vectors @ paid)])
        every.append(vectors)
    return X, Y, every


def objective(w, lam, X, Y, every, losses):
    return 0.5 * lam * w @ w + np.mean([hinges(w, *parts) for parts in zip(X, Y, losses, every, strict=True)])


@pytest.mark.parametrize("seed", range(10))
def test_the_least_cost_is_found(engine, seed):
    """With a bound that is no larger, whatever the costs."""
    rng = np.random.default_rng(seed)
    feasible, every = programme(rng, top=1 + seed % 2)
    for _ in range(5):
        costs = rng.normal(size=6) * 10.0 ** rng.integers(-3, 4)
        found = feasible.minimise(costs)
        least = (every @ costs).min()
        assert costs @ found.y == pytest.approx(least, abs=1e-9 * np.abs(costs).sum())
        assert least - 1e-8 * (1 + np.abs(costs).sum()) <= found.bound <= least + 1e-15 * np.abs(costs).sum()
        assert feasible.fault(found.y) is None


@pytest.mark.parametrize("block", range(10))
def test_closer_rows_lose_no_vector(block):
    """Rows that say what implies what, and how many there may be, twice and at random."""
    for seed in range(30):
        rng = np.random.default_rng([block, seed])
        rows, variables = int(rng.integers(1, 6)), int(rng.integers(3, 7))
        matrix = rng.integers(0, 2, (rows, variables)).astype(float)
        matrix[:, rng.integers(variables)] *= -rng.integers(1, 4)
        if rows > 2:
            matrix[-1] = matrix[0] * rng.choice([-1.0, 1.0])
        row_upper = rng.integers(0, 3, rows).astype(float)
        every = np.array(list(itertools.product((0.0, 1.0), repeat=variables)))
        every = every[(every @ matrix.T <= row_upper).all(axis=1)]
        feasible = IntegerProgramme(matrix, -np.inf, row_upper)
        for _ in range(4 if len(every) else 0):
            costs = rng.normal(size=variables) if rng.random() < 0.5 else rng.integers(-3, 4, variables).astype(float)
            found, least = feasible.minimise(costs), (every @ costs).min()
            assert costs @ found.y == pytest.approx(least, abs=1e-9) and found.bound <= least + 1e-12, (block, seed)


def test_rows_that_stand_twice_imply_once():
    """``b <= c``, twice, with ``a + b <= 1`` does not make ``a + b <= c``."""
    feasible = IntegerProgramme([[1.0, 1.0, 0.0], [0.0, 1.0, -2.0], [0.0, 1.0, -2.0]], -np.inf, [1.0, 0.0, 0.0])
    assert feasible.minimise(np.array([-1.0, 0.0, 0.5])).y.tolist() == [1.0, 0.0, 0.0]


def test_rows_of_decimals_are_left_alone():
    """``2.47 a - b - c - d <= 0.47``, where at most two of the others are 1, allows a = 1."""
    feasible = IntegerProgramme([[2.47, -1, -1, -1], [0, 1, 1, 1]], -np.inf, [0.47, 2.0])
    assert feasible.minimise(np.array([-3.0, 1.0, 1.0, 1.0])).bound <= -1.0


def test_whole_variables_have_whole_bounds():
    feasible = IntegerProgramme([[4.0, 1, 4], [4, 5, 2]], -np.inf, [14, 17], lower=0.5, upper=3.5)
    costs = np.array([-0.9285507599759312, -1.1356676772528365, 0.5134580105986395])
    assert feasible.lower.tolist() == [1.0] * 3 and feasible.upper.tolist() == [3.0] * 3
    assert feasible.minimise(costs).bound <= costs @ [1.0, 2.0, 1.0]


def test_completions_of_heuristics_are_not_certified():
    """A function that always returns the same vector has no bound."""
    always = FromFunction(lambda costs: np.array([1.0, 1, 1, 0, 0, 0]), 6)
    x = [(always, np.random.default_rng(0).normal(size=(6, 2))) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not IlpSSVM(lam=0.1, passes=5).fit(x, [np.array([1, 1, 1, 0, np.nan, 0.0])] * 4).certified_


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("top", [1, 3])
def test_fits_are_the_optimum_of_enumeration(engine, seed, top):
    """Bounds hold at all weights; errors between bounds count by their size."""
    rng = np.random.default_rng(100 + seed)
    X, Y, every = problem(rng, top=top)
    losses = [lambda y, true=true: np.abs(y - true).sum() for true in Y]
    model = IlpSSVM(lam=0.1, gap=1e-6, passes=2000).fit(X, Y)
    assert model.certified_ and model.gap_ <= 1e-6
    assert model.primal_ == pytest.approx(objective(model.coef_, 0.1, X, Y, every, losses), abs=1e-6)
    for _ in range(20):
        w = model.coef_ + 0.1 * rng.normal(size=3)
        assert objective(w, 0.1, X, Y, every, losses) >= model.dual_ - 1e-9


@pytest.mark.parametrize("seed", range(100))
def test_lax_solvers_are_certified_truly(seed):
    """With a gap of 5 % for each solution the optimum is between the bounds."""
    rng = np.random.default_rng(200 + seed)
    X, Y, every = problem(rng)
    lax = IlpSSVM(lam=0.1, gap="1%", passes=100, oracle_gap=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lax.fit(X, Y)
    exact = IlpSSVM(lam=0.1, gap=1e-7, passes=2000).fit(X, Y)
    assert lax.dual_ <= exact.primal_ and lax.primal_ >= exact.dual_
    losses = [lambda y, true=true: np.abs(y - true).sum() for true in Y]
    assert lax.primal_ >= objective(lax.coef_, 0.1, X, Y, every, losses) - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_fixed_is_the_objective_with_zeros(seed):
    """Also where zeros are not feasible: the plain formula, at any weights."""
    rng = np.random.default_rng(300 + seed)
    X, Y, every = problem(rng)
    marked = [np.where(rng.random(6) < 0.6, true, np.nan) for true in Y]
    marked[0] = np.where(np.isnan(marked[0]), np.nan, 1.0 - marked[0])  # not feasible, most likely
    zeros = [np.where(np.isnan(true), 0.0, true) for true in marked]
    losses = [lambda y, t=t, known=~np.isnan(m): np.abs(y - t)[known].sum() for t, m in zip(zeros, marked, strict=True)]
    model = IlpSSVM(lam=0.2, gap=1e-6, passes=2000, partial="fixed").fit(X, marked)
    assert model.certified_
    at = objective(model.coef_, 0.2, X, zeros, every, losses)
    assert model.dual_ <= at <= model.primal_ <= at + 1e-6
    for _ in range(20):
        assert objective(model.coef_ + 0.1 * rng.normal(size=3), 0.2, X, zeros, every, losses) >= model.dual_ - 1e-9
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_) and again.primal_ == model.primal_


@pytest.mark.parametrize("seed", range(200))
def test_completions_never_raise_the_objective(seed):
    """The last is the objective of the concave-convex procedure at the weights, by enumeration, or above it by what solvers left open."""
    rng = np.random.default_rng(400 + seed)
    X, Y, every = problem(rng)
    marked = [np.where(rng.random(6) < 0.5, true, np.nan) for true in Y]
    model = IlpSSVM(lam=0.05, gap="0.1%", passes=500).fit(X, marked)
    found = [one["objective"] for one in model.rounds_]
    assert all(after <= before for before, after in itertools.pairwise(found))
    total = 0.05 * 0.5 * model.coef_ @ model.coef_
    for (_, features, costs), partly, vectors in zip(X, marked, every, strict=True):
        paid, known = features @ model.coef_ + costs, ~np.isnan(partly)
        agree = vectors[(vectors[:, known] == partly[known]).all(axis=1)]
        loss = np.abs(vectors - np.where(known, partly, 0.0))[:, known].sum(axis=1)
        total += ((loss - vectors @ paid).max() + (agree @ paid).min()) / len(X)
    assert -1e-9 <= found[-1] - total <= 0.2 * 0.001 * total + 1e-9


@pytest.mark.parametrize("options", [{}, {"sense": "max", "loss": "hamming-mean"}])
def test_turns_go_on_from_the_turn_before(monkeypatch, options):
    """Each but the first on complete truths begins at bounds of its own problem, without a call."""
    turns, learn = [], IlpSSVM._learn

    def watched(self, *given):
        learn(self, *given)
        turns.append((self.summary_.get("update"), self.history_[0], self.primal_, self.dual_))

    monkeypatch.setattr(IlpSSVM, "_learn", watched)
    rng = np.random.default_rng(7)
    X, Y, _ = problem(rng, count=20)
    model = IlpSSVM(lam=0.05, gap="0.1%", passes=500, **options).fit(X, [np.where(rng.random(6) < 0.5, true, np.nan) for true in Y])
    assert [start for start, *_ in turns[:2]] == [None, None] and len(turns) > 3 and "update" not in model.summary_
    for start, first, primal, dual in turns[2:]:
        assert start["certified"] and start["dual"] <= primal and start["primal"] >= dual and first["oracle_calls"] == 0


def test_zeros_are_biased_and_completions_are_not():
    """Where half of each solution is unknown, zeros teach that variables are costly: the right vectors are not found again."""
    rng = np.random.default_rng(5)
    size, X, Y = 8, [], []
    for _ in range(40):
        features = np.column_stack([np.ones(size), rng.normal(size=size)])
        X.append((Box(np.zeros(size), np.ones(size)), features))
        Y.append((features @ [-0.7, 1.0] < 0.0).astype(float))
    marked = [np.where(rng.random(size) < 0.4, true, np.nan) for true in Y]
    wrong = {}
    for partial in ("masked", "fixed"):
        model = IlpSSVM(partial=partial, lam=0.01).fit(X, marked)
        wrong[partial] = np.mean([np.abs(a - b).mean() for a, b in zip(model.predict(X), Y, strict=True)])
    assert wrong["masked"] < 0.05 < 0.2 < wrong["fixed"]


def test_gains_are_costs_with_the_other_sign():
    rng = np.random.default_rng(6)
    X, Y, _ = problem(rng)
    low = IlpSSVM(lam=0.1, gap=1e-6).fit(X, Y)
    high = IlpSSVM(lam=0.1, gap=1e-6, sense="max").fit([(x, -features, -costs) for x, features, costs in X], Y)
    np.testing.assert_allclose(low.coef_, high.coef_, atol=1e-3)
    np.testing.assert_allclose(low.predict_costs(X)[0], -high.predict_costs([(x, -f, -c) for x, f, c in X])[0], atol=1e-2)
    assert low.score(X, Y) == pytest.approx(high.score([(x, -f, -c) for x, f, c in X], Y))


def test_weights_keep_their_signs_and_losses_their_weights():
    rng = np.random.default_rng(7)
    X, Y, every = problem(rng)
    model = IlpSSVM(lam=0.01, gap=1e-5, passes=2000, nonnegative=[1]).fit(X, Y)
    assert model.coef_[1] >= 0.0 and IlpSSVM(lam=0.01).fit(X, Y).coef_.min() < 0.0
    weights = rng.random(6)
    weighted = IlpSSVM(lam=0.1, gap=1e-6, passes=2000).fit(X, [Target(true, weights) for true in Y])
    losses = [lambda y, true=true: weights @ np.abs(y - true) for true in Y]
    assert weighted.primal_ == pytest.approx(objective(weighted.coef_, 0.1, X, Y, every, losses), abs=1e-6)


def test_models_are_kept_in_files(tmp_path):
    rng = np.random.default_rng(8)
    X, Y, _ = problem(rng)
    for partial in ("masked", "fixed"):
        model = IlpSSVM(lam=0.1, partial=partial).fit(X, [*Y[:-1], np.where(np.arange(6) < 3, Y[-1], np.nan)])
        model.save(tmp_path / "m.safetensors")
        again = IlpSSVM.load(tmp_path / "m.safetensors")
        assert np.array_equal(again.coef_, model.coef_) and again.gap_ == pytest.approx(model.gap_)
        assert all(np.array_equal(a, b) for a, b in zip(again.predict(X), model.predict(X), strict=True))
    gains = IlpSSVM(lam=0.1, sense="max").fit(X, Y)
    gains.save(tmp_path / "g.safetensors")
    assert IlpSSVM.load(tmp_path / "g.safetensors").score(X, Y) == gains.score(X, Y) and gains.sense == "max"
    with pytest.raises(ValueError, match="holds a model of IlpSSVM, expected one of DecisionSSVM"):
        DecisionSSVM.load(tmp_path / "g.safetensors", Box(np.zeros(6), np.ones(6)))


def test_threads_change_no_bit():
    """Each example has a programme of its own; what several share is asked one after the other."""
    X, Y, _ = problem(np.random.default_rng(9), count=12)
    one, two = (
        IlpSSVM(lam=0.05, gap="0.1%", clock="work", threads=threads).fit([(again(x[0]), *x[1:]) for x in X], Y) for threads in (1, 2)
    )
    assert np.array_equal(one.coef_, two.coef_) and one.dual_ == two.dual_
    shared = [(X[0][0], *x[1:]) for x in X]
    with pytest.warns(UserWarning, match="does not declare releases_gil"):
        IlpSSVM(lam=0.05, threads=2).fit(shared, [Y[0]] * 12)


def again(feasible):
    """The same programme, whose solver has seen nothing."""
    return pickle.loads(pickle.dumps(feasible))


def odd_cycles(rng, count=5):
    """Examples whose relaxations are fractional: no two neighbours of a triangle or of a cycle of five are chosen."""
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 7), (7, 3), (2, 3)]
    rows = np.zeros((len(edges), 8))
    for row, (a, b) in zip(rows, edges, strict=True):
        row[[a, b]] = 1.0
    every = np.array(list(itertools.product((0.0, 1.0), repeat=8)))
    every = every[(every @ rows.T <= 1.0).all(axis=1)]
    X = [(IntegerProgramme(rows, -np.inf, 1.0), np.column_stack([np.ones(8), rng.normal(size=(8, 2))]), np.zeros(8)) for _ in range(count)]
    paid = [features @ [-2.0, 1.0, -1.0] + 0.5 * rng.normal(size=8) for _, features, _ in X]
    return X, [every[np.argmin(every @ costs)] for costs in paid], [every] * count


@pytest.mark.parametrize("seed", range(3))
def test_threads_and_checkpoints_where_relaxations_are_fractional(tmp_path, seed):
    """Bits may differ there; bounds hold all the same."""
    X, Y, every = odd_cycles(np.random.default_rng(500 + seed))
    losses = [lambda y, true=true: np.abs(y - true).sum() for true in Y]
    path, stops = tmp_path / "state", {"lam": 0.05, "gap": 1e-4, "passes": 500}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        IlpSSVM(**stops | {"passes": 3}).fit(X, Y, checkpoint=path)
    found = [
        IlpSSVM(**stops).fit([(again(x[0]), *x[1:]) for x in X], Y, resume=path),
        IlpSSVM(**stops, threads=2).fit(X, Y),
    ]
    assert sum(feasible.solver.branched for feasible, *_ in X) > len(X)
    for model in found:
        assert model.certified_ and model.gap_ <= 1e-4
        at = objective(model.coef_, 0.05, X, Y, every, losses)
        assert at <= model.primal_ + 1e-9 and all(model.dual_ <= other.primal_ for other in found)
        assert all(objective(model.coef_ + rng * 0.01, 0.05, X, Y, every, losses) >= model.dual_ - 1e-9 for rng in np.eye(3))


def vertices(matrix, row_upper, size):
    """The corners of ``matrix @ y <= row_upper`` within 0 and 1."""
    rows, ends = np.vstack([matrix, np.eye(size), -np.eye(size)]), np.concatenate([row_upper, np.ones(size), np.zeros(size)])
    found = []
    for chosen in map(list, itertools.combinations(range(len(rows)), size)):
        if abs(np.linalg.det(rows[chosen])) > 1e-9:
            y = np.linalg.solve(rows[chosen], ends[chosen])
            if (rows @ y <= ends + 1e-9).all():
                found.append(np.clip(y, 0.0, 1.0))
    return np.array(found)


@pytest.mark.parametrize("seed", range(6))
def test_continuous_variables_are_those_of_linear_programmes(engine, seed):
    """Losses are convex, so the corners have the worst. Solutions are corners, most of them between the bounds in some variable."""
    rng = np.random.default_rng(600 + seed)
    X, Y, every = [], [], []
    for _ in range(4):
        matrix = rng.integers(-2, 4, (3, 4)).astype(float)
        row_upper = matrix @ rng.random(4) + 0.1
        corners = vertices(matrix, row_upper, 4)
        features, costs = rng.normal(size=(4, 2)), 0.1 * rng.normal(size=4)
        paid = features @ [1.0, -1.0] + costs
        X.append((IntegerProgramme(matrix, -np.inf, row_upper, integral=False), features, costs))
        Y.append(corners[np.argmin(corners @ paid)])
        every.append(corners)
        least = X[-1][0].minimise(paid)
        assert paid @ least.y == pytest.approx((corners @ paid).min(), abs=1e-6) and least.bound <= (corners @ paid).min() + 1e-12
    losses = [lambda y, true=true: np.abs(y - true).sum() for true in Y]
    model = IlpSSVM(lam=0.1, gap=1e-5, passes=2000).fit(X, Y)
    assert model.certified_ and model.gap_ <= 1e-5
    assert model.primal_ == pytest.approx(objective(model.coef_, 0.1, X, Y, every, losses), abs=1e-5)


def test_lambda_is_chosen_once_for_all_completions():
    """Rounds of one objective: the choice, and its report, is that of the first."""
    rng = np.random.default_rng(3)
    X, Y, _ = problem(rng, count=12)
    model = IlpSSVM(lam="cv").fit(X, [np.where(rng.random(6) < 0.5, true, np.nan) for true in Y])
    assert len(model.rounds_) > 1 and model.lam == "cv"
    assert model.lam_ == model.summary_["lambda_choice"]["lambda"]


def test_completions_keep_the_solver(engine, monkeypatch):
    """Known values are bounds for a call, also where no vector has them all, and errors of solvers are not taken for that."""
    feasible = IntegerProgramme([[1.0, 1.0, 1.0]], 1.0, 2.0)
    known, costs = np.array([1.0, 1.0, 0.0]), np.array([0.3, 0.2, -0.1])
    assert feasible.nearest(costs, np.array([0.0, 0.0, 0.0]), known).tolist() == [0.0, 0.0, 1.0]
    assert feasible.nearest(costs, np.ones(3), np.ones(3)).sum() == 2.0
    assert feasible.minimise(costs).y.tolist() == [0.0, 0.0, 1.0] and feasible.minimise(-costs).y.tolist() == [1.0, 1.0, 0.0]
    assert feasible.solver.calls == 4  # that which found nothing is not counted

    def failing(*arguments):
        raise ValueError("the relaxation was not solved")

    monkeypatch.setattr(feasible.solver._engine, "relaxed", failing)
    with pytest.raises(ValueError, match="the relaxation was not solved"):
        feasible.nearest(costs, np.ones(3), known)
