"""``executor="ray"``: the bits of one process, actors that are lost, late or slow, and one clear error for what cannot be."""

import os
import pickle
import socket
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import REPOSITORY, blobs
from problems import Multiclass

from multiplane import ChainSSVM, ClusterWarning, LostWorkers, StructuredSVM, _cluster, _ray
from multiplane._call_price import estimate
from multiplane._cluster import Cluster
from multiplane._ray import unpicklable
from multiplane._route import Route

ray = pytest.importorskip("ray", reason="the package ray is not installed: oracles on a cluster were not tested")

X, Y = blobs(3, n=48)
XS, YS = list(X), Y.tolist()
WORK = {"clock": "work", "passes": 4}


@pytest.fixture(scope="module", autouse=True)
def local():
    """A cluster of local processes."""
    here = os.path.dirname(__file__)
    environment = {"env_vars": {"PYTHONPATH": here}}
    ray.init("local", num_cpus=8, include_dashboard=False, logging_level="error", log_to_driver=True, runtime_env=environment)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def cheap():
    """The oracles of these tests take no time: that a cluster does not pay is told by one test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterWarning)
        yield


def plain(**given):
    return StructuredSVM(Multiclass(), **{**WORK, **given}).fit(XS, YS).coef_.tobytes()


class Slow(Multiclass):
    """Takes its time, and more on some actors than on others."""

    def decode(self, x, w, truth=None):
        time.sleep(0.001 * (1 + os.getpid() % 3))
        return super().decode(x, w, truth)


class Marked(Slow):
    """Notes in a folder which processes decode."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def decode(self, x, w, truth=None):
        (self.folder / str(os.getpid())).touch()
        return super().decode(x, w, truth)


@pytest.mark.parametrize(("solver", "actors"), [("fw", 1), ("auto", 2), ("fw", 7)])
def test_actors_give_the_bits_of_one_process(tmp_path, solver, actors):
    """Weights, records and predictions are those of one process; the driver decodes nothing, and actors are gone afterwards."""
    one = StructuredSVM(Multiclass(), solver=solver, **WORK).fit(XS, YS)
    many = StructuredSVM(Marked(tmp_path), solver=solver, executor="ray", n_jobs=actors, **WORK).fit(XS, YS)
    assert many.coef_.tobytes() == one.coef_.tobytes() and many.certified_ == one.certified_
    assert len(many.history_) == len(one.history_) and many.summary_["threads"] == actors
    deciders = {int(file.name) for file in tmp_path.iterdir()}
    assert os.getpid() not in deciders and 1 <= len(deciders) <= actors
    found = many.summary_["cluster"]
    calls = many.summary_["oracle_calls"] + many.summary_["evaluation_calls"]
    assert sum(actor["questions"] for actor in found["actors"]) >= calls and found["wanted"] == actors
    assert all(actor["name"].startswith("multiplane-") and actor["node"] for actor in found["actors"])
    if actors == 2:
        assert many.predict(XS) == one.predict(XS)
        assert pickle.loads(pickle.dumps(many)).executor == "ray"
    assert not [name for name in ray.util.list_named_actors() if name.startswith("multiplane-")]


class Killed(Cluster):
    """A cluster whose actors are killed at some messages, by Ray or by the system in turn."""

    at, asked, kills = (5, 24, 43, 62), 0, 0

    def ask(self, *question):
        answer, actor = super().ask(*question)
        Killed.asked += 1
        if Killed.asked in self.at:
            Killed.kills += 1
            if Killed.kills % 2:
                ray.kill(actor.handle)
            else:
                actor.handle.run.remote(os._exit, [7])
        return answer, actor


def test_actors_may_be_killed(monkeypatch):
    """Killed in any way at any moment: the bits are the same, and the fit says what happened."""
    monkeypatch.setattr("multiplane._structured.Cluster", Killed)
    with pytest.warns(UserWarning, match="started again"):
        found = StructuredSVM(Slow(), solver="fw", executor="ray", n_jobs=3, **{**WORK, "passes": 8}).fit(XS, YS)
    assert found.coef_.tobytes() == plain(solver="fw", passes=8)
    assert Killed.kills == 4 and found.summary_["mishaps"]["restarted"] >= 2 and found.summary_["cluster"]["lost"] >= 2


class Deadly(Multiclass):
    """Ends every actor that is given example 17 once it has answered some questions."""

    def decode(self, x, w, truth=None):
        if truth is not None and np.array_equal(x, XS[17]) and np.any(w):
            os._exit(5)
        return super().decode(x, w, truth)


