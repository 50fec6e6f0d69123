"""What all estimators share: parameters, the way into the core, results, files."""

from __future__ import annotations

import copy
import json
import logging
import math
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, solvers
from multiplane._errors import BrokenPromiseWarning, ConvergenceWarning, UnusedParameterWarning, warn
from multiplane._fit_options import Callback, FitOptions, callbacks_of, checkpoints
from multiplane._given import STOPS, USUAL, changed, keywords, refuse_twice, task_keywords, task_names
from multiplane._history import History
from multiplane._jobs import effective
from multiplane._look import Looked
from multiplane._params import Parameters, plain, set_path
from multiplane._path import PathResult
from multiplane._progress import Watcher
from multiplane._solvers import DEFINITIONS, Solver, class_name
from multiplane._task_docs import documented
from multiplane._update import Change, Updated

logger = logging.getLogger("multiplane")


_WITH_DUAL = {entry["name"] for entry in DEFINITIONS["solvers"] if entry["has_dual"]}
"""Solvers that a gap can stop."""

ELSEWHERE = {
    **dict.fromkeys(("w", "w_", "weights_", "weights"), "coef_ has the weights"),
    **dict.fromkeys(
        ("loss_curve_", "losses_", "objective_curve_"),
        'history_ has a record for each iteration: history_.column("dual"), history_.plot(), history_.plot(y="test_loss")',
    ),
    "feature_importances_": "top_features() names the strongest weights",
}
"""Where results are that other packages call by other names."""

DUE_TO_BOUNDS = 0.5
"""The share of a gap that bounds have, from which on they are to blame."""

_OFFLINE = _WITH_DUAL - {"lasvm"}
"""Those that have the usual stops where none are given; it learns online."""


_HOLDOUT = """
        holdout: Hold out a share (``"20%"``) or a number of the examples, drawn by ``seed``, as test data: they are not
            trained on, and are what ``patience`` watches."""


_UNKNOWN = """
        unknown: A label, or a list of labels, that stands for one that is not known, as None, NaN and masked labels do. Such parts
            and their edges are left out of training and of scores. By default -1; in sequences and trees only beside two or more
            labels from 0 up, with a warning."""


