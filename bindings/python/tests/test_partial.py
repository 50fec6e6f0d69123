"""partial="masked": unknown labels cost nothing, and are completed in rounds that lower the objective."""

import itertools
import warnings

import numpy as np
import pytest
from graph_data import COLUMNS

from multiplane import ArborescenceSSVM, ChainSSVM, ConvergenceWarning, GraphSSVM, MrfSSVM, TreeSSVM


class Chains:
    """Sequences with a label in three that is not known."""

    estimator, unknown, settings = ChainSSVM, None, {"ends": True}

    @staticmethod
    def example(rng, size):
        truth = [int(rng.integers(3))]
        while len(truth) < size:
            truth.append(truth[-1] if rng.random() < 0.75 else int(rng.integers(3)))
        return np.eye(3)[truth] + rng.normal(0, 0.9, (size, 3)), truth

    @staticmethod
    def counts(x):
        return [3] * len(x)

    @staticmethod
    def score(model, x, y):
        pairs = sum(model.pair_[a, b] for a, b in zip(y, y[1:]))
        return sum(model.unary_[label] @ row for row, label in zip(x, y)) + pairs + model.start_[y[0]] + model.end_[y[-1]]


class Trees(Chains):
    """Trees whose nodes have the labels of their parents, often."""

    estimator, settings = TreeSSVM, {"loss": "hamming-sum"}

    @staticmethod
    def example(rng, size):
        parents, truth = [-1], [int(rng.integers(3))]
        for k in range(1, size):
            parents.append(int(rng.integers(k)))
            truth.append(truth[parents[k]] if rng.random() < 0.8 else int(rng.integers(3)))
        return (np.eye(3)[truth] + rng.normal(0, 0.9, (size, 3)), parents), truth

    @staticmethod
    def counts(x):
        return [3] * len(x[0])

    @staticmethod
    def score(model, x, y):
        pairs = sum(model.pairwise_[0][y[parent], y[k]] for k, parent in enumerate(x[1]) if parent >= 0)
        return sum(model.unary_[label] @ row for row, label in zip(x[0], y)) + pairs


class Graphs(Chains):
    """Rings of nodes of two labels, solved by cuts."""

    estimator, unknown, settings = GraphSSVM, -1, {}

    @staticmethod
    def example(rng, size):
        truth = (np.arange(size) < rng.integers(1, size)).astype(int).tolist()
        edges = [(k, (k + 1) % size) for k in range(size)]
        return (np.eye(2)[truth] + rng.normal(0, 0.9, (size, 2)), edges), truth

    @staticmethod
    def counts(x):
        return [2] * len(x[0])

    @staticmethod
    def score(model, x, y):
        cut = sum(y[a] != y[b] for a, b in x[1])
        return sum(model.node_coef_[label] @ row for row, label in zip(x[0], y)) - model.edge_coef_[0] * cut


class Models(Chains):
    """Loops of nodes with up to three labels."""

    estimator, unknown, settings = MrfSSVM, -1, COLUMNS

    @staticmethod
    def example(rng, size):
        counts = rng.integers(1, 4, size)
        truth = [int(rng.integers(count)) for count in counts]
        edges = [(k, (k + 1) % size) for k in range(size)]
        unary = [rng.normal(size=(count, 2)) for count in counts]
        pairs = [rng.normal(size=(counts[a], counts[b], 3)) for a, b in edges]
        for v, table in enumerate(unary):
            table[truth[v], 0] += 1
        for (a, b), table in zip(edges, pairs):
            table[truth[a], truth[b], 1] += 1
        return (unary, np.array(edges), pairs), truth

    @staticmethod
    def counts(x):
        return [len(table) for table in x[0]]

    @staticmethod
    def score(model, x, y):
        alone = sum(model.coef_[:2] @ table[label] for table, label in zip(x[0], y))
        return alone + sum(model.coef_[1:] @ table[y[a], y[b]] for (a, b), table in zip(x[1], x[2]))


KINDS = [Chains, Trees, Graphs, Models]


def data(kind, rng, n, size, share):
    """Examples, truths, and truths of which this share is known: one label of each at least, and all labels somewhere."""
    x, y = map(list, zip(*(kind.example(rng, size) for _ in range(n))))
    known = [[label if rng.random() < share else kind.unknown for label in one] for one in y]
    for i, (one, truth) in enumerate(zip(known, y)):
        one[i % size] = truth[i % size]
    for label in [] if kind is Models else range(kind.counts(x[0])[0]):
        y[label][label] = known[label][label] = label
    return x, y, known


