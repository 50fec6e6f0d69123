"""What estimators of the core's own tasks share: data that can be compared, paths, the doctor, model files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Never, Self

import numpy as np
from numpy.typing import NDArray

from multiplane import _core, _costs, _labels
from multiplane._base import Estimator
from multiplane._check import Findings, diagnosed
from multiplane._errors import warn
from multiplane._given import STOPS, USUAL, task_names
from multiplane._path import PathResult, further
from multiplane._sklearn import tags
from multiplane._solvers import DEFINITIONS
from multiplane._task_docs import LABELLED
from multiplane._words import refuse_keywords

_TASKS: dict[str, list[type[BuiltIn]]] = {}
"""The package's estimators by the names of their tasks."""


class BuiltIn(Estimator):
    """An estimator whose data the core holds, and whose models need no task beside them."""

    _tabular: ClassVar[bool] = False
    """Whether an example is a row of one array."""
    _named = False
    """Whether ``classes_`` are names that the core knows by their numbers."""
    holdout: str | int | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Notes the package's own estimators, so that their model files are read."""
        super().__init_subclass__(**options)
        if "_task" in vars(cls) and cls.__module__.startswith("multiplane."):
            _TASKS.setdefault(cls._task, []).append(cls)

    @classmethod
    def _reads(cls, task: dict[str, Any]) -> bool:
        """Whether a model of this task, with these parameters, is one of this estimator's."""
        return True

    @classmethod
    def _arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Constructor arguments for those of a file: keywords in the place of ``params``, where there are such."""
        found, params = dict(arguments), dict(arguments["params"] or {})
        for keyword, core in task_names(cls).items():
            if f"task.{core}" in params:
                found[keyword] = _readable(params.pop(f"task.{core}"))
        return {**found, "params": params or None}

    # -- the specification --

    def _task_value(self, name: str, value: Any) -> Any:
        if name == "class_weight":
            return _costs.class_weights(value, self._seen)
        if name == "loss" and self._task in LABELLED:
            return _costs.loss(value, self._seen)
        return super()._task_value(name, value)

    def _worded(self, text: str) -> str:
        """What the core says, with keywords in the place of the parameters that they give, and columns as they are called here."""
        given = {str(name).split(".")[1] for name in self.params or {} if str(name).startswith("task.")}
        names = {core: keyword for keyword, core in task_names(type(self)).items() if core.split(".")[0] not in given}
        if self._named:  # the core knows classes by their numbers
            number = r"(?<=has the label `)\d+(?=`)|(?<=labels \(such as `)\d+(?=`)"
            text = re.sub(number, lambda found: str(self.classes_[int(found[0])]), text)
        text = re.sub(r"^(\S+) = null: must be true or false$", r"\1 = None: must be True or False", text)
        text = re.sub(r"^(\S+) = null:", r"\1 = None:", text)
        text = re.sub(r"(?<![\"'])\btask\.([a-z_]+)\b", lambda found: names.get(found[1], found[0]), text)
        return re.sub(r"\b\d+(?= \(up to )|(?<=\(feature )\d+(?=;)", lambda found: self._column_called(int(found[0]) - 1), text)

    def _column_called(self, column: int) -> str:
        """The name of a feature: that of the DataFrame's column, else ``x0``, ``x1``, ..., as :meth:`top_features` has them."""
        used = self._model.used_columns() if "_model" in self.__dict__ else None
        if used is not None:  # features are numbered without those that no example had
            column = int(np.frombuffer(used, dtype=np.uint32)[column])
        own = getattr(self, "feature_names_in_", ())
        return str(own[column]) if column < len(own) else f"x{column}"

    # -- data --

    def _data(self, x: Any, y: Any) -> _core.Dataset:
        """Training data; what they tell of columns and classes is noted."""
        raise NotImplementedError

    def _test_data(self, x: Any, y: Any) -> _core.Dataset | None:
        """Data to measure on, in the terms of the training data; None where there are none."""
        raise NotImplementedError

    def _read(self, path: Any) -> _core.Dataset:
        """A container to use the model on; what is amiss beside the model is warned of."""
        data = _core.Dataset.read(path, self._task)
        for warning in self._model.warnings(data):
            warn(f"{path}: {warning}")
        return data

    def _was_fitted_on(self, data: _core.Dataset) -> bool:
        """Whether a warm start is wanted, and this is the data of the last fit."""
        fit = getattr(self, "_fit", None)
        return bool(self.warm_start and fit is not None and fit.fingerprint == data.fingerprint())

    # -- names of classes --

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """The numbers that the core knows labels by; of labels known by name one more for what was never seen."""
        if not self._named:
            return labels.astype(np.int64)
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([known.get(label, len(known)) for label in labels.tolist()], dtype=np.int64)

    def _label_names(self) -> list[str] | None:
        return [str(label) for label in self.classes_.tolist()] if getattr(self, "_named", False) else None

    def _classes_of(self, model: _core.Model) -> None:
        """Takes ``classes_`` over from a model that was trained elsewhere."""
        self.classes_ = _labels.of_file(model.labels(), model.label_kinds())
        self._named = not _labels.are_whole(self.classes_)

    def _numbered_labels(self, model: _core.Model) -> _core.Model:
        if not self._named:
            return model
        number = {str(label): str(code) for code, label in enumerate(self.classes_.tolist())}
        return model.with_labels([number.get(name, name if name not in number.values() else f"{name}.") for name in model.labels()])

    def _named_path(self, model: _core.PathModel) -> _core.PathModel:
        found: _core.PathModel = self._with_unknown(self._with_kinds(model))
        return found

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(self._with_unknown(model), summary)

    def _with_unknown(self, model: Any) -> Any:
        """A model or path that says which labels stand for one that is not known, if the estimator was given any."""
        given = getattr(self, "unknown", None)
        return model if given is None else model.with_unknown(_labels.Unknown(given).text())

    def _file_labels(self, model: Any) -> Sequence[Any]:
        """The labels that a model or path names, in its order; empty if it names none of them."""
        found: list[Any] = self.classes_.tolist() if hasattr(self, "classes_") else []
        return found

    def _with_kinds(self, model: Any) -> Any:
        """A model or path with the names of its labels and, if these do not say them, their kinds."""
        labels = self._file_labels(model)
        kinds = _labels.kinds_of(labels)
        if not labels or not self._named and kinds == model.label_kinds():
            return model
        return model.with_labels([str(label) for label in labels] if self._named else model.labels(), kinds)

    def save(self, path: str | os.PathLike[str], *, bits: int = 64) -> None:
        """Writes the model file (safetensors), which the command line reads too.

        ``bits=32`` halves the weights' room and rounds them to 7 digits. The file has no certificate then, as the one of the
        fit is of other weights; ``multiplane verify`` computes their primal value. Raises OSError where the file cannot be
        written, ValueError for other ``bits``, and for labels that are neither texts nor numbers: a file cannot give these
        back, a pickle can.
        """
        self._check_fitted()
        _labels.refuse_unnamed(self._file_labels(self._model))
        super().save(path, bits=bits)

    # -- what may be asked beside fit --

    def path(
        self, X: Any, y: Any = None, *, eps: float | str = 0.1, lambda_min: float = 1e-5, kappa: float = 0.9,
        lambda_max: float | str | None = None, X_test: Any = None, y_test: Any = None, cv: Any = None,
        checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: float | None = None,
        resume: str | os.PathLike[str] | None = None, **unknown: Never,
    ) -> PathResult:  # fmt: skip
        """Follows the regularisation path: at every lambda down to ``lambda_min`` weights whose objective is within
        ``eps`` of the optimum, proven; ``"5%"`` is relative to the objective. Breakpoints are optimised to a gap of
        ``kappa * eps``. The path begins at ``lambda_max``, where it is not given where answers begin to change; above, its
        first weights serve, scaled.

        Args:
            X: As for ``fit``; ``y``, ``X_test`` and ``y_test``, too.
            cv: Cross-validates the path: a number of folds, drawn by ``seed``, or a list with the number of each example's
                fold. What was held out decides on ``best``; ``summary_["cross_validation"]`` has its losses at every breakpoint.
            checkpoint: A file that keeps what there is on the way, also after Ctrl-C: the last one and the one before.
            checkpoint_every: Seconds between checkpoints; by default a minute, or more where writing takes long.
            resume: A checkpoint to go on from, with the same data and parameters (stops may differ): to the bit the path
                that was not interrupted, with ``clock="work"``. Checkpoints go on there, unless ``checkpoint`` says where.

        Raises ValueError for unusable input, folds, checkpoints of something else among it.
        """
        refuse_keywords(unknown, self, "path")
        more = further(cv, checkpoint, checkpoint_every, resume)
        made = self._unfitted()
        with self._in_users_words():
            data = made._data(X, y)
            outer = {"eps": eps, "lambda_min": lambda_min, "kappa": kappa, "lambda_max": lambda_max}
            return made._path(self, data, outer, made._test_data(X_test, y_test), more)

    def check(
        self, X: Any, y: Any = None, *, examples: int = 50, seed: int = 0, seconds: float = 120.0, passes: float = 50.0,
        **unknown: Never,
    ) -> Findings:  # fmt: skip
        """Has the oracle doctor examine task and data as ``fit`` would use them: are losses and features sound, are
        answers as good as they claim? What calls cost, and a forecast for so many ``passes``, come with it.

        Returns:
            The findings; empty where all seems sound. ``print`` them for a report.
        """
        refuse_keywords(unknown, self, "check")
        made = self._unfitted()
        with self._in_users_words():
            data = made._data(X, y)
            spec = json.dumps(made._tree() | {"lambda": "1/n"})  # nothing is trained
            extent = {"examples": examples, "seed": seed, "seconds": seconds, "passes": passes}
            return diagnosed(_core.check_data(spec, data, extent))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a model file, from here or from the command line."""
        found = load(path)
        if not isinstance(found, cls):
            raise ValueError(f"{os.fspath(path)}: holds a {type(found).__name__}, expected a {cls.__name__}")
        return found

    def __sklearn_tags__(self) -> Any:
        """The tags for scikit-learn. Estimators of parts of examples are no classifiers there: it would draw folds of
        each class, and refuses lists of lists.
        """
        timed = self.clock == "wall" and self.seconds is not None  # all other decisions go by prices
        return tags(self._tabular, timed)


def load(path: str | os.PathLike[str]) -> Any:
    """Reads the file of a model: an estimator, fitted; for a path's file a ``PathResult``."""
    name = os.fspath(path)
    try:
        return _loaded(path)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, StopIteration, ValueError) as error:
        if isinstance(error, ValueError) and str(name) in str(error):
            raise
        raise ValueError(f"{name}: what it says of its model is not sound: {type(error).__name__}: {error}") from error


