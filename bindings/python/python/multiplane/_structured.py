"""Any structured problem: the user brings the task, this trains it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import time
from collections.abc import Iterator
from dataclasses import field
from functools import partial
from typing import Any, Never, NoReturn, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._base import Estimator
from multiplane._check import Findings, examine
from multiplane._cluster import Cluster
from multiplane._errors import warn
from multiplane._fit_options import FitOptions, refuse_others, with_options
from multiplane._labeller import listed
from multiplane._path import PathResult, further
from multiplane._processes import Process, refusal
from multiplane._pystruct import PyStructTask, is_model
from multiplane._ray import ClusterWarning
from multiplane._route import Route
from multiplane._sklearn import tags
from multiplane._tasks import Bounded, Pooled, _declared, kept
from multiplane._words import refuse_keywords


SAMPLED = 4, 64
"""Examples on which an exact decoder is held to its word after training, at least and at most."""

SHARE = 0.01
"""Between these, so many that their calls are this share of the fit's."""

HELD = 4
"""Calls for each."""

FEW = 4
"""Examples of a batch on which ``describe_many`` is compared with features and losses."""

UNSEEN = 0.05
"""More than that, where all take no longer than this, in seconds. A decoder that is what it says passes either way."""

FIRST = 8
"""Predictions made before it is known how long they take."""

SHORT = 0.5
"""Predictions that take less, in seconds, start no processes."""


