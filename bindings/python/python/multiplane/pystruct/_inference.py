"""This package's engines behind PyStruct's models: ``inference_method="multiplane"``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from multiplane._infer import PairwiseModel

METHOD = "multiplane"
"""The name that models give as their ``inference_method``."""


def inference(
    unary_potentials: Any,
    pairwise_potentials: Any,
    edges: Any,
    relaxed: bool = False,
    return_energy: bool = False,
    engine: str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    **ignored: Any,
) -> Any:
    """The labelling of the highest score, with the arguments of PyStruct's inference functions.

    Args:
        unary_potentials: Scores ``[..., states]``.
        pairwise_potentials: ``[states, states]`` for all edges, or ``[edges, states, states]``.
        edges: ``[edges, 2]``.
        relaxed: Changes nothing: answers are labellings.
        return_energy: Returns minus the score, too, as PyStruct's functions do.
        engine, seconds, iterations: As for ``PairwiseModel.solve``, in the dict of a tuple: ``inference_method=("multiplane",
            {"engine": "trws"})``.
        ignored: Keywords of other methods.
    """
    unary = np.asarray(unary_potentials, dtype=np.float64)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    model = PairwiseModel(-unary.reshape(-1, unary.shape[-1]))
    if len(pairs):
        tables = -np.asarray(pairwise_potentials, dtype=np.float64)
        model.add_edges(pairs, tables=tables)
    found = model.solve(engine, seconds=seconds, iterations=iterations)
    assert found.labels is not None  # finite scores forbid nothing
    labels = found.labels.astype(np.int64).reshape(unary.shape[:-1])
    return (labels, found.energy) if return_energy else labels


def _name(method: Any) -> Any:
    return method[0] if isinstance(method, tuple) else method


def register() -> None:
    """Has an installed PyStruct know ``inference_method="multiplane"``, until the process ends; calling it again is no harm.

    This module's learners do so themselves where their model asks for the method.

    Raises ImportError where there is no PyStruct.
    """
    from pystruct.inference import inference_methods

    known = inference_methods.inference_dispatch
    if getattr(known, "knows_multiplane", False):
        return

    def inference_dispatch(
        unary_potentials: Any, pairwise_potentials: Any, edges: Any, inference_method: Any, return_energy: bool = False,
        **options: Any,
    ) -> Any:
        if _name(inference_method) != METHOD:
            return known(
                unary_potentials, pairwise_potentials, edges, inference_method, return_energy=return_energy, **options
            )
        more = inference_method[1] if isinstance(inference_method, tuple) else {}
        found = inference(unary_potentials, pairwise_potentials, edges, return_energy=return_energy, **{**options, **more})
        return found

    inference_dispatch.knows_multiplane = True  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):  # wherever it was imported to by name
        if name.partition(".")[0] == "pystruct" and getattr(module, "inference_dispatch", None) is known:
            module.inference_dispatch = inference_dispatch  # type: ignore[attr-defined]


def prepare(model: Any) -> None:
    """Registers the method where a model of PyStruct's asks for it."""
    if _name(getattr(model, "inference_method", None)) == METHOD and "pystruct" in sys.modules:
        register()