def _loaded(path: str | os.PathLike[str]) -> Any:
    """As :func:`load`, of a file whose fields may be anything."""
    model, several = _core.load(path)
    saved: Any = model or several  # the core returns one of the two
    info = json.loads(saved.info())
    task = info["task"]
    if task == "graph" and "edge_features" not in info:
        raise ValueError(f"{os.fspath(path)}: sets of labels trained as task 'graph': train them as task 'multilabel'")
    if task == "user":
        kind = json.loads((model.own("estimator") if model else None) or '"StructuredSVM"')
        ways = {"IlpSSVM": "multiplane.ilp.IlpSSVM.load(path)", "DecisionSSVM": "multiplane.ilp.DecisionSSVM.load(path, feasible)"}
        raise ValueError(f"{os.fspath(path)}: {ways.get(kind, 'StructuredSVM.load(path, task)')} reads it, a model of {kind}")
    if task not in _TASKS:
        raise ValueError(f"{os.fspath(path)}: a model of task {task!r}, which this package cannot use")
    kind = next(kind for kind in _TASKS[task] if kind._reads(info["spec"]["task"]))
    estimator = kind(**kind._arguments(_params(info["spec"])))
    if "unknown" in info:
        estimator.set_params(unknown=info["unknown"])
    if model is None:
        return PathResult(saved, {**info, "breakpoints": []}, estimator)
    estimator._from_model(model)
    estimator._is_loaded = True
    return estimator


