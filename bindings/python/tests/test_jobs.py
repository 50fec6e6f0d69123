"""``n_jobs``: scikit-learn's meaning, the same bits, and processes that may die."""

import hashlib
import multiprocessing
import os
import pickle
import time
import warnings

import numpy as np
import pytest
from conftest import blobs, sequences
from problems import Multiclass

from multiplane import BinarySSVM, ChainSSVM, MulticlassSSVM, StructuredSVM
from multiplane import _jobs, _processes, _structured
from multiplane._processes import LostWorkers, Process

X, Y = blobs(3)
XS, YS = list(X), Y.tolist()


def test_numbers_mean_what_they_mean_in_scikit_learn(monkeypatch):
    """None is 1, negative numbers count back from all cores as joblib does, and never below 1."""
    monkeypatch.setattr(_jobs, "cores", lambda: 8)
    meant = {None: 1, 1: 1, 3: 3, 20: 20, -1: 8, -2: 7, -8: 1, -9: 1, -100: 1, np.int64(2): 2}
    assert {given: _jobs.effective(given) for given in meant} == meant
    for bad in (0, 1.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs = "):
            _jobs.effective(bad)


def test_joblib_says_the_same():
    """The formula is joblib's."""
    joblib = pytest.importorskip("joblib")
    for given in (1, 2, 7, -1, -2, -3, -50):
        assert _jobs.effective(given) == joblib.effective_n_jobs(given)


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM])
def test_built_in_tasks_have_it(kind):
    """All estimators take n_jobs, report it as threads, and give the bits of one thread."""
    x, y = sequences() if kind is ChainSSVM else blobs(2 if kind is BinarySSVM else 3)
    one, many = (kind(n_jobs=jobs, passes=6, clock="work").fit(x, y) for jobs in (None, 3))
    assert many.summary_["threads"] == 3 and one.summary_["threads"] == 1
    assert many.coef_.tobytes() == one.coef_.tobytes() and many.get_params()["n_jobs"] == 3
    assert all(np.array_equal(a, b) for a, b in zip(many.predict(x), one.predict(x), strict=True))


