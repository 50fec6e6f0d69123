"""Changes of training data: the map of ids, what is refused, and that the optimum lies within the bounds."""

import numpy as np
import pytest

import multiplane as mp

def words(n, seed=0):
    """Sequences whose labels mostly follow their features, some of them with noise."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        length = int(rng.integers(2, 6))
        labels = rng.integers(0, 3, length)
        rows = np.eye(3)[labels] + 0.7 * rng.standard_normal((length, 3))
        x.append(rows)
        y.append([str(label) for label in labels])
    return x, y


def rows(n, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return np.eye(classes)[y] + 0.6 * rng.standard_normal((n, classes)), np.array([f"class {label}" for label in y])


def chain(**more):
    return mp.ChainSSVM(**{"dual": True, "lam": "1/n", "gap": "1%", "clock": "work", **more})


def overlap(one, other):
    return one.dual_ <= other.primal_ + 1e-9 and other.dual_ <= one.primal_ + 1e-9


def test_an_update_is_a_fit_of_the_changed_data():
    """Each change by itself and all together: the same bounds, up to the gap, as a fit from the beginning."""
    x, y = words(40)
    new_x, new_y = words(5, seed=1)
    changed = ["0"] * len(y[7])
    for changes in (
        {"remove": [3, 17]},
        {"relabel": {7: changed}},
        {"add": (new_x, new_y)},
        {"weights": {5: 3.0}},
        {"remove": [3, 17], "relabel": {7: changed}, "add": (new_x, new_y), "weights": {5: 3.0}},
    ):
        model = chain().fit(x, y).update(**changes)
        gone = changes.get("remove", [])
        left = [k for k in range(40) if k not in gone]
        now_y = [changed if k in changes.get("relabel", {}) else y[k] for k in left]
        weight = [changes.get("weights", {}).get(k, 1.0) for k in left]
        more_x, more_y = changes.get("add", ([], []))
        fresh = chain().fit([x[k] for k in left] + more_x, now_y + more_y, sample_weight=weight + [1.0] * len(more_x))
        assert overlap(model, fresh), changes
        assert model.certified_ and model.gap_ <= 0.01 * model.primal_
        start = model.summary_["update"]
        relabelled = len(changes.get("relabel", {}))
        assert (start["kept"], start["removed"]) == (len(left) - relabelled, len(gone) + relabelled)
        assert start["added"] == len(more_x) + relabelled
        assert start["dual"] <= fresh.primal_ + 1e-9


def test_ids_stay_with_their_examples():
    """Numbers of before mean the same example after others went; added ones get the next; names of one's own are taken."""
    x, y = words(12)
    model = chain().fit(x, y).update(remove=[0, 5])
    assert model.ids_ == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    model.update(remove=[11], add=(x[:2], y[:2]))
    assert model.ids_ == [1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13]
    model.ids_ = [f"word {k}" for k in model.ids_]
    model.update(remove=["word 4"], add=(x[:1], y[:1]), ids=["another"])
    assert model.ids_[-1] == "another" and "word 4" not in model.ids_


def test_classes_with_names_may_grow():
    """Classes are known by name, although their numbers change: the bounds are true, and the old weights are kept."""
    x, y = rows(60)
    model = mp.MulticlassSSVM(dual=True, lam=0.05, gap="1%", clock="work").fit(x, y)
    new = np.array([[0.5, 0.5, 0.5], [0.4, 0.6, 0.5]])
    before = model.dual_
    model.update(add=(new, np.array(["another", "another"])))
    assert list(model.classes_) == ["another", "class 0", "class 1", "class 2"]
    assert model.summary_["update"]["dual"] > 0.5 * before
    everything = np.vstack([x, new]), np.concatenate([y, ["another", "another"]])
    assert overlap(model, mp.MulticlassSSVM(lam=0.05, gap="1%", clock="work").fit(*everything))


