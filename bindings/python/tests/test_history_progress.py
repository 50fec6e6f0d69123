"""history_, its plot, the progress line, logging, convergence warnings."""

import io
import json
import logging
import math
import os
import pickle
import sys
import time
import types
import warnings

import matplotlib
import pytest
from conftest import blobs

from multiplane import ConvergenceWarning, MulticlassSSVM, StructuredSVM, History, _core, _progress, load
from problems import Multiclass

matplotlib.use("Agg")
X, Y = blobs(3)
KEYS = {
    "pass", "iterations", "approximate_passes", "oracle_calls", "cached_steps", "seconds", "oracle_seconds", "primal",
    "dual", "gap", "certified", "planes", "train_loss", "test_loss",
}  # fmt: skip
EVALUATION = {"gap_estimate", "evaluation_calls", "evaluation_seconds"}


def test_history_has_the_records_of_the_command_line():
    """One record per outer iteration, in order; the last is of the weights kept."""
    model = MulticlassSSVM(gap="1%").fit(X, Y)
    assert isinstance(model.history_, History) and set(model.history_[0]) >= KEYS | EVALUATION
    assert set(model.history_.column("iterations")) == set(range(1, model.n_iter_ + 1))
    assert model.history_[0]["primal"] == pytest.approx(1.0) and model.history_[0]["gap_estimate"] > 0
    calls = model.history_.column("oracle_calls")
    assert calls == sorted(calls)
    assert model.history_[-1]["primal"] == model.primal_ and model.history_[-1]["dual"] == model.dual_
    primal, dual = model.history_.column("primal"), model.history_.column("dual")
    assert all(p >= d for p, d in zip(primal, dual, strict=True))


@pytest.mark.parametrize("x", ["pass", "seconds", "oracle_calls"])
def test_history_plots(x):
    """Primal, dual and gap over passes, seconds or calls, on new axes or given ones."""
    from matplotlib import pyplot

    model = MulticlassSSVM(gap="1%").fit(X, Y)
    axes = model.history_.plot(x=x)
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines) == {"primal", "primal, estimated", "dual"}
    assert {name for name, line in lines.items() if line.get_linestyle() == "--"} == {"primal, estimated"}
    assert {name for name, line in lines.items() if line.get_drawstyle() == "steps-post"} == {"primal", "dual"}
    assert [band.get_label() for band in axes.collections] == ["gap", "gap, estimated", "evaluated"]
    assert model.history_.plot(axes, x=x) is axes
    assert model.history_.at("oracle_calls")[-1] == sum(
        model.summary_[calls] for calls in ("oracle_calls", "evaluation_calls")
    )
    pyplot.close("all")
    with pytest.raises(ValueError, match="x = 'time': expected"):
        model.history_.plot(x="time")


def test_history_without_a_dual_plots():
    """A solver with no dual has primal alone."""
    from matplotlib import pyplot

    model = MulticlassSSVM(solver="ssg", passes=5).fit(X, Y)
    assert model.history_.column("dual")[-1] is None
    assert {line.get_label() for line in model.history_.plot().get_lines()} == {"primal"}
    pyplot.close("all")


def test_bounds_after_every_iteration():
    """params={"evaluate": "pass"} evaluates each record off the clock; other words are refused."""
    from matplotlib import pyplot

    model = MulticlassSSVM(solver="bcfw", passes=5, params={"evaluate": "pass"}).fit(X, Y)
    assert len(model.history_) == 5 and not EVALUATION & set(model.history_[0])
    assert all(record["certified"] and record["gap"] is not None for record in model.history_)
    assert model.summary_["evaluation_calls"] == 5 * len(X)
    assert {line.get_label() for line in model.history_.plot().get_lines()} == {"primal", "dual"}
    pyplot.close("all")
    with pytest.raises(ValueError, match="evaluate.*(auto|pass)"):
        MulticlassSSVM(params={"evaluate": "often"}).fit(X, Y)


def test_records_before_the_first_evaluation(monkeypatch, caplog):
    """A task of a user knows no primal value before it: records have None, and all that shows records copes."""
    from matplotlib import pyplot

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "LOGGED", 0.0)
    model = StructuredSVM(Multiclass(), solver="bcfw", passes=6, progress=True)
    with caplog.at_level(logging.DEBUG, logger="multiplane"):
        model.fit(list(X), Y.tolist())
    primal = model.history_.column("primal")
    assert primal[0] is None and primal[-1] == model.primal_
    lines = {line.get_label(): line for line in model.history_.plot().get_lines()}
    assert len(lines["primal"].get_xdata()) == sum(value is not None for value in primal)
    assert len(lines["dual"].get_xdata()) == len(primal)
    assert "gap ~" in stream.getvalue() and "None" not in stream.getvalue() and "nan" not in stream.getvalue()
    pyplot.close("all")


