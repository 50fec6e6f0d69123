"""The bias as scikit-learn's linear classifiers have it, and selection of features beside it."""

import numpy as np
import pytest
from conftest import blobs
from sklearn.feature_selection import RFE, SelectFromModel

import multiplane
from multiplane import BinarySSVM, MulticlassSSVM

KINDS = [(BinarySSVM, 2), (MulticlassSSVM, 2), (MulticlassSSVM, 3)]


@pytest.mark.parametrize(("kind", "classes"), KINDS)
@pytest.mark.parametrize("scale", ["none", "max-abs"])
def test_scores_are_weights_and_intercept(kind, classes, scale, tmp_path):
    """coef_ keeps the bias as its last column; scores are those of the others and intercept_."""
    x, y = blobs(classes)
    model = kind(bias=True, scale=scale).fit(x, y)
    assert model.intercept_.shape == (len(model.coef_),) and np.array_equal(model.intercept_, model.coef_[:, -1])
    scores = x @ model.unscaled_coef()[:, :-1].T + model.intercept_
    scores = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
    assert np.allclose(np.squeeze(scores), model.decision_function(x))
    model.save(tmp_path / "m")
    assert np.array_equal(multiplane.load(tmp_path / "m").intercept_, model.intercept_)
    assert not hasattr(kind(bias=True), "intercept_")
    assert kind(scale=scale).fit(x, y).intercept_ == 0.0


def test_with_a_kernel():
    """With a kernel it stands beside dual_coef_."""
    x, y = blobs(2)
    model = BinarySSVM(kernel="linear", bias=True, gap="0.1%").fit(x, y)
    scores = x @ x[model.support_].T @ model.dual_coef_[0] + model.intercept_[0]
    assert np.allclose(scores, model.decision_function(x), atol=1e-3)


def test_selection_of_features():
    """What takes coef_ for weights of features alone is told which they are; without a bias there is nothing to tell."""
    x, y = blobs(3)

    def weights(model):
        return model.coef_[:, : model.n_features_in_]

    model = MulticlassSSVM(bias=True, gap="5%")
    assert RFE(model, n_features_to_select=2, importance_getter=weights).fit(x, y).support_.sum() == 2
    assert SelectFromModel(model, importance_getter=weights).fit(x, y).transform(x).shape[1] < 4
    assert RFE(MulticlassSSVM(gap="5%"), n_features_to_select=2).fit(x, y).support_.sum() == 2
