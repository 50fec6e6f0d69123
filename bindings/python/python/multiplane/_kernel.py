"""Kernels in the place of inner products: the keywords of estimators that take one, and the rows that carry weight."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._builtin import BuiltIn
from multiplane._given import changed
from multiplane._params import plain
from multiplane._calibration import Calibrated
from multiplane._support import numbers_of, support_of

PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "rbf": ("gamma",),
    "polynomial": ("degree", "gamma", "coef0"),
    "intersection": (),
    "chi-square": ("gamma",),
    "precomputed": (),
}
"""The parameters of each kernel."""

Kernel: TypeAlias = str | Callable[[Any, Any], Any] | None
"""A kernel as scikit-learn takes it: a name, or a function that makes the matrix of values of the rows of two arrays."""


def kernel_docs(more: str, rows: str) -> str:
    """Documentation of the keywords of kernels: which there are besides the first few, and whose variance scales them."""
    return f"""
        kernel: None for weights of features, or ``"linear"``, ``"rbf"``, ``"poly"``, ``"intersection"``, {more}
        gamma: The factor in kernels that have one: a number > 0, ``"scale"`` for 1 / (features * variance of {rows}), or
            ``"auto"`` for 1 / features.
        degree: The power of ``"poly"``.
        coef0: The number >= 0 that ``"poly"`` adds before it takes the power."""


class KernelKeywords(BuiltIn):
    """Keywords of estimators that take a kernel."""

    _takes_matrices: ClassVar[bool] = False
    """Whether the kernel may be a matrix, or a function that computes it."""
    _kernels: ClassVar[tuple[str, ...]] = ("linear", "rbf", "poly", "intersection", "chi-square")
    """The names of kernels on rows that it takes."""
    _X: ClassVar[str] = "X"
    kernel: Kernel = None
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    kernel_budget: int | None = None
    kernel_rows: dict[str, Any] | None = None

    # -- the specification --

    def _given(self) -> dict[str, str]:
        found = super()._given()
        if self.kernel is not None:
            found["task.kernel.name"] = f"kernel = {self.kernel!r}"
        return {**found, **{f"task.kernel.{name}": f"{name} = {getattr(self, name)!r}" for name in self._changed()}}

    def _changed(self) -> list[str]:
        """The keywords of kernels that are not what they are by default."""
        return changed(self, ("gamma", "degree", "coef0"))

    def _kernel_name(self) -> str | None:
        """The name that the core knows the keyword's kernel by."""
        if self.kernel is None:
            return None
        name = "precomputed" if callable(self.kernel) else "polynomial" if self.kernel == "poly" else self.kernel
        if not self._takes_matrices and name == "precomputed":
            raise ValueError(
                f"kernel = {self.kernel!r}: {type(self).__name__} takes the names of kernels on rows, as {self._X} has no matrix: "
                f"{', '.join(map(repr, self._kernels[:-1]))} or {self._kernels[-1]!r}"
            )
        if name not in PARAMETERS or (self.kernel not in self._kernels and name not in ("polynomial", "precomputed")):
            taken = (*self._kernels, "polynomial", *(["precomputed"] if self._takes_matrices else []))
            known = [repr(known) for known in PARAMETERS if known in taken]
            function = "a function, " if self._takes_matrices else ""
            led = {"gaussian": ": write kernel='rbf'", "cosine": ": write kernel='linear', for rows of length 1"}.get(str(name), "")
            raise ValueError(f"kernel = {self.kernel!r}{led}: expected None, {function}'poly' or one of {', '.join(known)}")
        return name

    def _tree(self) -> dict[str, Any]:
        tree = super()._tree()
        beside, name = _fields(tree["task"].get("kernel")), self._kernel_name()
        if name is not None:
            own = {parameter: plain(getattr(self, parameter), parameter) for parameter in PARAMETERS[name]}
            tree["task"]["kernel"] = {"name": name, **own, **beside}
            return tree
        known = PARAMETERS.get(str(beside.get("name")), ())  # a kernel among params
        own = {parameter: plain(getattr(self, parameter), parameter) for parameter in self._changed() if parameter in known}
        if own:
            tree["task"]["kernel"] = {**beside, **own}
        return tree

    def _unused(self) -> list[str]:
        kernel = _fields(self._tree()["task"].get("kernel")).get("name")
        without = [name for name in self._changed() if name not in PARAMETERS.get(str(kernel), ())]
        why = "without a kernel" if kernel in (None, "none") else f"with kernel {self._called(str(kernel))}"
        return [*super()._unused(), *(f"{name} = {getattr(self, name)!r}: no effect {why}" for name in without)]

    def _check_held_out(self, tree: dict[str, Any], test: Any) -> None:
        drawn = (tree.get("data") or {}).get("holdout")
        if drawn is not None and _fields(tree["task"].get("kernel")).get("name") == "precomputed":
            rows = "rows of features" if callable(self.kernel) else "a column for every training row"
            raise ValueError(
                f"holdout = {drawn!r}: not with kernel {self._called('precomputed')}, whose matrix has a column for every training "
                f"row and cannot be divided; give fit X_test ({rows}) and y_test"
            )
        super()._check_held_out(tree, test)

    def _called(self, name: str) -> str:
        """What the user calls the kernel."""
        return f"`{getattr(self.kernel, '__name__', repr(self.kernel))}` (a function)" if callable(self.kernel) else f"`{name}`"

    def _worded(self, text: str) -> str:
        """What the core says, in terms of what the user gave."""
        text = super()._worded(text)
        return text.replace("`precomputed`", self._called("precomputed")) if callable(self.kernel) else text

    @classmethod
    def _arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        found = super()._arguments(arguments)
        params = dict(found["params"] or {})
        kernel = _fields(params.pop("task.kernel", None))
        name = kernel.pop("name", None)
        if name not in PARAMETERS:
            return {**found, "params": params or None}
        own = {key: kernel[key] for key in PARAMETERS[name] if kernel.get(key) is not None}
        return {**found, "kernel": "poly" if name == "polynomial" else name, **own, "params": params or None}


