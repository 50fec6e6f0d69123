"""Exceptions and warnings of estimators."""

from __future__ import annotations

import sys
import warnings


class NotFittedError(ValueError, AttributeError):
    """A result was asked for before ``fit``."""


class BrokenPromiseWarning(UserWarning):
    """A task's decoder was found not to be what the task declares: nothing is certified."""


class ConvergenceWarning(UserWarning):
    """Training stopped before the gap was reached."""


class UnusedParameterWarning(UserWarning):
    """A parameter was given that has no effect beside the others."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("multiplane", "contextlib"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def not_fitted(message: str) -> Exception:
    """scikit-learn's exception where it is installed and in use, else our own."""
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs

        found: Exception = Theirs(message)
        return found
    return NotFittedError(message)
