"""scikit-learn's base class for estimators that exist before scikit-learn is imported (ADR 0049).

Importing scikit-learn takes a second, and it may be missing. So estimators inherit from ``BaseEstimator`` as soon as
one is made or defined while it is imported.
"""

from __future__ import annotations

import sys
from typing import Any


class Root:
    """What stands where ``BaseEstimator`` will: a class may only change its bases for others of the same layout."""


def inherit(cls: type[Any]) -> None:
    """Has ``cls``, whose base is :class:`Root`, inherit from ``BaseEstimator`` where scikit-learn is imported."""
    if cls.__bases__ != (Root,):
        return
    base = getattr(sys.modules.get("sklearn.base"), "BaseEstimator", None)
    if base is None:
        return
    try:
        type.__setattr__(cls, "__bases__", (base,))
    except TypeError:  # a user's class names both, in an order that leaves none
        return
    for made in _below(cls):  # what `BaseEstimator` does for classes when they are defined: requests of metadata
        base.__init_subclass__.__func__(made)


def tags(is_classifier: bool, non_deterministic: bool = False) -> Any:
    """The tags of an estimator for scikit-learn. Classifiers take rows; all others take whatever their tasks do."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier" if is_classifier else None,
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags() if is_classifier else None,
        input_tags=InputTags(two_d_array=is_classifier, sparse=is_classifier),
        non_deterministic=non_deterministic,
    )


def _below(cls: type[Any]) -> list[type[Any]]:
    """The class and all that inherit from it."""
    return [cls, *(found for child in cls.__subclasses__() for found in _below(child))]
