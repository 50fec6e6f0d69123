"""What taggers need: steps that are forbidden, probabilities of labels, treebanks."""

import warnings

import numpy as np
import pytest

import multiplane
from multiplane import ArborescenceSSVM, ChainSSVM, TreeSSVM

CONLLU = """\
# text = Dogs bark.
1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_
2-3\tbark.\t_\t_\t_\t_\t_\t_\t_\t_
2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_
2.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


def noisy(n, seed, noise=1.2):
    """Sequences of tags in which no I follows O, and features that say little of them."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        tags = [0]
        while len(tags) < 9:
            tags.append(int(rng.choice([0, 1, 2] if tags[-1] else [0, 1])))
        y.append([("O", "B", "I")[tag] for tag in tags])
        x.append(np.eye(3)[tags] + noise * rng.normal(size=(9, 3)))
    return x, y


def broken(tags):
    return sum(b == "I" and a == "O" for a, b in zip(["O", *tags], tags, strict=False))


@pytest.mark.parametrize("solver", ["auto", "bcpl", "ssg"])
def test_no_answer_takes_a_forbidden_step(solver, tmp_path):
    """Also of a model read from a file, and at every rank."""
    x, y = noisy(30, 0, noise=5)
    new, _ = noisy(30, 1, noise=5)
    work = {"lam": 0.01, "passes": 1, "clock": "work", "solver": solver}
    assert sum(map(broken, ChainSSVM(**work).fit(x, y).predict(new))) > 0
    for rule in ("bio", ["O>I", ">I"]):
        model = ChainSSVM(transitions=rule, **work).fit(x, y)
        model.save(tmp_path / "m")
        for used in (model, multiplane.load(tmp_path / "m")):
            assert sum(map(broken, used.predict(new))) == 0
            assert sum(broken(tags) for found in used.predict_top(new, 5) for tags in found.labels) == 0
    with pytest.raises(ValueError, match=r"found `I` after `O`, which (task\.)?transitions"):
        ChainSSVM(transitions="bio", **work).fit([*x, x[0]], [*y, ["B", "O", *"I" * 7]])
    with pytest.raises(ValueError, match="expected bio, bioes, bilou"):
        ChainSSVM(transitions="O>X", **work).fit(x, y)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", [ChainSSVM, TreeSSVM])
def test_scores_tell_of_names_that_the_model_lacks(kind, bias):
    """Once, where more than half of the features are not known by name; `predict` keeps silent."""
    rng = np.random.default_rng(0)
    tags = [["A", "B", "A"]] * 8
    tokens = [[{f"is{tag}": 1.0, "x": float(rng.normal())} for tag in one] for one in tags]
    of = lambda tokens: tokens if kind is ChainSSVM else [(one, [-1, 0, 1]) for one in tokens]
    renamed = lambda names: [[{names.get(name, name): value for name, value in token.items()} for token in one] for one in tokens]
    model = kind(lam=0.1, passes=3, bias=bias).fit(of(tokens), tags)
    most = renamed({"isA": "a", "isB": "b", "x": "y"})
    with pytest.warns(UserWarning, match="^48 of 48 features in X have names that the model does not know") as told:
        model.score(of(most), tags)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(of(most))
        model.score(of(renamed({"x": "y"})), tags)  # half
        model.score(of(tokens), tags)


def by_listing(model, x, labels):
    """Probabilities of labels by the scores of all labellings."""
    top = model.predict_top([x], 3000)[0]
    shares = np.exp(top.scores - top.scores.max())
    tables = np.zeros((len(top.labels[0]), len(labels)))
    for found, share in zip(top.labels, shares, strict=True):
        for part, label in enumerate(found):
            tables[part, labels.index(label)] += share
    return tables / shares.sum()


