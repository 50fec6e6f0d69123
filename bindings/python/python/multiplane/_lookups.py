"""What code looks up outside itself: globals, attributes of modules, imports; and which modules are libraries."""

from __future__ import annotations

import contextlib
import dis
import functools
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import Path

_INSTALLED = {"site-packages", "dist-packages"}
"""Folders of packages that were installed."""

_MADE_AT_RUN_TIME = {"globals", "eval", "exec", "__import__"}
"""Built-in functions by which code comes to names that do not stand in it."""

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}

_LOADS = _GLOBALS | {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_ATTR"}

_OF_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"}


class Lookups:
    """The names that code, and the code within it, looks up."""

    def __init__(self, code: types.CodeType) -> None:
        self.names: set[str] = set()
        """All names: of globals, attributes, modules imported."""
        self.globals: set[str] = set()
        """Those that are looked up as globals."""
        self.values: set[str] = set()
        """Names that are used for more than one attribute of theirs: a module among them may be used in any way."""
        self.imports: set[tuple[str, int]] = set()
        """Modules imported on the way, with the level of relative imports."""
        self._locals: dict[str, set[str]] = {}
        for inner in _within(code):
            self._read(inner)
        for local, names in self._locals.items():
            if local in self.values:
                self.values |= names

    def _read(self, code: types.CodeType) -> None:
        self.names.update(code.co_names)
        steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
        cells = {*code.co_cellvars, *code.co_freevars}  # loaded as cells, to be handed to functions within
        for at, step in enumerate(steps):
            after = steps[at + 1].opname if at + 1 < len(steps) else ""
            if step.opname in _GLOBALS:
                self.globals.add(str(step.argval))
            if "LOAD_FAST" in step.opname or step.opname in _LOADS:
                loaded = list(step.argval) if isinstance(step.argval, tuple) else [step.argval]
                used = map(str, loaded[:-1] if after in _OF_ATTRIBUTES else loaded)
                self.values.update(name for name in used if name not in cells or "LOAD_FAST" not in step.opname)
            elif step.opname == "IMPORT_NAME":
                level = next((past.argval for past in reversed(steps[:at]) if isinstance(past.argval, int)), 0)
                self.imports.add((str(step.argval), level))
            if step.opname in ("IMPORT_NAME", "IMPORT_FROM") and after.startswith("STORE_"):
                stored = steps[at + 1].argval
                local = stored[0] if isinstance(stored, tuple) else stored
                self._locals.setdefault(str(local), set()).add(str(step.argval))
            elif step.opname == "IMPORT_FROM":  # import a.b as c: the module a is set aside first
                stored = next((later.argval for later in steps[at:] if later.opname.startswith("STORE_")), "")
                self._locals.setdefault(str(stored), set()).add(str(step.argval))

    def unseen(self) -> str | None:
        """A function that is called by which any name may be looked up, if there is one."""
        if "import_module" in self.names:
            return "import_module"
        return next(iter(sorted(_MADE_AT_RUN_TIME & self.globals)), None)

    def modules(self, package: str | None) -> Iterator[tuple[str, types.ModuleType | None, bool]]:
        """The modules that the imports come to, seen from ``package``: the whole name, the module that its first part
        names (None where it was not imported yet), and whether that may be used in any way.
        """
        for name, level in sorted(self.imports):
            full = name
            if level:
                with contextlib.suppress(ImportError, ValueError):
                    full = importlib.util.resolve_name("." * level + name, package)
            yield full, sys.modules.get(full.partition(".")[0]), name in self.values


def _within(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _within(const)


def is_library(name: str) -> bool:
    """Whether a module is of the standard library, installed, or this package: what it does is known by its name."""
    top = name.partition(".")[0]
    if top in ("__main__", "__mp_main__"):
        return False
    if top in ("builtins", "multiplane") or top in sys.builtin_module_names:
        return True
    module = sys.modules.get(name) or sys.modules.get(top)
    path = getattr(module, "__file__", None)
    if path is None:
        return top in sys.stdlib_module_names
    return _is_library_file(str(path))


@functools.lru_cache(maxsize=1024)
def _is_library_file(path: str) -> bool:
    parents = Path(path).resolve().parents
    return any(parent.name in _INSTALLED or parent in _standard() for parent in parents)


@functools.cache
def _standard() -> frozenset[Path]:
    return frozenset(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
