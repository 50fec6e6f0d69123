"""Every solver as a class whose arguments are its parameters, made from the definitions in the core.

``MPBCFW(planes={"max_idle": 5})`` is what ``--solver mp-bcfw --set solver.planes.max_idle=5`` is on the command line.
An estimator takes such an object, or just a name: ``solver="mp-bcfw"``.
"""

from multiplane import _solvers
from multiplane._solvers import Solver

_CLASSES = {_solvers.class_name(entry["name"]): _solvers.made(entry) for entry in _solvers.DEFINITIONS["solvers"]}
globals().update(_CLASSES)
__all__ = ["Solver", *_CLASSES]


def __getattr__(name: str) -> object:
    """Says which class was meant where only the case of letters differs."""
    meant = [known for known in __all__ if known.lower() == name.lower().replace("_", "")]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + (f": did you mean {meant[0]}?" if meant else ""))