class Told(Multiclass):
    """Says in which process it was asked, by the label that it returns beside the right one."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def decode(self, x, w, truth=None):
        (self.folder / str(os.getpid())).touch()
        time.sleep(0.003)  # so that the others have begun before the calls end
        return super().decode(x, w, truth)


@pytest.mark.parametrize("solver", ["fw", "auto", "bcfw-gap"])
def test_tasks_in_python_run_in_processes(tmp_path, solver):
    """A task that holds the lock is asked here and in other processes, with the bits of one; they are gone afterwards."""
    plain = StructuredSVM(Multiclass(), solver=solver, passes=5, clock="work").fit(XS, YS)
    many = StructuredSVM(Told(tmp_path), solver=solver, passes=5, clock="work", n_jobs=3).fit(XS, YS)
    assert many.coef_.tobytes() == plain.coef_.tobytes()
    askers = {int(file.name) for file in tmp_path.iterdir()} - {os.getpid()}
    assert len(askers) == 2
    for asker in askers:
        with pytest.raises(ProcessLookupError):
            os.kill(asker, 0)
    assert many.predict(XS) == plain.predict(XS)


@pytest.mark.parametrize("solver", ["auto", "fw"])
def test_who_asks_decodes_as_well(solver):
    """The process that called fit takes its part of the calls: two are no help if one of them waits."""

    class Counted(Slow):
        here = 0

        def decode(self, x, w, truth=None):
            Counted.here += 1  # of this process
            return super().decode(x, w, truth)

    model = StructuredSVM(Counted(), solver=solver, passes=3, n_jobs=2).fit(XS, YS)
    calls = model.summary_["oracle_calls"] + model.summary_["evaluation_calls"]
    assert 0.2 * calls <= Counted.here <= 0.8 * calls


def test_tasks_that_release_the_lock_run_in_threads(tmp_path):
    """With the promise there are threads and no processes."""

    class Releasing(Told):
        releases_gil = True

    many = StructuredSVM(Releasing(tmp_path), solver="fw", passes=3, clock="work", n_jobs=2).fit(XS, YS)
    assert many.summary_["threads"] == 2 and [file.name for file in tmp_path.iterdir()] == [str(os.getpid())]


class Slow(Multiclass):
    def decode(self, x, w, truth=None):
        time.sleep(0.01)
        return super().decode(x, w, truth)


def test_predictions_that_take_long_are_spread(monkeypatch):
    """Slow predictions run in processes, quick ones do not."""
    started = []
    monkeypatch.setattr(_structured, "Process", lambda *a: started.append(a) or Process(*a))
    model = StructuredSVM(Multiclass(), passes=2).fit(XS, YS)
    model.n_jobs = 2
    quick = model.predict(XS)
    assert not started
    model.task = Slow()
    assert model.predict(XS) == quick and len(started) == 2


def test_what_cannot_travel_is_told(monkeypatch):
    """Where processes are not forks, a task that cannot be pickled runs alone, and one warning says why."""
    monkeypatch.setattr(_processes.multiprocessing, "get_start_method", lambda: "spawn")
    task = Multiclass()
    task.helper = lambda x: x
    with pytest.warns(UserWarning, match="n_jobs=2: .* cannot be sent to processes .*: its calls run one at a time"):
        model = StructuredSVM(task, passes=2, clock="work", n_jobs=2).fit(XS, YS)
    assert model.coef_.tobytes() == StructuredSVM(Multiclass(), passes=2, clock="work").fit(XS, YS).coef_.tobytes()


def test_an_executor_has_workers_of_its_own():
    """Two ways at once are refused."""
    with pytest.raises(ValueError, match="n_jobs and executor"):
        StructuredSVM(Multiclass(), n_jobs=2, executor=object()).fit(XS, YS)


class Frail(Multiclass):
    """Breaks down in a process: once it has been asked so many times and no other one has, or always."""

    def __init__(self, folder, how, always=False):
        super().__init__()
        self.folder, self.how, self.always, self.asked, self.parent = folder, how, always, 0, os.getpid()

    def decode(self, x, w, truth=None):
        self.asked += 1
        mark = self.folder / "broken"
        if os.getpid() != self.parent and (self.always or (self.asked == 20 and not mark.exists())):
            mark.touch()
            self.how()
        if self.always or (os.getpid() == self.parent and not mark.exists()):
            time.sleep(0.01)  # or the process that asks would have done it all
        return super().decode(x, w, truth)


def hang():
    time.sleep(60)


def die():
    os._exit(7)


@pytest.mark.parametrize(("how", "reason"), [(die, "exit code 7"), (hang, "no answer came within 0.3 s")])
def test_a_process_that_breaks_down_is_replaced(tmp_path, how, reason):
    """What it held is given to others: the bits are the same, and a warning says what happened."""
    plain = StructuredSVM(Multiclass(), solver="fw", passes=4, clock="work").fit(XS, YS)
    with pytest.warns(UserWarning, match=reason):
        frail = StructuredSVM(
            Frail(tmp_path, how), solver="fw", passes=4, clock="work", n_jobs=2, timeout=0.3
        ).fit(XS, YS)
    assert frail.coef_.tobytes() == plain.coef_.tobytes()
    mishaps = frail.summary_["mishaps"]
    assert (mishaps["restarted"], mishaps["lost"]) == (1, 0) and mishaps["asked_again"] > 0
    assert frail.summary_["threads"] == 2 and "mishaps" not in plain.summary_


def test_with_no_process_left_there_is_one_error(tmp_path):
    """Processes that all die end the fit with one error that says how."""
    with pytest.raises(LostWorkers, match="exit code 7"):
        StructuredSVM(Frail(tmp_path, die, always=True), solver="fw", passes=4, n_jobs=2).fit(XS, YS)


def at_start(monkeypatch, tmp_path, how, always=False):
    """Processes break down before they hear a message: the first one, or all."""
    work, mark = _processes._work, tmp_path / "started"

    def broken(*arguments):
        if always or not mark.exists():
            mark.touch()
            how()
        work(*arguments)

    monkeypatch.setattr(_processes, "_work", broken)


@pytest.mark.parametrize(("how", "reason"), [(die, "exit code 7"), (hang, "no answer came within 0.3 s")])
def test_a_process_that_breaks_down_at_its_start_is_replaced(monkeypatch, tmp_path, how, reason):
    """As one that breaks down in a call."""
    plain = StructuredSVM(Multiclass(), solver="fw", passes=3, clock="work").fit(XS, YS)
    at_start(monkeypatch, tmp_path, how)
    with pytest.warns(UserWarning, match=reason):
        frail = StructuredSVM(Slow(), solver="fw", passes=3, clock="work", n_jobs=2, timeout=0.3).fit(XS, YS)
    assert frail.coef_.tobytes() == plain.coef_.tobytes()
    assert (frail.summary_["mishaps"]["restarted"], frail.summary_["mishaps"]["lost"]) == (1, 0)


def test_processes_that_all_break_down_at_their_start(monkeypatch, tmp_path):
    """The fit ends with one error that says how."""
    at_start(monkeypatch, tmp_path, die, always=True)
    with pytest.raises(LostWorkers, match="exit code 7"):
        StructuredSVM(Slow(), solver="fw", passes=3, n_jobs=2).fit(XS, YS)


class Worn(Slow):
    """Ends its process at the 20th call, so that it never earns its restarts back."""

    asked = 0

    def decode(self, x, w, truth=None):
        self.asked += 1
        if self.asked == 20:
            os._exit(7)
        return super().decode(x, w, truth)


def test_restarts_have_a_limit(monkeypatch):
    """A process is started three times again; then it is lost, and the others go on with the same bits."""
    plain = StructuredSVM(Multiclass(), solver="fw", passes=8, clock="work").fit(XS, YS)
    started = []

    def start(task, xs, ys):
        started.append(task)
        return Process(task if len(started) == 2 else Worn(), xs, ys)  # all but the second one are in one place

    monkeypatch.setattr(_structured, "Process", start)
    with pytest.warns(UserWarning, match="exit code 7"):
        worn = StructuredSVM(Slow(), solver="fw", passes=8, clock="work", n_jobs=3).fit(XS, YS)
    assert worn.coef_.tobytes() == plain.coef_.tobytes()
    assert (worn.summary_["mishaps"]["restarted"], worn.summary_["mishaps"]["lost"], len(started)) == (3, 1, 5)


@pytest.mark.parametrize("starts", [0, 2])
def test_a_process_that_cannot_be_started(monkeypatch, tmp_path, starts):
    """At first that is an error; later the process is lost, and the others go on with the same bits."""
    plain = StructuredSVM(Multiclass(), solver="fw", passes=3, clock="work").fit(XS, YS)
    started = []

    def start(*arguments):
        if len(started) == starts:
            raise OSError("no more processes")
        started.append(arguments)
        return Process(*arguments)

    monkeypatch.setattr(_structured, "Process", start)
    task = Frail(tmp_path, die)
    task.decode = lambda x, w, truth=None: time.sleep(0.01) or Frail.decode(task, x, w, truth)
    frail = StructuredSVM(task, solver="fw", passes=3, clock="work", n_jobs=3)
    if not starts:
        with pytest.raises((ValueError, RuntimeError), match="no more processes"):
            frail.fit(XS, YS)
        return
    with pytest.warns(UserWarning, match="could not be started again: .*no more processes"):
        frail.fit(XS, YS)
    assert frail.coef_.tobytes() == plain.coef_.tobytes()
    assert (frail.summary_["mishaps"]["restarted"], frail.summary_["mishaps"]["lost"]) == (0, 1)


def test_examples_are_handed_out_in_order(monkeypatch):
    """At one w no example is sent twice, and each process gets its share in the order of the examples."""
    sent, of_process = {}, {}

    class Heard(Process):
        def send(self, number, message):
            weights, examples, _ = pickle.loads(message)
            of_process[self.process.pid] = w = of_process.get(self.process.pid) if weights is None else weights
            sent.setdefault(w, {}).setdefault(self.process.pid, []).extend(examples)
            super().send(number, message)

    monkeypatch.setattr(_structured, "Process", Heard)
    StructuredSVM(Slow(), solver="fw", passes=3, n_jobs=3).fit(XS, YS)
    assert len(of_process) == 2 and len(sent) >= 3
    for shares in sent.values():
        every = [example for share in shares.values() for example in share]
        assert len(set(every)) == len(every) and all(share == sorted(share) for share in shares.values())


class Deadly(Multiclass):
    """Ends every process, but for the one that asks, that is given example 17, once it was decoded under three weights: the
    pass with the first of them is then over, however often a late example is asked again.
    """

    def __init__(self, folder):
        super().__init__()
        self.folder, self.parent = folder, os.getpid()

    def decode(self, x, w, truth=None):
        if x is XS[17] and truth is not None:
            weights = self.folder / hashlib.sha256(w.tobytes()).hexdigest()
            if len({*self.folder.iterdir()} - {weights}) >= 3 and os.getpid() != self.parent:
                os._exit(5)
            weights.touch()
        return super().decode(x, w, truth)


def test_the_example_that_kills_is_named_and_the_results_so_far_are_kept(tmp_path):
    """Processes that are lost on one example, whatever message it came in, end the fit with an error that names it; what
    was trained until then is in place.
    """
    model = StructuredSVM(Deadly(tmp_path), solver="fw", passes=50, n_jobs=3)
    with pytest.raises(LostWorkers, match="example 17: .*exit code 5") as caught:
        model.fit(XS, YS)
    assert caught.value.example == 17
    assert model.dual_ > 0 and np.any(model.coef_) and len(model.predict(XS[:3])) == 3


def test_errors_in_processes_reach_the_caller():
    """An exception in a process comes out with its type, and with the line that it was raised in."""

    class Failing(Multiclass):
        def decode(self, x, w, truth=None):
            raise KeyError("in a process")

    with pytest.raises(KeyError, match="in a process") as caught:
        StructuredSVM(Failing(), solver="fw", n_jobs=2).fit(XS, YS)
    in_process = [note for note in caught.value.__notes__ if "in the process" in note]
    assert all('raise KeyError("in a process")' in note for note in in_process)


def test_the_same_input_with_other_truths():
    """An input that occurs twice, with different truths, is decoded with each."""
    x = [XS[0], XS[0], *XS[1:20]]
    y = [0, 1, *YS[1:20]]
    one, two = (StructuredSVM(Multiclass(), solver="fw", passes=4, clock="work", n_jobs=n).fit(x, y) for n in (None, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()


def weights(seed):
    return np.random.default_rng(seed).normal(size=Multiclass().dim())


@pytest.fixture
def slow():
    """A process with a slow task."""
    process = Process(Slow(), XS, YS)
    yield process
    process.kill()


def asked(examples, w, augmented=True):
    return pickle.dumps((None if w is None else w.astype("<f8").tobytes(), examples, augmented))


def answer(process, number):
    """The labellings that a process answers to a message, and the seconds that they took."""
    found = process.receive(30)
    assert found is not None and found[0] == number
    answers, failed = pickle.loads(found[1])
    assert failed is None
    return [answer[0] for answer in answers], [answer[3] for answer in answers]


def test_a_process_answers_while_nobody_waits(slow):
    """Messages are answered in turn, each with its number, at the weights that came with it or before, with what each decoding
    took; nothing comes where nothing was asked.
    """
    v, w = weights(0), weights(1)
    assert slow.receive(0.01) is None
    for number, (examples, given, augmented) in enumerate([([0, 1, 2], v, True), ([3], None, True), ([4, 0], w, False)]):
        slow.send(number, asked(examples, given, augmented))
    for number, (examples, used, augmented) in enumerate([([0, 1, 2], v, True), ([3], v, True), ([4, 0], w, False)]):
        labels, seconds = answer(slow, number)
        assert labels == [Multiclass().decode(XS[i], used, YS[i] if augmented else None) for i in examples]
        assert all(0.01 <= each < 1 for each in seconds)


@pytest.mark.parametrize("how", [die, os.abort])
def test_the_end_of_a_process_is_said(tmp_path, how):
    """Who asks a process that has ended hears how it did."""
    process = Process(Frail(tmp_path, how, always=True), XS, YS)
    process.send(1, asked([0], weights(0)))
    with pytest.raises(EOFError, match="it ended \\(exit code (7|-6)\\)"):
        process.receive(30)
    process.kill()


class Backwards:
    """A transport in a few lines: it answers the newest message first, and messages that were never sent."""

    def __init__(self, task, xs, ys):
        self.task, self.xs, self.ys, self.messages, self.w = task, xs, ys, [], None

    def send(self, number, message):
        weights, examples, augmented = pickle.loads(message)
        self.w = self.w if weights is None else np.frombuffer(weights)
        answers = [
            _processes._answer(self.task, self.xs[i], self.w, self.ys[i], augmented, i, first=True) for i in examples
        ]
        self.messages += [(number, pickle.dumps((answers, None))), (number + 10**9, b"late")]

    def receive(self, seconds):
        return self.messages.pop() if self.messages else None

    def kill(self):
        self.messages.clear()


def test_a_transport_may_answer_late_and_out_of_order(monkeypatch):
    """Another transport changes no bit, whatever the order in which it answers."""
    monkeypatch.setattr(_structured, "Process", Backwards)
    one, many = (StructuredSVM(Slow(), solver="fw", passes=3, clock="work", n_jobs=n).fit(XS, YS) for n in (None, 3))
    assert one.coef_.tobytes() == many.coef_.tobytes() and many.summary_["threads"] == 3


class Wide(Multiclass):
    """Its answers and weights are larger than a pipe holds."""

    quality = "heuristic"

    def dim(self):
        return 60_000

    def decode(self, x, w, truth=None):
        time.sleep(0.002)
        return np.full(100_000, 1.0 if truth is None or w[0] > x[0] else 0.0)

    def features(self, x, y):
        return {0: float(y if np.isscalar(y) else y[0]) * x[0], 59_999: 1.0}

    def loss(self, truth, y):
        return 0.0 if np.isscalar(y) else 1.0


@pytest.mark.parametrize("solver", ["auto", "fw", "bcfw-gap"])
def test_large_messages_hold_nobody_up(solver):
    """A process that waits for its answer to be taken is sent nothing that it would have to read first; answers that nobody
    wants any more, as the weights have changed, are passed over.
    """
    one, many = (StructuredSVM(Wide(), solver=solver, passes=4, clock="work", n_jobs=n).fit(XS, YS) for n in (None, 3))
    assert one.coef_.tobytes() == many.coef_.tobytes()


def test_predictions_of_lost_processes(tmp_path):
    """Predictions that processes are lost on are made by others; with none left there is an error that says how."""
    expected = StructuredSVM(Multiclass(), passes=3, clock="work").fit(XS, YS)
    model = StructuredSVM(Slow(), passes=3, clock="work", n_jobs=2).fit(XS, YS)
    model.task = Frail(tmp_path, die)
    slowly = Frail.decode
    model.task.decode = lambda x, w, truth=None: time.sleep(0.02) or slowly(model.task, x, w, truth)
    assert model.predict(XS) == expected.predict(XS)
    assert (tmp_path / "broken").exists()
    model.task.always = True
    with pytest.raises(LostWorkers, match="example .*: it ended .exit code 7."):
        model.predict(XS)


def fitted(jobs):
    """The weights of a fit, and its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = StructuredSVM(Multiclass(), passes=3, n_jobs=jobs, clock="work").fit(XS, YS)
    return model.coef_, model.predict(XS), [str(warning.message) for warning in told if warning.category is UserWarning]


def test_in_a_worker_of_a_pool_one_process_goes_on():
    """A worker of a multiprocessing.Pool may start no process: it decodes by itself, says so, and gives the same bits."""
    with multiprocessing.Pool(1) as pool:
        coef, predicted, told = pool.apply(fitted, (2,))
        alone = pool.apply(fitted, (None,))
    assert np.array_equal(coef, alone[0]) and predicted == alone[1] and not alone[2]
    assert told and all("this process is a worker of a pool, which may start none" in text for text in told), told