def test_what_is_wrong_is_said():
    """Ids that are not there or there twice, a model without its dual, solvers that keep none, labels that cannot be."""
    x, y = words(12)
    model = chain().fit(x, y)
    for changes, message in [
        ({"remove": [99]}, "remove: there is no example with the id 99"),
        ({"remove": [3, 3]}, "remove: the id 3 is named twice"),
        ({"remove": [3], "relabel": {3: y[3]}}, "relabel: the id 3 is one of remove, too"),
        ({"weights": {"a": 1.0}}, "weights: there is no example with the id 'a'"),
        ({"add": (x[:1], y[:1]), "ids": [4]}, "ids: the id 4 is there twice"),
        ({"add": (x[:2], y[:1])}, "add: found 2 inputs and 1 truths"),
        ({"ids": [1]}, "ids: there is nothing to add"),
        ({"weights": {1: -1.0}}, "weight -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.update(**changes)
        assert model.ids_ == list(range(12))
    with pytest.raises(ValueError):
        model.update(relabel={2: ["0"] * (len(y[2]) + 1)})
    model.update(remove=[2])  # it is as it was
    with pytest.raises(AttributeError, match="fit with dual=True"):
        mp.ChainSSVM(lam="1/n").fit(x, y).update(remove=[1])
    with pytest.raises(ValueError, match="keeps no dual point of single examples"):
        chain(solver="ssg", gap=None, passes=3).fit(x, y).update(remove=[1])


def test_a_task_of_ones_own_is_updated():
    """Its planes have numbers and no code; its examples are known by the order alone."""

    class Classes:
        quality = "exact"

        def dim(self):
            return 9

        def features(self, x, y):
            out = np.zeros((3, 3))
            out[y] = x
            return out.ravel()

        def loss(self, truth, y):
            return float(truth != y)

        def decode(self, x, w, truth=None):
            scores = w.reshape(3, 3) @ x
            if truth is not None:
                scores = scores + 1.0
                scores[truth] -= 1.0
            return int(np.argmax(scores))

    x, y = rows(30)
    labels = [int(label[-1]) for label in y]
    keywords = {"lam": 0.1, "gap": "1%", "clock": "work"}
    model = mp.StructuredSVM(Classes(), dual=True, **keywords).fit(list(x), labels)
    model.update(remove=[4, 9], relabel={2: (labels[2] + 1) % 3})
    left = [k for k in range(30) if k not in (4, 9)]
    now = [(labels[2] + 1) % 3 if k == 2 else labels[k] for k in left]
    assert overlap(model, mp.StructuredSVM(Classes(), **keywords).fit([x[k] for k in left], now))
    assert model.summary_["update"]["kept"] == 27


def test_a_checkpoint_is_updated_by_content(tmp_path):
    """What another process has left: examples of both are known by what they are."""
    x, y = words(30)
    path = tmp_path / "c"
    mp.ChainSSVM(lam="1/n", gap="1%", clock="work").fit(x, y, checkpoint=path)
    model = mp.ChainSSVM(lam="1/n", gap="1%", clock="work").fit(x[2:], y[2:], update_from=path)
    assert model.summary_["update"]["kept"] == 28 and model.summary_["update"]["removed"] == 2


def test_influence_tells_help_from_harm():
    """A wrong label harms a prediction that it speaks against; the examples of the same kind help it."""
    x, y = rows(60)
    y[0] = "class 1" if y[0] != "class 1" else "class 2"
    model = mp.MulticlassSSVM(dual=True, lam=0.05, gap="1%", clock="work").fit(x, y)
    test_x, test_y = rows(50, seed=3)
    found = model.influence(test_x, test_y)
    assert found.shape == (60,) and np.isfinite(found).all() and (found > 0).any()
    assert found[0] < np.median(found)
    assert model.influence(test_x[:1]).shape == (60,)
    with pytest.raises(AttributeError, match="dual=True"):
        mp.MulticlassSSVM(lam=0.05).fit(x, y).influence(test_x)