def progress(stop=None, records=(), spent=(2.0, 20, 4.0)):
    """The parts of a line by their ranks, after these records: seconds with what they hold."""
    found = _core.Progress("auto", json.dumps(stop or {}), "wall")
    for seconds, record in records:
        found.hear(json.dumps({"primal": None, "dual": None, "gap": None, "certified": False, **record}), seconds)
    parts = {}
    for rank, text in found.parts(*spent):
        parts.setdefault(rank, text)
    return parts


def test_gaps_with_and_without_a_mark():
    """The progress line has a tilde at gaps that nothing proves, and none at a proven one; an estimate that is smaller counts."""

    def known(record):
        return progress(records=[(1.0, record)])[0]

    record = {"primal": None, "dual": 0.4, "gap": None, "certified": False, "gap_estimate": 0.1}
    assert known(record) == "gap ~0.1" and known({**record, "gap_estimate": None}) == "gap -"
    proven = {**record, "primal": 1.0, "gap": 0.6, "certified": True}
    assert known(proven) == "gap ~0.1" and known({**proven, "gap_estimate": 0.7}) == "gap 0.6"
    assert known({**proven, "certified": False, "gap_estimate": None}) == "gap ~0.6"
    assert known({**record, "primal": 0.7, "dual": None, "gap_estimate": None}) == "gap -"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    """Fits of tests are over before a line would be drawn."""
    monkeypatch.setattr(_progress, "QUIET", 0.0)
    monkeypatch.setattr(_progress, "REDRAWN", 0.0)


def watched(monkeypatch, stream, **params):
    """What a fit writes to this stream."""
    monkeypatch.setattr(sys, "stderr", stream)
    MulticlassSSVM(gap="1%", **params).fit(X, Y)
    return stream.getvalue()


def test_progress_is_shown_where_somebody_watches(monkeypatch, at_once):
    """On terminals by default, where the line is cleared at the end."""
    assert watched(monkeypatch, io.StringIO()) == "" and watched(monkeypatch, Terminal(), progress=False) == ""
    text = watched(monkeypatch, Terminal())
    assert all(part in text for part in ("\rauto  gap ~", " -> 0.0", "  at most ", " to go  ", " passes  "))
    assert "\n" not in text and text.endswith("\r") and text.split("\r")[-2].strip() == ""


def test_a_choice_of_lambda_is_watched(monkeypatch, at_once):
    """While lambda is chosen the line says how far that is; of features that make a fit slow a hint comes before the fit."""
    assert "\rchoosing lambda: fold 1 of 5" in watched(monkeypatch, Terminal(), lam="cv")
    monkeypatch.setattr(sys, "stderr", Terminal())

    def tell(record):
        assert any("which makes training slow" in str(warning.message) for warning in told)
        return True

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        MulticlassSSVM(gap="1%").fit(1000 * X, Y, callbacks=[tell])
    assert [str(warning.message).count("which makes training slow") for warning in told].count(1) == 1


def test_files_and_pipes_have_lines_or_nothing(monkeypatch):
    """What cannot be taken back is not drawn over: whole lines where they are asked for and a fit takes long, else nothing."""
    assert watched(monkeypatch, io.StringIO(), progress=True) == ""
    monkeypatch.setattr(_progress, "LOGGED", 0.0)
    text = watched(monkeypatch, io.StringIO(), progress=True)
    lines = text.splitlines()
    assert text.endswith("\n") and "\r" not in text and all(line.strip() and line.rstrip() == line for line in lines)
    assert any("  gap ~" in line for line in lines)


def test_short_fits_show_nothing(monkeypatch):
    """Within the first second no terminal and no notebook sees a line."""
    begin = time.monotonic()
    text = watched(monkeypatch, Terminal())
    assert text == "" or time.monotonic() - begin > 1.0


@pytest.mark.parametrize("columns", [0, 10, 25, 50, 80, 120])
def test_lines_fit_terminals(monkeypatch, at_once, columns):
    """No line is as wide as the terminal, an echo of Ctrl-C with it; the gap is last to go; a width of 0 is 80."""
    size = os.terminal_size((columns, 24))
    monkeypatch.setattr(_progress.os, "get_terminal_size", lambda fileno: size)
    stream = Terminal()
    monkeypatch.setattr(stream, "fileno", lambda: 2)
    lines = [line.replace("\b", "") for line in watched(monkeypatch, stream).split("\r")]
    assert all(len(line) < (columns or 80) and len(line.rstrip()) + 2 < (columns or 80) for line in lines)
    assert any("gap " in line for line in lines)
    assert any("calls" in line for line in lines) == (columns not in (10, 25, 50))


