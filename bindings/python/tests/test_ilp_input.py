"""What IlpSSVM and integer programmes refuse, and what the doctor finds in them."""

import sys

import numpy as np
import pytest

pytest.importorskip("scipy")
from test_ilp import problem  # noqa: E402

from multiplane._errors import ConvergenceWarning  # noqa: E402
from multiplane.ilp import Box, IlpSSVM, IntegerProgramme, Least, Target  # noqa: E402

RNG = np.random.default_rng(0)
X, Y, _ = problem(RNG)
FEASIBLE = X[0][0]
NARROW = IntegerProgramme([[1.0, 1.0]], 3.0)
WRONG = {
    "rows": (lambda: IlpSSVM().fit([(FEASIBLE, np.ones((5, 3)))], Y[:1]), r"^X\[0\]: features have the shape \(5, 3\): expected \(6, d\)"),
    "widths": (lambda: IlpSSVM().fit([X[0], (X[1][0], np.ones((6, 2)))], Y[:2]), r"^X\[1\] has 2 features, X\[0\] has 3"),
    "text": (lambda: IlpSSVM().fit([(FEASIBLE, "many")], Y[:1]), r"^X\[0\]: features"),
    "NaN": (lambda: IlpSSVM().fit([(FEASIBLE, np.full((6, 3), np.nan))], Y[:1]), r"^X\[0\]: features\[0, 0\] is not finite"),
    "cost": (lambda: IlpSSVM().fit([(*X[0][:2], [0, np.inf, 0, 0, 0, 0])], Y[:1]), r"^X\[0\]: costs\[1\] is not finite"),
    "example": (lambda: IlpSSVM().fit([3], [4]), r"^X\[0\]: expected \(feasible, features\)"),
    "count": (lambda: IlpSSVM().fit(X, Y[:2]), "^X has 4 examples, Y has 2"),
    "none": (lambda: IlpSSVM().fit([], []), "^X has 0 examples"),
    "length": (lambda: IlpSSVM().fit(X, [y[:3] for y in Y]), r"^Y\[0\] has the shape \(3,\): expected \(6,\)"),
    "bounds": (lambda: IlpSSVM().fit(X, [Y[0] + 2, *Y[1:]]), r"^Y\[0\]\[0\] is \d: the variable is between 0 and 1"),
    "infeasible": (lambda: IlpSSVM().fit([(NARROW, np.ones((2, 1)))], [[1, 1]]), r"^Y\[0\] is not feasible: row 0 is 2, expected 3 to inf"),
    "known": (
        lambda: IlpSSVM().fit([(IntegerProgramme([[1.0, 1.0, 0.0]], -np.inf, 1.0), np.eye(3))], [[1, 1, np.nan]]),
        r"^what is known of Y\[0\] is not feasible: of the nearest feasible vector variable [01] is 0",
    ),
    "unknown": (lambda: IlpSSVM().fit(X, [[np.nan] * 6] * 4), "^Y: nothing is known of any solution"),
    "fraction of what is partly known": (lambda: IlpSSVM().fit([(IntegerProgramme([[1.0, 1.0]], -np.inf, 1.0), np.eye(2))], [[0.5, np.nan]]), r"^Y\[0\]\[0\] is 0.5"),
    "swapped": (lambda: IlpSSVM().fit([(np.eye(2), NARROW)], [[1, 1]]), r"^X\[0\]: expected \(feasible, features\).*found ndarray, IntegerProgramme"),
    "gap in percent": (lambda: IlpSSVM(oracle_gap="1%").fit([(NARROW, np.ones((2, 1)))], [[1, 0]]), r"^oracle_gap = '1%': must be"),
    "nothing feasible": (lambda: IlpSSVM(passes=1).fit(X, Y).predict([X[0], (NARROW, np.ones((2, 3)))]), r"^X\[1\]: no vector is feasible"),
    "other width": (lambda: IlpSSVM(passes=1).fit(X, Y).predict_costs([(FEASIBLE, np.ones((6, 2)))]), r"^X\[0\] has 2 features: expected 3"),
    "fraction": (lambda: IlpSSVM().fit([(IntegerProgramme([[1.0]], 0.0), [[1.0]])], [[0.5]]), r"^Y\[0\]\[0\] is 0.5: expected a whole number"),
    "weights": (lambda: IlpSSVM().fit(X, [Target(y, weights=-1.0) for y in Y]), r"^Y\[0\]: weights\[0\] is -1"),
    "both": (lambda: IlpSSVM().fit(X, [Target(y, 1.0, 1.0) for y in Y]), r"^Y\[0\]: weights and costs of a Target: give one"),
    "sense": (lambda: IlpSSVM(sense="up").fit(X, Y), "^sense = 'up': must be 'min' or 'max'"),
    "loss": (lambda: IlpSSVM(loss="zero-one").fit(X, Y), "^loss = 'zero-one': must be 'hamming' or 'hamming-mean'"),
    "partial": (lambda: IlpSSVM(partial="no").fit(X, Y), "^partial = 'no'"),
    "gap": (lambda: IlpSSVM(oracle_gap=-1.0).fit(X, Y), "^oracle_gap = -1.0: must be"),
    "seconds": (lambda: IlpSSVM(oracle_seconds=0.0).fit(X, Y), "^oracle_seconds = 0.0: must be"),
    "column": (lambda: IlpSSVM(nonnegative=[3]).fit(X, Y), "^nonnegative: found 3: the features have the columns 0 to 2"),
    "lambda": (lambda: IlpSSVM(lam="cv", partial="fixed").fit(X, Y), "^lam = 'cv': with partial"),
    "path": (lambda: IlpSSVM().path(X, [[np.nan] * 6] * 4), "^Y: not for a path"),
    "kept": (lambda: IlpSSVM().fit(X, [[np.nan, *y[1:]] for y in Y], checkpoint="x"), "^checkpoint: not where solutions are partly unknown"),
    "between": (lambda: IlpSSVM().fit([(Box([0.0], [4.0]), [[1.0]])], [[2.0]]), r"^Y\[0\]\[0\] is 2, between its bounds"),
    "word": (lambda: IlpSSVM(task=3), "unexpected keyword argument 'task'"),
    "infinite": (lambda: IntegerProgramme([[1.0, 2.0]], upper=np.inf), r"^upper\[0\] is infinite"),
    "crossed": (lambda: IntegerProgramme([[1.0, 2.0]], 3.0, 2.0), "^row 0 is between 3 and 2"),
    "crossed bounds": (lambda: IntegerProgramme([[1.0, 2.0]], lower=[0, 2]), "^variable 1 is between 2 and 1"),
    "matrix": (lambda: IntegerProgramme([[1.0, np.inf]]), "^matrix holds a number that is not finite"),
    "words": (lambda: IntegerProgramme("rows"), "^matrix: expected numbers"),
    "bound": (lambda: IntegerProgramme([[1.0, 2.0]], [np.nan]), r"^row_lower\[0\] is NaN"),
    "costs": (lambda: FEASIBLE.minimise(np.ones(3)), r"^costs has the shape \(3,\): expected \(6,\)"),
    "NaN costs": (lambda: FEASIBLE.minimise(np.full(6, np.nan)), r"^costs\[0\] is NaN"),
    "columns": (lambda: IntegerProgramme(np.zeros((0, 0))), "^matrix has no columns"),
    "path of faults": (lambda: IlpSSVM().path([(NARROW, np.ones((2, 1)))], [[1, 1]]), r"^Y\[0\] is not feasible: row 0 is 2"),
    "signs": (lambda: IlpSSVM(partial="fixed", nonnegative=[0]).fit(X, Y), "^nonnegative: not with partial"),
    "empty": (lambda: IntegerProgramme([[1.0]], lower=0.2, upper=0.8), "^variable 0 is between 1 and 0"),
    "alone": (lambda: IlpSSVM().fit(X, Y, X_test=X), "^X_test without Y_test: give both"),
    "alone, too": (lambda: IlpSSVM().fit(X, Y, Y_test=Y), "^Y_test without X_test: give both"),
    "worst": (
        lambda: IlpSSVM(lam=0.001).fit([(Box([0.0], [1.0]), [[1.0]], [9.0])] * 2, [Target([1.0], costs=[4.0])] * 2),
        r"^example 0: loss\(truth, y\) returned -4.*Probably Target\(costs=...\) has the other sense",
    ),
    "no vector": (lambda: IntegerProgramme([[2.0, 2.0]], 1.0, 1.0).minimise(np.ones(2)), "^no vector is feasible"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_input_is_one_error(wrong):
    call, message = WRONG[wrong]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_failed_fit_leaves_the_one_before():
    model = IlpSSVM(lam=0.1).fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="not feasible"):
        model.fit([(NARROW, np.ones((2, 1)))], [[1, 1]])
    assert np.array_equal(model.coef_, before) and len(model.predict(X)) == 4


FAULTS = {
    "infeasible": ([(IntegerProgramme([[2.0, 2.0]], 1.0, 1.0), np.ones((2, 1)))], [[1, 0]]),
    "truth-infeasible": ([(IntegerProgramme([[1.0, 1.0]], 1.0, 1.0), np.ones((2, 1)))], [[1, 1]]),
    "fixed-variable": ([(IntegerProgramme([[1.0, 1.0]], 1.0, upper=[0.0, 1.0]), np.ones((2, 1)))], [[0, 1]]),
    "unused-feature": ([(IntegerProgramme([[1.0, 1.0]], 1.0), np.array([[1.0, 0.0], [1.0, 0.0]]))], [[0, 1]]),
    "scale": ([(IntegerProgramme([[1.0, 1.0]], 1.0), np.array([[1.0, 0.0], [1.0, 1e12]]))], [[0, 1]]),
    "big-coefficient": ([(IntegerProgramme([[1.0, -1e6]], -np.inf, 0.0), np.ones((2, 1)))], [[0, 1]]),
    "wide-bounds": ([(IntegerProgramme([[1.0, 1.0]], 1.0, upper=[1e9, 1.0]), np.ones((2, 1)))], [[0, 1]]),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_the_doctor_finds(kind):
    x, y = FAULTS[kind]
    found = {finding.kind: finding for finding in IlpSSVM().check(x, y)}
    assert kind in found and str(found[kind])
    examined = IlpSSVM().check(x, y)
    assert ("calls a second" in str(examined)) == bool(examined.profile) == ("infeasible" not in kind)
    if kind == "truth-infeasible":
        assert "row 0 is 2, expected 1 to 1" in found[kind].message


def test_a_sense_that_is_changed_is_checked():
    model = IlpSSVM(lam=0.1).fit(X, Y)
    model.sense = "up"
    for ask in (model.predict, model.predict_costs, lambda X: model.score(X, Y), lambda X: model.decision_values(X, Y)):
        with pytest.raises(ValueError, match="^sense = 'up': must be 'min' or 'max'"):
            ask(X)


def test_the_doctor_finds_nothing_in_sound_problems():
    assert IlpSSVM().check(X, Y) == []
    assert IlpSSVM().check(X, [np.where(np.arange(6) < 4, y, np.nan) for y in Y]) == []


LP = """Maximize
 obj: 3 x + 2 y - z
Subject To
 c1: x + y + z <= 4
 c2: x + 3 y >= 2
Bounds
 0 <= x <= 3
 0 <= y <= 5
 -1 <= z <= 1
General
 x y
End
"""


def test_files_of_solvers_are_read(tmp_path):
    pytest.importorskip("highspy", reason="highspy is not installed: no LP file was read")
    path = tmp_path / "a.lp"
    path.write_text(LP)
    found, costs = IntegerProgramme.read(path)
    assert costs.tolist() == [-3.0, -2.0, 1.0] and found.integral.tolist() == [True, True, False]
    assert found.minimise(costs).y.tolist() == [3.0, 2.0, -1.0]
    path.write_text(LP.replace("obj: 3 x", "obj: [ 2 x * x ] / 2 + 3 x"))
    with pytest.raises(ValueError, match="it has quadratic terms"):
        IntegerProgramme.read(path)
    path.write_text("no programme")
    with pytest.raises(ValueError, match="HiGHS cannot read it"):
        IntegerProgramme.read(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        IntegerProgramme.read(tmp_path / "b.lp")


def test_nothing_is_printed(capfd):
    pytest.importorskip("highspy", reason="highspy is not installed: its banner was not seen")
    import subprocess

    program = "from multiplane.ilp import IntegerProgramme; print(IntegerProgramme([[1.0]]).minimise([1.0]).y)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[0.]\n" and done.stderr == ""


def test_a_path_is_followed():
    found = IlpSSVM().path(X, Y, eps="5%", lambda_min=0.01)
    assert found.at(0.1).gap_ <= 0.05 * found.at(0.1).primal_


class Hurried(IntegerProgramme):
    """A programme whose solver has a bound and no vector, as when its time is over."""

    def minimise(self, costs, slack=None, seconds=np.inf):
        return Least(None, np.minimum(costs * self.lower, costs * self.upper).sum())


def test_without_a_vector_the_bound_is_used():
    """The example is named, training goes on, and the bounds hold."""
    x = [(Hurried(FEASIBLE.matrix, FEASIBLE.row_lower, FEASIBLE.row_upper), X[0][1]), *X[1:]]
    with pytest.warns(ConvergenceWarning, match="found no vector for example 0 of 4: its bound and the true solution were used"):
        model = IlpSSVM(lam=0.1, passes=20).fit(x, Y)
    exact = IlpSSVM(lam=0.1, gap=1e-6).fit([(FEASIBLE, X[0][1]), *X[1:]], Y)
    assert model.summary_["without_solution"] == [0]
    assert model.certified_ and model.dual_ <= exact.primal_ <= model.primal_
    with pytest.raises(ValueError, match="the solver found no feasible vector in its time: oracle_seconds gives it more"):
        model.predict(x)
