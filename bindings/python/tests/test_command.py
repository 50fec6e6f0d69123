"""The command `multiplane` that the wheel brings: the program, and nothing of the package beside it."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import multiplane

SUFFIX = ".exe" if os.name == "nt" else ""


@pytest.fixture(scope="module")
def command():
    """The script beside this Python; skips by name where the package was not installed."""
    path = Path(sysconfig.get_path("scripts")) / f"multiplane{SUFFIX}"
    if not path.is_file():
        pytest.skip(f"{path} is not there: the package was not installed by pip, and its command was not tested")
    return str(path)


def run(*arguments, **kwargs):
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=120, **kwargs)


def flowers(path, n=60, seed=0):
    """A table with a header, and names in the last column."""
    rng = np.random.default_rng(seed)
    names = ["setosa", "versicolor", "virginica"]
    lines = ["length,width,kind"]
    for i in range(n):
        x = 3.0 * np.eye(3, 2)[i % 3] + rng.normal(size=2) / 2
        lines.append(f"{x[0]:.3f},{x[1]:.3f},{names[i % 3]}")
    path.write_text("\n".join(lines) + "\n")


def test_from_a_table_to_an_evaluated_model(command, tmp_path):
    """Two commands after `pip install`: trained to a proven gap, and measured on other rows."""
    flowers(tmp_path / "train.csv")
    flowers(tmp_path / "test.csv", seed=1)
    train = run(
        command, "train", "--task", "multiclass", "--data", "train.csv", "--set", "task.bias=true", "--out", "model", cwd=tmp_path
    )
    assert train.returncode == 0, train.stderr
    assert "certified" in train.stdout
    evaluated = run(command, "evaluate", "--model", "model", "--data", "test.csv", "--json", cwd=tmp_path)
    assert evaluated.returncode == 0 and '"accuracy"' in evaluated.stdout
    assert multiplane.load(tmp_path / "model").certified_


def test_it_is_the_binary(command, cli, tmp_path):
    """The same bytes of models and outputs as the binary's, and its messages and exit codes."""
    flowers(tmp_path / "data.csv")
    outcomes = []
    for program in (command, cli):
        done = []
        for arguments in (
            ["--version"],
            ["--help"],
            ["train", "--task", "multiclass", "--data", "data.csv", "--out", "model", "--clock", "work", "--json"],
            ["predict", "--model", "model", "--data", "data.csv"],
            ["describe", "--json"],
            ["train", "--nonsense"],
            ["train", "--task", "multiclass", "--data", "missing.csv"],
            ["man", "trian"],
            [],
        ):
            ran = run(program, *arguments, cwd=tmp_path)
            done.append((ran.returncode, ran.stdout, ran.stderr))
        done.append((tmp_path / "model").read_bytes())
        outcomes.append(done)
    for found, expected in zip(*outcomes, strict=True):
        assert found == expected
    assert [code for code, *_ in outcomes[0][:-1]] == [0, 0, 0, 0, 0, 2, 2, 2, 2]


def test_it_loads_neither_package_nor_numpy(tmp_path):
    """The program has no use for them, and they take longer than most commands."""
    code = "import sys; sys.argv = ['multiplane', '--version']; import multiplane_cli; assert multiplane_cli.main() == 0\n"
    code += "found = {'numpy', 'multiplane'} & set(sys.modules); assert not found, found"
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == f"multiplane {multiplane.__version__}\n", done.stderr


def test_as_a_module(tmp_path):
    """`python -m multiplane` is the same program."""
    done = run(sys.executable, "-m", "multiplane", "--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"multiplane {multiplane.__version__}\n")
    done = run(sys.executable, "-m", "multiplane", "nonsense", cwd=tmp_path)
    assert done.returncode == 2 and "unrecognized subcommand 'nonsense'" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are Unix's: Ctrl-C of a console was not tested")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_saves_and_leaves(command, tmp_path, name):
    """As of the binary: 130, with the best model saved, and not a word of Python's."""
    flowers(tmp_path / "data.csv")
    arguments = "train --task multiclass --data data.csv --gap 0 --set oracle.delay_us=20000 --out model --record record"
    running = subprocess.Popen(
        [command, *arguments.split()], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(600):
            if (tmp_path / "record").exists():
                break
            time.sleep(0.1)
        running.send_signal(getattr(signal, name))
        _, complaints = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, complaints) == (130, "")
    assert multiplane.load(tmp_path / "model").coef_.shape == (3, 2)


@pytest.mark.skipif(os.name == "nt", reason="a shell's pipe and names of any bytes are Unix's")
def test_pipes_and_names(command, cli, tmp_path):
    """A reader that goes away is no error; names of files may be any bytes, and come to the program as they are."""
    line = f"'{command}' describe --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = run("bash", "-c", line, cwd=tmp_path)
    assert done.stdout.endswith("0\n") and done.stderr == ""
    odd = os.fsencode(tmp_path) + b"/\xff.1"
    found = [
        subprocess.run([os.fsencode(program), b"train", b"--data", odd], capture_output=True, timeout=60)
        for program in (command, cli)
    ]
    assert found[0].stderr == found[1].stderr and found[0].returncode == found[1].returncode == 2
    done = subprocess.run([os.fsencode(command), b"man", b"--out", odd], capture_output=True, timeout=60)
    assert done.returncode == 0 and b"multiplane-train.1" in os.listdir(odd)


def test_a_broken_installation_says_so(tmp_path):
    """Without the extension module: one line, exit code 1."""
    (tmp_path / "multiplane").mkdir()
    (tmp_path / "multiplane" / "__init__.py").write_text("")
    folder = Path(multiplane.__file__).parents[1]
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(folder)!r}]; import multiplane_cli; sys.exit(multiplane_cli.main())"
    done = run(sys.executable, "-c", code, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "install it again" in done.stderr
