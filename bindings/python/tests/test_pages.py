"""The pages of the documentation: every block of Python on them runs, in order, as a reader would type it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PAGES = [
    "README.md",
    "bindings/python/README.md",
    "docs/python.md",
    "docs/migrating.md",
    "docs/segmentation.md",
    "docs/multilabel.md",
    "docs/inference.md",
    "docs/mrf.md",
    "docs/boxes.md",
    "docs/poses.md",
    "docs/trees.md",
    "docs/integer-programmes.md",
    "docs/cluster.md",
    "docs/wrong-labels.md",
    "docs/confidence.md",
    "docs/changed-data.md",
]


def blocks(page: str) -> str:
    """The blocks of a page as one program, each on the lines that it has on the page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    program: list[str] = []
    for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start(1))
        program += [""] * (line - len(program)) + found[1].splitlines()
    return "\n".join(program) + "\n"


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path) -> None:
    """The blocks of a page run one after the other in one namespace, in an empty directory."""
    extra = ("skimage", "PIL", "threadpoolctl") if page == "docs/segmentation.md" else ()
    for needed in ("scipy", "sklearn", "matplotlib", *extra):
        pytest.importorskip(needed)
    if not (ROOT / page).exists():
        pytest.skip(f"{page} is not part of this source tree")
    program = blocks(page)
    assert program.strip(), f"{page} has no block of Python"
    # Not as __main__: what a page guards with `if __name__ == "__main__"` starts processes, and is only compiled here.
    path = tmp_path / "page.py"
    path.write_text(program, encoding="utf-8")
    code = f"import matplotlib; matplotlib.use('Agg'); import runpy; runpy.run_path({str(path)!r}, run_name='page')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{page}:\n{done.stderr}"
