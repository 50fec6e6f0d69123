"""Makes the notebooks of docs/tutorials from their scripts: ``python tools/notebooks.py [NAME ...]``.

A script is in percent format: a cell begins with a line ``# %%``, one of text with ``# %% [markdown]``, its lines as comments. Every script is
run from its first cell to its last in an empty folder, and what it shows is kept beside it, in NAME.ipynb. Needs nbformat, nbclient,
ipykernel and Pillow besides the package and Matplotlib.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
TUTORIALS = ROOT / "docs" / "tutorials"
IMAGES = ROOT / "docs" / "images"

#: The largest picture that a notebook may hold, in bytes.
LARGEST = 60_000

#: Pictures of README.md: the name below docs/images, the notebook, which of its pictures.
PICTURES = {"lambda.png": ("words", 1)}

#: Run before the first cell, and not kept: pictures of few bytes. (A warning goes to stderr, and what does is refused.)
BEFORE = """\
%matplotlib inline
import matplotlib
import matplotlib_inline.backend_inline
matplotlib_inline.backend_inline.set_matplotlib_formats("png")
matplotlib.rcParams["figure.dpi"] = 90
"""


def cells(script: str) -> list[tuple[str, str]]:
    """The cells of a script: "markdown" or "code", and the text of each."""
    found: list[tuple[str, list[str]]] = []
    for line in script.splitlines():
        if line.rstrip() in ("# %%", "# %% [markdown]"):
            found.append(("markdown" if line.rstrip().endswith("]") else "code", []))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"found {line!r} before the first cell, expected `# %%`")
    return [(kind, text(kind, lines)) for kind, lines in found]


def text(kind: str, lines: list[str]) -> str:
    """The lines of a cell as one text; those of markdown without their `# `."""
    if kind == "markdown":
        wrong = next((line for line in lines if line and not line.startswith("#")), None)
        if wrong is not None:
            raise ValueError(f"found {wrong!r} in a cell of text, expected a comment")
        lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
    return "\n".join(lines).strip("\n")


def smaller(picture: str) -> str:
    """The same PNG with at most 256 colours."""
    from PIL import Image

    out = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(out, format="png", optimize=True)
    return base64.b64encode(out.getvalue()).decode()


def kept(output: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept of an output: printed text and pictures, not the values of last lines."""
    if output["output_type"] == "stream":
        if output["name"] != "stdout":
            raise ValueError(f"found {output['text']!r} on stderr, expected nothing")
        return output
    if output["output_type"] != "display_data":
        return None
    picture = smaller(output["data"]["image/png"])
    if len(picture) * 3 // 4 > LARGEST:
        raise ValueError(f"found a picture of {len(picture) * 3 // 4} bytes, expected at most {LARGEST}")
    return {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture, "text/plain": "<Figure>"}}


def joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is kept of a cell's outputs; texts that came in pieces, by chance, as one."""
    found: list[dict[str, Any]] = []
    for output in (one for one in map(kept, outputs) if one is not None):
        if found and found[-1]["output_type"] == output["output_type"] == "stream":
            found[-1]["text"] += output["text"]
        else:
            found.append(output)
    return found


def made(script: str) -> str:
    """The notebook of a script as text, executed."""
    nbformat: Any = importlib.import_module("nbformat")
    nbclient: Any = importlib.import_module("nbclient")
    book: Any = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(BEFORE)]
    for kind, source in cells(script):
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        book.cells.append(new(source))
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources=resources).execute()
    del book.cells[0]
    for number, cell in enumerate(book.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [nbformat.from_dict(one) for one in joined(cell.outputs)]
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.validate(book)
    return str(nbformat.writes(book, indent=1))


def pictures(notebook: str) -> list[bytes]:
    """The pictures of a notebook, as files of PNG."""
    cells = json.loads(notebook)["cells"]
    shown = [output["data"]["image/png"] for cell in cells for output in cell.get("outputs", []) if "data" in output]
    return [base64.b64decode(picture if isinstance(picture, str) else "".join(picture)) for picture in shown]


def main() -> int:
    """Makes those that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="words, segmentation, oracle [default: all]")
    names = parser.parse_args().names or sorted(path.stem for path in TUTORIALS.glob("*.py"))
    for name in names:
        script = (TUTORIALS / f"{name}.py").read_text(encoding="utf-8")
        notebook = made(script).rstrip("\n") + "\n"
        (TUTORIALS / f"{name}.ipynb").write_text(notebook, encoding="utf-8")
        print(TUTORIALS / f"{name}.ipynb")
        for file, (source, number) in PICTURES.items():
            if source == name:
                (IMAGES / file).write_bytes(pictures(notebook)[number])
                print(IMAGES / file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
