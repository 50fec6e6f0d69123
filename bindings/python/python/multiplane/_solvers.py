"""How a solver becomes a class: what all have, and their making from the definitions in the core."""

from __future__ import annotations

import inspect
import json
from typing import Any, Self

from multiplane import _core

DEFINITIONS: dict[str, Any] = json.loads(_core.describe())
"""Every solver and task with its parameters, their documentation and defaults, as ``multiplane describe`` has them."""


class Solver:
    """A solver with parameters; those not given have the defaults of its preset."""

    name: str
    _defaults: dict[str, Any]

    def __init__(self, **params: Any) -> None:
        unknown = [key for key in params if key not in self._defaults]
        if unknown:
            known = ", ".join(self._defaults) or "none"
            raise TypeError(f"{type(self).__name__} has no parameter {unknown[0]!r}: it has {known}")
        self.params = params

    def _tree(self) -> dict[str, Any]:
        return {"name": self.name, **self.params}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters given."""
        return dict(self.params)

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; returns self. What is below one is named with it: ``planes__max_idle=5`` leaves its others as they are."""
        type(self)(**{key.partition("__")[0]: value for key, value in params.items()})  # refuses unknown names
        for key, value in params.items():
            name, *below = key.split("__")
            self.params[name] = _inserted(self.params.get(name), below, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solver) and self._tree() == other._tree()

    def __hash__(self) -> int:
        return hash(json.dumps(self._tree(), sort_keys=True, default=str))


def _inserted(known: Any, below: list[str], value: Any) -> Any:
    """A parameter with one of its own parameters set, which ``below`` leads to; a choice by its bare name keeps that."""
    if not below:
        return value
    table = dict(known) if isinstance(known, dict) else {} if known is None else {"name": known}
    table[below[0]] = _inserted(table.get(below[0]), below[1:], value)
    return table


def class_name(name: str) -> str:
    """``mp-bcfw-avg`` -> ``MPBCFWAvg``: words are capitalised, all else stands for words."""
    return "".join(part.capitalize() if part in _WORDS else part.upper() for part in name.split("-"))


_WORDS = {
    "auto", "avg", "best", "bundle", "cache", "cuts", "div", "gap", "one", "pegasos", "sampled", "slack",
}  # fmt: skip


def _documented(params: list[dict[str, Any]], indent: str) -> list[str]:
    lines = []
    for param in params:
        default = f" (default {json.dumps(param['default'])})" if param["default"] is not None else ""
        lines.append(f"{indent}{param['name']}: {param['doc']}{default}")
        lines.extend(_documented(param["kind"].get("params", []), indent + "    "))
        for choice in param["kind"].get("choices", []):
            lines.append(f"{indent}    ``{choice['name']}``: {choice['doc']}")
            lines.extend(_documented(choice["params"], indent + "        "))
    return lines


def made(entry: dict[str, Any]) -> type[Solver]:
    """The class for an entry of ``DEFINITIONS["solvers"]``."""
    lines = [entry["summary"][:1].upper() + entry["summary"][1:] + ".", ""]
    if entry["params"]:
        lines += ["Args:", *_documented(entry["params"], "    ")]
    defaults = {param["name"]: param["default"] for param in entry["params"]}

    def __init__(self: Solver, **params: Any) -> None:
        Solver.__init__(self, **params)

    arguments = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    arguments += [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=defaults[key]) for key in defaults]
    __init__.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    body = {"name": entry["name"], "_defaults": defaults, "__init__": __init__, "__module__": "multiplane.solvers"}
    return type(class_name(entry["name"]), (Solver,), {**body, "__doc__": "\n".join(lines)})
