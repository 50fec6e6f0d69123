"""A stream that is learned piece by piece, as ``partial_fit`` keeps it."""

from __future__ import annotations

import json
from typing import Any

from multiplane import _core


class Learning:
    """A learner of the core that can be copied and pickled."""

    def __init__(self, tree: dict[str, Any]) -> None:
        self._spec = json.dumps(tree)
        self.core = _core.Learner(self._spec)
        self._told: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return {"spec": self._spec, "state": self.core.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._spec = state["spec"]
        self.core = _core.Learner(self._spec)
        self.core.restore(state["state"])
        self._told = set()

    def untold(self, warnings: list[str]) -> list[str]:
        """Those of the warnings that were not given yet."""
        found = [warning for warning in warnings if warning not in self._told]
        self._told.update(found)
        return found

    def check_tree(self, tree: dict[str, Any]) -> None:
        """Refuses a specification other than that of the first call, by the names of what differs."""
        before, now = json.loads(self._spec), json.loads(json.dumps(tree))
        changed = _differences(before, now, "")
        if changed:
            raise ValueError(
                f"{', '.join(changed)}: changed since the first call of partial_fit, which fixes all parameters but stops, "
                "holdout and workers; set them back, or begin anew by fit or with a clone"
            )

    def summary(self, model: _core.Model) -> dict[str, Any]:
        """The report; lambda is what the model says where the solver does not go by it."""
        found: dict[str, Any] = json.loads(self.core.summary())
        if found["lambda"] is None:
            found["lambda"] = json.loads(model.info())["lambda"]
        return found


def _differences(before: Any, now: Any, name: str) -> list[str]:
    """Dotted names of what differs, each with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [*before, *(key for key in now if key not in before)]
        return [
            found
            for key in keys
            for found in _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
        ]
    return [] if before == now else [f"{name} (was {before!r}, is {now!r})"]


def _section(tree: dict[str, Any]) -> dict[str, Any]:
    """What params say of the stream."""
    stream = tree.get("stream")
    if not isinstance(stream, (dict, type(None))):
        raise ValueError(f"params: stream = {stream!r}: expected names below it, as in stream.window")
    return stream or {}


def labels_of(tree: dict[str, Any]) -> list[int] | None:
    """The labels that params name: a list of whole numbers, or text as in ``-1,1``."""
    found = _section(tree).get("labels")
    try:
        return None if found is None else [int(label) for label in (found.split(",") if isinstance(found, str) else found)]
    except (TypeError, ValueError):
        raise ValueError(f"params: stream.labels = {found!r}: expected a list of whole numbers, as in [-1, 1]") from None


def stream_tree(tree: dict[str, Any], classes: list[Any], labels: list[int]) -> dict[str, Any]:
    """The specification of a stream with these classes, which are these labels, of that of a run: stops and workers of ``fit`` and
    what it holds out are none of it.
    """
    stream, declared = _section(tree), labels_of(tree)
    for name in ("patience", "test_every"):
        if stream.get(name) is not None:
            raise ValueError(
                f"params: stream.{name} = {stream[name]!r}: partial_fit has no test data to look at; it is for "
                "`multiplane train --stream`"
            )
    if declared is not None and sorted(declared) != classes:
        raise ValueError(f"params: stream.labels = {declared}, but the classes are {classes}: leave it out, classes says the same")
    tree = {key: value for key, value in tree.items() if key not in ("data", "stop", "threads", "evaluate")}
    tree["stream"] = {**stream, "labels": labels}
    return tree