def test_the_example_that_kills_is_named():
    """Several actors that are lost on one example end the fit; what was learned until then is in place."""
    model = StructuredSVM(Deadly(), solver="fw", executor="ray", n_jobs=2, **WORK)
    with pytest.raises(LostWorkers, match="example 17: .*actor ended") as caught:
        model.fit(XS, YS)
    assert caught.value.example == 17 and not model.__dict__.get("_cluster")


class Hangs(Multiclass):
    """The first actor that is asked about example 3 hangs."""

    def __init__(self, folder):
        super().__init__()
        self.mark = folder / "hung"

    def decode(self, x, w, truth=None):
        if np.array_equal(x, XS[3]) and np.any(w) and not self.mark.exists():
            self.mark.touch()
            time.sleep(600)
        return super().decode(x, w, truth)


def test_an_actor_that_hangs_is_replaced(tmp_path):
    """After ``timeout`` its questions go to others; the bits are the same. The reason told last is that of any of these questions: one
    that was on its way ends as its actor is killed.
    """
    with pytest.warns(UserWarning, match="asked again.*(no answer came within 2 s|killed by ray.kill)"):
        found = StructuredSVM(Hangs(tmp_path), solver="fw", executor="ray", n_jobs=2, timeout=2, **WORK).fit(XS, YS)
    assert found.coef_.tobytes() == plain(solver="fw")


def test_actors_join_late():
    """An actor gets questions once there is room for it; the others do not wait for it."""
    blocker = ray.remote(Multiclass).options(num_cpus=7).remote()
    ray.get(blocker.dim.remote())
    freed = threading.Timer(0.5, ray.kill, [blocker])
    freed.start()
    model = StructuredSVM(Slow(), solver="fw", executor="ray", n_jobs=3, **{**WORK, "passes": 40}).fit(XS, YS)
    freed.join()
    assert model.coef_.tobytes() == plain(solver="fw", passes=40)
    assert sum(actor["questions"] > 0 for actor in model.summary_["cluster"]["actors"]) >= 2


def test_wide_weights_travel_once(monkeypatch):
    """Weights of more than ``INLINE`` bytes are put into the object store once for all actors; data once for a fit."""
    monkeypatch.setattr(_cluster, "INLINE", 8)
    put, true = [], ray.put

    def counted(value):
        put.append(value)
        return true(value)

    monkeypatch.setattr(ray, "put", counted)
    found = StructuredSVM(Slow(), solver="fw", executor="ray", n_jobs=3, **WORK).fit(XS, YS)
    versions = [value.tobytes() for value in put if isinstance(value, np.ndarray)]
    assert found.coef_.tobytes() == plain(solver="fw") and len(versions) >= 4
    assert all(one != other for one, other in zip(versions, versions[1:], strict=False))
    assert len([value for value in put if isinstance(value, tuple)]) == 1


class Talks(Multiclass):
    def decode(self, x, w, truth=None):
        print(f"looks at {x[0]:.3f}")
        if truth is not None and np.any(w):
            raise KeyError("on purpose")
        return super().decode(x, w, truth)


def test_what_actors_say_names_the_example(capfd):
    """Output of a worker names the example, and so do the notes of an exception, which has its type and line."""
    with pytest.raises(KeyError, match="on purpose") as caught:
        StructuredSVM(Talks(), solver="fw", executor="ray", n_jobs=1, **WORK).fit(XS, YS)
    notes = "\n".join(caught.value.__notes__)
    assert "while training on example 0" in notes and 'raise KeyError("on purpose")' in notes
    said, deadline = "", time.monotonic() + 10
    while f"example 0: looks at {XS[0][0]:.3f}" not in said and time.monotonic() < deadline:
        said += "".join(capfd.readouterr())
        time.sleep(0.1)
    assert f"example 0: looks at {XS[0][0]:.3f}" in said


def refused(error, match, task=None, **given):
    with pytest.raises(error, match=match):
        StructuredSVM(task or Multiclass(), **{"executor": "ray", "n_jobs": 1, **WORK, **given}).fit(XS, YS)


