"""What GraphSSVM, MrfSSVM and MultiLabelSSVM share: files, searches, paths, threads; of the first two, containers and lists."""

import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_data import COLUMNS, graph_arrays, grids, models, mrf_arrays, scenes

import multiplane
from multiplane import GraphSSVM, MrfSSVM, MultiLabelSSVM


@dataclass
class Kind:
    """An estimator with data for it."""

    estimator: type
    data: Callable[..., tuple[Any, Any]]
    params: dict[str, Any]
    """Parameters of its task, other than the defaults."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What it needs to know of the data, which files of models do not hold."""
    things: str = ""
    arrays: Callable[..., dict[str, Any]] | None = None
    spoiled: list[Any] = field(default_factory=list)
    """Tensors of a container, what makes them wrong, and what is said then."""

    def make(self, **options):
        return self.estimator(**self.arguments, **options)


KINDS = {
    "graph": Kind(
        GraphSSVM, grids, {"task.potts": 0.1}, things="graphs", arrays=graph_arrays,
        spoiled=[
            ("edges", lambda a: np.full_like(a, 50), "edges: found node 50 of an example with 9 nodes"),
            ("labels", lambda a: a - 3, "labels: found -"),
            ("node_offsets", lambda a: a + 1, "node_offsets"),
        ],
    ),
    "mrf": Kind(
        MrfSSVM, models, {"task.max_iterations": 30}, COLUMNS, things="models", arrays=mrf_arrays,
        spoiled=[
            ("edges", lambda a: np.full_like(a, 50), "edges: found node 50 of an example with 4 nodes"),
            ("labels", lambda a: a + 3, "labels: found [3-5] at row 0 .example 0, its row 0."),
            ("pair_offsets", lambda a: a[:-1], "pair_offsets: found 48 numbers"),
            ("pair_feature_columns", lambda a: np.array([1, 2, 9]), "found no column of feature 3"),
        ],
    ),
    "multilabel": Kind(MultiLabelSSVM, scenes, {"task.pairwise": {"name": "tree"}}),
}  # fmt: skip

everyone = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
of_nodes = pytest.mark.parametrize("kind", [KINDS["graph"], KINDS["mrf"]], ids=["graph", "mrf"])


def same(one, other):
    """Whether two predictions are."""
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@everyone
def test_files_pickle_and_clone(kind, tmp_path):
    """A model that travelled predicts the same; a clone has the parameters alone; files know whose they are."""
    sklearn = pytest.importorskip("sklearn.base")
    x, y = kind.data()
    model = kind.make(lam=0.1, params=kind.params).fit(x, y)
    model.save(tmp_path / "m.safetensors")
    again = multiplane.load(tmp_path / "m.safetensors")
    keywords = {key.removeprefix("task."): value for key, value in kind.params.items()}
    named = {key: value["name"] if isinstance(value, dict) else value for key, value in keywords.items()}
    assert type(again) is kind.estimator and again.params is None and named.items() <= again.get_params().items()
    for other in (again, pickle.loads(pickle.dumps(model)), kind.estimator.load(tmp_path / "m.safetensors")):
        assert same(model.predict(x), other.set_params(**kind.arguments).predict(x))
        assert other.score(x, y) == model.score(x, y) and np.array_equal(other.coef_, model.coef_)
    copy = sklearn.clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "coef_")
    with pytest.raises(ValueError, match=f"m.safetensors: holds a {kind.estimator.__name__}, expected a ChainSSVM"):
        multiplane.ChainSSVM.load(tmp_path / "m.safetensors")


@everyone
def test_searches_and_check(kind):
    """GridSearchCV chooses among them; the doctor finds no fault, and knows the data that fit knows."""
    sklearn = pytest.importorskip("sklearn.model_selection")
    x, y = kind.data(n=60 if kind.estimator is MultiLabelSSVM else 18)
    search = sklearn.GridSearchCV(kind.make(gap="2%"), {"lam": [0.01, 1.0]}, cv=3)
    assert search.fit(x, y).best_score_ > 0.5
    findings = kind.make(lam=0.1).check(x, y)
    assert list(findings) == [] and "no fault found" in str(findings)


