"""Costs of integer programmes and of other decisions, learned from solutions: ``pip install multiplane[ilp]``.

- ``IlpSSVM``: weights of features of variables, from solutions that are known altogether or in part.
- ``IntegerProgramme``, ``Box``: feasible vectors. ``FeasibleSet``: what a set of your own inherits.
- ``Target``: a solution with a loss of its own.
"""

from multiplane.ilp._estimator import IlpSSVM, Target
from multiplane.ilp._feasible import Box, FeasibleSet, Least
from multiplane.ilp._programme import IntegerProgramme

__all__ = ["Box", "FeasibleSet", "IlpSSVM", "IntegerProgramme", "Least", "Target"]