def test_bad_input_is_one_error(monkeypatch):
    """The value, and the rule."""
    refused(ValueError, """executor = 'dask': expected "ray", "ray://HOST:PORT" or""", executor="dask")
    refused(ValueError, "ray_options: ValueError: Invalid option keyword nonsense", ray_options={"nonsense": 1})
    refused(ValueError, "ray_options: TypeError: .*num_cpus", ray_options={"num_cpus": "many"})
    refused(ValueError, "ray_options = 3: expected a dict", ray_options=3)
    refused(ValueError, "ray_options: max_restarts, name cannot be set", ray_options={"name": "a", "max_restarts": 1})
    refused(ValueError, "Ray is connected already", executor="ray://127.0.0.1:1")
    refused(ValueError, "ray_options: there are no actors", ray_options={"num_cpus": 1}, executor=None)
    refused(ValueError, "n_jobs = 0", n_jobs=0)
    refused(ValueError, "timeout = 0: must be greater than 0", timeout=0)
    monkeypatch.setattr(_cluster, "PLACED", 1.0)
    refused(TimeoutError, "no actor was there within 1 s: one asks for .*num_gpus", ray_options={"num_gpus": 3}, timeout=1)
    monkeypatch.undo()
    task = Multiclass()
    task.solver = {"lock": threading.Lock()}
    refused(TypeError, r"task.solver\['lock'\] cannot be pickled", task)
    monkeypatch.setattr(_ray, "versions", lambda true=_ray.versions: {**true(), "multiplane": "0.0.7"})
    refused(RuntimeError, "versions differ between the driver and node .*: multiplane 0.0.7 here and .* there")


def test_a_task_that_nodes_cannot_read():
    """One error says what is missing there."""
    sys.modules["only_here"] = module = type(sys)("only_here")
    exec("from problems import Multiclass\nclass Lonely(Multiclass): pass", vars(module))
    refused(RuntimeError, "task cannot be read on node .*No module named 'only_here'", module.Lonely())


def test_an_address_that_does_not_answer(monkeypatch):
    """Where nothing listens, and where something does that is no cluster: an error within a bounded time. What Ray still tries does
    not change which warnings are shown.
    """
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(_ray, "JOIN", 0.5)
    ended = threading.Event()
    monkeypatch.setattr(ray, "init", lambda **_: ended.wait(60))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        refused(ConnectionError, f"executor = 'ray://{address}': nothing answers there", executor=f"ray://{address}")
        listener.listen()
        refused(ConnectionError, "no Ray cluster answered within 0.5 s", executor=f"ray://{address}")
        with pytest.warns(UserWarning, match="is seen"):
            ended.set()
            time.sleep(0.2)  # in which the thread leaves ray.init
            warnings.warn("is seen", stacklevel=1)
        monkeypatch.setenv("RAY_ADDRESS", "somewhere")
        refused(ValueError, r"executor = 'ray' \(RAY_ADDRESS=somewhere\): expected HOST:PORT")


def test_a_program_starts_its_own_cluster(tmp_path):
    """Without an address Ray starts on this machine, and serves until the program ends; actors have the package's path."""
    program = """
from problems import Multiclass
from multiplane import StructuredSVM
import numpy as np
x = list(np.random.default_rng(0).normal(size=(30, Multiclass().width)))
fitted = [StructuredSVM(Multiclass(), executor="ray", n_jobs=1, clock="work", passes=2).fit(x, [0, 1, 2] * 10) for _ in range(2)]
print(fitted[0].coef_.tobytes() == fitted[1].coef_.tobytes())
"""
    paths = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")} | {"PYTHONPATH": paths}
    given = {"capture_output": True, "text": True, "timeout": 240, "env": environment, "cwd": tmp_path}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], **given)
    assert done.stdout.endswith("True\n"), done.stderr


def test_without_the_package(monkeypatch):
    """One line says what to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    refused(ImportError, r"""executor = 'ray': needs the package ray: pip install "multiplane\[ray\]\"""")


def test_the_culprit_is_found():
    """The deepest part that cannot be pickled."""
    lock = threading.Lock()
    assert unpicklable([1, {"a": (2, lock)}], "X", pickle.dumps).startswith("X[1]['a'][1] cannot be pickled (TypeError")
    assert unpicklable([1], "X", pickle.dumps) == ""


def test_it_is_said_if_a_cluster_does_not_pay():
    """A warning has the price of a call, the bytes of an answer and the round trip."""
    with pytest.warns(ClusterWarning, match=r"would be as fast. A call of decode takes .* ms, an answer has \d+ bytes, .* back"):
        StructuredSVM(Multiclass(), solver="fw", executor="ray", n_jobs=2, **WORK).fit(XS, YS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterWarning)
        slow = StructuredSVM(Slow(), executor="ray", n_jobs=2, ray_options={"resources": {}}, **{**WORK, "passes": 1}).fit(XS, YS)
    assert slow.summary_["cluster"]["price"]["call"] >= 1e-3


