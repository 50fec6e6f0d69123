"""Models laid open: their weights as tables, the strongest of them by name. What there is says the core, as ``multiplane show``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._errors import not_fitted
from multiplane._path import PathResult


class Weight(NamedTuple):
    """A weight by name.

    Attributes:
        table: The table that it is in, as in ``coef_``: ``"unary"``, ``"pair"``, ...
        at: Its place on each axis of the table, as in ``{"label": "B-NP", "feature": "w[0]=the"}``.
        weight: Its value.
        place: Its index in ``coef_.ravel()``.
    """

    table: str
    at: dict[str, Any]
    weight: float
    place: int


class Looked:
    """Estimators whose weights have names: what fitting sets, which are no parameters."""

    _model: _core.Model
    coef_: NDArray[np.float64]
    path_: PathResult
    """The part of a path that was done when it was interrupted."""
    _is_loaded: bool
    """Set if the model was read from a file."""
    _seen: list[Any] | None = None
    """The labels of the training data in the core's order, if they are known."""

    def _check_fitted(self) -> None:
        if "_model" not in self.__dict__:
            raise not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def _own(self, field: str) -> Any:
        """A field of the model's file that only its task understands; None where it has none."""
        text = self._model.own(field)
        return None if text is None else json.loads(text)

    def _look(self, top: int) -> dict[str, Any]:
        """What ``multiplane show --json --top`` says of the model."""
        self._check_fitted()
        if isinstance(top, (bool, np.bool_)) or not isinstance(top, (int, np.integer)) or top < 0:
            raise ValueError(f"n = {top!r}: must be a whole number >= 0")
        found: dict[str, Any] = json.loads(_core.look(self._model, int(top)))
        return found

    def _weight_table(self, name: str) -> NDArray[np.float64]:
        """A table of ``coef_``. Raises AttributeError where the model has none of this name."""
        for table in self._look(0)["tables"]:
            if table["name"] == name:
                part = self.coef_.ravel()[table["start"] : table["start"] + table["size"]]
                return part.reshape([axis["size"] for axis in table["axes"]])
        raise AttributeError(f"the model has no weights {name!r}")

    def _feature_names(self, columns: int, given: Any = None) -> list[str]:
        """Names of the columns of a table, a bias last: those of the training data, else those given for all columns of X,
        else ``x0``, ``x1``, ...; with a kernel those of rows.
        """
        info = json.loads(self._model.info())
        bias = int(bool(info["spec"]["task"].get("bias", False))) if info["task"] != "user" else 0
        count = columns - bias
        if "kernel" in info:
            names = [f"row{k}" for k in range(count)]
        else:
            own = getattr(self, "feature_names_in_", None)
            if own is None and given is not None and len(given) == self._model.columns(bool(bias)):
                own = given
            used = self._model.used_columns()  # those that no example had may have no weights
            if used is not None:
                names = [f"x{k}" if own is None else str(own[k]) for k in np.frombuffer(used, dtype=np.uint32).tolist()]
            else:
                names = _core.feature_names(self._model, True) or ([] if own is None else list(own))
        names = names if len(names) == count else [f"x{k}" for k in range(count)]
        return [*names, *["bias"][:bias]]

    def top_features(
        self, n: int = 10, *, label: Any = None, feature_names: Any = None
    ) -> dict[Any, list[tuple[str, float]]]:  # fmt: skip
        """The strongest weights of each label, as ``{label: [(feature, weight), ...]}``, the largest in absolute value first.

        Of two classes with one vector of weights there is the greater class alone. Where labels have no weights of their own
        for features there is an entry for every table, as :meth:`top_weights` has them. Weights that are 0 are left out; where
        ``scale`` divides features, weights are those of the divided ones.

        Args:
            n: How many of each label.
            label: The label wanted; by default all. Raises ValueError for one that the model does not have.
            feature_names: Names for the columns of X, if training had none: a list, or what has ``get_feature_names_out()``,
                such as the steps before this one, ``pipeline[:-1]``, or the pipeline.
        """
        self._check_fitted()
        names = self._given_names(feature_names)
        found = self._top_features(n, names)
        if label is None:
            return found
        if label not in found:
            raise ValueError(f"label = {label!r}: expected one of {list(found)[:20]}")
        return {label: found[label]}

    def _given_names(self, given: Any) -> list[str] | None:
        """Names for the columns of X, one for each."""
        if given is None:
            return None
        asked = getattr(given, "get_feature_names_out", None)
        names = [str(name) for name in (asked() if callable(asked) else given)]
        info = json.loads(self._model.info())
        bias = bool(info["spec"]["task"].get("bias", False)) if info["task"] != "user" else False
        columns = self._model.columns(bias)
        if len(names) == columns + bias and bias and names[-1] == "bias":  # of a pipeline that ends with this estimator
            names.pop()
        if len(names) != columns:
            raise ValueError(f"feature_names: {len(names)} names for {columns} columns of X")
        return names

    def _top_features(self, n: int, names: list[str] | None) -> dict[Any, list[tuple[str, float]]]:
        look = self._look(n)
        found: dict[Any, list[tuple[str, float]]] = {}
        for table in look["tables"]:
            for label, one in zip(getattr(self, "classes_", np.zeros(0)).tolist(), table["by_label"], strict=False):
                found[label] = [
                    (weight.at["feature"], weight.weight) for weight in self._weights_named(table, one["strongest"], names)
                ]
        if found:
            return found
        for table in look["tables"]:
            strongest = sorted(self._strongest(table, names), key=lambda weight: (-abs(weight.weight), weight.place))[:n]
            single = len(look["tables"]) == len(table["axes"]) == 1 and len(look["labels"]) == 2
            key = self.classes_[1:].tolist()[0] if single and hasattr(self, "classes_") else table["name"]
            found[key] = [(" / ".join(map(str, weight.at.values())), weight.weight) for weight in strongest]
        return found

    def top_weights(self, n: int = 10) -> list[Weight]:
        """The n largest weights above 0 and the n smallest below 0 of every table of ``coef_``, transitions among them."""
        return [weight for table in self._look(n)["tables"] for weight in self._strongest(table)]

    def _strongest(self, table: dict[str, Any], given: list[str] | None = None) -> list[Weight]:
        return [weight for end in ("highest", "lowest") for weight in self._weights_named(table, table[end], given)]

    def _weights_named(
        self, table: dict[str, Any], weights: list[dict[str, Any]], given: list[str] | None = None
    ) -> Iterator[Weight]:  # fmt: skip
        """Weights of a table, their features with the names that columns have here."""
        *_, last = table["axes"]
        rows = last["name"] in ("feature", "row")
        names = self._feature_names(last["size"], given) if rows and weights else []
        for weight in weights:
            at = dict(weight["at"])
            if rows:
                at.pop(last["name"])
                at["feature"] = names[(weight["index"] - table["start"]) % last["size"]]
            yield Weight(table["name"], at, weight["weight"], weight["index"])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of the features' weights, a bias among them: of text ``template=value``, attributes as they
        were given, columns of a DataFrame, else ``input_features``, if there is one for each column of X, else ``x0``, ``x1``, ...
        """
        given = None if input_features is None else [str(name) for name in input_features]
        axes = self._look(0)["tables"][0]["axes"]
        return np.array(self._feature_names(axes[-1]["size"], given), dtype=object)
