"""Probabilities and prediction sets: they hold what they promise, on rows, chains and sets of labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from multiplane import ChainSSVM, MulticlassSSVM, MultiLabelSSVM
from multiplane._calibration import STEP, STEPS, _likeliest, _softmax, _thresholds


def rows(n, seed=0, names=("ant", "bee", "cat", "dog")):
    rng = np.random.default_rng(seed)
    number = rng.integers(len(names), size=n)
    x = rng.normal(size=(n, 5))
    x[np.arange(n), number] += 1.3
    return x, np.array(names)[number]


def sequences(n, seed=0):
    rng = np.random.default_rng(seed)
    y = [np.cumsum(rng.integers(2, size=rng.integers(1, 9))) % 3 for _ in range(n)]
    return [np.eye(3)[labels] + rng.normal(size=(len(labels), 3)) * 0.7 for labels in y], [labels.tolist() for labels in y]


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_probabilities_are_calibrated(method, tmp_path):
    model = MulticlassSSVM(lam=1e-3).fit(*rows(200, 1))
    assert not hasattr(model, "predict_proba")
    before = model.reliability(*rows(1500, 3)).error
    model.calibrate(*rows(1500, 2), method=method)
    x, y = rows(1500, 3)
    found = model.reliability(x, y)
    assert found.error < before / 3 and found.counts.sum() == 1500
    shares = model.predict_proba(x)
    assert shares.shape == (1500, 4) and np.allclose(shares.sum(1), 1.0)
    assert (model.classes_[shares.argmax(1)] == model.predict(x)).all()
    model.save(tmp_path / "model")
    kept = MulticlassSSVM.load(tmp_path / "model")
    assert np.array_equal(kept.predict_proba(x), shares)
    assert all(map(np.array_equal, kept.predict_set(x), model.predict_set(x)))
    assert not hasattr(model.fit(*rows(50)), "predict_proba"), "another fit forgets it"


def test_temperature_is_the_most_likely():
    scipy = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 4)) * 3.0
    truth = np.array([rng.choice(4, p=share) for share in _softmax(0.7, scores)])

    def loss(beta):
        shares = np.log(_softmax(beta, scores))
        return -(1 - 0.5 / 300) * shares[np.arange(300), truth].sum() - 0.5 / 300 * shares.mean(1).sum()

    best = scipy.minimize_scalar(loss, bounds=(1e-3, 10.0), method="bounded", options={"xatol": 1e-9}).x
    assert _likeliest(scores, truth) == pytest.approx(best, rel=1e-5)


def test_thresholds_are_those_of_conformal_risk_control():
    rng = np.random.default_rng(0)
    for _ in range(12):
        n = int(rng.integers(1, 30))
        sizes = rng.integers(1, 5, size=n)
        of_example = np.repeat(np.arange(n), sizes)
        leads = rng.integers(-4, 5, size=len(of_example)) / 2.0
        found = _thresholds(leads, of_example)
        for step in range(1, STEPS + 1):
            alpha = STEP * step

            def risk(most, whole):
                out = [(leads[of_example == i] > most) for i in range(n)]
                return sum(float(one.any()) if whole else one.mean() for one in out)

            for name, is_whole in (("parts", False), ("whole", True)):
                allowed = alpha * (n + 1) - 1.0 + 1e-9
                fits = [most for most in leads if risk(most, is_whole) <= allowed]
                expected = min(fits) if fits else None
                if expected is not None and is_whole:
                    worst = [leads[of_example == i].max() for i in range(n)]
                    expected = min(most for most in worst if risk(most, True) <= allowed)
                assert found[name][step - 1] == expected, (n, step, name)


def test_sets_hold_the_truth_as_often_as_asked():
    model = MulticlassSSVM(lam=1e-2).fit(*rows(100, 1))
    shares = []
    for seed in range(20):
        model.calibrate(*rows(400, 100 + seed))
        x, y = rows(400, 200 + seed)
        shares.append(np.mean([label in one for label, one in zip(y, model.predict_set(x, alpha=0.1), strict=True)]))
    assert abs(np.mean(shares) - 0.9) < 0.015
    sizes = [np.mean([len(one) for one in model.predict_set(x, alpha=alpha)]) for alpha in (0.02, 0.1, 0.3)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_sets_of_sequences():
    model = ChainSSVM(lam=1e-2).fit(*sequences(60, 1))
    parts, wholes = [], []
    for seed in range(20):
        model.calibrate(*sequences(200, 100 + seed))
        x, y = sequences(200, 200 + seed)
        held = [[label in one for label, one in zip(truth, sets, strict=True)] for truth, sets in zip(y, model.predict_set(x), strict=True)]
        parts.append(np.mean([np.mean(one) for one in held]))
        whole = model.predict_set(x, whole=True)
        wholes.append(np.mean([all(label in one for label, one in zip(truth, sets, strict=True)) for truth, sets in zip(y, whole, strict=True)]))
    assert abs(np.mean(parts) - 0.9) < 0.015
    assert abs(np.mean(wholes) - 0.9) < 0.02
    assert [len(one) for one in model.predict_proba(x)] == [len(one) for one in y]


def test_sets_of_labels():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 4))
    y = (x[:, :3] + rng.normal(size=(120, 3)) * 0.5 > 0).astype(int)
    model = MultiLabelSSVM(lam=1e-2).fit(x[:60], y[:60]).calibrate(x[60:], y[60:])
    shares = model.predict_proba(x)
    assert shares.shape == (120, 3, 2) and np.allclose(shares.sum(2), 1.0)
    assert all(set(one.tolist()) <= {0, 1} for row in model.predict_set(x) for one in row)


def test_refusals():
    x, y = rows(60)
    model = MulticlassSSVM(lam=0.1).fit(x, y)
    with pytest.raises(AttributeError, match=r"'predict_proba': calibrate\(X, y\) on examples"):
        model.predict_proba(x)
    with pytest.raises(ValueError, match=r"predict_set needs calibrate\(X, y\) first"):
        model.predict_set(x)
    with pytest.raises(ValueError, match="method = 'platt': must be"):
        model.calibrate(x, y, method="platt")
    with pytest.warns(UserWarning, match="calibrated on the examples of the fit"):
        model.calibrate(x, y)
    for alpha in (0.0, 0.001, 0.6, "0.1", math.nan):
        with pytest.raises(ValueError, match=r"alpha = .*: must be from 0.005 to 0.5"):
            model.predict_set(x, alpha=alpha)
    with pytest.raises(ValueError, match="bins = 0"):
        model.reliability(x, y, bins=0)
    with pytest.raises(ValueError, match="no known label"):
        MulticlassSSVM(lam=0.1).fit(x, y).calibrate(x, np.array(["emu"] * 60))