@pytest.mark.parametrize("transitions", [None, "bio"])
def test_marginals_of_chains(transitions):
    x, y = noisy(20, 3)
    model = ChainSSVM(transitions=transitions, ends=True, lam=0.01, passes=4, clock="work").fit(x, y)
    for one, found in zip(x, model.predict_marginals([one[:5] for one in x]), strict=True):
        np.testing.assert_allclose(found, by_listing(model, one[:5], model.classes_.tolist()), atol=1e-9)
    assert model.predict_marginals([]) == []


def test_marginals_of_trees(tmp_path):
    """Of labels of nodes, and of heads, the root first."""
    rng = np.random.default_rng(5)
    parents = [[-1, 0, 0, 1], [1, -1, 1, 2]]
    x = [(rng.normal(size=(4, 3)), heads, None) for heads in parents]
    model = TreeSSVM(lam=0.1, passes=4, clock="work").fit(x, [["a", "b", "b", "a"], ["b", "a", "a", "a"]])
    for one, found in zip(x, model.predict_marginals(x), strict=True):
        np.testing.assert_allclose(found, by_listing(model, one, model.classes_.tolist()), atol=1e-9)
    rows = [one[0] for one in x]
    model = ArborescenceSSVM(lam=0.1, passes=4, clock="work").fit(rows, parents)
    for one, found in zip(rows, model.predict_marginals(rows), strict=True):
        np.testing.assert_allclose(found, by_listing(model, one, [-1, 0, 1, 2, 3]), atol=1e-9)


def test_treebanks(tmp_path):
    """Words alone, as columns and as trees; another label by its name; other files have no such."""
    (tmp_path / "t.conllu").write_text(CONLLU * 2)
    x, y = multiplane.load_conll(tmp_path / "t.conllu")
    assert x[0][0] == ("Dogs", "_", "NNS", "dog", "Number=Plur") and y[1] == ["NOUN", "VERB", "PUNCT"]
    assert multiplane.load_conll(tmp_path / "t.conllu", label_column="xpos")[1][0] == ["NNS", "VBP", "."]
    trees, labels = multiplane.load_trees(tmp_path / "t.conllu")
    features, parents, types = trees[1]
    assert features[0] == {"form=Dogs": 1, "xpos=NNS": 1, "lemma=dog": 1, "Number=Plur": 1}
    assert parents.tolist() == [1, -1, 1] and types == ["nsubj", "root", "punct"] and labels == y
    assert [tags.tolist() for tags in ChainSSVM().fit(x, y).predict(x)] == y
    assert [tags.tolist() for tags in TreeSSVM().fit(trees, labels).predict(trees)] == labels
    (tmp_path / "s.conll").write_text("a\tO\n12 000\tB-X\n")
    assert multiplane.load_conll(tmp_path / "s.conll") == ([[("a",), ("12 000",)]], [["O", "B-X"]])
    (tmp_path / "gaps.conllu").write_text(CONLLU.replace("\tVERB\t", "\t_\t") * 2)
    x, y = multiplane.load_conll(tmp_path / "gaps.conllu")
    assert y[0] == ["NOUN", None, "PUNCT"] == multiplane.load_trees(tmp_path / "gaps.conllu")[1][0]
    assert ChainSSVM(passes=2).fit(x, y).classes_.tolist() == ["NOUN", "PUNCT"]
    assert multiplane.load_conll(tmp_path / "gaps.conllu", label_column="feats")[1][0][1:] == ["_", "_"]
    with pytest.raises(ValueError, match="whose names end in .conllu"):
        multiplane.load_conll(tmp_path / "s.conll", label_column="upos")
    (tmp_path / "cycle.conllu").write_text(CONLLU.replace("\t0\troot", "\t1\troot"))
    assert len(multiplane.load_conll(tmp_path / "cycle.conllu")[0]) == 1
    with pytest.raises(ValueError, match=r"cycle.conllu:2:1: node 0: found the cycle"):
        multiplane.load_trees(tmp_path / "cycle.conllu")