class Estimator(Updated, Looked, Parameters):
    """The parameters and attributes of all estimators.

    Args:
        solver: A name of ``multiplane.solvers``, or an object of one of its classes.
        lam: The strength of the regulariser: a number, ``"1/n"``, or ``"c:X"`` with C = 1/(lambda n). ``"auto"`` searches for it
            on held-out examples, where neither solver nor stop is given and 500 variables can be held out; otherwise, and for a
            task of your own, it is 1/n. ``"cv"`` chooses it by cross-validation before the fit (``"cv:10"``: in 10 folds);
            ``summary_["lambda_choice"]`` reports both, with losses after training on a part. ``"scale"`` is the mean of x.x over n,
            which a task of your own does not have.
        gap: The proven duality gap to stop at: a number, or percent of the primal as in ``"1%"``. If nothing else is given, the
            fit also stops after 1000 passes.
        passes: The oracle calls of training per example to stop after. Below 1 there is no certificate.
        calls: The oracle calls of training to stop after. ``summary_["evaluation_calls"]`` counts those that only prove bounds.
        seconds: The seconds of training and evaluation to stop after. Without any stop: a gap of 1 %, or 1000 passes.
        patience: Stops if the loss on held-out data has not fallen for so many measurements, one a pass. ``coef_`` are then the
            weights with the lowest loss there, and bounds and losses are theirs (``summary_["early_stopping"]``). The held-out
            data are the test data given to ``fit``.
        seed: The seed of all random numbers.
        threads: Threads for passes at one w, evaluation and prediction; the result does not depend on it. 0 uses all cores if
            calls are slow enough.
        clock: ``"wall"``, or ``"work"``, which counts operations, so that times and the fits of your own tasks repeat.
        params: Further parameters by dotted name, as in ``{"solver.planes.max_idle": 5, "stop.estimated": True}``. Bounds are
            evaluated when that may end the fit; ``{"evaluate": "pass"}`` evaluates them after every outer iteration.
        warm_start: Continues from the last ``fit`` on the same data and task; stops count what is added. A task of your own
            needs a method ``fingerprint()``.
        prior: Trains toward the weights of a model instead of 0, ``lambda/2 |w - prior|^2``: a fitted estimator of the same kind,
            or the path of a model file. Goes on with new data, words and labels: weights are matched by the names of labels and
            features, new ones begin at 0, and a warning says what has no counterpart. Searches clone estimators without their
            weights: give them a path.
        dual: Keeps the dual point and the training data, so that :meth:`update` can change examples later.
        progress: Shows a progress line: True, False, or on terminals and in notebooks (None).
        n_jobs: Workers, in place of ``threads``, as in scikit-learn: None is ``threads``, -1 all cores, -2 all but one.

    Attributes:
        coef_: The weights.
        primal_: The objective ``lambda/2 |w|^2 + mean hinge`` at ``coef_``; NaN if it was not evaluated (after Ctrl-C, or with
            less than one pass).
        dual_: A lower bound on the objective of any weights; NaN if the solver has none.
        gap_: ``primal_ - dual_``; NaN if one of them is.
        certified_: True if the gap is proven: it was evaluated, the decoder proves its answers, and rounding is small.
        lam_: lambda as a number.
        n_iter_: Outer iterations.
        stop_reason_: ``"gap"``, ``"passes"``, ``"calls"``, ``"seconds"``, ``"patience"``, ``"rule"``, ``"callback"`` or
            ``"interrupt"``.
        history_: One dict per outer iteration; ``history_.plot()`` draws it.
        summary_: The report of ``multiplane train --json``.
    """

    _task: ClassVar[str]
    _copies_late: ClassVar[bool] = False
    """If ``coef_`` is copied when it is first asked for, as predictions do without."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Adds the common parameters and attributes to the description of the package's own estimators."""
        super().__init_subclass__(**options)
        own, shared = vars(cls).get("__doc__"), Estimator.__doc__
        if own and shared and cls.__module__.startswith("multiplane.") and "_task" in vars(cls):
            head, attributes = own.rstrip() + ("" if "Args:" in own else "\n\n    Args:"), shared.split("Args:", 1)[1]
            open_ended = _UNKNOWN if "unknown" in cls._names() else ""
            drawn = _HOLDOUT if "holdout" in cls._names() else ""  # examples of a user's task are the user's to divide
            cls.__doc__ = f"{head}\n{documented(cls._task, task_names(cls), own)}{cls._further}{open_ended}{drawn}{attributes}"

    _further: ClassVar[str] = ""
    """Documentation of further keywords."""

    solver: Any = "auto"
    lam: float | str = "auto"
    gap: float | str | None = None
    passes: float | None = None
    calls: int | None = None
    seconds: float | None = None
    patience: int | None = None
    seed: int = 0
    threads: int = 1
    clock: str = "wall"
    params: dict[str, Any] | None = None
    warm_start: bool = False
    prior: Any = None
    dual: bool = False
    progress: bool | None = None
    n_jobs: int | None = None

    def _workers(self) -> int:
        """How many workers are wanted."""
        if self.n_jobs is None:
            return self.threads
        if self.threads != 1:
            raise ValueError(f"n_jobs = {self.n_jobs!r} and threads = {self.threads!r}: give one of them")
        return effective(self.n_jobs)

    # -- training --

    def _tree(self) -> dict[str, Any]:
        """The run's specification, as the command line would build it."""
        tree: dict[str, Any] = {"task": {"name": self._task}}
        solver = self.solver
        if not isinstance(solver, (str, Solver)):
            raise ValueError(f"solver = {solver!r}: expected a name or an object of multiplane.solvers")
        tree["solver"] = {"name": solver} if isinstance(solver, str) else plain(solver._tree(), "solver")
        goes_on = self.lam == "auto" and self.warm_start  # at the lambda of before
        tree["lambda"] = "1/n" if goes_on else plain(self.lam, "lam")
        if "_change" in self.__dict__ and str(self.lam).startswith(("auto", "cv")):  # one that was chosen stays
            tree["lambda"] = self.lam_ if "lambda_choice" in self.summary_ else "1/n"
        for name in STOPS:
            value = getattr(self, name)
            if value is not None:
                tree.setdefault("stop", {})[name] = plain(value, name)
        for name in ("seed", "clock"):
            if getattr(self, name) is None:
                rule = "a whole number, 0 by default: equal seeds repeat a fit" if name == "seed" else "'wall' or 'work'"
                raise ValueError(f"{name} = None: must be {rule}")
            tree[name] = plain(getattr(self, name), name)
        tree["threads"] = plain(self._workers(), "threads")
        holdout = getattr(self, "holdout", None)  # a task of one's own has no such keyword
        if holdout is not None:
            tree["data"] = {"holdout": plain(holdout, "holdout")}
        for core, value in self._task_values().items():
            set_path(tree, f"task.{core}", value)
        tree = self._params_tree(tree, self._given() if self.params else {})
        task = tree["task"]
        if not isinstance(task, dict) or task["name"] != self._task:
            raise ValueError(f"params['task']: the task of {type(self).__name__} is {self._task!r}, here it is {task!r}")
        return tree

    def _params_tree(self, tree: dict[str, Any] | None = None, given: dict[str, str] | None = None) -> dict[str, Any]:
        """What ``params`` say, over what there is already; what is given as a keyword is refused."""
        tree = {} if tree is None else tree
        if not isinstance(self.params, (dict, type(None))):
            raise ValueError(f"params = {self.params!r}: expected a dict of dotted names")
        for dotted, value in (self.params or {}).items():
            if str(dotted).split(".")[0] == "data":
                if dotted == "data.holdout" or (dotted == "data" and isinstance(value, dict) and "holdout" in value):
                    keyword = 'write the keyword, as in holdout="20%"' if "holdout" in self._names() else None
                    raise ValueError(f"params[{dotted!r}]: {keyword or 'there is no holdout here; give fit test data (X_test, ...)'}")
                raise ValueError(
                    f"params[{dotted!r}]: no effect in Python, where data are the arguments of fit; what reads files takes "
                    "their parameters, as load_letters(path, folds=...) and load_csv(path, label_column=...) do"
                )
            value = plain(value, dotted)
            refuse_twice(given or {}, str(dotted), value)
            set_path(tree, str(dotted), value)
        return tree

    def _given(self) -> dict[str, str]:
        """Keywords that are not what they are by default, by their dotted names, as errors show them."""
        return {**keywords(self), **task_keywords(self, self._task_values())}

    def _task_values(self) -> dict[str, Any]:
        """The task's parameters that keywords give, by the names that the core has for them."""
        names = task_names(type(self))
        return {names[name]: self._task_value(name, getattr(self, name)) for name in changed(self, tuple(names))}

    def _task_value(self, name: str, value: Any) -> Any:
        """A keyword's value as the core takes it."""
        return plain(value, name)

    def _opened(self, name: str) -> Any:
        """A solver that was named becomes an object, whose parameters can be set."""
        if name == "solver" and isinstance(self.solver, str) and class_name(self.solver) in solvers.__all__:
            return getattr(solvers, class_name(self.solver))()
        return super()._opened(name)

    def _unused(self) -> list[str]:
        """Parameters that were given and have no effect, each with the reason."""
        return []

    def _reason(self, name: str) -> str | None:
        """Why an attribute is not there."""
        return ELSEWHERE.get(name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Copies the weights of the model when they are asked for; says why another result is not there, or where it is."""
            if name == "coef_" and "_model" in self.__dict__:
                return self._copied()
            why = None if name.startswith("_") else self._reason(name)
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(f"{text}: {why}" if why else text, name=name, obj=self)

    def _learned_from(self, model: _core.Model, source: Any) -> None:
        """Sets what a model's results say of the data that it was trained on."""

    def _worded(self, text: str) -> str:
        """What the core says, in terms of what the user gave."""
        return text

    @contextmanager
    def _in_users_words(self) -> Iterator[None]:
        """Has errors of the core speak of what the user gave."""
        try:
            yield
        except UnicodeEncodeError as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            if not frame.f_globals.get("__name__", "").startswith("multiplane."):
                raise  # of the user's own code
            rule = "expected labels and names of features without lone surrogates, which UTF-8 has no bytes for"
            raise ValueError(f"found the text {error.object!r}: {rule}") from None
        except ValueError as error:
            text = self._worded(str(error)) if type(error) is ValueError else str(error)
            if text == str(error):
                raise
            raise ValueError(text) from None

    @contextmanager
    def _all_or_nothing(self, **given: Any) -> Iterator[None]:
        """Restores the estimator if fitting fails before its results are in place; the next fit then starts cold.
        Errors are in the user's words. ``given`` are the arguments of ``fit``, which ``update`` needs.
        """
        before = dict(self.__dict__)
        try:
            with self._in_users_words():
                yield
            self._keep_data(given or None)
        except BaseException:
            if self.__dict__.get("_fit") is not before.get("_fit"):
                self._keep_data(given or None)
            else:
                self.__dict__.clear()
                self.__dict__.update((name, value) for name, value in before.items() if name not in ("_fit", "_last"))
            raise

    def _train(
        self,
        source: Any,
        test: Any = None,
        same_data: bool | None = True,
        broken_promise: Callable[[_core.Model, int], str | None] | None = None,
        options: FitOptions = FitOptions(),
    ) -> None:
        """Runs the core and takes over its results. Raises the exception that interrupted it, with the results in
        place, if an oracle has answered. ``broken_promise`` returns the reason why a certified model is not certified after
        all, or None.
        """
        callbacks = callbacks_of(options)
        way = checkpoints(options.get("checkpoint"), options.get("checkpoint_every"), resume := options.get("resume"))
        tree = self._tree()
        self._check_held_out(tree, test)
        if hasattr(type(self), "partial_fit"):
            tree.pop("stream", None)  # its parameters are of no use here
        free = ("lambda", "stop", "seed", "threads", "evaluate")  # what a warm start may change
        problem = copy.deepcopy({key: value for key, value in tree.items() if key not in free})
        same = same_data and getattr(self, "_problem", None) == problem
        change = self._change_of_data(tree, options)
        is_warm = self.warm_start and resume is None and change is None
        start = getattr(self, "_fit", None) if is_warm and same else None
        if is_warm and start is None:
            self._tell_of_new_start(same_data, problem)
        watcher = self._watcher(tree, start is not None, callbacks)
        with self._prior_in(tree) as named:
            try:
                order = json.dumps(tree), source, test, watcher if watcher.needed() else None
                is_kept = bool(self.warm_start or self.dual or self.__dict__.get("_goes_on"))
                fit = _core.train(order, start, is_kept, way, change, self._label_names())
            finally:
                watcher.close()
        history = History(json.loads(line) for line in fit.history.splitlines())
        summary, interrupted = json.loads(fit.summary), fit.interrupted
        if isinstance(interrupted, Exception) and summary["oracle_calls"] <= 1:
            raise interrupted  # the first call failed: nothing was learned
        if watcher.is_ended and summary["stop_reason"] == "interrupt" and interrupted is None:
            summary["stop_reason"] = "callback"
        if isinstance(test, _core.Dataset) and interrupted is None:  # of the weights that are kept
            for name, data in (("train_loss", source), ("test_loss", test)):
                summary[name] = fit.model.evaluate(data, self._workers())[0]
        loose = source.loose_bounds() if isinstance(source, _core.UserTask) else None
        if loose is not None:
            self._tell_of_bounds(np.array(loose), summary)
        broken = None
        if broken_promise is not None and summary["certified"] and interrupted is None:
            calls = summary["oracle_calls"] + (summary.get("evaluation_calls") or 0)
            try:
                broken = broken_promise(fit.model, calls)
            except Exception as error:  # of the user's methods
                interrupted = error
            summary["certified"] = broken is None and interrupted is None
        self.__dict__.pop("_is_loaded", None)
        self._take(fit.model, summary)
        self._learned_from(fit.model, source)
        self.history_, self._problem, self._fit = history, problem, fit
        self._source_kept = source if self.dual else None
        for unused in self._unused():
            warn(unused, UnusedParameterWarning)
        for warning in fit.warnings:
            warn(named(self._worded(warning)))
        if fit.doubt is not None:
            warn(self._worded(fit.doubt), ConvergenceWarning)
        if broken is not None:
            warn(broken, BrokenPromiseWarning)
        if interrupted is not None:
            self._tell_of_interrupt(interrupted)
            raise interrupted
        self._report(None if fit.standstill is None else self._worded(fit.standstill))

    def _change_of_data(self, tree: dict[str, Any], options: FitOptions) -> Change | None:
        """The earlier run that this fit begins at, with the changes; None without one."""
        change, path = self.__dict__.pop("_change", None), options.get("update_from")
        found: Change | None = change if path is None else (os.fspath(path), None, None)
        if found is None:
            return None
        if options.get("resume") is not None:
            raise ValueError("resume: a fit that goes on from a checkpoint is on the same data; give no change of data")
        if "holdout" in (tree.get("data") or {}) or tree["lambda"] == "cv":
            raise ValueError("an update goes on with the same lambda and knows what is trained on: not with holdout or lam='cv'")
        return found

    def influence(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """The influence of every training example on others: the rise of the mean hinge over ``X`` and ``y`` if it leaves, to
        first order from the dual; :meth:`update` finds it exactly. Above 0 for examples that help. Needs ``dual=True``.

        Args:
            X: Examples, as for ``fit``; one for the influence on a prediction.
            y: Their truths; by default what is predicted, which examples then support or doubt.

        Returns an array in the order of ``ids_``: ``np.argsort(influence)`` begins with the most harmful. Raises AttributeError
        without a dual point, ValueError for unusable input.
        """
        self._kept_data()
        fit = self.__dict__["_fit"]
        with self._in_users_words():
            test = self._test_examples(X, self.predict(X) if y is None else y)  # type: ignore[attr-defined]
            tree = {**self._tree(), "lambda": self.lam_, "stop": {"passes": 1.0}}
            order = json.dumps(tree), self.__dict__["_source_kept"], test, None
            return np.array(_core.influence(order, fit, self._label_names()))

    def _test_examples(self, X: Any, y: Any) -> Any:
        """Test data, as a fit takes them."""
        return self._test_data(X, y)  # type: ignore[attr-defined]

    def _label_names(self) -> list[str] | None:
        """How labels are called that the core knows by number, if it does."""
        return None

    def _tell_of_bounds(self, loose: NDArray[np.float64], summary: dict[str, Any]) -> None:
        """Adds to the report by how much bounds exceed the scores of their labellings, in the last answer for each example,
        and which examples had no bound.
        """
        without = np.flatnonzero(np.isinf(loose)).tolist()
        summary["bound_gap"] = float(np.where(np.isfinite(loose), loose, 0.0).mean())
        summary["without_bound"] = without
        if without:
            others = f" and {len(without) - 1} others" if len(without) > 1 else ""
            warn(
                f"decode gave no bound (inf) in its last answer for example {without[0]}{others} of {len(loose)}, so nothing is certified "
                'by these answers: give it more time; summary_["without_bound"] lists them'
            )

    def _tell_of_new_start(self, same_data: bool | None, problem: dict[str, Any]) -> None:
        """Warns if a warm start begins from zero, and there were weights; ``same_data`` is None if that was told."""
        if same_data is None or "_model" not in self.__dict__:
            return
        if "_fit" not in self.__dict__:
            reason = "there is no state to continue: a model file and a pickle hold none, and a fit that failed leaves none"
        elif not same_data:
            reason = "its data is not that of the last fit; prior=model goes on with other data, toward the weights of a model"
        else:
            reason = "other parameters than lam, stops, seed and threads have changed since the last fit"
        warn(f"warm_start: this fit starts from zero: {reason}")

    @contextmanager
    def _prior_in(self, tree: dict[str, Any]) -> Iterator[Callable[[str], str]]:
        """Puts the prior into a specification, as a file for the time of the fit. Yields what makes messages name it."""
        if self.prior is None:
            yield str
            return
        shown = "prior"
        if isinstance(self.prior, (str, os.PathLike)):
            shown = f"prior {os.fspath(self.prior)}"
            model, _ = _core.load(self.prior)
            if model is None:
                raise ValueError(f"{shown}: it is a path or grid, expected a model at one lambda")
        elif isinstance(self.prior, Estimator):
            if "_model" not in self.prior.__dict__:
                raise ValueError("prior: the estimator is not fitted (clones are not: give a search the path of a model file)")
            model = self.prior._model
        else:
            raise ValueError(f"prior = {self.prior!r}: expected a fitted estimator, or the path of a model file")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "prior")
            self._numbered_labels(model).save(path)
            section = tree.setdefault("regularizer", {})
            if not isinstance(section, dict) or "prior" in section:
                raise ValueError("prior and params['regularizer.prior']: give one of them")
            section["prior"] = path
            try:
                yield lambda text: text.replace(f"prior {path}", shown)
            except ValueError as error:
                if type(error) is not ValueError or path not in str(error):
                    raise
                raise ValueError(str(error).replace(f"prior {path}", shown)) from None

    def _numbered_labels(self, model: _core.Model) -> _core.Model:
        """A model in the terms of the data that the core sees."""
        return model

    def _watcher(self, tree: dict[str, Any], is_warm: bool, callbacks: Sequence[Callback] = ()) -> Watcher:
        """What shows how far a fit is. Counts of a warm start go on from the fit before, and budgets do not."""
        name, stop = str(tree["solver"]["name"]), tree.get("stop") or {}
        given = stop.keys() & {"gap", "passes", "calls", "seconds"}
        if given <= {"gap"} and name in _OFFLINE:
            stop = {**USUAL, **stop}
        if is_warm or name not in _WITH_DUAL:
            kept = ("gap",) if is_warm else ("passes", "calls", "seconds")
            stop = {key: stop.get(key) for key in (*kept, "patience")}
        return Watcher(self.progress, name, stop, tree["clock"], callbacks, self._worded)

    def _check_held_out(self, tree: dict[str, Any], test: Any) -> None:
        """Refuses patience with nothing to watch, and test data from two places."""
        stop, drawn = _below(tree, "stop").get("patience"), _below(tree, "data").get("holdout")
        if drawn is not None and test is not None:
            raise ValueError(f"holdout = {drawn!r}, and test data were given to fit: give one of them")
        if stop is not None and drawn is None and test is None:
            share = ', or holdout="20%"' if "holdout" in self._names() else ""
            raise ValueError(f"patience = {stop!r}: nothing is held out to be watched: give fit test data (X_test, ...){share}")

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        """Sets the fitted attributes."""
        self._model = model
        self.primal_, self.dual_, self.gap_ = (_number(summary.get(key)) for key in ("primal", "dual", "gap"))
        self.certified_ = bool(summary["certified"])
        self.n_iter_ = max(1, int(summary.get("iterations") or 0))
        self.lam_ = float(summary["lambda"])
        self.stop_reason_ = summary.get("stop_reason")
        self.summary_ = summary
        self.__dict__.pop("rounds_", None)
        if getattr(self, "partial", None) == "masked":
            self.rounds_ = summary.get("rounds", [])  # none where every label is known
        self.__dict__.pop("coef_", None)
        if not self._copies_late:
            self._copied()

    def _copied(self) -> NDArray[np.float64]:
        """Sets ``coef_``, a copy of the weights of the model."""
        self.coef_ = self._shaped(np.frombuffer(self._model.w(), dtype=np.float64))
        return self.coef_

    def _from_model(self, model: _core.Model) -> None:
        """Takes over a model that was trained elsewhere."""
        self._take(model, json.loads(model.info()))

    def _shaped(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights in the shape that users expect."""
        return w.copy()

    def unscaled_coef(self) -> NDArray[np.float64]:
        """``coef_`` for features as they are: where ``task.scale`` divided them, ``coef_`` belongs to the scaled ones.

        Raises ValueError if a feature is so small that its weight is above what 64 bits hold.
        """
        self._check_fitted()
        found = np.frombuffer(self._model.unscaled(), dtype=np.float64)
        if not np.isfinite(found).all():
            raise ValueError("the scale of a feature is so small that its weight divided by it is infinite: multiply the feature")
        return self._shaped(found)

    def _is_evaluated(self) -> bool:
        return not math.isnan(self.primal_)

    def _log(self) -> None:
        bounds = f"primal {self.primal_:.6g}" if self._is_evaluated() else "primal not evaluated"
        bounds += "" if math.isnan(self.dual_) else f", dual {self.dual_:.6g}"
        bounds += "" if math.isnan(self.gap_) else f", gap {self.gap_:.3g}{' (certified)' if self.certified_ else ''}"
        passes, reason = self.summary_.get("passes") or 0.0, self.stop_reason_
        logger.info("%s: %s, %.4g passes, stopped by %s", type(self).__name__, bounds, passes, reason)

    def _tell_of_interrupt(self, interrupted: BaseException) -> None:
        """Says in the exception what the estimator has come to, and hands it out."""
        self._log()
        how = "not evaluated yet, so primal_ and gap_ are NaN and certified_ is False"
        if self._is_evaluated():
            how = f"primal_ is {self.primal_:.6g}, gap_ {self.gap_:.3g}"
        interrupted.add_note(f"{type(self).__name__} holds the weights so far and can be used: {how}; `estimator` of the exception is it")
        _hand_out(interrupted, self)

    def _report(self, standstill: str | None) -> None:
        self._log()
        wanted = self.gap is not None or self.passes is self.calls is self.seconds is None
        reason = self.stop_reason_
        if reason not in ("passes", "calls", "seconds") or "early_stopping" in self.summary_:
            return
        if not self._is_evaluated():
            text = (
                f"stopped by {reason} before there was room for one evaluation, which takes a call for every example: "
                "primal_ and gap_ are NaN, and certified_ is False"
            )
        elif wanted and self.certified_:  # a gap that nobody certifies stops no run
            text = (
                f"stopped by {reason} before the gap was reached: gap_ is {self.gap_:.3g}, "
                f"{100 * self.gap_ / max(self.primal_, 1e-300):.3g} % of primal_"
            )
            share = self.summary_.get("bound_gap", 0.0) / max(self.gap_, 1e-300)
            if share >= DUE_TO_BOUNDS:
                text += f"; {100 * min(share, 1.0):.0f} % of it are due to decode's bounds, which no training closes: give it more time"
            elif standstill is not None:
                text += f"; {standstill}"
        else:
            return
        warn(text, ConvergenceWarning)

    def _unfitted(self) -> Self:
        """An estimator of the same parameters, for a path: what it learns of the data is not of this one's weights."""
        return type(self)(**self.get_params(deep=False))

    def _path(self, owner: Self, source: Any, outer: dict[str, Any], test: Any, more: tuple[Any, Any]) -> PathResult:
        """Follows the path that ``outer`` describes; ``more`` is what :func:`multiplane._path.further` made. Where it is
        interrupted, ``owner`` gets what there is."""
        vars(owner).pop("path_", None)
        watcher = Watcher(self.progress, "path")
        tree = self._tree()
        for name, section, why in (
            ("patience", "stop", "each of its models is trained to its gap; look at the losses on X_test and y_test"),
            ("holdout", "data", "it takes X_test and y_test, or cv"),
        ):
            if self.prior is not None:
                raise ValueError("prior: not for a path, which goes from w = 0")
            if _below(tree, section).get(name) is not None:
                raise ValueError(f"{name}: not for a path: {why}")
        tree["lambda"] = "1/n"  # a path has all of them
        section = tree.setdefault("path", {})
        for name, value in outer.items():
            if not isinstance(section, dict) or name in section:
                raise ValueError(f"params: path.{name} is an argument of path()")
            if value is not None or name != "lambda_max":
                section[name] = plain(value, name)
        try:
            order = json.dumps(tree), source, test, watcher if watcher.needed() else None
            model, summary, told, interrupted = _core.path(order, *more)
        finally:
            watcher.close()
        found = PathResult(self._named_path(model), json.loads(summary), self)
        if interrupted is not None:
            owner.path_ = found
        for warning in told:
            warn(self._worded(warning))
        if interrupted is not None:
            _hand_out(interrupted, owner)
            interrupted.add_note(f"path_ of the {type(owner).__name__} holds the path down to lambda = {found.lambda_end_:.4g}")
            raise interrupted
        if found.stop_reason_ != "lambda-min":
            text = f"the path was stopped by {found.stop_reason_} at lambda = {found.lambda_end_:.4g}"
            warn(text, ConvergenceWarning)
        return found

    def _named_path(self, model: _core.PathModel) -> _core.PathModel:
        """The path with the users' names of its labels."""
        return model

    # -- files --

    def save(self, path: str | os.PathLike[str], *, bits: int = 64) -> None:
        """Writes the model file (safetensors), which the command line reads too.

        ``bits=32`` halves the weights' room and rounds them to 7 digits. The file has no certificate then, as the one of the
        fit is of other weights; ``multiplane verify`` computes their primal value. Raises OSError where the file cannot be
        written, ValueError for other ``bits``.
        """
        self._check_fitted()
        if bits not in (32, 64):
            raise ValueError(f"bits = {bits!r}: must be 32 or 64")
        self._model.save(path, bits == 32)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_fit", "_kept", "_model", "_source_kept")}
        if "_model" in self.__dict__:
            state["_model_bytes"] = self._model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        bytes_ = state.pop("_model_bytes", None)
        self.__dict__.update(state)
        if bytes_ is not None:
            self._model = _core.Model.from_bytes(bytes_)


def _below(tree: dict[str, Any], section: str) -> dict[str, Any]:
    """A table of a specification; empty where there is none."""
    found = tree.get(section)
    return found if isinstance(found, dict) else {}


def _hand_out(error: BaseException, estimator: Any) -> None:
    """Makes the estimator an attribute of the exception that ended its fit, if it takes one."""
    with suppress(AttributeError):
        error.estimator = estimator  # type: ignore[attr-defined]


def _number(value: Any) -> float:
    """NaN where there is none."""
    return float("nan") if value is None else float(value)
