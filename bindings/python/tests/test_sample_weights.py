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