def test_an_echo_is_wiped(monkeypatch, at_once):
    """What Ctrl-C makes the terminal write stands behind the text, and goes away with it."""
    monkeypatch.setattr(_progress, "_columns", lambda stream: 50)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    line = _progress.Line()
    line.show("x" * 60)
    line.show("y" * 20)
    line.close()
    assert stream.getvalue() == "\r" + "x" * 47 + "\r" + "y" * 20 + " " * 29 + "\b" * 29 + "\r" + " " * 22 + "\r"


def gap_of(value, primal=1.0):
    """The bounds of a record with this gap, proven."""
    return {"primal": primal, "dual": primal - value, "gap": value, "certified": True}


def test_forecasts_are_those_of_the_command_line():
    """A gap that falls by a tenth in two seconds is forecast, budgets are, and the nearest end counts."""
    falling = [(eighth / 8, gap_of(10 ** (0.75 - eighth / 16))) for eighth in range(1, 33)]
    parts = progress({"gap": 0.01}, falling)
    assert parts[1] == "about 2 s to go" and 10 < parts[6].count("=") < 20
    assert progress({"seconds": 10.0})[1] == "about 6 s to go"
    percent = progress({"gap": "1%", "passes": 4}, [(1.0, gap_of(0.5, primal=2.0))])
    assert percent[1] == "at most 4 s to go" and percent[0] == "gap 0.5 -> 0.02"
    assert progress()[1] == "" and progress({"gap": "x"}, [(1.0, gap_of(0.5))])[0] == "gap 0.5"


def test_numbers_are_short():
    numbers = [0.012345, 250, 1534, 2e6, 1e-7, 0]
    shown = [progress(records=[(1.0, gap_of(value, primal=value))])[0] for value in numbers]
    assert shown == ["gap 0.0123", "gap 250", "gap 1.53k", "gap 2M", "gap 1e-7", "gap 0"]


def test_the_loss_held_out_is_shown(monkeypatch):
    """With patience, as on the command line: the lowest loss and how long it has stood, before the passes; else no word of it."""
    record = {"primal": None, "dual": 0.4, "gap": None, "certified": False, "pass": 2.0, "oracle_calls": 20, "seconds": 4.0}
    watched = {"loss": 0.01234, "pass": 1.0, "since": 1, "measurements": 2}
    monkeypatch.setattr(_progress, "LOGGED", 0.0)
    for stop, early, told in (
        ({"patience": 3}, {"early_stopping": watched}, ["held out 0.0123 (1 of 3)"]),
        ({"patience": 3}, {"early_stopping": None}, []),
        ({"patience": 3}, {}, []),
        ({"passes": 4}, {"early_stopping": watched}, []),
        (None, {}, []),
    ):
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        _progress.Watcher(True, "auto", stop)(json.dumps({**record, **early}))
        parts = stream.getvalue().strip().split("  ")
        at = parts.index("2.0 passes")
        assert [part for part in parts if part.startswith("held out")] == told
        assert parts[at - len(told) : at] == told and parts[at + 1] == "20 calls"


@pytest.mark.parametrize(("solver", "warm"), [("auto", False), ("auto", True), ("ssg", False), ("lasvm", False)])
def test_patience_reaches_the_line(solver, warm):
    """Of every solver, and where a fit goes on from the last one, whose budgets are no forecast."""
    model = MulticlassSSVM(solver=solver, patience=3)
    watcher = model._watcher(model._tree(), is_warm=warm)
    bounds = {**gap_of(0.1), "pass": 1.0, "oracle_calls": 1, "seconds": 1.0}
    watcher.progress.hear(json.dumps({**bounds, "early_stopping": {"loss": 0.5, "since": 2}}), 1.0)
    assert (2, "held out 0.5 (2 of 3)") in watcher.progress.parts(1.0, 1, 1.0)