@everyone
def test_paths_and_warm_starts(kind):
    """A path is followed without a trace in the estimator; a second fit goes on, and one on other data begins anew."""
    x, y = kind.data()
    model = kind.make(lam=0.1, passes=3, clock="work", warm_start=True)
    other = kind.make()
    assert len(other.path(x, y, eps=0.3, lambda_min=0.01).lambdas_) >= 1 and not hasattr(other, "coef_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = model.fit(x, y)
        gap, calls = first.gap_, first.summary_["oracle_calls"]
        assert model.fit(x, y).gap_ <= gap + 1e-12 and model.summary_["oracle_calls"] > calls
        assert model.fit(x[:-1], y[:-1]).summary_["oracle_calls"] <= calls


@everyone
def test_the_same_bytes_on_threads(kind):
    """Whole processes on one thread and on two."""
    script = (
        "import sys; sys.path.insert(0, {here!r}); import hashlib; from test_graph_like import KINDS\n"
        "kind = KINDS[{name!r}]; x, y = kind.data(); m = kind.make(lam=0.05, threads={threads}).fit(x, y)\n"
        "print(hashlib.sha256(m._model.to_bytes()).hexdigest())"
    )
    here, name = str(Path(__file__).parent), kind.estimator._task
    runs = [
        subprocess.run(
            [sys.executable, "-c", script.format(here=here, name=name, threads=threads)],
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in (1, 2)
    ]  # fmt: skip
    assert runs[0] == runs[1] and len(runs[0]) == 65


@of_nodes
def test_containers_are_data(kind, tmp_path):
    """The path of a container trains, predicts and scores as its arrays; spoiled ones are refused with what and where."""
    safetensors = pytest.importorskip("safetensors.numpy")
    x, y = kind.data()
    arrays, path = kind.arrays(x, y), tmp_path / "data.safetensors"
    safetensors.save_file(arrays, path)
    of_file, of_arrays = kind.estimator(lam=0.1, clock="work").fit(path), kind.make(lam=0.1, clock="work").fit(x, y)
    np.testing.assert_array_equal(of_file.coef_, of_arrays.coef_)
    assert of_file.score(path) == of_arrays.score(x, y)
    assert same(of_file.predict(str(path)), of_arrays.predict(x))
    for wrong in ({"y": y}, {"node_weights": [np.ones(len(one)) for one in y]}):
        with pytest.raises(ValueError, match="holds its labels"):
            kind.estimator().fit(path, **wrong)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(ValueError, match="cut short"):
        kind.estimator().fit(path)
    for name, spoil, message in kind.spoiled:
        safetensors.save_file({**arrays, name: spoil(arrays[name])}, path)
        with pytest.raises(ValueError, match=message):
            kind.estimator().fit(path)
    with pytest.raises(FileNotFoundError, match="none"):
        of_file.predict(tmp_path / "none")


@of_nodes
def test_lists_that_do_not_fit_are_told(kind):
    """What is no list, has another length or shape; the estimator stays what it was."""
    x, y = kind.data()
    nodes = len(y[0])
    model = kind.make(lam=0.1).fit(x, y)
    before = model.coef_
    bad = [
        ((7, y), {}, f"X is a int: expected a list of {kind.things}, or the path of a container"),
        (({"a": 1}, y), {}, "X is a dict: expected a list"),
        (([], []), {}, f"X is empty: expected at least one {kind.things[:-1]}"),
        ((x, None), {}, "requires y to be passed"),
        ((x, 7), {}, "y is a int: expected a list of arrays"),
        ((x, y[:-1]), {}, "X has 12 examples, y has 11"),
        ((x, [one[:-1] for one in y]), {}, rf"y\[0\] has the shape \({nodes - 1},\), expected one label for each of {nodes}"),
        ((x, [y[0], [[1], [1, 2]], *y[2:]]), {}, r"y\[1\]: expected an array of one dimension"),
        ((x, y), {"node_weights": [np.ones(nodes)]}, "X has 12 examples, node_weights has 1"),
        ((x, y), {"node_weights": [np.ones(nodes + 1)] * 12}, rf"node_weights\[0\] has the shape \({nodes + 1},\), expected"),
        ((x, y), {"node_weights": [["a"] * nodes] * 12}, r"node_weights\[0\]: expected numbers"),
        ((x, y), {"X_test": x, "y_test": y[:-1]}, "X has 12 examples, y_test has 11"),
    ]
    for inputs, options, message in bad:
        with pytest.raises(ValueError, match=message):
            model.fit(*inputs, **options)
        assert model.coef_ is before
    assert model.predict([]) == []
    with pytest.raises(ValueError, match="not fitted"):
        kind.make().predict(x)