@pytest.mark.parametrize(
    ("call", "trip", "actors", "local", "pays"),
    [(1e-5, 1e-3, 8, 1, False), (1e-3, 1e-3, 8, 1, True), (1.0, 1e-3, 8, 8, False), (1.0, 1e-3, 8, 2, True), (1.0, 9.0, 4, 1, False)],
)  # fmt: skip
def test_the_price_of_a_call(call, trip, actors, local, pays):
    """Slow calls pay, unless this machine has as many cores or the way is longer than the work."""
    found = estimate(call, trip, actors, local)
    assert (found["cluster"] < found["here"]) == pays


def test_routes_share_the_actors_that_are_there():
    """A route hears that its actor answers others; answers come in any order, each with its number."""
    cluster = Cluster("ray", 1, None, 30.0)
    one, two = (Route(cluster, Slow(), XS, YS) for _ in range(2))
    w = np.random.default_rng(0).normal(size=Multiclass().dim())
    one.send(5, pickle.dumps((w.tobytes(), list(range(40)), True)))
    two.send(6, pickle.dumps(((2 * w).tobytes(), [1, 2], True)))
    assert two.receive(0.0) is None
    number, reply = next(filter(None, (one.receive(5.0) for _ in range(9))))
    answers, failed = pickle.loads(reply)
    assert number == 5 and failed is None
    assert [answer[0] for answer in answers] == [Multiclass().decode(XS[i], w, YS[i]) for i in range(40)]
    heard = two.receive(0.0) or two.receive(5.0)
    assert heard == (0, b"") or heard[0] == 6
    one.kill()
    cluster.close()
    with pytest.raises(EOFError, match="the cluster was left"):
        two.receive(1.0)


def run(*arguments, **given):
    """The wheel's command on this cluster."""
    address = {"RAY_ADDRESS": ray.get_runtime_context().gcs_address, "RAY_AUTH_MODE": os.environ.get("RAY_AUTH_MODE", "token")}
    command = [sys.executable, "-m", "multiplane", "train", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | address, **given)


def test_programs_of_the_command_run_in_actors(tmp_path):
    """``train --task external --executor ray`` writes the same model; a program that is not there is told as without Ray."""
    (tmp_path / "train.svm").write_text("3 1:1 2:0.5\n5 2:1\n3 1:-0.5\n")
    program = REPOSITORY / "examples" / "external" / "multiclass.py"
    task = ["--task", "external", "--set", f"task.command={sys.executable} {program}"]
    plain = [*task, "--data", "train.svm", "--clock", "work", "--passes", "4", "--quiet"]
    for out, more in (("here", []), ("there", ["--executor", "ray"])):
        done = run(*plain, "--out", out, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--task", "multiclass"], "--executor: not for task multiclass: actors run programs of `train --task external`"),
        (["--task", "external"], "--executor: needs --set task.command=PROGRAM"),
        (["--task", "external", "--set=task.command=[1"], "task.command = [1: Expecting"),
        (["--task", "external", "--set", "task.command=a b", "--executor=ray://127.0.0.1:1"], "nothing answers there"),
    ],
)
def test_the_command_refuses_in_one_line(arguments, told):
    """Tasks that are compiled, and addresses where nothing is."""
    done = run("--executor", "ray", *arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and told in done.stderr, done.stderr


def test_compiled_oracles_have_no_actors():
    """One line says whose keyword it is."""
    with pytest.raises(TypeError, match="executor.: it is of estimators whose oracle is written in Python, as StructuredSVM"):
        ChainSSVM(executor="ray")


def test_integer_programmes_run_in_actors():
    """IlpSSVM has the same bits; its programmes and their solver travel. Examples without a solution in its time are named."""
    pytest.importorskip("scipy")
    from multiplane.ilp import IlpSSVM, IntegerProgramme, Least

    rng = np.random.default_rng(0)
    x = [(IntegerProgramme(np.ones((1, 5)), 1.0, 3.0), rng.normal(size=(5, 3))) for _ in range(6)]
    y = [np.array([1.0, 0.0, 0.0, 1.0, 0.0])] * 6
    here, there = (IlpSSVM(passes=3, clock="work", **on).fit(x, y) for on in ({}, {"executor": "ray", "n_jobs": 2}))
    assert here.coef_.tobytes() == there.coef_.tobytes() and len(there.summary_["cluster"]["actors"]) >= 1

    class Hurried(IntegerProgramme):
        def minimise(self, costs, slack=None, seconds=np.inf):
            return Least(None, np.minimum(costs * self.lower, costs * self.upper).sum())

    x[2] = (Hurried(np.ones((1, 5)), 1.0, 3.0), x[2][1])
    with pytest.warns(UserWarning, match="found no vector for example 2 of 6"):
        hurried = IlpSSVM(passes=3, clock="work", executor="ray", n_jobs=2).fit(x, y)
    assert hurried.summary_["without_solution"] == [2]
