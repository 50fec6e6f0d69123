"""Data files: the readers of the command line, as arrays."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Never, overload

import numpy as np
from numpy.typing import NDArray

from multiplane import _core
from multiplane._costs import labels_named
from multiplane._errors import warn
from multiplane._words import like


def _csr(dataset: _core.Dataset) -> tuple[Any, ...]:
    offsets, indices, values, *rest = dataset.parts()
    return (*(np.frombuffer(part, dtype=np.int64) for part in (offsets, indices)), np.frombuffer(values, dtype=np.float64), *rest)


def _dense(offsets: Any, indices: Any, values: Any, columns: int) -> NDArray[np.float64]:
    out = np.zeros((len(offsets) - 1, columns))
    out[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), indices] = values
    return out


def load_libsvm(
    path: str | os.PathLike[str], *, features: int | None = None, sparse: bool | None = None
) -> tuple[Any, NDArray[Any]]:
    """Reads LIBSVM / SVM-light text (plain or gzip) whose labels are whole numbers, or names.

    Args:
        path: The file; column k of ``X`` is index k + 1.
        features: Columns of ``X``, as many as the training data has where this is test data; by default the largest
            index of the file. Values beyond are left out, with one warning.
        sparse: Whether ``X`` is a SciPy CSR matrix; by default where less than half of it is filled and SciPy is
            there.

    Returns:
        ``X`` (``[n, features]``) and ``y`` (``[n]``, int64 or text). Raises ValueError with file, line and column for bad lines.
    """
    return _rows(_core.Dataset.read(path, "libsvm"), sparse, features)


@overload
def load_csv(
    path: str | os.PathLike[str], *, label_column: str | int | None = None,
    ignore: str | int | Sequence[str | int] = (), separator: str | None = None, names: Literal[False] = False,
    sparse: bool | None = None,
) -> tuple[Any, NDArray[Any]]: ...  # fmt: skip


@overload
def load_csv(
    path: str | os.PathLike[str], *, label_column: str | int | None = None,
    ignore: str | int | Sequence[str | int] = (), separator: str | None = None, names: Literal[True],
    sparse: bool | None = None,
) -> tuple[Any, NDArray[Any], list[str] | None]: ...  # fmt: skip


def load_csv(
    path: str | os.PathLike[str], *, label_column: str | int | None = None,
    ignore: str | int | Sequence[str | int] = (), separator: str | None = None, names: bool = False,
    sparse: bool | None = None, **unknown: Never,
) -> Any:  # fmt: skip
    """Reads a table of numbers with a label in each row (plain or gzip), as the command line does: a first line without numbers
    names the columns, fields may stand in quotation marks, labels are whole numbers or names.

    Args:
        path: The file.
        label_column: The column of the labels: its name in the header, or its number, from 1, or from -1 for the last one
            backwards; the last one where not given (``data.label_column`` of the command line).
        ignore: Columns that are left out, such as numbers of rows, one or a list of them, each as ``label_column`` (``data.ignore``).
        separator: What divides columns, one character or ``"tab"``; of tab, semicolon and comma what the first line has where
            not given (``data.separator``).
        names: Whether the names of the features' columns are wanted, too.
        sparse: Whether ``X`` is a SciPy CSR matrix; as in :func:`load_libsvm`.

    Returns:
        ``X`` (``[n, features]``) and ``y`` (``[n]``, int64 or text); with ``names`` a list of names after them, None where the file
        names no columns, or two alike. Estimators know columns by name where they are those of a DataFrame:
        ``pandas.DataFrame(X, columns=names)``. Raises OSError where the file cannot be read, ValueError with file, line and
        column for bad lines.
    """
    for name in unknown:
        arguments = ("label_column", "ignore", "separator", "names", "sparse")
        raise TypeError(f"load_csv() got an unexpected keyword argument {name!r}{like(name, arguments, 0.5)}")
    a_column = "the name of a column, or its number from 1 (from -1 backwards)"
    if label_column is not None and not _names_a_column(label_column):
        raise ValueError(f"label_column = {label_column!r}: expected {a_column}")
    ignored = [ignore] if _names_a_column(ignore) else ignore
    if isinstance(ignored, (bytes, dict)) or not isinstance(ignored, Iterable):
        raise ValueError(f"ignore = {ignore!r}: expected {a_column}, or a list of them")
    ignored = list(ignored)
    if not all(map(_names_a_column, ignored)):
        raise ValueError(f"ignore = {ignore!r}: expected {a_column}, or a list of them")
    if separator is not None and not isinstance(separator, str):
        raise ValueError(f"separator = {separator!r}: expected one character, or 'tab'")
    rules = {
        "label_column": None if label_column is None else str(label_column),
        "ignore": [str(column) for column in ignored] or None,
        "separator": separator,
    }
    given = {name: value for name, value in rules.items() if value is not None}
    try:
        dataset = _core.Dataset.read(path, "csv", rules=json.dumps(given) if given else None)
    except ValueError as error:
        text = str(error)
        for name in rules:
            text = text.replace(f"set data.{name}=", f"{name}=").replace(f"data.{name}", name)
        # A column's number, or its name, which is a text here.
        advice = re.search(r"(?:ignore|label_column)=-?[0-9]+ \(or =(.*)\)$", text)
        if advice is not None:
            text = f"{text[: advice.start(1)]}{advice[1]!r})"
        raise ValueError(text) from None
    found = _rows(dataset, sparse)
    return (*found, dataset.column_names()) if names else found


def _names_a_column(column: object) -> bool:
    return isinstance(column, (str, int, np.integer)) and not isinstance(column, bool)


def _fitted(parts: tuple[Any, ...], features: int | None) -> tuple[Any, ...]:
    """CSR parts with so many columns."""
    offsets, indices, values, columns, ends, labels = parts
    if features is None or columns <= features:
        return offsets, indices, values, features or columns, ends, labels
    kept = indices < features
    warn(f"{int((~kept).sum())} values of features beyond {features} are left out")
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[offsets], indices[kept], values[kept], features, ends, labels


def _rows(dataset: _core.Dataset, sparse: bool | None, features: int | None = None) -> tuple[Any, NDArray[Any]]:
    offsets, indices, values, columns, _, labels = _fitted(_csr(dataset), features)
    return _matrix(offsets, indices, values, columns, sparse), labels_named(labels)


def _matrix(offsets: Any, indices: Any, values: Any, columns: int, sparse: bool | None) -> Any:
    """A CSR matrix or an array."""
    n = len(offsets) - 1
    if sparse is None:
        try:
            import scipy.sparse  # noqa: F401

            sparse = 2 * len(values) < n * columns
        except ImportError:
            sparse = False
    if sparse:
        from scipy.sparse import csr_matrix

        return csr_matrix((values, indices, offsets), shape=(n, columns))
    return _dense(offsets, indices, values, columns)


def load_multilabel(
    path: str | os.PathLike[str],
    *,
    features: int | None = None,
    labels: Sequence[Any] | None = None,
    sparse: bool | None = None,
) -> tuple[Any, NDArray[np.int64], NDArray[Any]]:
    """Reads LIBSVM text with lists of labels, ``label,label index:value ...`` (plain or gzip).

    Args:
        path: The file.
        features: Columns of ``X``; as in :func:`load_libsvm`.
        labels: The labels that the columns of ``y`` stand for, as the training data has where this is test data; by
            default those of the file, in ascending order. Others are left out, with one warning.
        sparse: Whether ``X`` is a SciPy CSR matrix; as in :func:`load_libsvm`.

    Returns:
        ``X`` (``[n, features]``), ``y`` (``[n, labels]``, 0 and 1) and the labels of its columns. Raises ValueError with
        file, line and column for bad lines.
    """
    dataset = _core.Dataset.read(path, "multilabel")
    offsets, indices, values, columns, _, rows = _fitted(_csr(dataset), features)
    sets = [row.split(",") if row else [] for row in rows]
    known = dataset.names() if labels is None else [str(label) for label in labels]
    column = {name: k for k, name in enumerate(known)}
    y = np.zeros((len(sets), len(known)), dtype=np.int64)
    left_out = 0
    for i, names in enumerate(sets):
        for name in names:
            if name in column:
                y[i, column[name]] = 1
            else:
                left_out += 1
    if left_out:
        warn(f"{left_out} labels that are not among those given are left out")
    return _matrix(offsets, indices, values, columns, sparse), y, labels_named(known)


def _sequences(
    dataset: _core.Dataset, features: int | None = None
) -> tuple[list[NDArray[np.float64]], list[NDArray[Any]]]:
    offsets, indices, values, columns, ends, labels = _fitted(_csr(dataset), features)
    names = labels_named(labels)
    x = [_dense(*rows, columns) for rows in _divided(offsets, indices, values, ends)]
    return x, [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _divided(offsets: Any, indices: Any, values: Any, ends: list[int]) -> Iterator[tuple[Any, Any, Any]]:
    """The rows of each example, as CSR parts of their own."""
    for start, end in zip([0, *ends], ends, strict=False):
        first, last = offsets[start], offsets[end]
        yield offsets[start : end + 1] - first, indices[first:last], values[first:last]


def load_letters(
    path: str | os.PathLike[str], folds: Sequence[int] | int | None = None
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.str_]]]:
    """Reads letter.data, Taskar's handwritten words (plain or gzip).

    Args:
        path: The file.
        folds: The folds to use; all where not given.

    Returns:
        ``X``, a list of arrays ``[length, 128]`` of pixels, and ``y``, a list of arrays ``[length]`` of letters.
    """
    chosen = [folds] if isinstance(folds, int) else None if folds is None else [int(fold) for fold in folds]
    return _sequences(_core.Dataset.read(path, "letter", chosen))


def load_hmm(
    path: str | os.PathLike[str], *, features: int | None = None
) -> tuple[list[NDArray[np.float64]], list[NDArray[Any]]]:
    """Reads SVM-hmm text (``TAG qid:N index:value ...``): lists of arrays ``[length, features]`` and of tags.

    ``features`` is as in :func:`load_libsvm`.
    """
    return _sequences(_core.Dataset.read(path, "hmm"), features)


def _treebank(path: str | os.PathLike[str], label_column: str | None) -> _core.Dataset | None:
    """A file in CoNLL-U, which its name ends in; None if it is another."""
    if not os.fspath(path).lower().removesuffix(".gz").endswith(".conllu"):
        if label_column is not None:
            raise ValueError(f"label_column = {label_column!r} is for treebanks, whose names end in .conllu")
        return None
    rules = json.dumps({"label_column": label_column}) if label_column is not None else None
    return _core.Dataset.read(path, "conllu", rules=rules)


def load_conll(
    path: str | os.PathLike[str], *, label_column: str | None = None
) -> tuple[list[list[tuple[str, ...]]], list[list[str | None]]]:
    """Reads columns of text, the last being the label, with empty lines between sentences; and CoNLL-U (``.conllu``).

    Args:
        path: The file. If its first line has a tab, tabs divide columns, and a column may hold spaces.
        label_column: Of CoNLL-U the column that is the label: ``"upos"``, which is the default, ``"xpos"``, ``"lemma"``, ``"feats"``
            or ``"deprel"``.

    Returns:
        ``X``, a list of sentences whose tokens are tuples of the other columns (of CoNLL-U form, upos, xpos, lemma, feats, the label
        being ``"_"``), and ``y``, a list of lists of labels; None for one that is ``"_"``, but in ``lemma`` and ``feats``.
    """
    sentences = (_treebank(path, label_column) or _core.Dataset.read(path, "conll")).tokens()
    x = [[tuple(token[:-1]) for token in sentence] for sentence in sentences]
    return x, [[token[-1] or None for token in sentence] for sentence in sentences]


def load_crfsuite(path: str | os.PathLike[str]) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Reads CRFsuite's text, ``label TAB attribute TAB attribute:weight ...`` with empty lines between sequences (plain or gzip).

    Returns:
        ``X``, a list of sequences whose tokens are dicts of attributes with their weights, as :class:`ChainSSVM` takes them, and ``y``,
        a list of lists of labels. Raises OSError where the file cannot be read, ValueError with file, line and column for bad lines.
    """
    dataset = _core.Dataset.read(path, "crfsuite")
    offsets, indices, values, _, ends, labels = _csr(dataset)
    tokens = _named(offsets, indices, values, dataset.column_names() or [])
    spans = list(zip([0, *ends], ends, strict=False))
    return [tokens[first:last] for first, last in spans], [labels[first:last] for first, last in spans]


