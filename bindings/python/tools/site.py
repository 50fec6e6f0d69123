"""Writes the API pages of the package by pdoc: ``python tools/site.py DIR``; the script ``site`` at the root calls it.

Methods that a class has from a class that is not shown stand on the page of the class, as users meet them there.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc.doc
import pdoc.render

MODULES = ["multiplane", "multiplane.solvers", "multiplane.ilp", "multiplane.motile", "multiplane.pystruct", "multiplane.vision"]


def is_private(module: str, owner: str) -> bool:
    """Whether a class is not shown: by its own name or by its module's."""
    return any(part.startswith("_") for part in [*module.split("."), *owner.split(".")])


def adopt(module: pdoc.doc.Module) -> None:
    """Makes members that come from private modules the classes' own, and leaves private bases out."""
    for shown in module.members.values():
        if isinstance(shown, pdoc.doc.Class):
            shown.bases = [base for base in shown.bases if not is_private(base[0], base[1])]
            for member in shown.members.values():
                origin, name = member.taken_from
                if is_private(origin, name.rpartition(".")[0]):
                    member.taken_from = shown.modulename, f"{shown.qualname}.{member.name}"


def main(folder: Path) -> None:
    pdoc.render.configure(docformat="google", show_source=False, search=True)
    modules = {name: pdoc.doc.Module.from_name(name) for name in MODULES}
    for name, module in modules.items():
        adopt(module)
        path = folder / f"{name.replace('.', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pdoc.render.html_module(module=module, all_modules=modules), encoding="utf-8")
    (folder / "search.js").write_text(pdoc.render.search_index(modules), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
