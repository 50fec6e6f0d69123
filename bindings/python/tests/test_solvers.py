"""Every class of multiplane.solvers: built, documented, refusing what it does not know, and trained with."""

import inspect
import pickle

import numpy as np
import pytest
from conftest import blobs

from multiplane import MulticlassSSVM, solvers

NAMES = [name for name in solvers.__all__ if name != "Solver"]
X, Y = blobs(3)


@pytest.mark.parametrize("name", NAMES)
def test_every_solver_is_a_class_with_its_parameters(name):
    """It constructs, its doc and signature have every parameter, unknown ones are refused by name."""
    kind = getattr(solvers, name)
    solver = kind()
    assert isinstance(solver, solvers.Solver) and repr(solver) == f"{name}()"
    parameters = inspect.signature(kind).parameters
    for parameter in parameters.values():
        assert f"{parameter.name}: " in kind.__doc__
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        again = kind(**{parameter.name: parameter.default})
        assert again != solver and again == kind(**{parameter.name: parameter.default})
        assert again.get_params() == {parameter.name: parameter.default}
    with pytest.raises(TypeError, match=f"{name} has no parameter 'ordr': it has"):
        kind(ordr="gap")
    with pytest.raises(TypeError):
        solver.set_params(ordr="gap")
    assert pickle.loads(pickle.dumps(solver)) == solver and hash(solver) == hash(kind())


@pytest.mark.parametrize("name", NAMES)
def test_every_solver_trains(name):
    """Weights, and a bracket where it has a dual; defaults given by hand change no bit."""
    kind = getattr(solvers, name)
    passes = 200 if name in {"PL", "EG", "DivMBest"} else 10  # one step in a pass or in ten
    model = MulticlassSSVM(solver=kind(), passes=passes, clock="work").fit(X, Y)
    assert model.score(X, Y) > 0.7
    assert np.isnan(model.dual_) or model.dual_ <= model.primal_
    assert model.summary_["solver"] == kind.name
    by_name = MulticlassSSVM(solver=kind.name, passes=passes, clock="work").fit(X, Y)
    defaults = {parameter.name: parameter.default for parameter in inspect.signature(kind).parameters.values()}
    by_hand = MulticlassSSVM(solver=kind(**defaults), passes=passes, clock="work").fit(X, Y)
    assert np.array_equal(by_name.coef_, model.coef_) and np.array_equal(by_hand.coef_, model.coef_)


def test_values_are_refused_by_the_core():
    """A wrong value is told with its parameter when training begins."""
    for solver, part in [
        (solvers.MPBCFW(order="gpa"), "gpa"),
        (solvers.MPBCFW(planes={"max_idel": 3}), "max_idel"),
        (solvers.MPBCFW(gap_check="often"), "gap_check"),
        (solvers.MPBCFW(order=np.zeros(2)), "order"),
    ]:
        with pytest.raises(ValueError, match=part):
            MulticlassSSVM(solver=solver).fit(X, Y)


def test_numpy_values_are_numbers():
    """Values of parameters may be NumPy's."""
    assert MulticlassSSVM(solver=solvers.MPBCFW(gap_check=np.int64(5)), passes=2).fit(X, Y).n_iter_ >= 1


def test_names_are_those_that_one_guesses():
    """Words are capitalised, acronyms stay; another case of letters is told the name."""
    assert {"Auto", "BCFWGapCache", "Bundle", "DivMBest", "LASVM", "MPBCFWAvg", "NSlack", "OneSlack"} <= set(NAMES)
    assert {"Pegasos", "PegasosAvg", "SampledCuts", "SFD1", "SSG"} <= set(NAMES)
    for name, meant in [("PEGASOS", "Pegasos"), ("sampled_cuts", "SampledCuts"), ("Bcfw", "BCFW")]:
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': did you mean {meant}"):
            getattr(solvers, name)
    assert not hasattr(solvers, "Newton")
