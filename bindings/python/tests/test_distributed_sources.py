"""Shards that are no files, simulated clusters, and what the driver holds and counts."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import multiplane
import numpy as np
import pytest
from multiplane import _sharded_run, _shards, distributed
from multiplane.distributed import simulate, train

SETTINGS = {"replays": 8}


def estimator(**arguments: Any) -> multiplane.MulticlassSSVM:
    return multiplane.MulticlassSSVM(**{"gap": "1%", "lam": 0.01, "clock": "work", **arguments})


def problem(n: int = 240, d: int = 5, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(classes, d)), rng.integers(classes, size=n)
    return centres[y] + rng.normal(size=(n, d)), y


def pairs(count: int, n: int = 240) -> list[tuple[np.ndarray, np.ndarray]]:
    x, y = problem(n)
    return [(x[k::count], y[k::count]) for k in range(count)]


def test_arrays_come_to_the_optimum_of_one_machine_in_few_passes() -> None:
    x, y = problem(600)
    single = estimator(gap="0.01%", lam="1/n").fit(x, y)
    whole = estimator(lam="1/n").fit(x, y)
    passes = (whole.summary_["oracle_calls"] + whole.summary_["evaluation_calls"]) / len(y)
    for count in (1, 4, 16):
        seen: list[dict[str, Any]] = []
        fitted = train(estimator(lam="1/n"), pairs(count, 600), callback=seen.append)
        assert fitted.certified_ and fitted.gap_ <= 0.01 * fitted.primal_
        assert fitted.dual_ <= single.primal_ and single.dual_ <= fitted.primal_
        assert seen[-1]["passes"] <= 1.6 * passes, f"{count} shards"
        assert fitted.classes_.tolist() == [0, 1, 2]
        assert fitted.score(x, y) >= single.score(x, y) - 0.03


def test_tables_are_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    tables = [pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": y}) for x, y in pairs(3)]
    fitted = train(estimator(), tables, target="kind", settings=SETTINGS)
    assert fitted.certified_ and fitted.coef_.shape == (3, 2)
    x, y = problem()
    parts = [(x[y == label], y[y == label]) for label in range(3)]
    assert train(estimator(), parts, settings=SETTINGS).classes_.tolist() == [0, 1, 2], "a shard may have one class"
    with pytest.raises(ValueError, match=r"shards\[0\]: target = 'label': expected one of its columns: a, b, kind"):
        train(estimator(), tables, target="label")
    with pytest.raises(ValueError, match=r"shards\[0\] and shards\[1\] differ in their columns: \['b', 'c'\]"):
        train(estimator(), [tables[0], tables[1].rename(columns={"b": "c"})], target="kind")
    with pytest.raises(ValueError, match=r"shards\[1\]: the shard has no example"):
        train(estimator(), [tables[0], tables[1][:0]], target="kind")
    pytest.importorskip("pyarrow")
    paths = [tmp_path / f"{k}.parquet" for k in range(3)]
    for path, table in zip(paths, tables, strict=True):
        table.to_parquet(path)
    read = train(estimator(), paths, target="kind", settings=SETTINGS)
    assert read.coef_.tobytes() == fitted.coef_.tobytes()


def test_workers_are_called_by_their_shards() -> None:
    """Ray puts this before the lines that an actor prints."""
    given = {shard: ("", None, None, None, None, f"shards[{shard}]") for shard in (1, 4)}
    assert repr(_shards.Worker(given, "", {})) == "worker of shards[1] and 1 more"


def test_labels_in_tables_may_be_names(tmp_path: Path) -> None:
    """The names of all shards are classes, although no shard has them all; verified, saved and loaded by them."""
    x, y = problem()
    names = np.array(["cat", "dog", "ant"])
    parts = [(x[y != label], names[y[y != label]]) for label in range(3)]
    fitted = train(estimator(), parts, settings=SETTINGS)
    numbered = train(estimator(), [(a, np.searchsorted(sorted(names), b)) for a, b in parts], settings=SETTINGS)
    assert fitted.classes_.tolist() == ["ant", "cat", "dog"] and fitted.coef_.tobytes() == numbered.coef_.tobytes()
    assert fitted.score(x, names[y]) == numbered.score(x, np.searchsorted(sorted(names), names[y]))
    fitted.save(tmp_path / "model")
    assert multiplane.load(tmp_path / "model").predict(x).tolist() == fitted.predict(x).tolist()
    assert distributed.verify(fitted, parts)["verified"]
    made = train(estimator(), [lambda part=part: part for part in parts], settings=SETTINGS, workers=1)
    assert made.coef_.tobytes() == fitted.coef_.tobytes()


def test_sequences_in_memory_are_merged_by_the_names_of_their_labels() -> None:
    shards = [([[{"dog"}, {"barks"}]] * 2 + [[{"a"}]], [["N", "V"]] * 2 + [["D"]]), ([[{"the"}, {"cat"}]] * 3, [["D", "N"]] * 3)]
    fitted = train(multiplane.ChainSSVM(gap="5%", lam=0.01), shards)
    assert fitted.certified_ and [list(y) for y in fitted.predict([[{"the"}, {"dog"}]])] == [["D", "N"]]


def test_a_shard_that_changes_in_a_run_is_refused() -> None:
    """Examples that a turn reads again must be those of the first time: planes of others would prove nothing."""
    rng = np.random.default_rng(5)
    x, y, read = rng.normal(size=(2, 30, 3)), rng.integers(2, size=(2, 30)), [0, 0]

    def part(k: int) -> tuple[Any, Any]:
        read[k] += 1
        return x[k] + (read[k] > 3), y[k]

    with pytest.raises(ValueError, match=r"shards\[\d\]: read again, its examples are others than at first"):
        train(estimator(), [lambda k=k: part(k) for k in range(2)], settings=SETTINGS, workers=1)


def test_every_round_may_call() -> None:
    """Without replays no round asks the planes kept alone, and the gap is proven as ever."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 40, 3)), rng.integers(2, size=(2, 40))
    x[:, :, 0] += 2 * y
    seen: list[dict[str, Any]] = []
    fitted = train(estimator(), list(zip(x, y, strict=True)), settings={"parts": 1, "replays": 0}, callback=seen.append)
    calls = np.diff([0.0, *(record["passes"] for record in seen)])
    assert {record["order"] for record in seen} == {"work", "evaluate"} and (calls > 0).all()
    assert fitted.certified_ and fitted.gap_ <= 0.01 * fitted.primal_ and distributed.verify(fitted, list(zip(x, y, strict=True)))["verified"]


