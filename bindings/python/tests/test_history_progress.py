"""history_, its plot, the progress line, logging, convergence warnings."""

import io
import logging
import sys
import types

import matplotlib
import pytest
from conftest import blobs

from multiplane import ConvergenceWarning, MulticlassSSVM, StructuredSVM, History
from problems import Multiclass

matplotlib.use("Agg")
X, Y = blobs(3)
KEYS = {
    "pass", "iterations", "approximate_passes", "oracle_calls", "cached_steps", "seconds", "oracle_seconds", "primal",
    "dual", "gap", "certified", "planes", "train_loss", "test_loss",
}  # fmt: skip


def test_history_has_the_records_of_the_command_line():
    """One record per evaluation, in order; the last is of the weights kept."""
    model = MulticlassSSVM(gap="1%").fit(X, Y)
    assert isinstance(model.history_, History) and set(model.history_[0]) >= KEYS
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
    assert {line.get_label() for line in axes.get_lines()} == {"primal", "dual"}
    assert model.history_.plot(axes, x=x) is axes
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_where_somebody_watches(monkeypatch):
    """On terminals and in notebooks by default; elsewhere when asked for; the line is cleared at the end."""

    def shown(stream, **params):
        monkeypatch.setattr(sys, "stderr", stream)
        MulticlassSSVM(gap="1%", **params).fit(X, Y)
        return stream.getvalue()

    assert shown(io.StringIO()) == "" and shown(Terminal(), progress=False) == ""
    for text in (shown(Terminal()), shown(io.StringIO(), progress=True)):
        assert "gap" in text and "primal" in text and "pass" in text and text.endswith("\r")
    shell = type("ZMQInteractiveShell", (), {})()
    notebook = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert "gap" in shown(io.StringIO())


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
    """Evaluations at DEBUG, the outcome at INFO, in the logger of the package."""
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