def test_lines_come_at_most_five_times_a_second(monkeypatch):
    """By the clock, and the last word is that the line goes away."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    line = _progress.Line()
    for step in range(1, 301):
        now[0] = step / 100
        line.show(f"at {now[0]:.2f}")
    texts = [text.strip() for text in stream.getvalue().split("\r") if text]
    assert texts[0] == "at 1.00" and len(texts) <= 11
    line.close()
    assert stream.getvalue().endswith(" \r")


class Handle:
    """What IPython hands out for an output."""

    def __init__(self, shown):
        self.shown = shown

    def update(self, content, raw):
        assert raw
        self.shown.append(content)


@pytest.fixture
def notebook(monkeypatch):
    """A notebook as the package sees it; the outputs that it has, each with what it showed."""
    outputs = []

    def display(content, raw, display_id):
        assert raw and display_id
        outputs.append([content])
        return Handle(outputs[-1])

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    return outputs


def test_notebooks_have_one_output(monkeypatch, at_once, notebook):
    """One output for each fit, which changes and is empty at the end; standard error, which is red there, is left alone."""
    for fits in (1, 2):
        assert watched(monkeypatch, io.StringIO()) == "" and len(notebook) == fits
        texts = [content["text/plain"] for content in notebook[-1]]
        assert all(set(content) == {"text/plain"} for content in notebook[-1])
        assert len(texts) > 2 and "gap" in texts[-2] and texts[-1] == ""
    assert watched(monkeypatch, io.StringIO(), progress=False) == "" and len(notebook) == 2


def test_short_fits_leave_no_output(monkeypatch, notebook):
    """A notebook has no output of a fit within a second."""
    begin = time.monotonic()
    watched(monkeypatch, io.StringIO())
    assert notebook == [] or time.monotonic() - begin > 1.0


def test_interrupted_fits_take_their_output_away(monkeypatch, at_once, notebook):
    """An exception while training, too, leaves an empty output."""

    class Failing(Multiclass):
        calls = 0

        def decode(self, x, w, truth=None):
            self.calls += 1
            if self.calls > 200:
                raise RuntimeError("enough")
            return super().decode(x, w, truth)

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with pytest.raises(RuntimeError, match="enough"):
        StructuredSVM(Failing(), gap=0, passes=1000).fit(list(X), Y.tolist())
    assert len(notebook) == 1 and notebook[0][-1] == {"text/plain": ""}


def test_progress_without_a_stream(monkeypatch):
    """Programs without a console have no stderr."""
    monkeypatch.setattr(sys, "stderr", None)
    assert MulticlassSSVM(gap="1%").fit(X, Y).certified_
    assert MulticlassSSVM(gap="1%", progress=True).fit(X, Y).certified_


def test_progress_changes_no_bit(monkeypatch):
    """Watching does not alter what is found."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    watched = MulticlassSSVM(clock="work", progress=True).fit(X, Y)
    assert (watched.coef_ == MulticlassSSVM(clock="work", progress=False).fit(X, Y).coef_).all()


def test_logging(caplog):
    """Records at DEBUG, the outcome at INFO, in the logger of the package."""
    with caplog.at_level(logging.DEBUG, logger="multiplane"):
        MulticlassSSVM(gap="1%").fit(X, Y)
    levels = [record.levelno for record in caplog.records]
    assert logging.DEBUG in levels and levels[-1] == logging.INFO
    assert "certified" in caplog.records[-1].getMessage()


def test_an_error_in_a_handler_stops_training():
    """An exception while progress is told reaches the caller."""

    class Broken(logging.Handler):
        def emit(self, record):
            raise KeyError("handler")

    logger, handler = logging.getLogger("multiplane"), Broken()
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with pytest.raises(KeyError, match="handler"):
            MulticlassSSVM(gap="1%").fit(X, Y)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def test_stops_before_the_gap_are_told():
    """A run that other stops end before its gap says so."""
    with pytest.warns(ConvergenceWarning, match="before the gap was reached"):
        MulticlassSSVM(gap=1e-9, passes=2).fit(X, Y)
    with pytest.warns(ConvergenceWarning):
        StructuredSVM(Multiclass(), gap=1e-9, calls=100).fit(list(X), Y.tolist())


def test_a_gap_that_stands_still_is_told():
    """Where rounding ends all progress, the warning says since when."""
    with pytest.warns(ConvergenceWarning, match="hardly moved since pass.*as small as rounding"):
        MulticlassSSVM(gap=1e-300, passes=400, clock="work").fit(X, Y)


def test_an_absolute_gap_that_w_0_meets_is_told():
    """A percent sign that was forgotten is warned of, one that is there is not."""
    with pytest.warns(UserWarning, match="a gap of 5 is absolute, and any model meets it.*5% is relative"):
        MulticlassSSVM(gap=5).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MulticlassSSVM(gap="5%").fit(X, Y)


def test_budgets_without_room_for_an_evaluation(tmp_path, caplog):
    """Below one pass there are weights, no primal value and no certificate, and a warning says so; the rest works."""
    model = MulticlassSSVM(calls=20)
    with caplog.at_level(logging.INFO, logger="multiplane"):
        with pytest.warns(ConvergenceWarning, match="before there was room for one evaluation.*NaN"):
            model.fit(X, Y)
    assert "primal not evaluated" in caplog.records[-1].getMessage()
    assert math.isnan(model.primal_) and math.isnan(model.gap_) and not model.certified_ and model.dual_ > 0
    assert model.summary_["primal"] is None and model.summary_["evaluation_calls"] == 0
    assert model.score(X, Y) > 0.5
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert math.isnan(again.primal_) and not again.certified_
        assert (again.predict(X) == model.predict(X)).all()
