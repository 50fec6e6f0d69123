"""Files of integer programmes: what they hold, what is refused, and the command line's answers to them."""

import json
import os
import subprocess

import numpy as np
import pytest

pytest.importorskip("scipy")
from multiplane.ilp import Box, IlpSSVM, IntegerProgramme, Target, save  # noqa: E402


def problem(rng, count=6, variables=6, rows=3):
    """Examples of small programmes with solutions at planted weights; some variables have more than two values."""
    planted, X, Y = rng.normal(size=3), [], []
    for _ in range(count):
        matrix = rng.integers(-2, 4, (rows, variables)).astype(float)
        upper = rng.integers(1, 4, variables).astype(float)
        inside = np.array([rng.integers(0, top + 1) for top in upper])
        feasible = IntegerProgramme(matrix, -np.inf, matrix @ inside + rng.integers(0, 3, rows), upper=upper)
        features, costs = rng.normal(size=(variables, 3)), 0.1 * rng.normal(size=variables)
        paid = features @ planted + costs + 0.5 * rng.normal(size=variables)
        X.append((feasible, features, costs))
        Y.append(feasible.minimise(paid).y)
    return X, Y


def tensors(path):
    """The tensors of a file by name."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + size])
    kinds = {"I64": "<i8", "F64": "<f8"}
    parts = {name: slice(*(8 + size + at for at in one["data_offsets"])) for name, one in head.items()}
    return {name: np.frombuffer(content[parts[name]], dtype=kinds[one["dtype"]]) for name, one in head.items()}


def weights(path):
    """The weights of a model file."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    start, end = json.loads(content[8 : 8 + size])["w"]["data_offsets"]
    return np.frombuffer(content[8 + size + start : 8 + size + end], dtype="<f8")


def test_nothing_is_half_written(tmp_path, monkeypatch):
    """A file is there whole or not at all: a failure keeps the old one, and leaves no other."""
    X, Y = problem(np.random.default_rng(0))
    (tmp_path / "a").write_bytes(b"old")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            save(X, Y, tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"] and (tmp_path / "a").read_bytes() == b"old"
    save(X, Y, tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"] and len(tensors(tmp_path / "a")["lower"]) == 36


@pytest.mark.parametrize("sense", ["min", "max"])
def test_files_hold_all_of_a_problem(tmp_path, sense):
    X, Y = problem(np.random.default_rng(0))
    Y[1] = Target(np.where(np.arange(6) < 2, np.nan, Y[1]), weights=2.0)
    save(X, Y, tmp_path / "a", sense=sense)
    found, sign = tensors(tmp_path / "a"), 1.0 if sense == "min" else -1.0
    own = slice(*found["variable_offsets"][1:3])
    assert np.array_equal(found["upper"][own], X[1][0].upper) and np.array_equal(found["costs"][own], sign * X[1][2])
    assert np.isnan(found["truth"][own][:2]).all() and np.array_equal(found["weights"][own], [0, 0, 2, 2, 2, 2])
    rows = slice(*found["row_offsets"][1:3])
    assert np.array_equal(found["row_upper"][rows], X[1][0].row_upper)
    entries = slice(*found["matrix_starts"][[rows.start, rows.stop]])
    assert np.array_equal(found["matrix_values"][entries], X[1][0].matrix.data)
    entries = slice(*found["feature_starts"][[own.start, own.stop]])
    assert np.array_equal(found["feature_values"][entries], -sign * X[1][1].ravel()) and found["feature_count"] == [3]


def test_what_files_do_not_hold_is_refused(tmp_path):
    X, Y = problem(np.random.default_rng(1), count=1)
    with pytest.raises(ValueError, match=r"Y\[0\] has a linear loss: in a file variable 1 must be known and at a bound, found nan"):
        save(X, [Target(np.where(np.arange(6) == 1, np.nan, Y[0]), costs=np.zeros(6))], tmp_path / "a")
    with pytest.raises(ValueError, match=r"X\[0\] is a Box"):
        save([(Box(np.zeros(6), np.ones(6)), X[0][1])], [np.zeros(6)], tmp_path / "a")
    with pytest.raises(ValueError, match="sense = 'least'"):
        save(X, Y, tmp_path / "a", sense="least")
    with pytest.raises(ValueError, match="expected as many"):
        save(X, Y * 2, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_linear_losses_are_signed_weights(tmp_path):
    X, Y = problem(np.random.default_rng(2), count=1)
    upper = X[0][0].upper
    costs = np.where((Y[0] == 0.0) | (Y[0] == upper), [1.0, -2.0, 3.0, 0.0, 5.0, -6.0], 0.0)
    save(X, [Target(Y[0], costs=costs)], tmp_path / "a")
    found = tensors(tmp_path / "a")["weights"]
    assert np.count_nonzero(costs) > 2
    for y in np.random.default_rng(0).integers(0, upper + 1, (20, 6)):
        assert found @ np.abs(y - Y[0]) == costs @ (y - Y[0])


@pytest.fixture
def binary():
    """The command line, built with HiGHS."""
    path = os.environ.get("MULTIPLANE_BIN")
    if path is None or subprocess.run([path, "describe", "task", "ilp"], capture_output=True).returncode:
        pytest.skip("MULTIPLANE_BIN is no command line built with --features highs: it was not compared with IlpSSVM")
    return path


@pytest.mark.parametrize("known", [1.0, 0.6])
def test_the_command_line_reaches_the_same_optimum(tmp_path, binary, known):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, Y = problem(rng)
        path = tmp_path / f"{seed}.safetensors"
        save(X, Y, path)
        command = [binary, "train", "--task", "ilp", "--data", path, "--lambda", "0.1", "--gap", "1e-7", "--out", tmp_path / "m", "--json"]
        found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        fit = IlpSSVM(lam=0.1, gap=1e-7).fit(X, Y)
        assert found["certified"] and fit.certified_
        # Each is at most its gap above the one optimum, and no lower bound is above it.
        assert found["dual"] <= fit.primal_ + 1e-9 and fit.dual_ <= found["primal"] + 1e-9
        assert abs(found["primal"] - fit.primal_) < 1e-6, seed
        # Strongly convex: points that near in value are near.
        assert np.abs(weights(tmp_path / "m") - fit.coef_).max() < 1e-2
        if known < 1.0:
            marked = [np.where(rng.random(len(y)) < known, y, np.nan) for y in Y]
            save(X, marked, path)
            found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            again = subprocess.run([binary, "verify", "--model", tmp_path / "m", "--data", path, "--json"], capture_output=True, text=True)
            assert found["certified"] and json.loads(again.stdout)["verified"]


def test_the_command_line_learns_by_regret(tmp_path, binary):
    rng = np.random.default_rng(0)
    choice = IntegerProgramme(np.ones((1, 6)), 2.0, 3.0)
    X, costs = [(choice, rng.normal(size=(6, 3))) for _ in range(5)], rng.normal(size=(5, 6))
    Y = [Target(choice.minimise(c).y, costs=c) for c in costs]
    save(X, Y, tmp_path / "a")
    command = [binary, "train", "--task", "ilp", "--data", tmp_path / "a", "--lambda", "0.1", "--gap", "1e-7", "--out", tmp_path / "m", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    fit = IlpSSVM(lam=0.1, gap=1e-7).fit(X, Y)
    assert found["certified"] and fit.certified_ and abs(found["primal"] - fit.primal_) < 1e-6
