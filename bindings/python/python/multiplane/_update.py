"""Training data that change: examples added, removed, relabelled or reweighted, without starting over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Unpack

    from multiplane._fit_options import FitOptions


Change = tuple[Any, Sequence[int | None] | None, Sequence[tuple[int, NDArray[np.float64], float]] | None]
"""The start of a fit at another one:

- the ``Fit``, or the path of a checkpoint;
- the example of before that each example is; None: they are known by content;
- where the examples are the same, those whose truths have changed, with the linear and the constant part to add to their planes.
"""


@dataclass
class Kept:
    """The data of a fit, and how its examples are called."""

    given: dict[str, Any]
    """The arguments of ``fit``."""
    ids: list[Any]


def truths_of(given: dict[str, Any]) -> str:
    """The name of the truths among the arguments of ``fit``."""
    return "Y" if "Y" in given else "y"


def _taken(data: Any, places: Sequence[int]) -> Any:
    """These examples, in this order, as the data have them."""
    if hasattr(data, "iloc"):
        return data.iloc[list(places)]
    if hasattr(data, "tocsr"):
        return data.tocsr()[list(places)]
    return data[list(places)] if isinstance(data, np.ndarray) else [data[place] for place in places]


def _joined(data: Any, more: Any) -> Any:
    """Examples, and more of them."""
    if hasattr(data, "iloc"):
        import pandas as pd  # the user has it

        return pd.concat([data, more])
    if hasattr(data, "tocsr"):
        from scipy.sparse import vstack  # the user has it

        return vstack([data, more]).tocsr()
    return np.concatenate([data, np.asarray(more)]) if isinstance(data, np.ndarray) else [*data, *more]


def _count(data: Any) -> int:
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


class Updated:
    """Estimators whose training data may change."""

    dual: bool

    def _keep_data(self, given: dict[str, Any] | None) -> None:
        """Keeps the data of a fit that is done, if that is wanted; forgets those of the one before."""
        ids = self.__dict__.pop("_next_ids", None)
        self.__dict__.pop("_kept", None)
        if self.dual and given is not None:
            ids = list(range(_count(given["X"]))) if ids is None else ids
            self.__dict__["_kept"] = Kept({name: value for name, value in given.items() if value is not None}, ids)

    @property
    def ids_(self) -> list[Any]:
        """What the examples are called in :meth:`update`: their numbers in ``fit`` unless other names were set; there with
        ``dual=True``.
        """
        return list(self._kept_data().ids)

    @ids_.setter
    def ids_(self, ids: Iterable[Any]) -> None:
        kept, found = self._kept_data(), list(ids)
        if len(found) != len(kept.ids):
            raise ValueError(f"ids_: found {len(found)} names for {len(kept.ids)} examples")
        if len(set(found)) != len(found):
            raise ValueError("ids_: a name is there twice")
        kept.ids = found

    def _kept_data(self) -> Kept:
        kept: Kept | None = self.__dict__.get("_kept")
        if kept is None or "_fit" not in self.__dict__:
            raise AttributeError(
                "there is no dual point to go on from: fit with dual=True (a pickle and a model file hold none; a checkpoint "
                "does: fit(X, y, update_from=checkpoint))"
            )
        return kept

    def update(
        self, *, add: tuple[Any, Any] | None = None, remove: Iterable[Any] = (), relabel: Mapping[Any, Any] | None = None,
        weights: Mapping[Any, float] | None = None, ids: Iterable[Any] | None = None, **options: Unpack[FitOptions],
    ) -> Self:  # fmt: skip
        """Changes examples of the last ``fit`` or ``update`` and trains on from its dual point, which stays feasible: what was
        learned of the other examples is kept, and ``summary_["update"]`` says how far the changed problem is from its optimum
        before the first step. Removal is exact: nothing of the example is left, and the result is within the gap of a fit
        without it. Needs ``dual=True``, which keeps the training data.

        Args:
            add: Examples to add, ``(X, y)`` as for ``fit``.
            remove: The ids of examples to remove; see ``ids_``.
            relabel: New truths, by id.
            weights: New weights of examples (``sample_weight``), by id; others keep theirs, 1 by default.
            ids: The ids of the examples to add; by default the next whole numbers.
            options: Those of ``fit``.

        Returns self. Raises ValueError for unknown ids, ids named twice and labels that the task cannot have, and AttributeError
        without a dual point.
        """
        kept = self._kept_data()
        place = {name: k for k, name in enumerate(kept.ids)}
        removed = [self._place(place, name, "remove") for name in remove]
        gone = set(removed)
        new_truths = {self._place(place, name, "relabel"): truth for name, truth in (relabel or {}).items()}
        new_weights = {self._place(place, name, "weights"): float(weight) for name, weight in (weights or {}).items()}
        if len(gone) != len(removed):
            twice = next(k for k in removed if removed.count(k) > 1)
            raise ValueError(f"remove: the id {kept.ids[twice]!r} is named twice")
        for what, named in (("relabel", new_truths), ("weights", new_weights)):
            both = next((k for k in removed if k in named), None)
            if both is not None:
                raise ValueError(f"{what}: the id {kept.ids[both]!r} is one of remove, too")
        left = [k for k in range(len(kept.ids)) if k not in gone]
        more = self._more(add, ids, kept, [kept.ids[k] for k in left])
        given, name = dict(kept.given), truths_of(kept.given)
        given["X"] = _taken(given["X"], left)
        truths: list[Any] | None = None
        if name in given:
            truths = [new_truths.get(k, truth) for k, truth in enumerate(_listed(given[name]))]
            truths = [truths[k] for k in left]
        elif new_truths:
            raise ValueError("relabel: the fit before had no truths")
        old_weights = given.get("sample_weight")
        if old_weights is not None or new_weights:
            all_weights = np.ones(len(kept.ids)) if old_weights is None else np.array(old_weights, dtype=np.float64)
            for k, weight in new_weights.items():
                all_weights[k] = weight
            given["sample_weight"] = np.concatenate([all_weights[left], np.ones(len(more))])
        if more:
            assert add is not None
            given["X"] = _joined(given["X"], add[0])
            if truths is not None:
                truths += _listed(add[1])
        if truths is not None:
            given[name] = np.array(truths) if _is_flat(kept.given[name]) else truths
        counterparts = [None if k in new_truths else k for k in left] + [None] * len(more)
        before = self.__dict__["_fit"]
        self.__dict__["_change"] = (before, counterparts, None)
        self.__dict__["_next_ids"] = [kept.ids[k] for k in left] + more
        try:
            fitted: Self = self.fit(**given, **options)  # type: ignore[attr-defined]
            return fitted
        except BaseException:
            if self.__dict__.get("_fit", before) is before:  # nothing was learned: it is as it was
                self.__dict__.update(_fit=before, _kept=kept)
            raise
        finally:
            self.__dict__.pop("_change", None)
            self.__dict__.pop("_next_ids", None)

    @staticmethod
    def _place(place: Mapping[Any, int], name: Any, what: str) -> int:
        name = name.item() if isinstance(name, np.generic) else name
        try:
            return place[name]
        except (KeyError, TypeError):
            raise ValueError(f"{what}: there is no example with the id {name!r}; ids_ lists them") from None

    def _more(self, add: Any, ids: Iterable[Any] | None, kept: Kept, left: list[Any]) -> list[Any]:
        """The ids of the examples to add."""
        if add is None:
            if ids is not None:
                raise ValueError("ids: there is nothing to add")
            return []
        if not isinstance(add, tuple) or len(add) != 2:
            raise ValueError("add: expected (X, y), as for fit")
        if "node_weights" in kept.given:
            raise ValueError("add: not for a fit with node_weights; call fit with update_from")
        n = _count(add[0])
        if add[1] is not None and _count(add[1]) != n:
            raise ValueError(f"add: found {n} inputs and {_count(add[1])} truths")
        numbers = [name for name in kept.ids if isinstance(name, int)]
        first = max(numbers, default=-1) + 1
        found = list(range(first, first + n)) if ids is None else list(ids)
        if len(found) != n:
            raise ValueError(f"ids: found {len(found)} for {n} examples to add")
        known = set(left)
        for name in found:
            if name in known:
                raise ValueError(f"ids: the id {name!r} is there twice")
            known.add(name)
        return found


def _is_flat(truths: Any) -> bool:
    """If truths are one array of labels."""
    return hasattr(truths, "ndim") and truths.ndim == 1 and not isinstance(truths, list) and getattr(truths, "dtype", None) != object


def _listed(truths: Any) -> list[Any]:
    if hasattr(truths, "iloc"):
        truths = truths.to_numpy()
    return truths.tolist() if _is_flat(truths) else list(truths)
