"""What parameters of tasks mean, for the documentation of estimators: the words are those of the core."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from multiplane._solvers import DEFINITIONS

OWN = {
    "class_weight": (
        "Factors on the loss by true label: a dict by label (those left out have 1), ``\"balanced\"`` for n / (labels * "
        "count), or a list in the order of ``classes_``. Larger margins are asked for; with ``rescaling=\"slack\"`` examples count so "
        "many times, as in scikit-learn."
    ),
    "label_weights": "Factors on the loss by label: a list in the order of the columns of y, or a dict by column.",
    "loss": (
        "What a wrong answer costs: a name, ``{truth: {label: cost}}`` or a DataFrame of them, a matrix in the order of "
        "``classes_`` (rows are true labels), or a function ``loss(truth, label)``, which is asked once for every two labels."
    ),
    "partial": (
        "The part of unknown labels in training. ``\"masked\"``: their errors cost nothing, and their truth is completed by the best "
        "labelling that agrees with the known ones, in rounds (``rounds_``; a latent SSVM by the concave-convex procedure)."
    ),
    "kernel_rows": "How rows of the kernel's matrix are kept: a dict with ``cache_mb`` and ``storage``.",
    "kernel_budget": "Most rows that a model may hold; None for as many as carry weight.",
    "root": "How many words hang on the root: ``\"single\"`` or ``\"any\"``.",
    "distances": "The largest distance of each bucket of distances, ascending: (1, 2, 3, 5, 10) where not given.",
    "pairwise_edges": "Which pairs of labels have weights: a name, or a list of pairs of columns.",
}
"""Keywords that mean more here than in the core."""

LABELLED = ("binary", "multiclass", "chain", "tree", "multilabel")
"""Tasks whose loss may be a matrix."""


def parameters(task: str) -> dict[str, dict[str, Any]]:
    """A task's parameters, by name, as ``multiplane describe task`` has them; of users' tasks what all tasks have."""
    entry = next((entry for entry in DEFINITIONS["tasks"] if entry["name"] == task), None)
    if entry is None:
        common = next(entry for entry in DEFINITIONS["tasks"] if entry["name"] == "mrf")["params"]
        return {param["name"]: param for param in common if param["name"] == "rescaling"}
    return {param["name"]: param for param in entry["params"]}


def documented(task: str, names: Mapping[str, str], own: str) -> str:
    """Lines on those keywords, given with the names that the core has for them, which ``own`` does not document itself."""
    known, lines = parameters(task), []
    for keyword, core in names.items():
        if f"\n        {keyword}:" in own:
            continue
        param = known.get(core)
        choices = [choice["name"] for choice in param["kind"].get("choices", [])] if param else []
        special = keyword in OWN and (keyword != "loss" or task in LABELLED)
        text = OWN["pairwise_edges"] if keyword == "pairwise" and task == "multilabel" else OWN[keyword] if special else ""
        if not text and param:
            text = param["doc"]
        if choices:
            text += f" Names: {', '.join(json.dumps(choice) for choice in choices)}."
        lines.append(f"        {keyword}: {text}")
    return "\n".join(lines)
