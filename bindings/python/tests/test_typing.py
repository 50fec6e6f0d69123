"""The stubs are what the definitions give and what runs; the sources pass mypy --strict."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import multiplane

PACKAGE = Path(multiplane.__file__).parent
HERE = Path(__file__).resolve().parents[1]


def run(*arguments, **kwargs):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_of_the_solvers_is_up_to_date():
    """solvers.pyi is what tools/stubs.py writes."""
    run(HERE / "tools" / "stubs.py", "--check")


def test_sources_pass_mypy():
    """mypy --strict over the installed package."""
    pytest.importorskip("mypy")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    run("-m", "mypy", "--config-file", HERE / "pyproject.toml", PACKAGE, cwd=HERE, env=environment)


def test_stubs_say_what_runs():
    """stubtest compares stubs and modules."""
    pytest.importorskip("mypy")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    run("-m", "mypy.stubtest", "multiplane._core", "multiplane.solvers", cwd=HERE, env=environment)


def test_the_package_is_typed():
    """py.typed travels with it."""
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_core.pyi").is_file()


def test_every_public_name_is_documented():
    """Classes, functions and public methods have doc strings."""
    for name in multiplane.__all__:
        value = getattr(multiplane, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
