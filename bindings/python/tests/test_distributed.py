"""Training on shards: in this process and with actors of Ray, against one machine; faults, checkpoints, bad input."""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import multiplane
import numpy as np
import pytest
from multiplane import _shard_pools, _shards, distributed
from multiplane.distributed import train

SETTINGS = {"replays": 8}


def rows(seed: int, n: int, labels: str = "abc") -> str:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(26, 5))
    lines = []
    for _ in range(n):
        label = labels[rng.integers(len(labels))]
        x = centres[ord(label) - ord("a")] + rng.normal(size=5)
        lines.append(
            f"{ord(label) - ord('a')} "
            + " ".join(f"{k + 1}:{v:.4f}" for k, v in enumerate(x))
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    paths = []
    for k in range(3):
        path = tmp_path / f"part{k}.txt"
        path.write_text(rows(k, 40 + k, "abc"[: 2 + (k > 0)]))
        paths.append(str(path))
    return paths


def estimator(**arguments: object) -> multiplane.MulticlassSSVM:
    return multiplane.MulticlassSSVM(
        **{"gap": "1%", "lam": 0.01, "clock": "work", **arguments}
    )


def whole(shards: list[str], tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    path = tmp_path / "whole.txt"
    path.write_text("".join(Path(shard).read_text() for shard in shards))
    return multiplane.load_libsvm(path)


def test_shards_come_to_the_optimum_of_one_machine(
    shards: list[str], tmp_path: Path
) -> None:
    duals: list[float] = []
    fitted = train(
        estimator(),
        shards,
        callback=lambda record: duals.append(record["dual"]),
        settings=SETTINGS,
    )
    x, y = whole(shards, tmp_path)
    single = estimator(gap="0.01%").fit(x, y)
    assert fitted.certified_ and fitted.gap_ <= 0.01 * fitted.primal_
    assert fitted.dual_ <= single.primal_ and fitted.primal_ >= single.dual_
    assert all(a <= b for a, b in itertools.pairwise(duals)), "F fell"
    assert fitted.classes_.tolist() == single.classes_.tolist(), (
        "the first shard has two of three labels"
    )
    assert fitted.score(x, y) >= single.score(x, y) - 0.05
    moved = fitted.summary_["distributed"]["bytes_per_round"]
    assert moved <= 2.2 * 3 * 8 * fitted.coef_.size + 3 * 100


def test_sequences_and_text(tmp_path: Path) -> None:
    """Features with names are merged; compressed files and addresses of fsspec are read."""
    text = "the D\ndog N\nbarks V\n\na D\ncat N\n\n"
    paths = [tmp_path / "a.txt", tmp_path / "b.txt.gz"]
    paths[0].write_text(text * 3)
    paths[1].write_bytes(gzip.compress((text.replace("dog", "bird") * 3).encode()))
    fitted = train(
        multiplane.ChainSSVM(gap="5%", params={"task.template": ["U:%x[0,0]"]}),
        paths,
        format="conll",
    )
    assert fitted.certified_
    assert [list(y) for y in fitted.predict([[("a",), ("bird",), ("barks",)]])] == [
        ["D", "N", "V"]
    ]


def test_a_run_goes_on_from_a_checkpoint(shards: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    straight = train(estimator(), shards, settings=SETTINGS)
    train(
        estimator(),
        shards,
        settings=SETTINGS,
        checkpoint=folder,
        callback=lambda record: record["rounds"] == 9,
    )
    manifest = json.loads((folder / "manifest.json").read_text())
    assert sorted(manifest["files"] + ["manifest.json"]) == sorted(
        path.name for path in folder.iterdir()
    )
    resumed = train(estimator(), shards, settings=SETTINGS, resume=folder)
    assert resumed.certified_ and resumed.gap_ <= 0.01 * resumed.primal_
    assert resumed.dual_ <= straight.primal_ and straight.dual_ <= resumed.primal_
    with pytest.raises(
        ValueError, match="of other shards, or of the same in another order"
    ):
        train(estimator(), shards[::-1], resume=folder)
    with pytest.raises(ValueError, match=r"checkpoint has lambda = 0.01, found 0.1"):
        train(estimator(lam=0.1), shards, resume=folder)
    with pytest.raises(FileNotFoundError, match=r"no manifest.json"):
        train(estimator(), shards, resume=tmp_path / "nothing")


def test_fewer_workers_take_shards_in_turn(
    shards: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bits are the same for any number of workers; files of shards are gone at the end; lost workers and resumed runs go on."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(_shard_pools.tempfile, "gettempdir", lambda: str(folder))
    all_at_once = train(estimator(), shards, settings=SETTINGS)
    most: list[int] = []

    def watch(record: dict[str, Any]) -> bool:
        most.append(sum(1 for _ in folder.rglob("*") if _.is_file()))
        return record["rounds"] == 12

    for workers in (1, 2):
        fitted = train(estimator(), shards, settings=SETTINGS, workers=workers)
        assert fitted.coef_.tobytes() == all_at_once.coef_.tobytes(), f"{workers} workers"
        assert len(fitted.summary_["distributed"]["worker_time"]["turns"]) == workers
        assert not list(folder.iterdir())
    kept = tmp_path / "kept"
    train(estimator(), shards, settings=SETTINGS, workers=2, checkpoint=kept, callback=watch)
    assert max(most) == 2, "shards 0 and 2 take turns, and shard 1 stays"
    resumed = train(estimator(), shards, settings=SETTINGS, workers=1, resume=kept)
    assert resumed.certified_ and resumed.dual_ <= all_at_once.primal_
    with pytest.raises(ValueError, match="workers = 0: must be a whole number >= 1"):
        train(estimator(), shards, workers=0)


def test_time_is_divided(shards: list[str], tmp_path: Path) -> None:
    """What the time of a worker goes into adds up to the time of the run, and is drawn."""
    seen: list[dict[str, Any]] = []
    begun = time.monotonic()
    fitted = train(estimator(), shards, settings=SETTINGS, callback=seen.append)
    wall = time.monotonic() - begun
    times = fitted.summary_["distributed"]["worker_time"]
    assert times == seen[-1]["worker_time"] and set(times) == {"oracle", "steps", "turns", "network", "waiting"}
    for worker in range(3):
        parts = [times[kind][worker] for kind in times]
        assert all(part >= 0.0 for part in parts) and 0.0 < sum(parts) <= wall
        assert sum(times["oracle"]) > 0.0 and times["oracle"][worker] + times["steps"][worker] <= fitted.summary_["distributed"][
            "worker_seconds"
        ][worker] * (1 + 1e-9)
    for name, given in (("a.svg", fitted), ("b.svg", seen)):
        distributed.draw_time(given, tmp_path / name)
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text() and picture.count("<title>") == 15 and "worker 2" in picture


def test_a_model_is_verified_shard_by_shard(shards: list[str], tmp_path: Path) -> None:
    fitted = train(estimator(), shards, settings=SETTINGS)
    path = tmp_path / "model"
    fitted.save(path)
    for model in (fitted, path):
        found = distributed.verify(model, shards, workers=1)
        assert found["verified"] and found["relative_difference"] <= 1e-9 and "fault" not in found
    sizes = [part["examples"] for part in found["shards"]]
    mean = sum(part["hinges"] * part["examples"] for part in found["shards"]) / sum(sizes)
    penalty = 0.005 * float(np.sum(fitted.coef_**2))
    assert sizes == [40, 41, 42] and abs(penalty + mean - found["primal"]) <= 1e-12
    x, y = whole(shards, tmp_path)
    scores = x @ fitted.coef_.T
    hinges = (scores + (fitted.classes_ != y[:, None])).max(axis=1) - scores[np.arange(len(y)), np.searchsorted(fitted.classes_, y)]
    assert abs(penalty + hinges.mean() - found["primal"]) <= 1e-12, "by hand"
    with pytest.raises(ValueError, match="not trained on these: other ones, or the same in another order"):
        distributed.verify(fitted, shards[::-1])
    with pytest.raises(ValueError, match="not trained on these: they have 81 examples, its own 123"):
        distributed.verify(fitted, shards[:2])


def test_a_false_certificate_is_found(shards: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Hinges that training would have had to see: larger ones, and smaller ones."""
    fitted = train(estimator(), shards, settings=SETTINGS)
    true = _shards.Shard.primal
    for factor in (1.001, 0.999):

        def other(self: Any, model: bytes, factor: float = factor) -> str:
            part = json.loads(true(self, model))
            return json.dumps({**part, "hinges": factor * part["hinges"]})

        monkeypatch.setattr(_shards.Shard, "primal", other)
        found = distributed.verify(fitted, shards)
        assert not found["verified"] and "primal value" in found["fault"]


def test_the_command_verifies_shards(shards: list[str], tmp_path: Path) -> None:
    path, command = tmp_path / "model", [sys.executable, "-m", "multiplane", "verify", "--json", "--model"]
    train(estimator(), shards, settings=SETTINGS).save(path)
    done = subprocess.run([*command, path, "--shards", *shards], capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["verified"], done.stderr
    done = subprocess.run([*command, path, "--shards", *shards[1:]], capture_output=True, text=True)
    assert done.returncode == 2 and "shards: the model was not trained on these" in done.stderr, done.stderr


def test_bad_input_gets_one_clear_error(shards: list[str], tmp_path: Path) -> None:
    broken, empty = tmp_path / "broken.txt", tmp_path / "empty.txt"
    broken.write_text("1 1:2\n2 1:x\n")
    empty.write_text("")
    with pytest.raises(ValueError, match=r"broken.txt:2:"):
        train(estimator(), [shards[0], broken])
    with pytest.raises(ValueError, match=r"empty.txt"):
        train(estimator(), [shards[0], empty])
    with pytest.raises(
        ValueError, match=r"shards\[0\] and shards\[2\] have the same examples"
    ):
        train(estimator(), [shards[0], shards[1], shards[0]])
    with pytest.raises(OSError, match=r"gone.txt"):
        train(estimator(), [tmp_path / "gone.txt"])
    with pytest.raises(ValueError, match="'bcfw': shards are trained by 'auto'"):
        train(estimator(solver="bcfw"), shards)
    with pytest.raises(ValueError, match="unknown cut"):
        train(estimator(), shards, settings={"cut": 1})
    with pytest.raises(ValueError, match="there are none"):
        train(estimator(), [])


class Failing(_shard_pools.Here):
    """Workers that are lost by a plan: at the call numbers of a shard."""

    plan: dict[tuple[str, int], int]
    def call(
        self, method: str, arguments: dict[int, tuple[object, ...]]
    ) -> dict[int, object]:
        found = super().call(method, arguments)
        for shard in found:
            left = self.plan.get((method, shard), 0)
            if left > 0:
                self.plan[method, shard] = left - 1
                found[shard] = None
        return found


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], int]:
    plan: dict[tuple[str, int], int] = {}

    def make(start: object, count: int, workers: int) -> Failing:
        pool = Failing(start, count, workers)
        pool.plan = plan
        return pool

    monkeypatch.setattr(_shard_pools, "Here", make)
    return plan


def test_lost_workers_come_back(
    shards: list[str], failing: dict[tuple[str, int], int]
) -> None:
    duals: list[float] = []

    def watch(record: dict[str, float]) -> None:
        duals.append(record["dual"])
        if record["rounds"] % 7 == 0:
            failing["answer", int(record["rounds"]) % 3] = 1

    fitted = train(estimator(), shards, callback=watch, settings=SETTINGS)
    assert fitted.certified_ and fitted.summary_["distributed"]["lost"] >= 2
    assert all(a <= b for a, b in itertools.pairwise(duals)), "F fell"


def test_a_shard_that_stays_lost_ends_the_run(
    shards: list[str], failing: dict[tuple[str, int], int], tmp_path: Path
) -> None:
    def watch(record: dict[str, float]) -> None:
        if record["rounds"] == 5:
            failing["answer", 1] = 100

    with pytest.raises(
        distributed.ShardLost, match=r"part1.txt: 3 workers were lost"
    ) as caught:
        train(
            estimator(),
            shards,
            callback=watch,
            settings=SETTINGS,
            checkpoint=tmp_path / "kept",
        )
    assert caught.value.estimator is None, "nothing was proven yet"


def test_actors_give_the_same_bits_and_are_replaced(shards: list[str]) -> None:
    ray = pytest.importorskip("ray")
    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        here = train(estimator(), shards, settings=SETTINGS)
        there = train(
            estimator(),
            shards,
            settings=SETTINGS,
            executor="ray",
            ray_options={"num_cpus": 0},
        )
        assert here.coef_.tobytes() == there.coef_.tobytes()
        names: set[str] = set()

        def look(_: dict[str, Any]) -> None:
            names.update(n["name"] if isinstance(n, dict) else n for n in ray.util.list_named_actors())

        with pytest.warns(multiplane.ClusterWarning, match="room for 2 workers, which take 3 shards in turn"):
            few = train(
                estimator(),
                shards,
                settings=SETTINGS,
                executor="ray",
                ray_options={"num_cpus": 2},
                callback=look,
            )
        assert few.coef_.tobytes() == here.coef_.tobytes() and few.summary_["distributed"]["workers"] == 2
        assert len([name for name in names if name.startswith("multiplane-shards-")]) == 2, names
        assert distributed.verify(few, shards, executor="ray", workers=1)["verified"]

        def kill(record: dict[str, float]) -> None:
            if record["rounds"] in (3, 8):
                name = next(
                    n
                    for n in ray.util.list_named_actors()
                    if n.startswith("multiplane-shards") and f"-{2}-" in n
                )
                ray.kill(ray.get_actor(name))

        again = train(
            estimator(),
            shards,
            settings=SETTINGS,
            executor="ray",
            ray_options={"num_cpus": 0},
            callback=kill,
        )
        assert again.certified_ and again.summary_["distributed"]["lost"] >= 1

        def end(record: dict[str, Any]) -> None:
            if record["rounds"] in (3, 8, 9):
                ray.kill(ray.get_actor(next(n for n in ray.util.list_named_actors() if n.startswith("multiplane-shards"))))

        turns = train(estimator(), shards, settings=SETTINGS, executor="ray", workers=1, callback=end)
        assert turns.certified_ and turns.summary_["distributed"]["lost"] >= 2
        with pytest.raises(OSError, match=r"gone.txt"):
            train(
                estimator(),
                [shards[0], "/nowhere/gone.txt"],
                executor="ray",
                ray_options={"num_cpus": 0},
            )
    finally:
        if started:
            ray.shutdown()
