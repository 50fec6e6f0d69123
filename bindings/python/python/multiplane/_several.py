"""More than the best labelling: the M best ones, and how sure each label is."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._builtin import BuiltIn
from multiplane._errors import warn
from multiplane._report import Report

_MOST = 100_000

NO_LABEL = 2**32 - 1
"""The number of a true label that is unknown, or that the model does not know."""


class TopLabellings(NamedTuple):
    """The best labellings of one example.

    Attributes:
        labels: The labellings, the best first, all different; each is what ``predict`` would say of the example. Fewer
            than asked for where the example has no more.
        scores: Their scores, ``[m]``.
        exact: Whether they are proven to be the best; where the decoder is approximate they may not be.
    """

    labels: list[Any]
    scores: NDArray[np.float64]
    exact: bool


def at_most(m: Any) -> int:
    """The number of labellings that are asked for. Raises ValueError if it is none from 1 to 100000."""
    try:
        count = operator.index(m)
    except TypeError:
        count = 0
    if isinstance(m, (bool, np.bool_)) or not 1 <= count <= _MOST:
        raise ValueError(f"m = {m!r}: must be a whole number from 1 to {_MOST}")
    return count


class Several(BuiltIn):
    """Estimators whose task lists its best labellings and has max-marginals."""

    def _to_ask(self, X: Any) -> tuple[_core.Dataset | None, list[int]]:
        """The data of the examples that have variables, None where none has, and the number of variables of each example."""
        raise NotImplementedError

    def _labelling(self, numbers: NDArray[np.uint32]) -> Any:
        """A labelling in the users' terms."""
        raise NotImplementedError

    def _stacked(self, parts: list[Any]) -> Any:
        """What was found of all examples in the shape that users expect."""
        return parts

    def _labellings(self, X: Any) -> list[Any]:
        """The predicted labelling of every example."""
        self._check_fitted()
        data, sizes = self._to_ask(X)
        numbers = np.frombuffer(b"" if data is None else self._model.predict(data, self._workers()), dtype=np.uint32)
        ends = accumulate(sizes)
        return [self._labelling(numbers[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    def report(self, X: Any, y: Any = None) -> Report:
        """How predictions for ``X`` compare with the truth ``y``, both as for ``fit``: precision, recall, F1 and intersection
        over union of each label, confusions, chunks. What stands for an unknown label is left out.

        Returns:
            A dict; ``print`` it for a table. Raises ValueError for bad input, and if labellings are not made of labels that all
            variables share (``MrfSSVM``, ``ArborescenceSSVM``).
        """
        data, model, names = self._truths(X, y)
        labels = dict(zip(self._model.labels(), self._file_labels(self._model), strict=False))
        found = Report._of(model, data, self._workers(), names, labels)
        if found is None:
            raise ValueError(f"{type(self).__name__} has no report: its labellings are not made of labels that all variables share")
        return found

    def suspects(self, X: Any, y: Any = None, *, cv: int | None = None) -> list[dict[str, Any]]:
        """Labels of ``y`` that may be wrong, the most suspicious first; ``X`` and ``y`` as for ``fit``.

        Args:
            X: Examples.
            y: The labels that they have.
            cv: How many models like this one are trained, each without the examples that it judges; 0: this one judges, which
                agrees with mistakes that it was trained on. ``None`` is 5 for the data of the last fit, else 0.

        Returns:
            A dict for every known label: ``example`` and ``part`` (numbers from 0), ``given``, ``rival`` (the label that the model
            scores highest beside it) and ``score``, by how much the best labelling with the rival scores higher than the best with
            the given label; of rows of 2 to 64 labels that others judge, the log-odds that the label is wrong. Raises ValueError for bad input.
        """
        if not (cv is None or (isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and (cv == 0 or cv > 1))):
            raise ValueError(f"cv = {cv!r}: must be None, 0 or a whole number from 2")
        data, model, _ = self._truths(X, y)
        _, found = model.suspects(data, None if cv is None else int(cv), self._workers())
        numbers, kept = {name: number for number, name in enumerate(model.labels())}, self._kept(X)

        def label(name: str) -> Any:
            return self._label(numbers[name] if name in numbers else int(name))

        return [
            {"example": kept[example], "part": part, "score": score, "given": label(given), "rival": label(rival)}
            for example, part, score, given, rival in found
        ]

    def _label(self, number: int) -> Any:
        """A label in the users' terms."""
        found = self._labelling(np.array([number], dtype=np.uint32))[0]
        return found.item() if isinstance(found, np.generic) else found

    def _kept(self, X: Any) -> Sequence[int]:
        """The numbers of the examples that have parts: the core's data has no others."""
        return range(X.shape[0] if hasattr(X, "shape") else len(X))

    def _truths(self, X: Any, y: Any) -> tuple[_core.Dataset, _core.Model, list[str] | None]:
        """Examples with their truths, the model that knows their labels, and the names of its labels if it knows numbers only."""
        self._check_fitted()
        try:
            with self._in_users_words():
                data = self._test_data(X, y)
        except ValueError as error:
            raise ValueError(str(error).replace("y_test", "y")) from None
        if data is None:
            raise ValueError("X is None: expected examples, as for fit")
        names, model = None, self._model
        if self._named:  # the core knows data by the numbers of classes
            names = model.labels()
            model = model.with_labels([str(number) for number in range(len(names))])
        return data, model, names

    def predict_top(self, X: Any, m: int) -> list[TopLabellings]:
        """The ``m`` best labellings of every example, with their scores.

        The first is what ``predict`` answers. Raises ValueError where ``m`` is not a whole number from 1 to 100000.
        """
        self._check_fitted()
        count = at_most(m)
        data, sizes = self._to_ask(X)
        counts, exact, scores, numbers = (b"",) * 4 if data is None else self._model.top(data, count, self._workers())
        lengths = iter(zip(np.frombuffer(counts, dtype=np.uint32).tolist(), np.frombuffer(exact, dtype=np.uint32).tolist(), strict=True))
        of_labellings = np.frombuffer(scores, dtype=np.float64)
        labels = np.frombuffer(numbers, dtype=np.uint32)
        found, first, start = [], 0, 0
        for size in sizes:
            if size == 0:
                found.append(TopLabellings([self._labelling(labels[:0])], np.zeros(1), True))
                continue
            length, proven = next(lengths)
            rows = labels[start : start + length * size].reshape(length, size)
            listed = [self._labelling(row) for row in rows]
            found.append(TopLabellings(listed, of_labellings[first : first + length].copy(), bool(proven)))
            first, start = first + length, start + length * size
        return found

    def max_marginals(self, X: Any) -> Any:
        """For every label of every variable the highest score of a labelling that has it there.

        ``[n, classes]`` for classifiers of rows, ``[n, labels, 2]`` (absent, present) for sets of labels; else a list with
        an array ``[variables, labels]`` per example, or with a list of arrays where variables have labels of their own.
        Where decoding is approximate (graphs and pairwise models with cycles, many labels) they are upper bounds, with a warning.
        """
        return self._stacked(self._margins(X)[0])

    def margins(self, X: Any) -> Any:
        """How sure each predicted label is: how much higher the prediction scores than the best labelling with another
        label there; infinite where there is no other label.

        ``[n]`` for classifiers of rows, ``[n, labels]`` for sets of labels; else a list of arrays ``[variables]``. Where
        decoding is approximate they are lower bounds, with a warning: below 0 if such a labelling might be better.
        """
        return self._stacked(self._margins(X)[1])

    def _margins(self, X: Any, judged: tuple[_core.Dataset, _core.Model] | None = None) -> tuple[list[Any], list[Any], list[Any]]:
        """Max-marginals, margins and the numbers of the true labels of every example, ``NO_LABEL`` if unknown: those of ``X`` as
        ``judged`` has it, data with labels and a model that knows them.
        """
        self._check_fitted()
        data, sizes = self._to_ask(X)
        if data is None:
            nothing: list[Any] = [np.zeros(0) for _ in sizes]
            return [self._table([]) for _ in sizes], nothing, nothing
        data, model = judged or (data, self._model)
        _, counts, scores, margins, exact, truth = model.max_marginals(data, self._workers())
        proven = np.frombuffer(exact, dtype=np.uint32)
        if not proven.all():
            told = f"{len(proven) - proven.sum()} of {len(proven)} examples are decoded approximately"
            warn(f"{told}: their margins are lower bounds, and their max-marginals upper bounds")
        ends = np.cumsum(sizes)[:-1]
        parts = [part.copy() for part in np.split(np.frombuffer(margins, dtype=np.float64), ends)]
        return self._tables(sizes, counts, scores), parts, np.split(np.frombuffer(truth, dtype=np.uint32), ends)

    def _tables(self, sizes: list[int], counts: bytes, numbers: bytes) -> list[Any]:
        """The numbers of every label of every variable, a table for each example."""
        of_variables = np.frombuffer(counts, dtype=np.uint32).astype(np.int64)
        values = np.split(np.frombuffer(numbers, dtype=np.float64), np.cumsum(of_variables)[:-1])
        return [self._table(values[end - size : end]) for size, end in zip(sizes, accumulate(sizes), strict=True)]

    def _table(self, rows: list[NDArray[np.float64]]) -> Any:
        """The max-marginals of one example."""
        return np.stack(rows) if rows else np.zeros((0, len(self._model.labels())))
