"""Sequences of tokens in the forms that they have in Python, as the core takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

_SETS = (set, frozenset)


def kind_of(x: list[Any], has_template: bool) -> str:
    """The kind of sequences: ``"rows"`` of numbers, ``"columns"`` of text (words or tuples), ``"attributes"`` (dicts,
    lists or sets of names). Lists are columns if there are templates.
    """
    all_tokens = (token for sequence in x if not hasattr(sequence, "tocsr") for token in _tokens(sequence))
    # A list without attributes says nothing of what others hold.
    first = next((token for token in all_tokens if not (isinstance(token, (list, *_SETS)) and len(token) == 0)), None)
    if isinstance(first, str):
        return "columns"
    if isinstance(first, (dict, *_SETS)):
        return "attributes"
    if isinstance(first, (tuple, list)) and len(first) > 0 and all(isinstance(cell, str) for cell in first):
        return "columns" if isinstance(first, tuple) or has_template else "attributes"
    return "rows"


def is_token(x: Any, kind: str, width: int | None) -> bool:
    """Whether this is a token, and no sequence, of what a model of this kind was trained on; of columns there are ``width``."""
    texts = isinstance(x, (list, tuple)) and len(x) > 0 and all(isinstance(cell, str) for cell in x)
    if kind == "attributes":
        return texts or isinstance(x, (dict, *_SETS))
    if kind == "columns":
        return texts and width is not None and len(x) == width > 1
    flat = isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim == 1)
    return flat and len(x) > 0 and isinstance(x[0], (int, float, np.number))


def shown(x: Any) -> str:
    """What a message repeats of a token."""
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else text[:37] + "..."


def refuse_empty(x: list[Any]) -> None:
    """Refuses sequences without a token, of which nothing tells what they are made of."""
    for i, sequence in enumerate(x):
        if isinstance(sequence, (list, tuple)) and len(sequence) == 0:
            raise ValueError(f"X[{i}] is an empty sequence: expected at least one token")


def refuse_tokens(x: list[Any], kind: str, width: int | None) -> None:
    """Refuses one sequence where a list of them is expected, and tokens of another width than the model's."""
    if any(isinstance(one, (int, float, np.number)) for one in x[:1]):
        raise ValueError("X is a list of numbers: expected a list of sequences, each of them rows of numbers")
    if is_token(x[0], kind, width):
        if kind == "attributes" and isinstance(x[0], (list, tuple)):  # a sentence of words looks the same
            trained = "the model was trained on attributes (crfsuite, jsonl), found columns of text (conll, jsonl)"
            raise ValueError(f"X[0] is {shown(x[0])}: {trained}; for one sentence pass [sentence]")
        part, whole = ("row", "sequence") if kind == "rows" else ("token", "sentence")
        raise ValueError(f"X[0] is one {part}, {shown(x[0])}: expected a list of {part}s; for one {whole} pass [{whole}]")
    if kind != "columns" or width is None:
        return
    for i, sentence in enumerate(x):
        for at, token in enumerate(_tokens(sentence)):
            cells = [token] if isinstance(token, str) else token if isinstance(token, (list, tuple)) else None
            found = width if cells is None else len(cells)
            if found != width and cells is not None and all(isinstance(cell, str) for cell in cells):
                raise ValueError(f"X[{i}][{at}] is {shown(token)}, of {_columns(found)}: the model was trained on {_columns(width)}")


def _columns(count: int) -> str:
    return f"{count} column{'' if count == 1 else 's'}"


def refuse_several(x: Any) -> None:
    """Refuses what is no sequence of one token or more: nothing, and lists of sequences."""
    if not hasattr(x, "__len__"):
        raise ValueError(f"x is a {type(x).__name__}: expected one sequence, as in X[0]")
    if (x.shape[0] if hasattr(x, "shape") and x.shape else len(x)) == 0:
        raise ValueError("x is empty: there is nothing to explain")
    inner: Any = next(iter(x)) if isinstance(x, (list, tuple)) else None
    several = hasattr(inner, "shape") and len(inner.shape) == 2
    if isinstance(inner, (list, tuple)) and len(inner) > 0:  # a token that is a sequence of more than texts
        several = not isinstance(inner[0], (str, int, float, np.number))
    if several:
        raise ValueError(f"x is a list of {len(x)} sequences: expected one of them, as in explain(X[0])")


def _tokens(sequence: Any) -> Any:
    """The tokens of a sequence; those of a data frame are its rows."""
    return sequence.to_numpy() if hasattr(sequence, "to_numpy") else sequence


def columns(i: int, sentence: Any) -> list[list[str]]:
    """The columns of every token of sentence i."""
    tokens: list[list[str]] = []
    for at, token in enumerate(sentence):
        cells: list[Any] = [token] if isinstance(token, str) else list(token) if isinstance(token, (list, tuple)) else [None]
        if not all(isinstance(cell, str) for cell in cells):
            raise ValueError(f"X[{i}][{at}] is {shown(token)}: expected text, as in X[0][0]")
        tokens.append(cells)
    return tokens