def _readable(value: Any) -> Any:
    """What a file says of a choice, as keywords have it: its name, or its one field."""
    if isinstance(value, dict) and "name" in value:
        fields = {key: field for key, field in value.items() if key != "name"}
        if not fields:
            return value["name"]
        if value["name"] in ("cost-matrix", "edges") and len(fields) == 1:
            return next(iter(fields.values()))
    return value


def _params(spec: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments for a specification: what differs from the defaults."""

    def changed(kind: str, given: dict[str, Any]) -> dict[str, Any]:
        entry: dict[str, Any] = next((e for e in DEFINITIONS[kind + "s"] if e["name"] == given["name"]), {"params": []})
        defaults = {param["name"]: param["default"] for param in entry["params"]}
        return {
            f"{kind}.{name}": value
            for name, value in given.items()
            if name != "name" and value is not None and value != defaults.get(name)
        }

    stop = {name: spec["stop"][name] for name in STOPS if spec["stop"].get(name)}
    stop = {name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in stop.items()}
    if stop == USUAL:  # as files have them
        stop = {}
    params = {**changed("task", spec["task"]), **changed("solver", spec["solver"])}
    regularizer = spec.get("regularizer") or {}
    if regularizer.get("freeze"):
        params["regularizer.freeze"] = regularizer["freeze"]
    if (spec.get("oracle") or {}).get("delay_us"):
        params["oracle.delay_us"] = spec["oracle"]["delay_us"]
    if regularizer.get("prior") or regularizer.get("prior_sha256"):
        warn(
            "the model was trained toward prior weights, which its file does not hold: another fit will not use them"
        )
    named = {"solver": spec["solver"]["name"], "seed": spec["seed"], "clock": spec["clock"], "params": params or None}
    return {**named, "lam": spec.get("lambda", "1/n"), **stop}
