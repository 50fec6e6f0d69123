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

from multiplane._solvers import DEFINITIONS as DEFINITIONS
from multiplane._solvers import Solver as Solver
from multiplane._solvers import class_name as class_name
from multiplane._solvers import made as made

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


def doc(entry: dict[str, Any]) -> list[str]:
    """The docstring, indented."""
    summary = entry["summary"][:1].upper() + entry["summary"][1:] + "."
    if not entry["params"]:
        return [f'    """{summary}"""']
    lines = textwrap.wrap(f'"""{summary}', WIDTH - 4) + ["", "Args:"]
    for param in entry["params"]:
        lines += textwrap.wrap(f"    {param['name']}: {param['doc']}", WIDTH - 4, subsequent_indent=" " * 8)
    return [f"    {line}".rstrip() for line in [*lines, '"""']]


def solver(entry: dict[str, Any]) -> str:
    """One class."""
    lines = [f"class {class_name(entry['name'])}(Solver):", *doc(entry), ""]
    if entry["params"]:
        lines += ["    def __init__(", "        self,", "        *,"]
        lines += [f"        {p['name']}: {annotation(p)} = {default(p)}," for p in entry["params"]]
        lines += ["    ) -> None: ..."]
    else:
        lines += ["    def __init__(self) -> None: ..."]
    return "\n".join(lines) + "\n"


def stub() -> str:
    """The whole file."""
    names = ["Solver", *(class_name(entry["name"]) for entry in DEFINITIONS["solvers"])]
    listed = "\n".join(textwrap.wrap(", ".join(map(json.dumps, names)), WIDTH - 4))
    head = HEAD.replace("{names}", "[\n" + textwrap.indent(listed, "    ") + ",\n]")
    return "\n".join([head, *(solver(entry) for entry in DEFINITIONS["solvers"])])


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
