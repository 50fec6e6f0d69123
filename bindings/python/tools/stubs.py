"""Writes ``solvers.pyi`` from the definitions in the core: ``python tools/stubs.py`` (``--check``: says if it is old)."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import multiplane
from multiplane._solvers import DEFINITIONS, class_name

HEAD = '''\
"""Every solver as a class whose arguments are its parameters. Made by tools/stubs.py; do not edit."""

from typing import Any, Literal

from multiplane._solvers import Solver as Solver

__all__ = {names}
'''

TYPES = {"number": "float", "integer": "int", "boolean": "bool", "string": "str"}
WIDTH = 120


def annotation(param: dict[str, Any]) -> str:
    """The type of a parameter; a choice is a name, or a dict with the fields of that choice; a table is a dict."""
    kind = param["kind"]
    if "choices" in kind:
        names = ", ".join(json.dumps(choice["name"]) for choice in kind["choices"])
        return f"Literal[{names}] | dict[str, Any]"
    if "params" in kind:
        return "dict[str, Any]"
    return TYPES.get(kind["type"], "Any")


def default(param: dict[str, Any]) -> str:
    """The default where it is short."""
    value = param["default"]
    return repr(value) if isinstance(value, (bool, int, float, str)) else "..."


def aliases(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Names for types of choices that several parameters have, such as ``_Order``."""
    found: dict[str, str] = {}
    names: set[str] = set()
    for param in (param for entry in entries for param in entry["params"]):
        kind, name = annotation(param), "_" + param["name"].title().replace("_", "")
        if kind.startswith("Literal") and kind not in found and name not in names:
            found[kind] = name
            names.add(name)
    return found


def described(entry: dict[str, Any]) -> list[str]:
    """The lines on the parameters."""
    lines = ["Args:"]
    for param in entry["params"]:
        lines += textwrap.wrap(f"    {param['name']}: {param['doc']}", WIDTH - 4, subsequent_indent=" " * 8)
    return lines


def constructor(entry: dict[str, Any], named: dict[str, str]) -> str:
    """The body of ``__init__``'s stub: what several presets have alike."""
    kinds = [(p, annotation(p)) for p in entry["params"]]
    arguments = [f"{p['name']}: {named.get(kind, kind)} = {default(p)}," for p, kind in kinds]
    if not arguments:
        return "    def __init__(self) -> None: ..."
    whole = " ".join(argument.replace(" ", "\0") for argument in arguments)  # lines end between arguments
    wrapped = [line.replace("\0", " ") for line in textwrap.wrap(f"self, *, {whole}", WIDTH - 8, break_on_hyphens=False)]
    return "\n".join(["    def __init__(", *(f"        {line}" for line in wrapped), "    ) -> None: ..."])


def solver(entry: dict[str, Any], known: dict[str, str]) -> str:
    """The docstring of a class. ``known`` are classes by what their parameters are: later ones refer to the first."""
    name, summary = class_name(entry["name"]), entry["summary"][:1].upper() + entry["summary"][1:] + "."
    before = known.setdefault("\n".join(described(entry)), name) if entry["params"] else name
    summary += "" if before == name else f" The parameters are those of :class:`{before}`."
    if entry["params"] and before == name:
        lines = [*textwrap.wrap(f'"""{summary}', WIDTH - 4), "", *described(entry), '"""']
    else:
        lines = textwrap.wrap(f'"""{summary}"""', WIDTH - 4)
    return "\n".join(f"    {line}".rstrip() for line in lines)


def stub() -> str:
    """The whole file."""
    entries = DEFINITIONS["solvers"]
    names = ["Solver", *(class_name(entry["name"]) for entry in entries)]
    listed = "\n".join(textwrap.wrap(", ".join(map(json.dumps, names)), WIDTH - 4))
    head = HEAD.replace("{names}", "[\n" + textwrap.indent(listed, "    ") + ",\n]")
    named = aliases(entries)
    head += "\n" + "\n".join(f"{name} = {kind}" for kind, name in named.items()) + "\n"
    bodies = [constructor(entry, named) for entry in entries]
    shared = {body: f"_As{class_name(entries[bodies.index(body)]['name'])}" for body in bodies if bodies.count(body) > 1}
    parts = [head, *(f"class {base}(Solver):\n{body}\n" for body, base in shared.items())]
    known: dict[str, str] = {}
    for entry, body in zip(entries, bodies, strict=True):
        own = "" if body in shared else f"\n\n{body}"
        parts.append(f"class {class_name(entry['name'])}({shared.get(body, 'Solver')}):\n{solver(entry, known)}{own}\n")
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the file is not up to date")
    check = parser.parse_args().check
    path = Path(multiplane.__file__).parent / "solvers.pyi"
    text = stub()
    if not check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        print(f"{path} is not what the definitions give: run tools/stubs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