def test_what_cannot_be_a_shard_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shards\[0\] is a int: expected a path, a pair \(X, y\), a table or a function"):
        train(estimator(), [3])
    with pytest.raises(ValueError, match=r"shards\[0\] and shards\[1\]: labels are whole numbers in one, and names in the other"):
        train(estimator(), [*pairs(1), (np.ones((2, 5)), ["a", "b"])])
    with pytest.raises(ValueError, match=r"shards\[0\]: its function returned a list: expected a path, a pair"):
        train(estimator(), [lambda: [1]])
    with pytest.raises(ValueError, match=r"shards\[0\] and shards\[1\] have the same examples"):
        train(estimator(), [*pairs(2)[:1] * 2])
    with pytest.raises(ValueError, match=r"shards\[1\]: the shard has no example"):
        train(estimator(), [*pairs(1), (np.ones((0, 5)), [])])


def test_workers_of_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = _shards.versions()
    answers = iter([{**known, "python": "2.7"}, known, known])
    monkeypatch.setattr(_shards, "versions", lambda: next(answers))
    with pytest.raises(RuntimeError, match=r"shards\[0\]: its worker has other versions: python 3\S* here and 2.7 there"):
        train(estimator(), pairs(2))


def test_the_driver_holds_no_more_than_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    drive = distributed._drive

    def watched(run: Any, *given: Any) -> str:
        kept.append(run.settings["cuts"])
        return drive(run, *given)

    monkeypatch.setattr(distributed, "_drive", watched)
    for room, cuts in ((1 << 28, 50), (10_000, None), (1, 2)):
        monkeypatch.setattr(_sharded_run, "ROOM", room)
        assert train(estimator(), pairs(3), settings={**SETTINGS, "cuts": 50}).certified_
        assert kept[-1] == (cuts or kept[-1])
        held = [3 * count * 8 * 15 for count in (kept[-1], kept[-1] + 5)]
        assert cuts or held[0] <= room < held[1], f"{kept[-1]} sums of 15 numbers for each of 3 shards"


