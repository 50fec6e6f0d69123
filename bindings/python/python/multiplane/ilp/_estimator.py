"""Learning what variables of integer programmes cost, from solutions."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, Never, Self, Unpack

import numpy as np

from multiplane import _core
from multiplane._check import Findings, examine
from multiplane._errors import ConvergenceWarning, warn
from multiplane._fit_options import Callback, FitOptions, callbacks_of
from multiplane._labeller import listed
from multiplane._structured import OracleEstimator, are_given, explained, parameters_of, with_parameters
from multiplane._words import refuse_keywords
from multiplane.ilp._doctor import examined
from multiplane.ilp._examples import Given, agreeing, changes, feasible, instances_of, parts_of, solutions_of, truths_with
from multiplane.ilp._feasible import Box, Budget, Infeasible, Vector, no_slack
from multiplane.ilp._programme import IntegerProgramme
from multiplane.ilp._task import Instance, Labelled, LinearTask, Truth

ACCURACY = 0.2
"""Which share of the gap that is asked for solvers may leave open, where ``oracle_gap`` is not given."""

FEW = 3
"""Of so many examples ``solver="auto"`` is ``"bundle"`` if the gap is in percent. Those that are smaller than others count less."""

ROUNDS = 50
"""Completions of unknown values, at most."""

NAMING = 1.0
"""Seconds to ask an example whether it is the one without a feasible vector."""

SHORT = 1e-3
"""The least budget of a fit, in seconds, where completions have taken all."""

COARSE = "20%"
"""The gap of fits between completions while these still lower the objective by more."""


class IlpSSVM(OracleEstimator):
    """Learns what the variables of integer programmes cost, from solutions: ``features @ coef_ + fixed costs``.

    ``X`` is a list of examples ``(feasible, features)`` or ``(feasible, features, costs)``: an :class:`IntegerProgramme` or
    another :class:`FeasibleSet`, the features of its variables ``[variables, d]`` (dense or SciPy sparse), and costs that are not
    learned ``[variables]``. ``Y`` is a list of solutions ``[variables]``, NaN or masked where the truth is not known; ``predict``
    finds the vectors of the least cost. A :class:`Target` in the place of a solution has a loss of its own.

    A programme of parts that no row connects is trained on as so many examples, with the same objective: a pass asks each part once,
    and ``calls`` counts them all. With up to three examples of one size ``solver="auto"`` is ``"bundle"`` if the gap is in percent.

    Args:
        sense: ``"min"``, or ``"max"`` where the programme maximises: ``coef_`` are then gains.
        loss: ``"hamming"``: the sum of the errors of the known variables, which of those that are 0 or 1 is how many are wrong.
            ``"hamming-mean"``: the mean.
        partial: ``"masked"`` completes what is not known by the best vector that agrees with what is known, and trains, in turns,
            until the objective no longer falls (``rounds_``). ``"fixed"`` takes 0, whether or not that is feasible, as structsvm does.
        nonnegative: Columns of features whose weights stay >= 0.
        oracle_gap: The relative gap at which a solver may stop. None: as far as the gap of the fit allows.
        oracle_seconds: Time for one solution. Where it ends, the best vector so far and a bound on all others are used.
    """

    _task = "user"

    sense: str = "min"
    loss: str = "hamming"
    partial: str = "masked"
    nonnegative: Sequence[int] | None = None
    oracle_gap: float | None = None
    oracle_seconds: float | None = None

    def _brought(self) -> Any:
        return self.__dict__.get("_costed")  # there is none before the first fit

    def _task_values(self) -> dict[str, Any]:
        """Nothing: the core knows none of these keywords."""
        return {}

    # -- data --

    def _instances(self, X: Any) -> list[Instance]:
        return instances_of(X, self._sign())

    def _solutions(self, instances: list[Instance], Y: Any) -> list[Given]:
        return solutions_of(instances, Y, self.loss == "hamming-mean")

    def _measured(self, Y: Any, instances: list[Instance], what: str) -> list[Truth]:
        """Truths to measure on: values that are not known cost nothing."""
        if isinstance(Y, list) and Y and all(isinstance(one, Truth) for one in Y):
            return Y
        given = solutions_of(instances, Y, self.loss == "hamming-mean", what)
        values = [np.where(one.known, one.values, x.feasible.lower) for one, x in zip(given, instances, strict=True)]
        return truths_with(given, values, instances, what)

    def _as_trained(self, X: Any) -> list[Instance]:
        """Examples for the weights that were learned."""
        self._check_fitted()
        instances = self._instances(X)
        if instances and instances[0].features.shape[1] != len(self.coef_):
            raise ValueError(f"X[0] has {instances[0].features.shape[1]} features: expected {len(self.coef_)}, as in training")
        return instances

    @contextmanager
    def _naming(self, instances: list[Instance]) -> Iterator[None]:
        """Says which example has no feasible vector."""
        try:
            yield
        except Infeasible as error:
            for i, x in enumerate(instances):
                try:
                    x.feasible.minimise(np.zeros(len(x.feasible)), seconds=NAMING)
                except Infeasible:
                    raise Infeasible(f"X[{i}]: {error}") from None
                except Exception:  # noqa: BLE001, S112 (of a set of the user's: the first error counts)
                    continue
            raise

    def _sign(self) -> float:
        """What costs are multiplied by to be minimised."""
        self._checked()
        return 1.0 if self.sense == "min" else -1.0

    # -- training --

    def _checked(self) -> None:
        """Refuses words that are not known, and accuracies that are none."""
        for name, words in (("sense", ("min", "max")), ("loss", ("hamming", "hamming-mean")), ("partial", ("masked", "fixed"))):
            if getattr(self, name) not in words:
                raise ValueError(f"{name} = {getattr(self, name)!r}: must be {words[0]!r} or {words[1]!r}")
        gap, seconds = self.oracle_gap, self.oracle_seconds
        if gap is not None and not (isinstance(gap, Real) and 0.0 <= gap < math.inf):
            raise ValueError(f"oracle_gap = {gap!r}: must be a finite number >= 0, such as 0.01 for 1 %")
        if seconds is not None and not (isinstance(seconds, Real) and seconds > 0.0):
            raise ValueError(f"oracle_seconds = {seconds!r}: must be a number > 0")

    def _made_task(self, instances: list[Instance]) -> LinearTask:
        width = instances[0].features.shape[1]
        columns = np.atleast_1d(np.asarray(() if self.nonnegative is None else self.nonnegative, dtype=np.int64)).tolist()
        wrong = [column for column in columns if not 0 <= column < width]
        if wrong:
            raise ValueError(f"nonnegative: found {wrong[0]}: the features have the columns 0 to {width - 1}")
        worst = max((instance.feasible.quality for instance in instances), key=("exact", "upper-bound", "heuristic").index)
        task = LinearTask(
            width, worst, [(column, column + 1) for column in columns], self._accuracy(), self.oracle_gap or 0.0,
            Budget(each=self.oracle_seconds or math.inf),
        )  # fmt: skip
        alone = len({id(instance.feasible) for instance in instances}) == len(instances)
        task.releases_gil = alone and all(isinstance(instance.feasible, IntegerProgramme) for instance in instances)
        return task

    def _accuracy(self) -> float:
        """The share of a hinge that a solver may leave open: none if the gap that is asked for is a number."""
        if self.oracle_gap is not None:
            return 0.0
        gap = "1%" if self.gap is None else self.gap
        return ACCURACY * float(gap[:-1]) / 100.0 if isinstance(gap, str) and gap.endswith("%") else 0.0

    def _source(self, X: Any, Y: Any) -> _core.UserTask:
        instances, y = self._instances(X), listed(Y, "Y")
        if not all(isinstance(one, Truth) for one in y):  # not from fit, which has made it all
            self._checked()
            given = self._solutions(instances, y)
            if not all(one.known.all() for one in given):
                raise ValueError("Y: not for a path where solutions are partly unknown: fit completes them")
            y = feasible(instances, given)
            self._costed = self._made_task(instances)
        return super()._source(instances, y)

    def fit(self, X: Any, Y: Any, *, X_test: Any = None, Y_test: Any = None, **options: Unpack[FitOptions]) -> Self:
        """Trains on examples ``X`` and their solutions ``Y``. Returns self.

        Raises ValueError for unusable input: also if a solution is not feasible, or what is known of it is not, by the row.
        """
        with self._all_or_nothing():
            self._checked()
            instances = self._instances(X)
            given = self._solutions(instances, Y)
            self._costed = self._made_task(instances)
            free, self._costed.budget = self._costed.budget, Budget.of(self, self.oracle_seconds)
            test: dict[str, Any] = {}
            if are_given(X_test, Y_test):
                seen = self._instances(X_test)
                test = {"X_test": seen, "Y_test": self._measured(Y_test, seen, "Y_test")}
            with self._naming(instances):
                if self.partial == "fixed":
                    self._fit_fixed(instances, given, test, options)
                elif not all(one.known.all() for one in given):
                    self._costed.quality = "upper-bound" if self._costed.quality == "exact" else self._costed.quality
                    self._fit_masked(instances, given, test, options)
                else:
                    self._learn(instances, feasible(instances, given), test, options)
            self._costed.budget = free
        return self

    def _learn(
        self, instances: list[Instance], truths: list[Truth], test: dict[str, Any], options: FitOptions, before: list[Vector] | None = None
    ) -> None:  # fmt: skip
        """Trains, and names the examples for which a solver had not even one vector in its time. Goes on from the fit before, if
        there are its true vectors and it was on the same parts.
        """
        self._costed.without.clear()
        asked, lam, accuracy = (self.lam, self.solver, self.seconds), self._lambda(len(instances)), self._costed.accuracy
        parts = [x.feasible.parts() if lam is not None else [(np.arange(len(x.feasible)), x.feasible)] for x in instances]
        scale = sum(map(len, parts)) / len(instances)
        split = [parts_of(x, truth, of_x, scale) for x, truth, of_x in zip(instances, truths, parts, strict=True)]
        try:
            self.lam = self.lam if lam is None else lam
            if math.isfinite(left := self._costed.budget.left()):
                self.seconds = max(left, SHORT)
            self.solver = self._solver_for([len(x.feasible) for some in split for x, _ in some])
            if before is not None and self.__dict__.get("_fit") is not None:
                self.__dict__["_change"] = self._fit, None, changes(instances, before, truths, parts, scale)
            if self.solver == "bundle" and accuracy > 0.0:
                options = {**options, "callbacks": [self._closing(accuracy), *callbacks_of(options)]}
            super().fit([x for some in split for x, _ in some], [truth for some in split for _, truth in some], **test, **options)
        finally:
            (self.lam, self.solver, self.seconds), self._costed.accuracy = asked, accuracy
            self.__dict__.pop("_change", None)
        without = [i for i, some in enumerate(split) if any(id(x) in self._costed.without for x, _ in some)]
        self.summary_["without_solution"] = without
        if without:
            others = f" and {len(without) - 1} others" if len(without) > 1 else ""
            warn(
                f"in its time the solver found no vector for example {without[0]}{others} of {len(instances)}: its bound and the true "
                'solution were used; oracle_seconds gives it more, and summary_["without_solution"] lists them',
                ConvergenceWarning
            )  # fmt: skip

    def _closing(self, least: float) -> Callback:
        """A callback that lets solvers leave open a share of the fit's gap, not of the one asked for: a plane that is as close as
        that still lifts the model of a bundle by most of the gap.
        """
        self._costed.accuracy = ACCURACY

        def close(record: dict[str, Any]) -> None:
            primal, dual = record.get("primal"), record.get("dual")
            if primal is not None and dual is not None and primal > 0.0:
                self._costed.accuracy = max(least, min(self._costed.accuracy, ACCURACY * (primal - dual) / primal))

        return close

    def _solver_for(self, sizes: list[int]) -> Any:
        """The solver of examples of these sizes: auto needs more calls than bundle for few, unless the gap is very small."""
        is_free = self.solver == "auto" and not any(str(name).split(".")[0] == "solver" for name in self.params or ())
        are_few = sum(sizes) ** 2 <= FEW * sum(size * size for size in sizes)
        return "bundle" if is_free and self._is_relative() and are_few and self._costed.quality != "heuristic" else self.solver

    def _lambda(self, count: int) -> float | None:
        """lambda as a number, of so many examples; None if it is to be chosen."""
        if self.lam in ("auto", "1/n"):
            return 1.0 / count
        try:
            return 1.0 / (float(self.lam[2:]) * count) if isinstance(self.lam, str) and self.lam.startswith("c:") else float(self.lam)
        except (TypeError, ValueError, ZeroDivisionError):
            return None

    def _fit_masked(self, instances: list[Instance], given: list[Given], test: dict[str, Any], options: FitOptions) -> None:
        """Completes and trains in turns (the concave-convex procedure): each turn lowers the objective, or is the last.

        The first turn chooses lambda for all, as they have one objective.
        """
        for name in ("checkpoint", "resume"):
            if options.get(name) is not None:
                raise ValueError(f"{name}: not where solutions are partly unknown, which takes several fits")
        budget = self._costed.budget
        completed = agreeing(instances, given, self._first_weights(instances, given), budget)
        asked, lam, is_coarse = self.gap, self.lam, True
        choice: dict[str, Any] = {}
        rounds: list[dict[str, float]] = []
        learned: list[Vector] | None = None  # the true vectors of the turn before
        while True:
            truths = truths_with(given, completed, instances)
            before = dict(self.__dict__)
            try:
                self.gap = COARSE if is_coarse else asked
                self._costed.accuracy = self._accuracy()
                self.lam = lam if not rounds else self.lam_
                self.__dict__["_goes_on"] = True
                self._learn(instances, truths, test, options, learned)
            finally:
                self.gap, self.lam = asked, lam
                self.__dict__.pop("_goes_on", None)
            learned = completed if rounds or self._lambda(len(instances)) is not None else None  # else lambda was chosen: for wholes
            self.summary_.pop("update", None)  # which tells of the turns
            choice = choice or {key: value for key, value in self.summary_.items() if key == "lambda_choice"}
            self.summary_ |= choice
            again = agreeing(instances, given, self.coef_, budget, completed)
            pairs = zip(instances, completed, again, strict=True)
            fall = float(np.mean([(x.features @ self.coef_ + x.costs) @ (old - new) for x, old, new in pairs]))
            objective = self.primal_ - max(0.0, fall)
            changed = sum(bool(np.any(old != new)) for old, new in zip(completed, again, strict=True))
            last = rounds[-1]["objective"] if rounds else math.inf
            is_last = not changed or not last - objective > 0.1 * self.gap_
            if objective < last:
                completed = again
                rounds.append({"objective": objective, "primal": self.primal_, "dual": self.dual_, "gap": self.gap_, "changed": changed})
            elif rounds and not is_coarse:  # to within its gap the turn before was as good
                self.__dict__.clear()
                self.__dict__.update(before)
            if is_last and not is_coarse or self.stop_reason_ == "seconds":
                break
            is_coarse = is_coarse and not is_last
            if len(rounds) >= ROUNDS:
                warn(f"after {ROUNDS} completions {changed} of {len(completed)} still change", ConvergenceWarning)
                break
        self.rounds_ = rounds

    def _fit_fixed(self, instances: list[Instance], given: list[Given], test: dict[str, Any], options: FitOptions) -> None:
        """Trains with 0 in the place of what is not known, feasible or not.

        A truth ``t`` that is not feasible has no plane of its own. With ``y0``, the feasible vector of the least loss, in its place
        the objective is the same but for a part that is linear in w, ``c @ w`` with ``c`` the mean of ``features.T @ (t - y0)``, and
        a constant. ``lambda/2 |w|^2 + c @ w`` is ``lambda/2 |w + c/lambda|^2`` less a constant: so weights are learned that are added
        to ``-c/lambda``, whose costs are fixed.
        """
        if self.nonnegative is not None and len(np.atleast_1d(self.nonnegative)):
            raise ValueError('nonnegative: not with partial="fixed", which moves the origin of the weights')
        lam = 1.0 / len(instances) if self.lam in ("auto", "1/n") else self.lam
        if not isinstance(lam, (int, float)):
            raise ValueError(f'lam = {self.lam!r}: with partial="fixed" it must be a number or "1/n"')
        change = np.zeros(instances[0].features.shape[1])
        truths, constant, size = [], 0.0, 0.0
        for i, (one, x) in enumerate(zip(given, instances, strict=True)):
            t = np.where(one.known, one.values, 0.0)
            first = one.completed(t, x, f"Y[{i}]")
            y0 = t if x.feasible.fault(t) is None and one.linear is None else self._least(x, first.costs, f"Y[{i}]")
            if len(first.inside) and np.any(y0 != t):
                v = first.inside[0]
                raise ValueError(f"Y[{i}] is not feasible, and {t[v]:g} is between the bounds of variable {v}")
            truths.append(Truth(y0, first.costs, first.inside, first.weights, first.feasible))
            change += x.features.T @ (t - y0) / len(given)
            constant += (first.loss(y0) + float(x.costs @ (t - y0))) / len(given)
            size += (first.loss(y0) + float(np.abs(x.costs) @ np.abs(t - y0))) / len(given)
        shift = -change / lam
        moved = [Instance(x.feasible, x.features, x.costs + x.features @ shift) for x in instances]
        if test:
            seen = [Instance(x.feasible, x.features, x.costs + x.features @ shift) for x in test["X_test"]]
            test = test | {"X_test": seen}
        self._learn(moved, truths, test, options)
        constant -= 0.5 * lam * float(shift @ shift)
        rounding = 1e-14 * (size + abs(self.primal_) + 0.5 * lam * float(shift @ shift))
        bounds = {"primal": constant + rounding, "dual": constant - rounding, "gap": 2.0 * rounding}
        for record in (self.summary_, *self.history_):
            record.update({name: record[name] + added for name, added in bounds.items() if record.get(name) is not None})
        self._take(self._model.moved(shift.tolist(), (bounds["primal"], bounds["dual"])), self.summary_)

    def _least(self, x: Instance, costs: Vector, what: str) -> Vector:
        """The feasible vector of the least cost."""
        limit = Budget(self._costed.budget.share())
        least = x.feasible.minimise(costs, no_slack, limit.left())
        if least.y is None or (limit.left() == 0.0 and costs @ least.y > least.bound):
            raise ValueError(f"{what} is not feasible, and which vector is nearest was not found in time: seconds gives it more")
        return least.y

    def _first_weights(self, instances: list[Instance], given: list[Given]) -> Vector:
        """Weights for the first completion, learned from known values alone, as if no rows tied them to others."""
        boxes, solutions = [], []
        for x, one in zip(instances, given, strict=True):
            values = one.values
            if one.known.any():
                used = np.flatnonzero(one.known & ((values == x.feasible.lower) | (values == x.feasible.upper)))
                boxes.append((Box(x.feasible.lower[used], x.feasible.upper[used]), x.features[used], x.costs[used]))
                solutions.append(values[used])
        if not boxes:
            raise ValueError("Y: nothing is known of any solution")
        lam = "1/n" if isinstance(self.lam, str) and self.lam.startswith("cv") else self.lam  # these are not the hinges to choose by
        left = self._costed.budget.left()
        seconds = max(0.25 * left, SHORT) if math.isfinite(left) else None
        first = IlpSSVM(
            lam=lam, gap="5%", passes=100, seconds=seconds, clock=self.clock, seed=self.seed, nonnegative=self.nonnegative
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Vector = first.fit(boxes, solutions).coef_
            return found

    def _worded(self, text: str) -> str:
        return explained(text, "Target(costs=...) has the other sense (true vectors have the least), or the true vector is not the best")

    # -- results --

    def check(
        self, X: Any, Y: Any, *, examples: int = 50, seed: int = 0, seconds: float = 120.0, passes: float = 50.0, **unknown: Never
    ) -> Findings:
        """Examines programmes, solutions and features: what cannot be solved, which row a solution breaks, features of
        variables that cannot change, sizes that spoil tolerances. Where nothing is infeasible the calls are examined as of
        every task of your own.

        Returns:
            The findings, with ``profile``: what calls cost, and a forecast for so many ``passes``; empty after such a fault.
        """
        refuse_keywords(unknown, self, "check")
        self._checked()
        instances = self._instances(X)
        given = self._solutions(instances, Y)
        faults = examined(instances, [one.values for one in given])
        broken = any(fault.kind in ("infeasible", "truth-infeasible") for fault in faults)
        if broken:
            found = Findings()
        else:
            truths = truths_with(given, agreeing(instances, given, np.zeros(instances[0].features.shape[1]), Budget()), instances)
            found = examine(Labelled(self._made_task(instances)), instances, truths, examples=examples, seed=seed, seconds=seconds, passes=passes)
        found[:0] = faults
        return found

    def predict(self, X: Any) -> list[Any]:
        """The vectors of the least cost, ``[variables]`` each."""
        instances = self._as_trained(X)
        with self._naming(instances):
            return super().predict(instances)

    def predict_costs(self, X: Any) -> list[Vector]:
        """What the variables of each example cost (gain, with ``sense="max"``)."""
        sign = self._sign()
        return [sign * (x.features @ self.coef_ + x.costs) for x in self._as_trained(X)]

    def decision_values(self, X: Any, Y: Any) -> Vector:
        """What each vector costs (gains, with ``sense="max"``), ``[n]``, fixed costs with it."""
        found: Vector = -self._sign() * super().decision_values(self._as_trained(X), Y)
        return found

    def score(self, X: Any, Y: Any) -> float:
        """1 minus the mean loss of the predictions; values that are not known do not count."""
        instances = self._as_trained(X)
        with self._naming(instances):
            return super().score(instances, self._measured(Y, instances, "Y"))

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(with_parameters(model, IlpSSVM, {"sense": self.sense}), summary)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a model file, which holds the weights and the ``sense``. Raises ValueError if it is not one of this class."""
        model, parameters = parameters_of(path, IlpSSVM)
        found = cls(**parameters)
        found._from_model(model)
        found._costed = LinearTask(len(found.coef_), "upper-bound", [], 0.0, 0.0, Budget())
        return found
