"""Weights of examples on scikit-learn's ways: requests of metadata, and what looks for them in signatures."""

import numpy as np
import pytest
import sklearn
from conftest import blobs, sequences
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multiplane import BinarySSVM, ChainSSVM, GraphSSVM, MulticlassSSVM, MultiLabelSSVM


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, MultiLabelSSVM, ChainSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_requests(kind):
    """Every estimator that takes weights says so."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = kind(lam=0.5).set_fit_request(sample_weight=True)
        assert model.lam == 0.5 and model.get_metadata_routing().fit.requests["sample_weight"] is True


def test_weights_are_routed():
    """Searches and pipelines hand weights on where they are requested, part by part."""
    x, y = blobs(2)
    weights = np.where(y == 0, 5.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MulticlassSSVM(lam=0.1, gap="1%").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        search = GridSearchCV(make_pipeline(scaler, model), {"multiclassssvm__lam": [0.1]}, cv=3)
        search.fit(x, y, sample_weight=weights)
        alone = MulticlassSSVM(lam=0.1, gap="1%").fit(StandardScaler().fit_transform(x), y, sample_weight=weights)
        assert np.array_equal(search.best_estimator_[-1].coef_, alone.coef_)
        assert len(cross_validate(model, x, y, params={"sample_weight": weights}, cv=3)["test_score"]) == 3
        CalibratedClassifierCV(model, cv=3).fit(x, y, sample_weight=weights)


class Weighed(MulticlassSSVM):
    """The class of the guide."""

    def fit(self, X, y, sample_weight=None):
        """With weights in the signature."""
        return super().fit(X, y, sample_weight=sample_weight)


def test_weights_in_a_signature_of_the_users():
    """A subclass with the name in its signature serves what looks for it there."""
    x, y = blobs(3)
    assert AdaBoostClassifier(Weighed(gap="5%"), n_estimators=3).fit(x, y).score(x, y) > 0.7
    assert CalibratedClassifierCV(Weighed(gap="5%"), cv=3).fit(x, y, sample_weight=np.ones(len(y))).score(x, y) > 0.7


@pytest.mark.parametrize("kind", [BinarySSVM, MultiLabelSSVM, ChainSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_weights_by_position(kind):
    """A third argument is told what to be called, in the name of the class that was asked."""
    x, y = sequences() if kind in (ChainSSVM, GraphSSVM) else blobs(2)
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.fit\(\) takes X and y by position, .* sample_weight=\.\.\.$"):
        kind().fit(x, y, np.ones(len(y)))


# -- weights are copies --


def overlaps(one, other):
    """Whether two fits may have one optimum."""
    return one.dual_ <= other.primal_ and other.dual_ <= one.primal_


@pytest.mark.parametrize("kind", [BinarySSVM, MulticlassSSVM, ChainSSVM, GraphSSVM], ids=lambda kind: kind.__name__)
def test_balanced_classes_of_weighted_examples(kind):
    """Labels are counted as often as their examples weigh: the optimum is that of copies, and not that of labels counted once."""
    rng = np.random.default_rng(5)
    times = rng.integers(0, 6, size=60)
    if kind in (ChainSSVM, GraphSSVM):
        x = [rng.normal(size=(3, 4)) for _ in range(60)]
        y = [rng.integers(3, size=3) for _ in range(60)]
        copied = [x[i] for i in range(60) for _ in range(times[i])], [y[i] for i in range(60) for _ in range(times[i])]
        if kind is GraphSSVM:
            x, copied = [(one, [[0, 1]]) for one in x], ([(one, [[0, 1]]) for one in copied[0]], copied[1])
        counts = np.bincount(np.concatenate(y), minlength=3)
    else:
        x, y = rng.normal(size=(60, 4)), rng.integers(3 if kind is MulticlassSSVM else 2, size=60)
        copied = x.repeat(times, axis=0), y.repeat(times)
        counts = np.bincount(y)
    plain = {"lam": 0.05, "gap": "0.01%"}
    weighed = kind(class_weight="balanced", **plain).fit(x, y, sample_weight=times)
    assert overlaps(weighed, kind(class_weight="balanced", **plain).fit(*copied))
    once = (counts.sum() / (len(counts) * counts)).tolist()
    assert not overlaps(weighed, kind(class_weight=once, **plain).fit(x, y, sample_weight=times))


def test_a_class_without_weight():
    """One class that counts is refused as one class; of several the one without weight is not there, as among copies."""
    x, y = blobs(2)
    for kind in (BinarySSVM, MulticlassSSVM):
        for given in ({}, {"class_weight": "balanced"}):
            with pytest.raises(ValueError, match="at least 2 classes .* only one class of sample_weight above 0: .*1"):
                kind(**given).fit(x, y, sample_weight=(y == 1) * 2.0)
    x, y = blobs(3)
    names = np.array(["low", "middle", "high"])[y]
    counted = y != 2
    for labels in (y, names):
        model = MulticlassSSVM(lam=0.1, gap="1%", class_weight="balanced").fit(x, labels, sample_weight=counted * 1.0)
        copied = MulticlassSSVM(lam=0.1, gap="1%", class_weight="balanced").fit(x[counted], labels[counted])
        assert model.classes_.tolist() == copied.classes_.tolist() == sorted(set(labels[counted].tolist()))
        assert overlaps(model, copied) and np.mean(model.predict(x[counted]) == labels[counted]) > 0.8
    sequences, given = [x[:4], x[4:8]], [[0, 0, 2, 2], [0, 1, 2, 2]]
    graphs = [(rows, np.array([[0, 1], [1, 2], [2, 3]])) for rows in sequences]
    for kind, inputs in ((ChainSSVM, sequences), (GraphSSVM, graphs)):
        model = kind(lam=0.1, class_weight="balanced", gap="1%").fit(inputs, given, sample_weight=[1, 0])
        assert model.classes_.tolist() == [0, 2]
        assert overlaps(model, kind(lam=0.1, class_weight="balanced", gap="1%").fit(inputs[:1], given[:1]))
