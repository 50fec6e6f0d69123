"""How sure a prediction is: probabilities of labels, and sets that hold the truth as often as asked."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _labels
from multiplane._errors import warn
from multiplane._several import NO_LABEL, Several

STEP = 0.005
"""Thresholds of sets are kept for every alpha that is a multiple of it; others take the next below."""

STEPS = round(0.5 / STEP)

Floats = NDArray[np.float64]


class Reliability(NamedTuple):
    """How often predicted labels are right, by how probable they were said to be.

    Attributes:
        confidence: The mean probability of the predicted labels in each bin that has some, ``[bins]``.
        accuracy: The share of them that is right, ``[bins]``.
        counts: How many there are, ``[bins]``.
        error: The expected calibration error: the mean of ``|accuracy - confidence|`` over labels.
    """

    confidence: Floats
    accuracy: Floats
    counts: NDArray[np.int64]
    error: float

    def plot(self, ax: Any = None) -> Any:
        """Draws accuracy over confidence with Matplotlib, and returns the axes."""
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.gca()
        ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linewidth=1.0)
        ax.plot(self.confidence, self.accuracy, marker="o", label=f"calibration error {self.error:.3f}")
        ax.set(xlabel="probability of the predicted label", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
        ax.legend()
        return ax


class Calibrated(Several):
    """Probabilities of labels and prediction sets, of estimators with max-marginals."""

    def calibrate(self, X: Any, y: Any = None, *, method: str = "temperature") -> Self:
        """Learns what scores mean from examples that were not trained on; ``X`` and ``y`` as for ``fit``. Returns self.

        ``predict_proba``, ``predict_set`` and ``reliability`` need it; ``fit`` forgets it, and files of the model keep it.

        Args:
            X: Examples.
            y: Their labels; unknown ones, and those that the model does not know, are left out.
            method: ``"temperature"``: probabilities are proportional to ``exp(beta m)``, for max-marginals ``m`` and the beta of
                the greatest likelihood. ``"isotonic"`` (needs scikit-learn): then those of the predicted labels become the share
                that is right at such a probability.

        Raises ValueError for bad input, and if there is no label that the model knows.
        """
        if method not in ("temperature", "isotonic"):
            raise ValueError(f"method = {method!r}: must be 'temperature' or 'isotonic'")
        scores, truth, leads, of_example = self._judged(X, y)
        beta = _likeliest(scores, truth)
        learned: dict[str, Any] = {"beta": beta, "n": len(np.unique(of_example)), **_thresholds(leads, of_example)}
        if method == "isotonic":
            from sklearn.isotonic import IsotonicRegression

            shares = _softmax(beta, scores)
            found = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(shares.max(1), shares.argmax(1) == truth)
            learned["isotonic"] = [found.X_thresholds_.tolist(), found.y_thresholds_.tolist()]
        self._model = self._model.with_calibration(json.dumps(learned))
        return self

    @property
    def predict_proba(self) -> Callable[[Any], Any]:
        """How probable each label is, as ``max_marginals`` has it: ``predict_proba(X)`` is ``[n, classes]`` for classifiers of rows,
        ``[n, labels, 2]`` for sets of labels, else a list of arrays ``[variables, labels]``. Only after ``calibrate``.
        """
        learned = self._learned("predict_proba", AttributeError)  # then _reason tells

        def of(table: Any) -> Any:
            rows = table if isinstance(table, list) else list(np.atleast_2d(table))
            found = [_mapped(learned, _softmax(learned["beta"], row[None, :])[0]) for row in rows]
            return found if isinstance(table, list) else np.reshape(np.array(found), np.shape(table))

        def probabilities(X: Any) -> Any:
            return self._stacked([of(part) for part in self._margins(X)[0]])

        return probabilities

    def predict_set(self, X: Any, alpha: float = 0.1, *, whole: bool = False) -> list[Any]:
        """The labels that may be right, of every part of every example.

        The mean share of parts whose truth is not in their set is at most ``alpha``, and with ``whole`` the share of examples with
        any such part, for examples that are as those of ``calibrate`` (exchangeable): conformal risk control. A set may be empty:
        where labels are easier than ``alpha``, not all of them need one. ``alpha`` is rounded down to a multiple of 0.005.

        Returns:
            An array of labels per row, and a list with such an array for each part of other examples.

        Raises ValueError before ``calibrate``, and unless ``alpha`` is from 0.005 to 0.5.
        """
        learned = self._learned("predict_set", ValueError)
        step = math.floor(alpha / STEP + 1e-9) if isinstance(alpha, (int, float, np.number)) and math.isfinite(alpha) else 0
        if not 1 <= step <= STEPS:
            raise ValueError(f"alpha = {alpha!r}: must be from {STEP} to {STEP * STEPS}")
        threshold = learned["whole" if whole else "parts"][step - 1]
        most = math.inf if threshold is None else threshold
        labels: dict[int, NDArray[Any]] = {}  # by how many a variable has

        def chosen(row: Floats) -> NDArray[Any]:
            found = np.flatnonzero(_leads(row) <= most)
            if len(row) not in labels:
                labels[len(row)] = _labels.array_of([self._label(number) for number in range(len(row))])
            return labels[len(row)][found]

        sets = [[chosen(row) for row in part] for part in self._margins(X)[0]]
        return [one[0] for one in sets] if self._is_rows else sets

    def reliability(self, X: Any, y: Any = None, *, bins: int = 15) -> Reliability:
        """Compares the probabilities of the predicted labels with the share of them that is right; ``X`` and ``y`` as for ``fit``.

        Before ``calibrate`` probabilities are proportional to ``exp(m)``, for max-marginals ``m``.
        """
        if not isinstance(bins, int) or isinstance(bins, bool) or bins < 1:
            raise ValueError(f"bins = {bins!r}: must be a whole number from 1")
        learned = json.loads(self._model.calibration() or '{"beta": 1.0}')
        scores, truth, _, _ = self._judged(X, y, is_told=False)
        shares = np.array([_mapped(learned, row) for row in _softmax(learned["beta"], scores)])
        confidence, right = shares.max(1), shares.argmax(1) == truth
        place = np.minimum((confidence * bins).astype(int), bins - 1)
        count = np.bincount(place, minlength=bins)
        there = count > 0
        means = [np.bincount(place, values, bins)[there] / count[there] for values in (confidence, right)]
        error = float(np.abs(means[1] - means[0]) @ count[there]) / len(truth)
        return Reliability(means[0], means[1], count[there], error)

    def _reason(self, name: str) -> str | None:
        if name == "predict_proba":
            return (
                "calibrate(X, y) on examples that were not trained on makes probabilities; margins(X) says how sure each label is"
            )
        return super()._reason(name)

    @property
    def _is_rows(self) -> bool:
        """Whether every example has one part, the class of a row."""
        return False

    def _learned(self, name: str, kind: type[Exception]) -> dict[str, Any]:
        text = self._model.calibration() if "_model" in self.__dict__ else None
        if text is None:
            raise kind(f"{type(self).__name__}.{name} needs calibrate(X, y) first, on examples that were not trained on")
        found: dict[str, Any] = json.loads(text)
        return found

    def _judged(self, X: Any, y: Any, is_told: bool = True) -> tuple[Floats, NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Of every known label: max-marginals of its variable (-inf beyond its labels), its number, by how much its best rival is
        better, and its example.
        """
        data, model, _ = self._truths(X, y)
        if is_told and getattr(getattr(self, "_fit", None), "fingerprint", None) == data.fingerprint():
            warn("calibrated on the examples of the fit: it will claim too much; hold some out")
        parts, _, truths = self._margins(X, (data, model))
        found = [
            (example, np.asarray(row), int(label))
            for example, (part, labels) in enumerate(zip(parts, truths, strict=True))
            for row, label in zip(part, labels, strict=True)
            if label != NO_LABEL and (np.delete(row, label) > -np.inf).any()
        ]
        if not found:
            raise ValueError("y: there is no known label that the model knows")
        scores = np.full((len(found), max(len(row) for _, row, _ in found)), -np.inf)
        for k, (_, row, _) in enumerate(found):
            scores[k, : len(row)] = row
        truth = np.array([label for _, _, label in found])
        leads = np.array([np.delete(row, label).max() - row[label] for _, row, label in found])
        return scores, truth, leads, np.array([example for example, *_ in found])


