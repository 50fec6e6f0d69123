"""Exceptions and warnings of estimators."""

from __future__ import annotations

import sys


class NotFittedError(ValueError, AttributeError):
    """A result was asked for before ``fit``."""


class BrokenPromiseWarning(UserWarning):
    """A task's decoder was found not to be what the task declares: nothing is certified."""


class ConvergenceWarning(UserWarning):
    """Training stopped before the gap was reached."""


class UnusedParameterWarning(UserWarning):
    """A parameter was given that has no effect beside the others."""


def not_fitted(message: str) -> Exception:
    """scikit-learn's exception where it is installed and in use, else our own."""
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs

        found: Exception = Theirs(message)
        return found
    return NotFittedError(message)