def load_trees(
    path: str | os.PathLike[str], *, label_column: str | None = None
) -> tuple[list[tuple[Any, Any, list[str | None]]], list[list[str | None]]]:
    """Reads trees, an object of JSON a line (plain or gzip); and CoNLL-U (``.conllu``), whose features are
    ``form=...``, ``upos=...`` and so on, but for the label (``label_column``, as of :func:`load_conll`).

    Returns:
        ``X``, a list of ``(features, parents, types)`` as :class:`TreeSSVM` takes them: an array ``[nodes, features]`` or a
        list of dicts, an array of parents with -1 at roots (None where they are not given), the types of the edges to the
        parents; and ``y``, a list of lists of labels. None stands for a label or type that is not there.
        :class:`ArborescenceSSVM` is trained on the features and the parents alone. Raises ValueError with file, line and
        column for bad lines.
    """
    bank = _treebank(path, label_column)
    dataset = _core.Dataset.read(path, "tree") if bank is None else bank.trees()
    offsets, indices, values, columns, ends, _ = _csr(dataset)
    names, parents, types, labels = dataset.tree_parts()
    spans = list(zip([0, *ends], ends, strict=False))
    x: list[tuple[Any, Any, list[str | None]]] = []
    for rows, found, (start, end) in zip(_divided(offsets, indices, values, ends), parents, spans, strict=True):
        features: Any = _dense(*rows, columns) if names is None else _named(*rows, names)
        x.append((features, None if found is None else np.array(found, dtype=np.int64), types[start:end]))
    return x, [labels[start:end] for start, end in spans]


def _named(offsets: Any, indices: Any, values: Any, names: list[str]) -> list[dict[str, float]]:
    entries = [(names[index], value) for index, value in zip(indices.tolist(), values.tolist(), strict=True)]
    return [dict(entries[first:last]) for first, last in zip(offsets[:-1], offsets[1:], strict=True)]