def test_figures_go_on_with_a_resumed_run(tmp_path: Path) -> None:
    before = train(estimator(), pairs(3), settings=SETTINGS, checkpoint=tmp_path, callback=lambda record: record["rounds"] == 9)
    seen: list[dict[str, Any]] = []
    after = train(estimator(), pairs(3), settings=SETTINGS, resume=tmp_path, callback=seen.append)
    first, last = before.summary_["distributed"], after.summary_["distributed"]
    assert seen[0]["rounds"] == first["rounds"] + 1 and seen[0]["bytes"] > first["bytes"]
    assert all(a > b > 0 for a, b in zip(seen[0]["seconds"], first["worker_seconds"], strict=True))
    assert last["bytes_per_round"] == last["bytes"] / last["rounds"] and last["bytes"] == seen[-1]["bytes"]


def test_simulated_clusters() -> None:
    """The same arguments give the same seconds; each price counts; more workers are faster where calls take long."""

    def seconds(count: int, **prices: float) -> float:
        records = simulate(estimator(), pairs(count), settings=SETTINGS, **{"call": 1.0, "latency": 0.0, "bandwidth": 1e12, **prices})
        times = [record["time"] for record in records]
        assert times == sorted(times)
        return float(times[-1])

    plain = seconds(4)
    assert plain == seconds(4) and seconds(4, spread=0.5, seed=1) == seconds(4, spread=0.5, seed=1)
    assert seconds(4, spread=0.5) > plain and seconds(4, latency=1.0) > plain + 10.0 and seconds(4, bandwidth=1e3) > plain
    assert seconds(4, step=0.1) > plain and plain < 0.5 * seconds(1)


def test_local_processes(tmp_path: Path) -> None:
    """Datasets of Ray; as many rounds as simulated; whatever cannot be pickled is named; an interrupt is heard."""
    ray = pytest.importorskip("ray")
    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        given = {"settings": SETTINGS, "executor": "ray", "ray_options": {"num_cpus": 0}}
        measured: list[dict[str, Any]] = []
        train(estimator(), pairs(3), callback=measured.append, **given)
        simulated = simulate(estimator(), pairs(3), call=1e-3, settings=SETTINGS)
        assert abs(len(simulated) - len(measured)) <= 0.2 * len(measured)
        bad = estimator()
        bad.lock = threading.Lock()
        with pytest.raises(TypeError, match=r"estimator\.lock cannot be pickled"):
            train(bad, pairs(2), **given)
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        x, y = problem()
        table = pandas.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": y})
        fitted = train(estimator(), ray.data.from_pandas(table).repartition(3).split(3), target="kind", **given)
        assert fitted.certified_
    finally:
        if started:
            ray.shutdown()


def failing() -> tuple[np.ndarray, np.ndarray]:
    raise ZeroDivisionError("by zero")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"settings": {"replays": "one"}}, r"settings\['replays'\] = 'one': must be a whole number >= 0"),
        ({"settings": {"parts": 0}}, r"settings\['parts'\] = 0: must be a whole number >= 1"),
        ({"settings": {"damping": 0}}, r"settings\['damping'\] = 0: must be a number > 0"),
        ({"executor": object()}, "executor = .*: must be 'ray'"),
        ({"shards": [problem(), failing]}, r"shards\[1\]: its function failed: ZeroDivisionError: by zero"),
    ],
)
def test_faults_name_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=message):
        train(estimator(), **{"shards": pairs(2), **arguments})
    with pytest.raises(ValueError, match="call = -1: must be a finite number >= 0"):
        simulate(estimator(), pairs(2), call=-1)
