"""Costs of integer programmes and of other decisions, learned from solutions: ``pip install multiplane[ilp]``.

- ``IlpSSVM``: weights of features of variables, from solutions that are known altogether or in part.
- ``IntegerProgramme``, ``Box``: feasible vectors. ``FeasibleSet``: what a set of your own inherits.
- ``Target``: a solution with a loss of its own.
- ``Assignment``, ``ShortestPath``, ``Matching``, ``SpanningTree``, ``Knapsack``, ``TopK``: sets that need no integer programme.
- ``DecisionSSVM``: costs predicted from inputs for good decisions (SPO+), from costs that came true.
- ``FromFunction``: a solver of your own, as a function of costs.
- ``save``: a file of programmes for the command line.
- ``Infeasible``: the ValueError where no vector is feasible. ``Unsolved``: where none was found in time.
"""

from multiplane.ilp._container import save
from multiplane.ilp._decisions import DecisionSSVM
from multiplane.ilp._estimator import IlpSSVM
from multiplane.ilp._examples import Target
from multiplane.ilp._feasible import Box, FeasibleSet, Infeasible, Least, Unsolved
from multiplane.ilp._programme import IntegerProgramme
from multiplane.ilp._shortcuts import Assignment, FromFunction, Knapsack, Matching, ShortestPath, SpanningTree, TopK

__all__ = [
    "Assignment", "Box", "DecisionSSVM", "FeasibleSet", "FromFunction", "IlpSSVM", "Infeasible", "IntegerProgramme", "Knapsack", "Least",
    "Matching", "ShortestPath", "SpanningTree", "Target", "TopK", "Unsolved", "save",
]  # fmt: skip
