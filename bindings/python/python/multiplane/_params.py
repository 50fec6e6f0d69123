"""Constructor arguments as parameters, in scikit-learn's manner; values on their way into a specification."""

from __future__ import annotations

import inspect
import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, dataclass_transform

import numpy as np

from multiplane._sklearn import Root, inherit
from multiplane._words import advice


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Parameters(Root):
    """An object whose constructor arguments are its parameters. In this package's classes these are the fields with a
    default, as in a dataclass.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Makes the constructor, and shows its arguments, which ``__new__`` would hide: own ones before inherited ones."""
        super().__init_subclass__(**options)
        if cls.__module__.startswith("multiplane.") and inspect.get_annotations(cls).keys() & vars(cls).keys():
            dataclass(kw_only=True, repr=False, eq=False)(cls)
        if "__init__" in vars(cls):
            declared = [inspect.get_annotations(base) for base in cls.__mro__]

            def place(argument: inspect.Parameter) -> tuple[int, int]:
                named = argument.kind is inspect.Parameter.KEYWORD_ONLY
                return argument.kind, next((k for k, names in enumerate(declared) if named and argument.name in names), 0)

            me, *arguments = sorted(inspect.signature(cls.__init__).parameters.values(), key=place)
            cls.__init__.__signature__ = inspect.Signature([me, *arguments])  # type: ignore[attr-defined]
            cls.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]

    if not TYPE_CHECKING:

        def __new__(cls, *args: Any, **given: Any) -> Self:
            """Says what to write in the place of words that are not parameters."""
            inherit(Parameters)
            arguments = inspect.signature(cls.__init__).parameters
            if not any(argument.kind is inspect.Parameter.VAR_KEYWORD for argument in arguments.values()):
                for name, value in given.items():
                    if name not in arguments:
                        text = f"{cls.__name__}() got an unexpected keyword argument {name!r}"
                        raise TypeError(text + advice(name, cls._names(), value))
            return super().__new__(cls)

    def _keep(self, given: dict[str, Any]) -> None:
        """Sets what ``locals()`` of a constructor holds: its arguments."""
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def _opened(self, name: str) -> Any:
        """The object that has the parameters ``name__below``; a name in its place becomes one. None where there is none."""
        value = getattr(self, name)
        return value if hasattr(value, "set_params") else None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep`` those of a solver object too, as ``solver__order``."""
        found = {name: getattr(self, name) for name in self._names()}
        for name, value in list(found.items()) if deep else []:
            if hasattr(value, "get_params") and not isinstance(value, type):
                found.update({f"{name}__{key}": below for key, below in value.get_params().items()})
        return found

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name; returns self."""
        known = self._names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, below = key.partition("__")
            if name not in known or (below and self._opened(name) is None and name not in params):
                text = f"Invalid parameter {key!r} for estimator {self!r}"
                raise ValueError(text + (advice(name, known, value) or f". Valid parameters are: {known}") + ".")
            if below:
                nested.setdefault(name, {})[below] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            opened = self._opened(name)
            if opened is None:
                raise ValueError(f"Invalid parameter {name}__{next(iter(values))!s} for estimator {self!r}: {name} has none.")
            opened.set_params(**values)
            setattr(self, name, opened)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = []
        for name in self._names():
            value, default = getattr(self, name, None), defaults[name].default
            if default is inspect.Parameter.empty or repr(value) != repr(default):
                changed.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(changed)})"


MOST = sys.float_info.max
"""The largest number."""


def digits(value: int) -> int:
    """How many digits a large number has, about: Python refuses to write down very long ones."""
    return int(abs(value).bit_length() * math.log10(2)) + 1


def plain(value: Any, name: str) -> Any:
    """A parameter as JSON has it; NumPy numbers count as numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{name} = {value}: must be a finite number")
    if isinstance(value, int) and abs(value) > MOST:
        raise ValueError(f"{name} is a number of {digits(value)} digits: must be a finite number, as 64 bits hold it")
    if isinstance(value, (list, tuple)):
        return [plain(item, name) for item in value]
    if isinstance(value, dict):
        return {key: plain(item, name) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{name} = {value!r}: expected a number, a name, or a list or dict of them")


def set_path(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Puts a value at its dotted name; what is given beside it stays, be it by its bare name or as a table."""
    *parents, last = dotted.split(".")
    if not all([*parents, last]):
        raise ValueError(f"params: {dotted!r} is no dotted name")
    for key in parents:
        below = tree.setdefault(key, {})
        if not isinstance(below, dict):
            below = tree[key] = {"name": below}
        tree = below
    there = tree.get(last)
    if not isinstance(there, dict):
        tree[last] = value
    elif isinstance(value, dict):
        for key, below in value.items():
            set_path(there, str(key), below)
    else:
        there["name"] = value
