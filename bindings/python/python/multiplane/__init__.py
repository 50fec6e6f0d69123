"""multiplane: structural support vector machines with certified duality gaps, made for slow max-oracles.

A model predicts whole objects: a sequence, a matching, a tree. Training asks a max-oracle (loss-augmented inference)
again and again; multiplane keeps each answer, reuses it, and stops with a certificate: ``primal_``, ``dual_`` and
``gap_`` of a fitted estimator bracket the optimum.

- ``BinarySSVM``, ``MulticlassSSVM``, ``MultiLabelSSVM``, ``ChainSSVM``, ``TreeSSVM``,
  ``ArborescenceSSVM``, ``GraphSSVM``, ``MrfSSVM``, ``BoxSSVM``, ``PoseSSVM``: built-in tasks.
- ``StructuredSVM``: your own task, with your own max-oracle.
- ``PairwiseModel``, ``infer``: the labelling of least energy, of models in memory and of files.
- ``sequences``: sequences out of data frames.
- ``load_libsvm``, ``load_letters``, ``load_conll``, ...: data files. ``load``: model files.
- ``solvers``: every solver with its parameters.
"""

from multiplane import solvers
from multiplane._arborescence import ArborescenceSSVM
from multiplane._boxes import BoxSSVM
from multiplane._builtin import load
from multiplane._chain import ChainSSVM
from multiplane._check import Finding, Findings
from multiplane._core import __version__
from multiplane._errors import BrokenPromiseWarning, ConvergenceWarning, NotFittedError, UnusedParameterWarning
from multiplane._explain import Explanation
from multiplane._files import (
    load_conll,
    load_crfsuite,
    load_csv,
    load_hmm,
    load_letters,
    load_libsvm,
    load_multilabel,
    load_trees,
)
from multiplane._fit_options import FitOptions
from multiplane._frames import sequences
from multiplane._graph import GraphSSVM
from multiplane._history import History
from multiplane._infer import Inference, PairwiseModel, infer
from multiplane._look import Weight
from multiplane._mrf import MrfSSVM
from multiplane._multilabel import MultiLabelSSVM
from multiplane._path import PathResult
from multiplane._poses import PoseSSVM
from multiplane._processes import LostWorkers
from multiplane._pystruct import PyStructTask
from multiplane._ray import ClusterWarning
from multiplane._report import Report, chunk_scorer
from multiplane._rows import BinarySSVM, MulticlassSSVM
from multiplane._structured import HeuristicWarning, StructuredSVM
from multiplane._tasks import Bounded, Pooled, Task
from multiplane._tree import TreeSSVM

__all__ = [
    "ArborescenceSSVM",
    "BinarySSVM",
    "Bounded",
    "BoxSSVM",
    "BrokenPromiseWarning",
    "ChainSSVM",
    "ClusterWarning",
    "ConvergenceWarning",
    "Explanation",
    "Finding",
    "Findings",
    "FitOptions",
    "GraphSSVM",
    "HeuristicWarning",
    "History",
    "Inference",
    "LostWorkers",
    "MrfSSVM",
    "MultiLabelSSVM",
    "MulticlassSSVM",
    "NotFittedError",
    "PathResult",
    "PairwiseModel",
    "Pooled",
    "PoseSSVM",
    "PyStructTask",
    "Report",
    "StructuredSVM",
    "Task",
    "TreeSSVM",
    "UnusedParameterWarning",
    "Weight",
    "__version__",
    "chunk_scorer",
    "infer",
    "load",
    "load_conll",
    "load_crfsuite",
    "load_csv",
    "load_hmm",
    "load_letters",
    "load_libsvm",
    "load_multilabel",
    "load_trees",
    "sequences",
    "solvers",
]