def _leads(row: Floats) -> Floats:
    """By how much the best other label is better, for each label; -inf where there is no other."""
    best = int(row.argmax())
    others = np.delete(row, best)
    found: Floats = row[best] - row
    found[best] = (others.max() if len(others) else -np.inf) - row[best]
    return found


def _softmax(beta: float, scores: Floats) -> Floats:
    powers = np.exp(beta * (scores - scores.max(1, keepdims=True)))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def _mapped(learned: dict[str, Any], row: Floats) -> Floats:
    """Probabilities with that of the predicted label as isotonic regression has it."""
    if "isotonic" not in learned:
        return row
    best = int(row.argmax())
    rest, second = 1.0 - row[best], float(np.delete(row, best).max(initial=0.0))
    if rest <= 0.0 or second <= 0.0:
        share = float(np.interp(row[best], *learned["isotonic"]))
        others = np.full(len(row), (1.0 - share) / max(1, len(row) - 1))
        others[best] = share if len(row) > 1 else 1.0
        return others
    least = second / (rest + second) * (1.0 + 1e-9)  # what is predicted stays the most probable
    share = max(float(np.interp(row[best], *learned["isotonic"])), least)
    found: Floats = row * ((1.0 - share) / rest)
    found[best] = share
    return found


def _likeliest(scores: Floats, truth: NDArray[np.int64]) -> float:
    """The beta that makes the truth most likely, with half a label more whose truth may be any: where all predictions are right the
    likelihood itself has no maximum. It is concave, so the sign of its slope bounds the beta.
    """
    above = scores - scores.max(1, keepdims=True)
    own = above[np.arange(len(truth)), truth]
    finite = np.isfinite(own)
    above, own = above[finite], own[finite]
    zeroed = np.where(np.isfinite(above), above, 0.0)
    spread = 0.5 / max(1, len(own))
    own = (1.0 - spread) * own + spread * zeroed.sum(1) / np.isfinite(above).sum(1)

    def slope(beta: float) -> float:
        shares = np.exp(beta * above)
        return float(own.sum() - ((shares * zeroed).sum(1) / shares.sum(1)).sum())

    size = float(np.abs(zeroed).mean()) or 1.0
    low, high = 1e-6 / size, 1e6 / size
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return math.sqrt(low * high)


def _thresholds(leads: Floats, of_example: NDArray[np.int64]) -> dict[str, list[float | None]]:
    """The largest leads that sets take in, for every multiple of :data:`STEP`: of parts, and of whole examples. None: all labels."""
    _, example, sizes = np.unique(of_example, return_inverse=True, return_counts=True)
    n = len(sizes)
    worst = np.full(n, -np.inf)
    np.maximum.at(worst, example, leads)

    allowed = STEP * np.arange(1, STEPS + 1) * (n + 1) - 1.0 + 1e-9

    def least(values: Floats, weights: Floats) -> list[float | None]:
        """The smallest thresholds that leave out no more than is allowed (conformal risk control, losses at most 1)."""
        order = np.argsort(-values, kind="stable")
        count = np.searchsorted(np.cumsum(weights[order]), allowed, side="right")  # so many of the largest may be left out
        found = values[order[np.minimum(count, len(values) - 1)]]
        return [float(one) if most >= 0.0 and math.isfinite(one) else None for one, most in zip(found, allowed, strict=True)]

    return {"parts": least(leads, 1.0 / sizes[example]), "whole": least(worst, np.ones(n))}