class Kernels(KernelKeywords, Calibrated):
    """Estimators that take a kernel, and whose labels are of rows."""

    @property
    def _has_kernel(self) -> bool:
        return self._model.own("kernel") is not None

    def _hint_of_width(self) -> str:
        """What to say where new rows have the wrong number of columns."""
        if callable(self.kernel) or "_model" not in self.__dict__:
            return ""
        if _fields(self._own("kernel")).get("name") != "precomputed":
            return ""
        return (
            ": its kernel is a matrix, given or computed by a function, which no file holds: pass K(X, X_fit), a column for "
            "every training row"
        )

    def _take(self, model: _core.Model, summary: dict[str, Any]) -> None:
        super()._take(model, summary)
        for stale in ("support_", "n_support_", "dual_coef_"):
            self.__dict__.pop(stale, None)
        info = json.loads(model.info())
        if "kernel" not in info:
            return
        rows = len(support_of(model)[0]) - 1
        labels = 1 if self._task == "binary" else len(model.labels())
        width = rows + int(bool(info["spec"]["task"].get("bias", False)))
        if _fields(info["kernel"]).get("name") == "precomputed":
            self.support_ = support_of(model)[1].copy()
        self.dual_coef_ = np.ravel(self.coef_)[: labels * width].reshape(labels, width)[:, :rows].copy()

    def _learned_from(self, model: _core.Model, source: Any) -> None:
        info = json.loads(model.info())
        if "kernel" not in info:
            return
        truth = self._truth(model, source)
        if "support_" not in self.__dict__:
            found = numbers_of(model, source, truth, self.dual_coef_)
            if found is None:
                return
            self.support_ = found
        found = truth[self.support_]
        self.n_support_ = np.bincount(found[found >= 0], minlength=len(model.labels()))

    def _truth(self, model: _core.Model, source: Any) -> NDArray[np.int64]:
        """The numbers of the true labels of the training rows."""
        raise NotImplementedError

    def unscaled_coef(self) -> NDArray[np.float64]:
        """``coef_`` for features as they are: where ``task.scale`` divided them, ``coef_`` belongs to the scaled ones.

        Raises ValueError with a kernel, whose coefficients are of rows.
        """
        self._check_fitted()
        if self._has_kernel:
            raise ValueError(
                "unscaled_coef() is for weights of features: with a kernel coef_ has a coefficient for each row that carries weight "
                "(dual_coef_, support_), and there are no weights of features"
            )
        return super().unscaled_coef()

    def _reason(self, name: str) -> str | None:
        """Why an attribute is not there."""
        if name in ("predict_log_proba", "predict_marginals"):
            return super()._reason("predict_proba")
        if name not in ("support_", "n_support_", "dual_coef_", "history_"):
            return super()._reason(name)
        if "_model" not in self.__dict__:
            return "it is not fitted yet"
        if name == "history_":
            return "its model was read from a file, which holds no history" if "_is_loaded" in self.__dict__ else None
        if not self._has_kernel:
            return "it has no kernel"
        if "_problem" not in self.__dict__:
            return "its model is of a file or a path, which hold the rows that carry weight, but not their numbers"
        return "the rows that carry weight are no rows of X: they were made of text"


def _fields(kernel: Any) -> dict[str, Any]:
    """A kernel with its parameters, where it is a bare name too."""
    return dict(kernel) if isinstance(kernel, dict) else {} if kernel is None else {"name": kernel}


def matrix_of(found: Any, shape: tuple[int, int], kernel: str) -> NDArray[np.float64]:
    """What a function has returned, as finite numbers of this shape; ``kernel`` is what errors call it."""
    try:
        values = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
        if np.iscomplexobj(values):
            raise ValueError("found complex numbers, expected real ones")
        if values.dtype.kind not in "biufO":
            raise ValueError(f"found values of type {values.dtype}, expected numbers")
        rows = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"kernel {kernel}: {error}") from None
    if rows.shape != shape:
        raise ValueError(f"kernel {kernel}: found an array of shape {rows.shape}, expected {shape}: a value for each two rows")
    finite = np.isfinite(rows)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        where = f"row {row} and training row {column}"
        raise ValueError(f"kernel {kernel}: found {rows[row, column]} for {where}, expected finite numbers")
    return rows