def objective(kind, model, x, known):
    """The objective by enumeration: loss over known parts, truths completed by the best labellings that agree with them."""
    total = model.lam_ / 2 * model.coef_ @ model.coef_
    for one, truth in zip(x, known):
        at = [k for k, label in enumerate(truth) if label != kind.unknown]
        worst = best = -np.inf
        for y in itertools.product(*map(range, kind.counts(one))):
            score = kind.score(model, one, y)
            wrong = sum(y[k] != truth[k] for k in at)
            worst = max(worst, score + (wrong if model.get_params().get("loss") == "hamming-sum" else wrong / len(at)))
            best = max(best, score if not wrong else -np.inf)
        total += (worst - best) / len(x)
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_rises(kind):
    several = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, _, known = data(kind, rng, 5, 4, 0.5)
        fit = kind.estimator(lam=[0.02, 0.1][seed % 2], partial="masked", clock="work", **kind.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit.fit(x, known)
        objectives = [turn["objective"] for turn in fit.rounds_]
        assert all(later < earlier for earlier, later in zip(objectives, objectives[1:])), objectives
        assert fit.certified_ and fit.gap_ <= 0.0101 * fit.primal_ and fit.gap_ == pytest.approx(fit.primal_ - fit.dual_)
        assert objective(kind, fit, x, known) == pytest.approx(objectives[-1], rel=1e-8, abs=1e-9)
        assert fit.primal_ == pytest.approx(objectives[-1], rel=0.02, abs=1e-9)
        several += len(objectives) > 1
    assert several >= 15


@pytest.mark.parametrize("kind", KINDS)
def test_known_parts_teach_more_than_few_whole_examples(kind):
    settings, found = {"lam": 0.02, "clock": "work", **kind.settings}, []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y, known = data(kind, rng, 60, 9, 0.4)
        known[:3] = y[:3]
        test_x, test_y, _ = data(kind, rng, 100, 9, 1.0)
        found.append([
            kind.estimator(**settings, **partial).fit(x[:n], known[:n]).score(test_x, test_y)
            for partial, n in (({"partial": "masked"}, 60), ({}, 60), ({}, 3))
        ])
    masked, left_out, dropped = np.mean(found, axis=0)
    print(f"{kind.__name__}: masked {masked:.3f}, left out {left_out:.3f}, three whole examples {dropped:.3f}")
    assert masked > dropped + 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_with_nothing_to_complete_all_is_as_it_was(kind):
    x, y, known = data(kind, np.random.default_rng(1), 8, 5, 1.0)
    other = kind.estimator(lam=0.05, clock="work", **kind.settings)
    masked = kind.estimator(lam=0.05, clock="work", partial="masked", **kind.settings)
    np.testing.assert_array_equal(masked.fit(x, y).coef_, other.fit(x, y).coef_)
    assert masked.rounds_ == []
    none = [[kind.unknown] * len(one) for one in y[4:]]  # examples that say nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(masked.fit(x, y[:4] + none).coef_, other.fit(x, y[:4] + none).coef_)
    with pytest.raises(ValueError, match="label"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        masked.fit(x, [[kind.unknown] * len(one) for one in y])


def test_solvers_losses_and_weights():
    x, _, known = data(Chains, np.random.default_rng(2), 8, 5, 0.5)
    first = None
    for solver in ("auto", "mp-bcfw", "one-slack", "bcpfw-gap"):
        fit = ChainSSVM(lam=0.1, solver=solver, gap="0.5%", partial="masked", class_weight={0: 2.0}, clock="work").fit(x, known)
        first = first or fit.primal_
        assert fit.certified_ and fit.primal_ == pytest.approx(first, rel=0.1)
    weights = [1.0, 2.0] * 4
    twice = [i for i, weight in enumerate(weights) for _ in range(int(weight))]
    one = ChainSSVM(lam=0.1, gap=1e-7, partial="masked", clock="work").fit(x, known, sample_weight=weights)
    other = ChainSSVM(lam=0.1, gap=1e-7, partial="masked", clock="work").fit([x[i] for i in twice], [known[i] for i in twice])
    assert one.rounds_[-1]["objective"] == pytest.approx(other.rounds_[-1]["objective"], rel=1e-3)
    with pytest.warns(ConvergenceWarning):
        ended = ChainSSVM(lam=0.1, partial="masked", gap="1%", seconds=1e-9).fit(x, known)
    assert ended.rounds_ == [] and ended.stop_reason_ == "seconds" and not ended.certified_


def test_models_say_how_they_were_trained(tmp_path):
    x, _, known = data(Graphs, np.random.default_rng(3), 6, 5, 0.5)
    fit = GraphSSVM(lam=0.1, partial="masked", clock="work").fit(x, known)
    fit.save(tmp_path / "model.safetensors")
    again = GraphSSVM.load(tmp_path / "model.safetensors")
    assert again.partial == "masked" and again.primal_ == fit.primal_
    assert all((a == b).all() for a, b in zip(again.predict(x), fit.predict(x)))


def test_bad_input():
    x, _, known = data(Chains, np.random.default_rng(4), 6, 5, 0.5)
    for settings, text in [
        ({"partial": "fixed"}, "unknown partial `fixed`: expected one of `left-out`, `masked`"),
        ({"warm_start": True}, "partial = masked: takes several runs, of which there is no warm start"),
        ({"rescaling": "slack"}, "partial = masked: not with a kernel or rescaling = slack"),
        ({"kernel": "rbf"}, "partial = masked: not with a kernel"),
        ({"passes": 5}, "partial = masked: rounds need a gap to stop at"),
    ]:
        with pytest.raises(ValueError, match=text):
            ChainSSVM(**{"partial": "masked", **settings}).fit(x, known)
    with pytest.raises(ValueError, match="partial = masked: a path completes no truths"):
        ChainSSVM(partial="masked").path(x, known)
    with pytest.raises(ValueError, match=r"partial = masked: example 0 \(from 0\): no labelling that is allowed has the known"):
        ChainSSVM(partial="masked", transitions=["a>c", "b>c"]).fit(
            [np.eye(3)] * 3, [["a", None, "c"], ["a", "b", "a"], ["c", "c", "c"]]
        )
    with pytest.raises(ValueError, match="partial = masked: with task.structure=arborescence heads are known"):
        ArborescenceSSVM(params={"task.partial": "masked"}).fit([np.eye(2)], [[-1, 0]])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Models])
def test_labels_that_training_never_saw_are_told(kind):
    """Once, with their names, and counted as errors; labels as texts are those that they name."""
    x, y, _ = data(kind, np.random.default_rng(2), 8, 5, 1.0)
    model = kind.estimator(lam=0.05, clock="work", **kind.settings).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        usual = model.score(x, y)
    new = [[7, *list(one)[1:]] for one in y]
    with pytest.warns(UserWarning, match="^y has labels that training never saw, which count as errors: '7'$"):
        assert model.score(x, new) <= usual
