"""Digests of Python objects by content: how a warm start knows that examples and task are those of the last fit.

What is compared is all that can be reached: numbers, arrays, containers, attributes of objects, and of the user's own
classes and functions also their code, their defaults, what they close over, and the globals that they name; of the
user's own modules what is looked up in them by name. Modules of the standard library and installed packages go by their
names. What cannot be looked into raises ``Unknown``; nothing is taken on trust for being the same object.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import struct
import types
from typing import Any

import numpy as np

from multiplane._lookups import Lookups, is_library

_SKIPPED = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "_abc_impl",
            "__abstractmethods__", "__parameters__", "__orig_bases__", "__firstlineno__", "__static_attributes__"}
"""Entries of a class that say nothing of what it does."""


class Unknown(Exception):
    """An object that cannot be compared by content."""


def digest(*values: Any, own: str) -> str:
    """The digest of some values. ``own`` is the module of the user's task: functions and classes of its package, and of
    all that is no library, are compared by what they do, others by name.
    """
    package = own.partition(".")[0]
    hasher = _Hasher("" if package == "multiplane" else package)
    for value in values:
        hasher.add(value)
    return hasher.sha.hexdigest()


class _Hasher:
    def __init__(self, package: str, seen: dict[int, tuple[int, Any]] | None = None) -> None:
        self.sha = hashlib.sha256()
        self.package = package
        self.seen: dict[int, tuple[int, Any]] = {} if seen is None else seen  # the objects are kept: ids stay theirs
        self.opened: set[tuple[int, frozenset[str]]] = set()  # modules, with the names that were looked up there

    def mark(self, kind: str, data: bytes = b"") -> None:
        """A tag with its data, delimited."""
        self.sha.update(kind.encode() + struct.pack("<q", len(data)) + data)

    def name(self, kind: str, value: Any) -> None:
        module = getattr(value, "__module__", None)
        self.mark(kind, f"{module}.{getattr(value, '__qualname__', getattr(value, '__name__', ''))}".encode())

    def is_own(self, value: Any) -> bool:
        name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        return not isinstance(name, str) or name.partition(".")[0] == self.package or not is_library(name)

    def add(self, value: Any) -> None:
        kind = type(value)
        if value is None or value is Ellipsis or value is NotImplemented or kind in (bool, int, complex, range, slice):
            self.mark(kind.__name__, repr(value).encode())
        elif kind is float:
            self.mark("float", struct.pack("<d", value))
        elif kind is str:
            self.mark("str", value.encode(errors="surrogatepass"))
        elif kind in (bytes, bytearray):
            self.mark(kind.__name__, bytes(value))
        elif id(value) in self.seen:
            self.mark("again", struct.pack("<q", self.seen[id(value)][0]))
        else:
            self.seen[id(value)] = (len(self.seen), value)
            try:
                self.compound(value)
            except RecursionError:
                raise Unknown(f"a {kind.__qualname__} is nested too deeply to be compared") from None

    def compound(self, value: Any) -> None:
        if isinstance(value, types.ModuleType):
            self.mark("module", value.__name__.encode())
            if self.is_own(value):
                raise Unknown(f"of the module {value.__name__}, which is held as a value, it is not known what is used")
        elif isinstance(value, type):
            self.type(value)
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, types.CodeType):
            self.code(value)
        elif isinstance(value, types.MethodType):
            self.parts("method", value.__func__, value.__self__)
        elif isinstance(value, (staticmethod, classmethod)):
            self.parts(type(value).__name__, value.__func__)
        elif isinstance(value, property):
            self.parts("property", value.fget, value.fset, value.fdel)
        elif isinstance(value, functools.cached_property):
            self.parts("cached property", value.func)
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
                                types.MethodDescriptorType, types.ClassMethodDescriptorType)):
            self.mark("descriptor", f"{value.__objclass__.__qualname__}.{value.__name__}".encode())
        elif isinstance(value, types.BuiltinFunctionType):
            self.name("builtin", value)
            if isinstance(value.__self__, types.ModuleType) and self.is_own(value.__self__):
                raise Unknown(f"the function {value.__module__}.{value.__name__} cannot be compared by content")
            if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType):
                self.add(value.__self__)
        elif isinstance(value, enum.Enum):
            self.parts("enum", type(value).__qualname__, value.name, value.value)
        else:
            self.instance(value)

    def parts(self, kind: str, *values: Any) -> None:
        self.mark(kind, struct.pack("<q", len(values)))
        for value in values:
            self.add(value)

    def instance(self, value: Any) -> None:
        """Content of a container or array, and attributes, which a subclass of one has, too."""
        self.add(type(value))
        known = True
        if isinstance(value, (np.ndarray, np.generic)):
            self.array(np.asarray(value))
            if isinstance(value, np.ma.MaskedArray):
                self.array(np.asarray(np.ma.getmaskarray(value)))
        elif isinstance(value, (list, tuple)):
            self.parts("items", *value)
        elif isinstance(value, dict):
            self.parts("keys", *dict.keys(value))
            self.parts("values", *dict.values(value))
        elif isinstance(value, (set, frozenset)):
            self.parts("set", *sorted(self.apart(item) for item in value))
        elif isinstance(value, (bool, int, float, complex, str, bytes, bytearray)):
            base: Any = next(base for base in type(value).__mro__ if base in (int, float, complex, str, bytes, bytearray))
            self.add(base(value))
        else:
            known = False
        names = [name for base in type(value).__mro__ for name in _slots(base)]
        held = {name: getattr(value, name) for name in names if hasattr(value, name)}
        if hasattr(value, "__dict__"):
            held |= vars(value)
        if not known and _is_opaque(type(value), len(names)):
            self.reduced(value)
        self.parts("names", *held)
        self.parts("attributes", *held.values())

    def apart(self, value: Any) -> bytes:
        """The digest of a value by itself."""
        hasher = _Hasher(self.package)
        hasher.add(value)
        return hasher.sha.digest()

    def array(self, value: np.ndarray[Any, Any]) -> None:
        self.mark("array", f"{value.dtype.descr} {value.shape}".encode())
        if value.dtype == object:
            self.parts("objects", *value.ravel().tolist())
        elif value.dtype.hasobject:
            raise Unknown(f"an array of {value.dtype} cannot be compared by content")
        else:
            self.mark("bytes", np.ascontiguousarray(value).tobytes())

    def reduced(self, value: Any) -> None:
        """An object of another language: what it would be made from again."""
        what = f"a {type(value).__module__}.{type(value).__qualname__} cannot be compared by content"
        try:
            made = value.__reduce_ex__(2)
        except Exception:
            raise Unknown(what) from None
        if isinstance(made, str):
            if self.is_own(value) and not hasattr(value, "__wrapped__"):  # which is an attribute
                raise Unknown(what)
            self.mark("global", made.encode())
            return
        self.parts("made", *(list(part) if hasattr(part, "__next__") else part for part in made))

    def type(self, value: type) -> None:
        self.name("type", value)
        if self.is_own(value):
            held = {name: part for name, part in vars(value).items() if name not in _SKIPPED}
            self.parts("bases", *value.__bases__)
            self.parts("names", *held)
            self.parts("members", *held.values())

    def function(self, value: types.FunctionType) -> None:
        self.name("function", value)
        cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
        held = {name: cell.cell_contents for name, cell in cells.items() if _is_filled(cell)}
        if not self.is_own(value):  # a library's function that wraps one of the user
            for part in held.values():
                if self.is_own(part if isinstance(part, (type, types.FunctionType)) else type(part)):
                    self.add(part)
            return
        self.add(value.__code__)
        self.parts("defaults", value.__defaults__, value.__kwdefaults__)
        looked_up = Lookups(value.__code__)
        for name in sorted(held):
            self.named(name, held[name], looked_up)
        for name in sorted(looked_up.names & value.__globals__.keys()):
            self.named(name, value.__globals__[name], looked_up)
        unseen = looked_up.unseen()
        if unseen is not None:
            raise Unknown(f"{value.__qualname__} calls {unseen}, by which it may use anything")
        for name, module, is_value in looked_up.modules(value.__globals__.get("__package__")):
            self.mark("import", name.encode())
            if module is not None and self.is_own(module):
                if is_value:
                    self.add(module)
                self.module(module, looked_up.names.union(name.split(".")), looked_up.values)

    def named(self, name: str, value: Any, looked_up: Lookups) -> None:
        """What code knows by a name; of a module of the user only what it looks up there."""
        self.mark("name", name.encode())
        if not isinstance(value, types.ModuleType) or not self.is_own(value):
            self.add(value)
        elif name in looked_up.values:
            self.add(value)
        else:
            self.module(value, looked_up.names, looked_up.values)

    def module(self, value: types.ModuleType, names: set[str], values: set[str]) -> None:
        """Of a user's module what is looked up there, and in modules that are found so as well."""
        self.mark("module", value.__name__.encode())
        opened = (id(value), frozenset(names))
        if opened in self.opened:
            return
        self.opened.add(opened)
        for name in sorted((names | {"__getattr__"}) & vars(value).keys()):
            part = vars(value)[name]
            self.mark("name", name.encode())
            if isinstance(part, types.ModuleType) and self.is_own(part) and name not in values:
                self.module(part, names, values)
            else:
                self.add(part)

    def code(self, value: types.CodeType) -> None:
        self.mark("code", value.co_code)
        self.parts("constants", *value.co_consts)
        self.parts("names", *value.co_names, *value.co_varnames, *value.co_freevars)


def _is_opaque(kind: type, slots: int) -> bool:
    """Whether objects hold more than attributes: larger than these make them."""
    pointers = slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__itemsize__ > 0 or kind.__basicsize__ > object.__basicsize__ + 8 * pointers


def _slots(base: type) -> list[str]:
    names = vars(base).get("__slots__", ())
    return [name for name in ([names] if isinstance(names, str) else names) if name not in ("__dict__", "__weakref__")]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
