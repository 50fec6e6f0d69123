"""Tasks that users write: what a max-oracle in Python looks like.

A task is any object with four methods; nothing has to be inherited::

    class Assignment:
        quality = "exact"                      # what decode promises, see below
        def dim(self): ...                     # length of w
        def features(self, x, y): ...          # the joint features phi(x, y)
        def loss(self, truth, y): ...          # Delta(truth, y) >= 0, 0 at the truth
        def decode(self, x, w, truth=None): ...

``decode`` returns the ``y`` that maximises ``w . features(x, y)``, plus ``loss(truth, y)`` where ``truth`` is given.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Bounded(NamedTuple):
    """A labelling with an upper bound on what any labelling scores.

    What ``decode`` of a task with ``quality = "upper-bound"`` returns: the gap is then certified although the
    labelling may not be the best one.

    Attributes:
        y: The labelling.
        bound: At least ``w . features(x, z) + loss(truth, z)`` for every ``z`` (without the loss where no truth was
            given). Not divided by the number of examples, the truth's score not subtracted. ``inf`` is no bound, as of a
            solver that ran out of time: nothing is certified by this answer, and the next evaluation asks again.
    """

    y: Any
    bound: float


@runtime_checkable
class Task(Protocol):
    """What ``StructuredSVM`` needs of a task. Optional beside these methods:

    - ``quality``: ``"exact"`` (decode finds the best labelling), ``"upper-bound"`` (decode returns :class:`Bounded`)
      or ``"heuristic"``. Undeclared counts as heuristic: gaps are then estimates and never certified.
    - ``decode_many(xs, w, truths)``: many examples at one w, as a list; ``truths`` is None for prediction.
    - ``describe_many(xs, truths, ys)``: features ``[n, dim]`` (dense or SciPy sparse) and losses ``[n]`` of what ``decode_many``
      answered, the same as ``features`` and ``loss`` give; for warm starts to the bit.
    - ``fixed_score(x, y)``: a part of the score that is not learned, such as a prior or a smoothness cost, a number. ``decode`` adds
      it to ``w . features(x, y)`` itself, and its bounds hold it; not with ``rescaling="slack"``.
    - ``batch``: how many examples ``decode_many`` is given at most (256).
    - ``nonnegative``: weights that must stay >= 0, as a list of ``(start, stop)``.
    - ``neighbours(x, y)``: labellings near ``y`` that are allowed; the doctor compares with them.
    - ``releases_gil``: True if decode releases the interpreter lock and may be called by several threads at once.
    """

    def dim(self) -> int:
        """Length d of the joint feature vector and of w."""

    def features(self, x: Any, y: Any) -> Any:
        """``phi(x, y)``: a dense vector, ``(indices, values)``, a dict, or a SciPy sparse row."""

    def loss(self, truth: Any, y: Any) -> float:
        """The task loss: finite, >= 0, and 0 where ``y`` is the truth."""

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        """The best labelling at ``w``. ``w`` is read-only and refreshed in place: copy it to keep it."""


class Pooled:
    """A task whose decoding is spread over the workers of a ``concurrent.futures`` executor.

    Args:
        task: The task; with a process pool it and its examples must be picklable.
        executor: For instance ``ProcessPoolExecutor(8)``. It stays yours to shut down.
        chunk: Examples that a worker gets at a time, at most.

    Calls at one w run in parallel: evaluation, prediction, and passes that ask for several examples at a time. The task
    travels with every chunk; processes of ``StructuredSVM(n_jobs=...)`` keep it.
    """

    def __init__(self, task: Any, executor: Any, chunk: int = 8) -> None:
        self.task = task
        self.executor = executor
        self.chunk = chunk
        self.quality = _declared(task, "quality")
        self.nonnegative = _declared(task, "nonnegative")
        self.batch = 64 * chunk
        if callable(getattr(task, "fixed_score", None)):
            self.fixed_score = task.fixed_score

    def __deepcopy__(self, memo: dict[int, Any]) -> Pooled:
        return Pooled(copy.deepcopy(self.task, memo), self.executor, self.chunk)  # workers are shared

    def dim(self) -> int:
        return int(self.task.dim())

    def features(self, x: Any, y: Any) -> Any:
        return self.task.features(x, y)

    def loss(self, truth: Any, y: Any) -> float:
        return float(self.task.loss(truth, y))

    def decode(self, x: Any, w: NDArray[np.float64], truth: Any = None) -> Any:
        return self.task.decode(x, w, truth)

    def decode_many(self, xs: Sequence[Any], w: NDArray[np.float64], truths: Sequence[Any] | None) -> list[Any]:
        weights = np.array(w)
        workers = getattr(self.executor, "_max_workers", None) or 1
        chunk = max(1, min(self.chunk, -(-len(xs) // workers)))  # none should be idle
        parts = [slice(at, at + chunk) for at in range(0, len(xs), chunk)]
        asked = [(xs[part], None if truths is None else truths[part]) for part in parts]
        jobs = [self.executor.submit(_decode_chunk, self.task, weights, *question) for question in asked]
        return [y for job in jobs for y in job.result()]


def _decode_chunk(task: Any, w: NDArray[np.float64], xs: Sequence[Any], truths: Sequence[Any] | None) -> list[Any]:
    """Runs in a worker of the executor."""
    if truths is None:
        return [kept(task.decode(x, w)) for x in xs]
    return [kept(task.decode(x, w, truth)) for x, truth in zip(xs, truths, strict=True)]


def kept(answer: Any) -> Any:
    """Returns an answer that outlasts the next call, which may write over its arrays: copies them, and the lists, tuples
    and dicts that hold them.
    """
    if isinstance(answer, np.ndarray):
        return answer.copy(order="K")
    if isinstance(answer, Bounded):
        return Bounded(kept(answer.y), answer.bound)
    if type(answer) in (list, tuple):
        return type(answer)(map(kept, answer))
    return {key: kept(value) for key, value in answer.items()} if type(answer) is dict else answer


def _declared(task: Any, name: str) -> Any:
    """An optional attribute, called where it is a method."""
    value = getattr(task, name, None)
    return value() if callable(value) else value