def _frozen(w: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same weights, read-only, as a task gets them."""
    w.flags.writeable = False
    return w


def _fixed_score(task: Any, x: Any, y: Any) -> float:
    """The part of a labelling's score that is not learned."""
    fixed = getattr(task, "fixed_score", None)
    return float(fixed(x, y)) if callable(fixed) else 0.0


class HeuristicWarning(UserWarning):
    """A gap was estimated, not certified, because the task does not say how good its decoder is."""


class OracleEstimator(Estimator):
    """Trains with a max-oracle in Python: what ``StructuredSVM`` and estimators that bring their task share."""

    executor: Any = None
    timeout: float = 600.0
    ray_options: dict[str, Any] | None = None

    def _brought(self) -> Any:
        """The task, or what is translated to one."""
        raise NotImplementedError

    def _adapted(self) -> Any:
        """The task, with PyStruct's interface translated."""
        task = self._brought()
        return PyStructTask(task) if is_model(task) else task

    def _joined(self) -> Cluster | None:
        """The actors of a Ray cluster, if such are asked for. They are there until :meth:`_left`."""
        if not isinstance(self.executor, str):
            if self.ray_options is not None:
                raise ValueError('ray_options: there are no actors: executor="ray" asks for them')
            return None
        if not self.timeout > 0:
            raise ValueError(f"timeout = {self.timeout!r}: must be greater than 0")
        if "_cluster" not in self.__dict__:
            self._workers()  # refuses numbers that are none
            self.__dict__["_cluster"] = Cluster(self.executor, self.n_jobs, self.ray_options, self.timeout)
        cluster: Cluster = self.__dict__["_cluster"]
        return cluster

    def _left(self) -> None:
        """Ends the actors."""
        cluster = self.__dict__.pop("_cluster", None)
        if cluster is not None:
            cluster.close()

    def _on_cluster(self, cluster: Cluster, x: list[Any], y: list[Any]) -> _core.UserTask:
        """The task on these examples, decoded by actors."""
        task = self._adapted()
        cluster.opened(task, x, y)
        start, workers = partial(Route, cluster, task), min(cluster.actors, len(x))
        return _core.UserTask(task, x, y, self._identity(), start=start, workers=workers, timeout=self.timeout, here=False)

    def _user_task(self, x: list[Any], y: list[Any], begun: float = math.inf) -> _core.UserTask | None:
        """The task on these examples, decoded by processes; None if they should be decoded here: because that is asked for,
        cannot be otherwise, or because it took so many seconds and is no longer worth it.
        """
        task, workers = self._adapted(), min(self._workers(), len(x))
        if self.executor is not None and self.n_jobs is not None:
            raise ValueError("n_jobs and executor: give one of them; an executor has workers of its own")
        if self.n_jobs is None or workers < 2 or begun < SHORT or _declared(task, "releases_gil"):
            return None
        reason = refusal(task, x, y)
        if reason is not None:
            warn(
                f"n_jobs={self.n_jobs}: {self._identity()} does not declare releases_gil = True, so threads would run "
                f"its calls one at a time, and it cannot be sent to processes ({reason}): its calls run one at a time"
            )
            return None
        if not self.timeout > 0:
            raise ValueError(f"timeout = {self.timeout!r}: must be greater than 0")
        start = partial(Process, task)
        return _core.UserTask(task, x, y, self._identity(), start=start, workers=workers, timeout=self.timeout)

    def _users(self) -> Any:
        """The object that the user wrote: a task, or a model with PyStruct's interface."""
        task = self._brought()
        return task.model if isinstance(task, PyStructTask) else task

    def _identity(self) -> str:
        kind = type(self._users())
        return f"{kind.__module__}.{kind.__qualname__}"

    def _source(self, X: Any, Y: Any) -> _core.UserTask:
        x, y = listed(X, "X"), listed(Y, "Y")
        if isinstance(self._brought(), type):
            raise ValueError(f"task is the class {self._brought().__name__}: expected an object of it")
        task = self._adapted()
        initialize = getattr(task, "initialize", None)
        if callable(initialize):
            initialize(x, y)
        cluster = self._joined() if len(x) == len(y) and x else None  # or the core says so
        if cluster is not None:
            found = self._on_cluster(cluster, x, y)
            needs_more = bool(self.ray_options and self.ray_options.keys() - {"num_cpus"})
            if advice := cluster.weigh(task, x, y, not needs_more):
                warn(advice, ClusterWarning)
            return found
        spread = self._user_task(x, y) if len(x) == len(y) else None  # or the core says so
        return spread or _core.UserTask(self._pooled(task), x, y, self._identity())

    def _is_relative(self) -> bool:
        """If training stops at a gap in percent for good: warm starts may go on to any other."""
        if self.warm_start:
            return False
        return self.gap.endswith("%") if isinstance(self.gap, str) else self.gap is self.passes is self.calls is self.seconds is None

    def _pooled(self, task: Any) -> Any:
        """The task, decoded by the workers of the executor if there is one."""
        executor = self._joined() or self.executor
        return task if executor is None else Pooled(task, executor)

    def _tree(self) -> dict[str, Any]:
        tree = super()._tree()
        if "class" in tree["task"]:
            raise ValueError("params['task.class']: the class of the task is that of the object that is given")
        tree["task"]["class"] = self._identity()
        if isinstance(self.executor, str):
            tree["threads"] = 1  # actors decode
        elif _declared(self._adapted(), "releases_gil"):
            return tree
        elif self.n_jobs is not None:
            tree["threads"] = 1  # processes decode
        elif tree["threads"] == 0:
            tree["threads"] = 1
        elif tree["threads"] != 1:
            warn(
                f"threads={tree['threads']}: {self._identity()} does not declare releases_gil = True, so its calls "
                "run one at a time; for parallel calls in processes pass n_jobs"
            )
            tree["threads"] = 1
        return tree

    def _test_examples(self, X: Any, y: Any) -> Any:
        return self._tested(X, y)

    @with_options
    def fit(self, X: Any, Y: Any, *, X_test: Any = None, Y_test: Any = None, **options: Unpack[FitOptions]) -> Self:
        """Trains on inputs ``X`` and their true labellings ``Y``. Returns self.

        With test data its mean loss is in every entry of ``history_`` and in ``summary_["test_loss"]``: each takes a decoding
        of every example, of those of training too, which no count holds.

        Raises ValueError for unusable input or answers, and whatever the task's methods raise.
        """
        refuse_others((), options, self)
        with self._all_or_nothing(X=X, Y=Y, X_test=X_test, Y_test=Y_test):
            before, last = getattr(self, "_fit", None), getattr(self, "_last", None)
            same = None if last is None else bool(self.warm_start) and self._content(X, Y) == last
            try:
                source = self._source(X, Y)
                self._last = None
                test = self._tested(X_test, Y_test)
                self._train(source, test, same, lambda model, calls: self._broken_promise(model, calls, X, Y), options)
                if (cluster := self._joined()) is not None:
                    self.summary_["cluster"] = cluster.report()
                if test is not None:  # of the weights that are kept
                    self.summary_ |= {"train_loss": 1.0 - self.score(X, Y), "test_loss": 1.0 - self.score(X_test, Y_test)}
            finally:  # the digest is one of the new state, where there is one
                self._left()
                if self.warm_start and getattr(self, "_fit", None) is not before:
                    self._last = self._content(X, Y)
        if _declared(self._adapted(), "quality") is None:
            warn(
                f"{self._identity()} does not declare the quality of its decoder, so gap_ is an estimate and "
                'certified_ is False; if decode always finds the best labelling, set quality = "exact" on the class',
                HeuristicWarning
            )
        return self

    def _tested(self, X: Any, Y: Any) -> _core.UserTask | None:
        """Data to measure on."""
        if not are_given(X, Y):
            return None
        x, y = listed(X, "X_test"), listed(Y, "Y_test")
        if len(x) != len(y) or not x:
            raise ValueError(f"X_test has {len(x)} examples, Y_test has {len(y)}: expected as many, and at least one")
        cluster = self._joined()
        return self._on_cluster(cluster, x, y) if cluster else _core.UserTask(self._adapted(), x, y, self._identity())

    def _content(self, X: Any, Y: Any) -> str | None:
        """A digest of the task's ``fingerprint()`` and the examples, by which the next fit recognises them. Without
        that method, or if they cannot be pickled, None, with a warning.
        """
        fingerprint = getattr(self._users(), "fingerprint", None)
        reason = f"{self._identity()} has no method `fingerprint()`"
        if callable(fingerprint):
            identity = fingerprint()
            try:
                return hashlib.sha256(pickle.dumps((identity, X, Y))).hexdigest()
            except Exception as error:  # whatever the pickling of a user's object raises
                reason = f"the examples cannot be pickled ({error})"
        warn(
            f"warm_start: {reason}, so nothing tells whether task and examples have changed, and every fit starts anew; "
            "`fingerprint()` of a task returns what identifies it, such as its parameters"
        )
        return None

    def _broken_promise(self, model: _core.Model, calls: int, X: Any, Y: Any) -> str | None:
        """Compares some answers of an exact decoder at the final weights: with the loss added none may be beaten by the
        truth, the prediction or answers at other weights. Returns the first fault.
        """
        task = self._adapted()
        if _declared(task, "quality") != "exact":
            return None
        task = self._pooled(task) if isinstance(self.executor, str) else task
        w = _frozen(np.frombuffer(model.w(), dtype=np.float64).copy())
        counts = int(np.clip(SHARE * calls / HELD, *SAMPLED)), SAMPLED[1]
        sampled, more = (np.unique(np.linspace(0, len(X) - 1, count).astype(int)) for count in counts)
        begun, chosen = time.perf_counter(), [*sampled, *np.setdiff1d(more, sampled)]
        most = (_declared(task, "batch") or len(chosen)) if callable(getattr(task, "decode_many", None)) else 1
        asked = 0
        while asked < len(chosen) and (asked < len(sampled) or time.perf_counter() - begun <= UNSEEN):
            batch = (chosen[asked : len(sampled)] or chosen[asked:])[:most]  # few at first: nothing tells what they take
            asked += len(batch)
            xs, truths = [X[i] for i in batch], [Y[i] for i in batch]
            best_ones, *other_ones = _several(task, xs, truths, w)
            best, size = _scored(task, xs, truths, best_ones, w)
            one_by_one, _ = _scored(task, xs[:FEW], truths[:FEW], best_ones[:FEW], w, False)
            odd = np.flatnonzero(np.abs(one_by_one - best[:FEW]) > 1e-6 * (1.0 + size[:FEW]))
            if len(odd):
                return (
                    f"describe_many gives the answer for example {batch[odd[0]]} the score {best[odd[0]]:.6g} with the loss added, "
                    f"features and loss {one_by_one[odd[0]]:.6g}: certified_ is False"
                )
            for found, more_size in (_scored(task, xs, truths, ys, w) for ys in (truths, *other_ones)):
                wrong = np.flatnonzero(found > best + 1e-6 * (1.0 + size + more_size))
                if len(wrong):
                    i = wrong[0]
                    return (
                        f"decode is declared exact, but its answer for example {batch[i]} with the loss added scores {best[i]:.6g}, "
                        f"and another labelling {found[i]:.6g}: certified_ is False; check(X, Y) looks for the reason"
                    )
        return None

    def predict(self, X: Any) -> list[Any]:
        """The predicted labelling of every input."""
        self._check_fitted()
        x = listed(X, "X")
        joined = "_cluster" in self.__dict__  # by fit, which has not ended
        try:
            found = self._decoded(x, _frozen(self.coef_.copy()))
        finally:
            if not joined:
                self._left()
        return [answer.y if isinstance(answer, Bounded) else answer for answer in found]

    def predict_top(self, X: Any, m: int) -> NoReturn:
        """Refused: a task of your own answers its best labelling only."""
        self._refuse("predict_top")

    def max_marginals(self, X: Any) -> NoReturn:
        """Refused, as :meth:`predict_top`."""
        self._refuse("max_marginals")

    def margins(self, X: Any) -> NoReturn:
        """Refused, as :meth:`predict_top`."""
        self._refuse("margins")

    def _refuse(self, what: str) -> NoReturn:
        own = type(self._brought()).__name__ + ", a task of your own," if isinstance(self, StructuredSVM) else type(self).__name__
        raise NotImplementedError(
            f"{what}: {own} knows its best labelling only; more is known by "
            "BinarySSVM, MulticlassSSVM, ChainSSVM, TreeSSVM, ArborescenceSSVM, GraphSSVM, MrfSSVM and MultiLabelSSVM"
        )

    def _decoded(self, x: list[Any], w: NDArray[np.float64]) -> list[Any]:
        """Decodes without truths. Some come first: processes are started where the rest takes long enough."""
        task, cluster = self._adapted(), self._joined() if x else None
        if cluster is not None:
            return self._on_cluster(cluster, x, [None] * len(x)).decode(w)
        many = callable(getattr(task, "decode_many", None)) or self.executor is not None
        alone = many or self.n_jobs is None or self._workers() == 1 or bool(_declared(task, "releases_gil"))
        first: list[Any] = []
        started = time.perf_counter()
        while not alone and len(first) < min(FIRST, len(x)):
            first.append(kept(task.decode(x[len(first)], w)))
        rest = x[len(first) :]
        to_come = (time.perf_counter() - started) / max(1, len(first)) * len(rest)
        spread = None if alone else self._user_task(rest, [None] * len(rest), to_come)
        if spread is not None:
            return first + spread.decode(w)
        decoder = self._pooled(task)
        batch = getattr(decoder, "decode_many", None)
        if callable(batch) and rest:
            return first + list(map(kept, batch(rest, w, None)))
        return first + [kept(decoder.decode(item, w)) for item in rest]

    def decision_values(self, X: Any, Y: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The score of each labelling, ``[n]``: ``w . features(x, y)``, plus ``fixed_score(x, y)`` if the task has one."""
        self._check_fitted()
        x, y = listed(X, "X"), listed(Y, "Y")
        if len(x) != len(y):
            raise ValueError(f"X has {len(x)} examples, Y has {len(y)}")
        scores = np.zeros(len(x))
        task = self._adapted()
        for i, (a, b) in enumerate(zip(x, y, strict=True)):
            entries = _core.UserTask.read_features(task.features(a, b), len(self.coef_))
            scores[i] = sum(self.coef_[index] * value for index, value in entries) + _fixed_score(task, a, b)
        return scores

    def score(self, X: Any, Y: Any) -> float:
        """1 minus the mean task loss of the predictions."""
        y = listed(Y, "Y")
        if not y:
            raise ValueError("Y is empty: there is nothing to measure")
        found = self.predict(X)
        if len(found) != len(y):
            raise ValueError(f"X has {len(found)} examples, Y has {len(y)}")
        task = self._adapted()
        return 1.0 - float(np.mean([task.loss(truth, answer) for truth, answer in zip(y, found, strict=True)]))

    def path(
        self, X: Any, Y: Any, *, eps: float | str = 0.1, lambda_min: float = 1e-5, kappa: float = 0.9,
        lambda_max: float | str | None = None, cv: Any = None, **unknown: Never,
    ) -> PathResult:  # fmt: skip
        """Follows the regularisation path; the task's decoder must be exact or give upper bounds. ``eps="5%"`` is relative
        to the objective. The path begins at ``lambda_max``, where it is not given where answers begin to change. ``cv``
        cross-validates it: a number of folds, drawn by ``seed``, or a list with the number of each example's fold. There are no
        checkpoints, as nothing tells whether your examples are those of the path that one is of.
        """
        refuse_keywords(unknown, self, "path")
        more = further(cv)
        made = self._unfitted()
        outer = {"eps": eps, "lambda_min": lambda_min, "kappa": kappa, "lambda_max": lambda_max}
        try:
            return made._path(self, made._source(X, Y), outer, None, more)
        finally:
            made._left()

    def check(
        self, X: Any, Y: Any, *, examples: int = 50, seed: int = 0, seconds: float = 120.0, passes: float = 50.0,
        **unknown: Never,
    ) -> Findings:  # fmt: skip
        """Examines the task on these examples: are losses and features sound, is decode as good as it claims, does it
        add the loss, does it repeat itself? What calls cost, and a forecast for so many ``passes``, come with it.

        Answers are compared with the truth, with each other, with labellings that differ in one variable, made of the values
        that the truths have, and with those of other examples, as far as decode itself returns them for the example at some
        weights; a task can say more by a method ``neighbours(x, y)``, which lists labellings near ``y``.

        Args:
            X: Inputs.
            Y: Their true labellings.
            examples: How many are decoded.
            seed: Seed of the choice of examples and weights.
            seconds: Time after which no further example is begun.
            passes: Passes of the run that the forecast is for.

        Returns:
            The findings, each with ``kind``, ``example``, ``message`` and ``cause``; empty where all seems sound.
            ``print`` them for a report. Faults can be shown, their absence cannot.
        """
        refuse_keywords(unknown, self, "check")
        x, y = listed(X, "X"), listed(Y, "Y")
        task = self._adapted()
        if callable(getattr(task, "initialize", None)):
            task.initialize(x, y)
        return examine(task, x, y, examples=examples, seed=seed, seconds=seconds, passes=passes)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_last", None)
        state.pop("_cluster", None)
        state["executor"] = self.executor if isinstance(self.executor, str) else None  # processes do not travel
        return state

    def __sklearn_clone__(self) -> Self:
        from sklearn.base import clone

        params = self.get_params(deep=False)
        executor = params.pop("executor")  # workers are shared: they cannot be copied
        return type(self)(executor=executor, **{name: clone(value, safe=False) for name, value in params.items()})

    def __sklearn_tags__(self) -> Any:
        return tags(False, self.clock == "wall")  # what calls cost is measured, and decisions go by it


class StructuredSVM(OracleEstimator):
    """Trains a user's task: joint features, a loss, and a max-oracle (``multiplane.Task``).

    ``X`` and ``Y`` are lists of whatever the task understands. ``coef_`` is w, ``[dim]``. ``check(X, Y)`` examines the
    task before training.

    Args:
        task: The task; see ``multiplane.Task`` for its methods. A model with PyStruct's interface is one too.
        executor: A ``concurrent.futures`` executor over whose workers decoding at one w is spread. Without one,
            ``n_jobs`` spreads it over threads where the task declares ``releases_gil``, else over processes. ``"ray"`` or
            ``"ray://HOST:PORT"``: ``n_jobs`` actors of a Ray cluster decode, by default as many as it has room for.
        timeout: Seconds after which a process or actor that has not answered is ended, and its examples are given to others.
        ray_options: What an actor needs, in Ray's words: ``{"num_cpus": 4, "num_gpus": 1, "resources": ..., "runtime_env": ...}``.
    """

    _task = "user"

    task: Any = field(kw_only=False)
    rescaling: str = "margin"

    def _brought(self) -> Any:
        return self.task

    @classmethod
    def load(cls, path: str | os.PathLike[str], task: Any) -> Self:
        """Reads a model file; ``task`` is what it was trained with, which no file holds."""
        found = cls(task)
        found._from_model(user_model(path))
        dim = int(found._adapted().dim())
        if len(found.coef_) != dim:
            raise ValueError(f"{os.fspath(path)}: has {len(found.coef_)} weights, task.dim() is {dim}")
        return found


def explained(text: str, cause: str) -> str:
    """Adds the probable cause to the core's message on a loss below 0."""
    rule = "expected a finite number >= 0"
    return text.replace(rule, f"{rule}. Probably {cause}") if "returned -" in text and cause not in text else text


def _several(task: Any, xs: list[Any], truths: list[Any], w: NDArray[np.float64]) -> list[list[Any]]:
    """Answers for the examples: at w with the loss and without, and at half and twice of w. These are labellings, too: a loss that
    counts half is found by half of the weights.
    """
    many = getattr(task, "decode_many", None)

    def answers(at: NDArray[np.float64], of_all: list[Any] | None) -> list[Any]:
        if callable(many):
            return list(map(kept, many(xs, at, of_all)))
        if of_all is None:
            return [kept(task.decode(x, at)) for x in xs]
        return [kept(task.decode(x, at, truth)) for x, truth in zip(xs, of_all, strict=True)]

    return [answers(w, truths), answers(w, None), answers(_frozen(0.5 * w), truths), answers(_frozen(2.0 * w), truths)]


def _scored(
    task: Any, xs: list[Any], truths: list[Any], ys: list[Any], w: NDArray[np.float64], at_once: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores of labellings with the loss added, and the sums of their terms' sizes, ``[n]`` each."""
    fixed = np.array([_fixed_score(task, x, y) for x, y in zip(xs, ys, strict=True)])
    if at_once and callable(getattr(task, "describe_many", None)):
        features, losses = task.describe_many(xs, truths, ys)
        features, losses = features if hasattr(features, "tocsr") else np.asarray(features, float), np.asarray(losses, float)
        return features @ w + losses + fixed, abs(features) @ abs(w) + np.abs(losses) + np.abs(fixed)
    found, sizes = np.zeros(len(xs)), np.zeros(len(xs))
    for i, (x, truth, y) in enumerate(zip(xs, truths, ys, strict=True)):
        entries = _core.UserTask.read_features(task.features(x, y), len(w))
        parts = [*(w[index] * value for index, value in entries), fixed[i], task.loss(truth, y)]
        found[i], sizes[i] = sum(parts), sum(map(abs, parts))
    return found, sizes


def are_given(X: Any, Y: Any, what: str = "Y_test") -> bool:
    """Returns if there are data to measure on. Raises ValueError if there are only inputs, or only truths."""
    if (X is None) != (Y is None):
        raise ValueError(f"{what if X is None else 'X_test'} without {'X_test' if X is None else what}: give both")
    return X is not None


def user_model(path: str | os.PathLike[str]) -> _core.Model:
    """Reads the model of a task in Python. Raises ValueError for any other."""
    model, _ = _core.load(path)
    if model is None or json.loads(model.info()).get("task") != "user":
        raise ValueError(f"{os.fspath(path)}: holds no model of a user's task")
    return model


def with_parameters(model: _core.Model, cls: type[Any], parameters: dict[str, Any]) -> _core.Model:
    """Returns a model that knows its estimator, and those of its parameters without which it cannot predict."""
    if model.own("estimator") is not None:
        return model
    return model.with_own("estimator", json.dumps(cls.__name__)).with_own("parameters", json.dumps(parameters))


def parameters_of(path: str | os.PathLike[str], cls: type[Any]) -> tuple[_core.Model, dict[str, Any]]:
    """Reads what :func:`with_parameters` made. Raises ValueError for the model of another estimator."""
    model = user_model(path)
    kind = json.loads(model.own("estimator") or '"StructuredSVM"')
    if kind != cls.__name__:
        raise ValueError(f"{os.fspath(path)}: holds a model of {kind}, expected one of {cls.__name__}")
    return model, json.loads(model.own("parameters") or "{}")
