"""Inference: energies of nodes and edges in, the labelling of least energy out, with a proven bound."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multiplane import _core
from multiplane._energies import counts_and_energies, directions, pairs, tables_of

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Inference:
    """What an engine found.

    Attributes:
        labels: One label per node, of the shape of the model's nodes; of a flow network 0 for the side of the source, 1
            for that of the sink. None where no allowed labelling was found.
        energy: Of ``labels``; of a flow network the capacity of the cut.
        bound: No labelling has a lower energy, up to rounding; ``-inf`` where nothing is proven.
        exact: Whether ``labels`` are proven to be optimal.
        engine: The engine's name.
        seconds: Time in the engine; of lists of labellings that of all of them.
        iterations: Sweeps, moves or cuts that were made.
        stopped: ``"seconds"`` or ``"iterations"`` where this limit ended the solve, else ``""``.
        flow: Of a flow network the maximum flow, an ``int`` where all capacities are; else None.
    """

    labels: Labels | None = field(repr=False)
    energy: float
    bound: float
    exact: bool
    engine: str
    seconds: float
    iterations: int
    stopped: str = ""
    flow: int | float | None = None


def _labels(found: bytearray, shape: tuple[int, ...]) -> Labels:
    return np.frombuffer(found, dtype=np.int32).reshape(shape)


def _inference(found: tuple[Any, ...], shape: tuple[int, ...]) -> Inference:
    labels, *rest = found
    return Inference(None if labels is None else _labels(labels, shape), *rest)


class PairwiseModel:
    """A pairwise energy: ``sum of unary[i][x_i] + sum over edges ij of weight * term(x_i, x_j) + constant``.

    Energies of ``inf`` forbid. A model can be changed in place and solved again: each solve starts from the flow, the
    messages or the labels that the last one left, until :meth:`forget`.

    Args:
        unary: ``[nodes, labels]``, or a list of arrays, one per node, of different lengths.
        edges: ``[edges, 2]``, the nodes at both ends (tail, head).
        weights: A number, or one per edge; 1 by default.
        term: What an edge costs, times its weight: ``"potts"`` (1 for different labels), ``"linear"`` (the difference
            of the labels, at most ``cap``) or ``"quadratic"`` (its square, at most ``cap``).
        cap: The largest value of a linear or quadratic term.
        tables: In place of a term: ``[labels, labels]`` for all edges, ``[edges, labels, labels]``, or a list of
            arrays, one per edge, of the shapes (labels of the tail, labels of the head).
        constant: Added to the energy of every labelling.

    Raises ValueError for what is no energy (NaN, ``-inf``), edges to missing nodes or of a node with itself, shapes
    that do not fit, and nodes without an allowed label.

    Example:
        Three nodes in a row; the one in the middle is undecided, and neighbours like to agree.

        >>> from multiplane import PairwiseModel
        >>> model = PairwiseModel([[0.0, 3.0], [1.0, 1.1], [2.0, 0.0]], [[0, 1], [1, 2]], [1.0, 0.5])
        >>> found = model.solve()
        >>> found.labels.tolist(), found.energy, found.exact
        ([0, 0, 1], 1.5, True)
        >>> model.set_unary([[0.25, 0.0]], nodes=[2])
        >>> model.solve().energy
        1.25
    """

    _model: _core.Energies
    _shape: tuple[int, ...]
    _directions: tuple[bool, ...] | None

    def __init__(
        self, unary: ArrayLike | Sequence[ArrayLike], edges: ArrayLike | None = None, weights: ArrayLike = 1.0, *,
        term: str = "potts", cap: float = np.inf, tables: ArrayLike | Sequence[ArrayLike] | None = None,
        constant: float = 0.0,
    ) -> None:  # fmt: skip
        counts, energies = counts_and_energies(unary)
        self._model = _core.Energies(energies, counts, float(constant))
        self._shape = (len(counts),)
        self._directions = None
        if edges is not None:
            self.add_edges(edges, weights, term=term, cap=cap, tables=tables)

    @classmethod
    def _of(cls, core: _core.Energies, shape: tuple[int, ...], given: tuple[bool, ...] | None = None) -> PairwiseModel:
        self = cls.__new__(cls)
        self._model, self._shape, self._directions = core, shape, given
        return self

    @classmethod
    def grid(
        cls, unary: ArrayLike, horizontal: ArrayLike | None = 1.0, vertical: ArrayLike | None = 1.0,
        diagonal: ArrayLike | None = None, antidiagonal: ArrayLike | None = None,
    ) -> PairwiseModel:  # fmt: skip
        """A model of an image: Potts edges between neighbouring pixels.

        Two labels and weights that are not negative are solved straight from the arrays, by one minimum cut.

        Args:
            unary: ``[height, width, labels]``.
            horizontal: Weights of the edges to the right: a number, or ``[height, width - 1]``. None: no such edges.
            vertical: Of the edges down: a number, or ``[height - 1, width]``.
            diagonal: Of the edges down and right, from ``[y, x]`` to ``[y + 1, x + 1]``: a number, or
                ``[height - 1, width - 1]``.
            antidiagonal: Of the edges from ``[y, x + 1]`` to ``[y + 1, x]``: a number, or ``[height - 1, width - 1]``.

        Example:
            >>> import numpy as np
            >>> from multiplane import PairwiseModel
            >>> image = np.array([[0.1, 0.2, 0.9], [0.0, 0.8, 0.1], [0.2, 0.1, 0.0]])
            >>> model = PairwiseModel.grid(np.stack([image, 1 - image], axis=-1), 0.25, 0.25)
            >>> model.solve().labels.tolist()
            [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
        """
        energies = np.ascontiguousarray(unary, dtype=np.float64)
        if energies.ndim != 3:
            raise ValueError(f"unary: found shape {energies.shape}, expected [height, width, labels]")
        height, width, labels = energies.shape
        given = (horizontal, vertical, diagonal, antidiagonal)
        weights = directions(given, height, width)
        core = _core.Energies.grid(energies, (height, width, labels), weights)
        return cls._of(core, (height, width), tuple(one is not None for one in given))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PairwiseModel:
        """Reads a model from a file: ``.uai``, ``.wcsp`` or ``.cfn``, plain or gzip.

        Raises ValueError with file, line and column for what breaks the format, and for flow networks (``.max``), which
        :func:`infer` solves.
        """
        core, answer = _core.read_problem(os.fspath(path))
        if answer is not None and answer[3][0] is None:
            raise ValueError(f"{os.fspath(path)}: every labelling is forbidden, as multiplane.infer answers")
        if core is None:
            raise ValueError(f"{os.fspath(path)}: it holds a flow network: multiplane.infer solves it")
        return cls._of(core, (core.nodes(),))

    def __repr__(self) -> str:
        return f"PairwiseModel(nodes={self._model.nodes()}, edges={self._model.edges()})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of labellings: ``(nodes,)``, or height and width."""
        return self._shape

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """The number of labels of each node."""
        return np.array(self._model.labels(), dtype=np.int64).reshape(self._shape)

    def add_edges(
        self, edges: ArrayLike, weights: ArrayLike = 1.0, *, term: str = "potts", cap: float = np.inf,
        tables: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> None:  # fmt: skip
        """Adds edges, as the constructor takes them; several edges of the same nodes add up. The next solve is cold."""
        ends, factors = pairs(edges, weights)
        values, shapes = tables_of(tables, len(factors))
        if tables is not None:
            term = "table"
        if not cap > 0:
            raise ValueError(f"cap: found {cap}, expected a positive number")
        self._model.add_edges(ends, factors, term, float(cap), values, shapes)

    def set_unary(self, unary: ArrayLike | Sequence[ArrayLike], nodes: ArrayLike | None = None) -> None:
        """Replaces the unary energies of all nodes, or of those in ``nodes``: all that are given, or none if one is
        refused. Numbers of labels stay. The nodes of a grid are numbered row by row."""
        energies = np.asarray(unary, dtype=np.float64) if isinstance(unary, np.ndarray) else unary
        if nodes is None and isinstance(energies, np.ndarray) and energies.ndim > 2:
            energies = energies.reshape(-1, energies.shape[-1])
        _, values = counts_and_energies(energies)
        indices = None if nodes is None else np.ascontiguousarray(nodes, dtype=np.int64).ravel()
        self._model.set_unary(indices, values)

    def set_weights(self, weights: ArrayLike, edges: ArrayLike | None = None) -> None:
        """Replaces the weights of all edges, or of those whose numbers are in ``edges``, in the order in which they
        were added: all that are given, or none if one is refused."""
        indices = None if edges is None else np.ascontiguousarray(edges, dtype=np.int64).ravel()
        count = self._model.edges() if indices is None else len(indices)
        self._model.set_weights(indices, np.ascontiguousarray(np.broadcast_to(np.asarray(weights, np.float64), (count,))))

    def set_grid_weights(
        self,
        horizontal: ArrayLike | None = None,
        vertical: ArrayLike | None = None,
        diagonal: ArrayLike | None = None,
        antidiagonal: ArrayLike | None = None,
    ) -> None:
        """Replaces the weights of a grid in the directions that are given."""
        if self._directions is None:
            raise ValueError("the model is no grid: set_weights replaces the weights of its edges")
        height, width = self._shape
        self._model.set_directions(directions((horizontal, vertical, diagonal, antidiagonal), height, width))

    def energy(self, labels: ArrayLike) -> float:
        """The energy of a labelling; ``inf`` where it has what is forbidden."""
        return self._model.energy(np.ascontiguousarray(labels, dtype=np.int64).ravel())

    def forget(self) -> None:
        """Makes the next solve start from nothing."""
        self._model.forget()

    def solve(
        self, engine: str | None = None, *, seconds: float | None = None, iterations: int | None = None,
        search: int | None = None,
    ) -> Inference:  # fmt: skip
        """The labelling of least energy, by an engine that starts from where the last solve left off.

        Args:
            engine: ``"tree"``, ``"min-cut"``, ``"brute"``, ``"trws"`` or ``"expansion"`` (``multiplane describe
                engine`` says what they take); by default the first of these that applies.
            seconds: Ends the solve with what there is then. Trees and cuts always end with the optimum.
            iterations: The same after so many iterations, which gives the same result every time.
            search: Rounds of a longer search where the bound of ``trws`` has stalled; by default as many as ``seconds``
                allow, and none without such a limit.

        Ctrl-C ends all engines but trees and cuts at once. The interpreter lock is not held.
        """
        return _inference(self._model.solve(engine, seconds, iterations, search), self._shape)

    def m_best(self, count: int, engine: str | None = None, *, seconds: float | None = None) -> list[Inference]:
        """The ``count`` labellings of least energy, best first, or all allowed ones where there are fewer. Exact if the
        engine is; else each bound says how far. Up to one solve per node and labelling.

        Example:
            >>> from multiplane import PairwiseModel
            >>> model = PairwiseModel([[0.0, 2.0], [0.0, 1.0]])
            >>> [(one.labels.tolist(), one.energy) for one in model.m_best(3)]
            [([0, 0], 0.0), ([0, 1], 1.0), ([1, 0], 2.0)]
        """
        if count < 1:
            raise ValueError(f"count = {count}: must be at least 1")
        return [_inference(one, self._shape) for one in self._model.best(engine, count, seconds)]

    def diverse(
        self, penalties: Iterable[float], engine: str | None = None, *, seconds: float | None = None
    ) -> list[Inference]:
        """Labellings that are good and different: the first has least energy, the one after ``penalties[j]`` least
        energy plus ``penalties[k]`` for every node where it agrees with the k-th before it (DivMBest)."""
        found = self._model.diverse(engine, [float(one) for one in penalties], seconds)
        return [_inference(one, self._shape) for one in found]

    def persistency(self, *, every: bool = False) -> Labels:
        """The labels that some optimum has all together (``every``: that all optima have), -1 where none is proven.

        For Potts models with weights that are not negative, by a few cuts."""
        return _labels(self._model.persistency(every), self._shape)

    def fuse(self, labellings: Iterable[ArrayLike]) -> Inference:
        """The best combination of labellings, in which each node has its label of one of them: exact for two labels,
        else one that no expansion move among these labels betters. Never worse than the best one given.

        Its ``bound`` is one on such combinations only, ``-inf`` where it is not exact.
        """
        known = [np.ascontiguousarray(labels, dtype=np.int64).ravel() for labels in labellings]
        labels, energy, exact = self._model.fuse(known)
        bound = energy if exact else -np.inf
        return Inference(_labels(labels, self._shape), energy, bound, exact, "fusion", 0.0, 0)


def infer(
    model: PairwiseModel | str | os.PathLike[str], engine: str | None = None, *, seconds: float | None = None,
    iterations: int | None = None, search: int | None = None,
) -> Inference:  # fmt: skip
    """Solves a model, or the problem in a file (``.uai``, ``.wcsp``, ``.cfn``, ``.max``, plain or gzip).

    Args:
        model: A :class:`PairwiseModel`, or the name of a file.
        engine, seconds, iterations, search: As for :meth:`PairwiseModel.solve`; a flow network (``.max``) has the one
            engine ``"max-flow"`` and no limits.

    Example:
        >>> import multiplane
        >>> model = multiplane.PairwiseModel([[0.0, 1.0, 4.0], [4.0, 1.0, 0.0]], [[0, 1]], 3.0, term="linear")
        >>> found = multiplane.infer(model)
        >>> found.labels.tolist(), found.energy, found.bound, found.engine
        ([1, 1], 2.0, 2.0, 'tree')
    """
    if isinstance(model, PairwiseModel):
        return model.solve(engine, seconds=seconds, iterations=iterations, search=search)
    path = os.fspath(model)
    core, cut = _core.read_problem(path)
    if core is not None:
        found = PairwiseModel._of(core, (core.nodes(),))
        return found.solve(engine, seconds=seconds, iterations=iterations, search=search)
    assert cut is not None
    if cut[3][0] is None:  # every labelling is forbidden
        return _inference(cut[3], (0,))
    if engine not in (None, "max-flow", "min-cut"):
        raise ValueError(f"{path}: it holds a flow network: engine max-flow solves it, not {engine}")
    nodes, _, flow, answer = cut
    one = _inference(answer, (nodes,))
    return replace(one, exact=True, flow=one.energy if flow is None else flow)
