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


def typed(*arguments, folder):
    """Runs a type checker on the package that is installed, or on the sources where they are used in place."""
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)
    run(*arguments, cwd=folder, env=environment)


def test_sources_pass_mypy(tmp_path):
    """mypy --strict over the package."""
    options = ["--strict", "--cache-dir", tmp_path / "cache", "--disable-error-code=import-untyped"]
    typed("-m", "mypy", *options, "--disable-error-code=import-not-found", "-p", "multiplane", folder=tmp_path)


USES = """
import multiplane
from typing import assert_type
assert_type(multiplane.ChainSSVM(lam=0.1, ends=True, kernel="rbf", n_jobs=2).ends, bool)
multiplane.StructuredSVM(object(), timeout=3.0)
multiplane.ChainSSVM(lamb=1)  # type: ignore[call-arg]
multiplane.StructuredSVM(object(), holdout=3)  # type: ignore[call-arg]
multiplane.BinarySSVM(coef_=3)  # type: ignore[call-arg]
multiplane.MultiLabelSSVM(True)  # type: ignore[call-arg]
"""


def test_type_checkers_see_the_parameters(tmp_path):
    """Keywords with their types, and nothing else, though no constructor is written out."""
    (tmp_path / "uses.py").write_text(USES)
    typed("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "uses.py", folder=tmp_path)


def test_stubs_say_what_runs(tmp_path):
    """stubtest compares stubs and modules."""
    typed("-m", "mypy.stubtest", "multiplane._core", "multiplane.solvers", folder=tmp_path)


def test_the_package_is_typed():
    """py.typed travels with it."""
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_core.pyi").is_file()


def test_every_public_name_is_documented():
    """Classes, functions and public methods have doc strings."""
    for name in multiplane.__all__:
        value = getattr(multiplane, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
