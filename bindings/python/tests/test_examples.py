"""The recipes run as they stand and say what they promise."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

#: What each recipe must print.
EXPECTED = {
    "multiclass": ["certified: True", "chosen lambda", "the saved model predicts the same: True"],
    "ocr_chain": ["letter by letter", "as a chain", "certified True"],
    "own_oracle": ["agrees with brute force", "certified: True", "NDCG on new queries: 0.9"],
    "assignment": ["Matching:", "BudgetedMatching:", "certified True"],
    "shortest_path": ["of 10 steps are not the hiker's on new maps, certified: True"],
    "matching": ["courses go elsewhere in new terms, certified: True", "at most 2 courses for a teacher"],
    "spanning_tree": ["of 7 cables are wrong in new networks, certified: True"],
    "knapsack": ["Knapsack: 0.", "TopK: 0."],
    "external_program": ['"protocol": 1', '"label": [1, 2, 3, 4, 0]'],
    "path": ["certified: True", "chosen lambda", "reloaded: PathResult("],
}

#: What a recipe needs to show something: the oracle of the command line would wait for requests.
ARGUMENTS = {"external_program": ["--demo"]}


def run(name: str, *arguments: str, cwd: Path) -> str:
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_recipe_is_tested() -> None:
    """No script lies in examples/ without expectations here."""
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_recipe(name: str, tmp_path: Path) -> None:
    """A recipe runs without a warning, prints what it promises and draws nothing unasked."""
    output = run(name, *ARGUMENTS.get(name, []), cwd=tmp_path)
    for text in EXPECTED[name]:
        assert text in output
    assert "certified: False" not in output and "certified False" not in output
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize("name", ["shortest_path", "matching", "spanning_tree", "knapsack"])
def test_short_tasks_find_the_best(name: str) -> None:
    """In at most 60 lines, and the doctor finds no fault in them."""
    path = EXAMPLES / f"{name}.py"
    made = runpy.run_path(str(path))
    model, X, Y = made["model"], made["X"], made["Y"]
    assert len(path.read_text().splitlines()) <= 60
    assert model.check(X[:20], Y[:20]) == [] and model.certified_


@pytest.mark.parametrize("name", ["multiclass", "ocr_chain", "path"])
def test_plot(name: str, tmp_path: Path) -> None:
    """With --plot a recipe saves its picture where it was told."""
    run(name, "--plot", "curves.png", cwd=tmp_path)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_letters_from_a_file(tmp_path: Path) -> None:
    """The chain recipe reads letter.data: folds 0 and 1 of a small file written here."""
    lines, number = [], 1
    for word in range(12):
        text = "abba" if word % 3 else "cab"
        for position, letter in enumerate(text):
            pixels = ["1" if k % 26 == ord(letter) - 97 or k == number % 128 else "0" for k in range(128)]
            following = -1 if position + 1 == len(text) else number + 1
            columns = [number, letter, following, word + 1, position + 1, word % 2, *pixels]
            lines.append("\t".join(map(str, columns)))
            number += 1
    (tmp_path / "letter.data").write_text("".join(line + "\t\n" for line in lines))
    output = run("ocr_chain", "letter.data", cwd=tmp_path)
    assert "6 words to learn from" in output and "100.0 % of the test letters right" in output
