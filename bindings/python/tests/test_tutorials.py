"""The tutorials: their scripts run without a warning, and every notebook holds the cells of its script."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
TUTORIALS = ROOT / "docs" / "tutorials"
NAMES = ["oracle", "segmentation", "words"]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The module that makes notebooks."""
    path = Path(__file__).resolve().parents[1] / "tools" / "notebooks.py"
    if not TUTORIALS.is_dir() or not path.is_file():
        pytest.skip("docs/tutorials is not part of this source tree")
    spec = importlib.util.spec_from_file_location("notebooks", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def book(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TUTORIALS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return found


def joined(text: str | list[str]) -> str:
    """A text of a notebook, which may be lists of lines."""
    return text if isinstance(text, str) else "".join(text)


def outputs(name: str) -> list[dict[str, Any]]:
    return [output for cell in book(name)["cells"] for output in cell.get("outputs", [])]


def test_every_tutorial_is_tested(tool: ModuleType) -> None:
    """No script without a notebook, no notebook without a script, neither without a test."""
    for ending in ("py", "ipynb"):
        assert sorted(path.stem for path in TUTORIALS.glob(f"*.{ending}")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_script(name: str, tool: ModuleType, tmp_path: Path) -> None:
    """The code of a script runs from top to bottom, and prints what the notebook shows: the work clock counts, and nothing else is
    on the pages that differs from machine to machine."""
    for needed in ("scipy", "matplotlib"):
        pytest.importorskip(needed, reason=f"{needed} is not installed: docs/tutorials/{name}.py was not run")
    code = "\n\n".join(source for kind, source in tool.cells((TUTORIALS / f"{name}.py").read_text("utf-8")) if kind == "code")
    (tmp_path / "tutorial.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "tutorial.py"],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{name}:\n{done.stderr}"
    assert done.stderr == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tutorial.py"], "files are left behind"
    shown = "".join(joined(output["text"]) for output in outputs(name) if output["output_type"] == "stream")
    assert words(done.stdout) == words(shown), "the notebook is old: tools/notebooks.py"


def words(text: str) -> list[str]:
    """A text without its numbers, whose last digits libraries may round in their own ways."""
    return re.sub(r"-?\d[\d.e+-]*", "#", text).split()


@pytest.mark.parametrize("name", NAMES)
def test_notebook(name: str, tool: ModuleType) -> None:
    """A notebook has exactly the cells of its script, no faults, no traces of a machine, and pictures of modest size."""
    found = [(cell["cell_type"], joined(cell["source"])) for cell in book(name)["cells"]]
    script = (TUTORIALS / f"{name}.py").read_text(encoding="utf-8")
    assert found == tool.cells(script), "the notebook is old: tools/notebooks.py"
    assert sum(kind == "code" for kind, _ in found) > 5
    for output in outputs(name):
        assert output["output_type"] in ("stream", "display_data")
        if output["output_type"] == "stream":
            assert output["name"] == "stdout"
            assert not re.search(r"Traceback|Warning|/tmp|/home|/work|/usr", joined(output["text"]))
    pictures = tool.pictures((TUTORIALS / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert len(pictures) >= 3
    assert all(picture.startswith(b"\x89PNG") and len(picture) <= tool.LARGEST for picture in pictures)
    for file, (source, number) in tool.PICTURES.items():
        assert source != name or (tool.IMAGES / file).read_bytes() == pictures[number], f"docs/images/{file} is old"
    assert set(book(name)["metadata"]) == {"kernelspec", "language_info"}
    assert book(name)["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("name", NAMES)
def test_links(name: str, tool: ModuleType) -> None:
    """What the pages link to is there."""
    for kind, source in tool.cells((TUTORIALS / f"{name}.py").read_text(encoding="utf-8")):
        for target in re.findall(r"\]\(([^)#]+)", source) if kind == "markdown" else []:
            assert (TUTORIALS / target).exists(), target


def test_cells(tool: ModuleType) -> None:
    """Cells are told apart by their first lines; a cell of text is comments alone, and nothing stands before the first."""
    script = "# %% [markdown]\n# # Head\n#\n# text\n\n\n# %%\nx = 1\n\n# a comment\n"
    assert tool.cells(script) == [("markdown", "# Head\n\ntext"), ("code", "x = 1\n\n# a comment")]
    for wrong in ("x = 1\n# %%\n", "# %% [markdown]\nx = 1\n"):
        with pytest.raises(ValueError, match="found 'x = 1'"):
            tool.cells(wrong)
