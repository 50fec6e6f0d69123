"""Learning which cables are laid: a minimum spanning tree as max-oracle (Kruskal).

Every cable between 8 villages has 3 features (length, slope, road). From networks that were built, each a tree, we learn
the costs behind them.
"""

import itertools

import numpy as np

import multiplane

VILLAGES, FEATURES = 8, 3
CABLES = np.array(list(itertools.combinations(range(VILLAGES), 2)))


class SpanningTree:
    """x is ``[28, 3]``: the features of every cable. An answer is the array of the cables that are laid, in order."""

    quality = "exact"

    def dim(self):
        return FEATURES

    def features(self, x, y):
        return -x[y].sum(axis=0)

    def loss(self, truth, y):
        return float(len(np.setdiff1d(y, truth)))  # cables that were not laid

    def decode(self, x, w, truth=None):
        costs = x @ w
        if truth is not None:
            costs -= 1.0
            costs[truth] += 1.0
        part, laid = np.arange(VILLAGES), []
        for cable in np.argsort(costs, kind="stable"):
            a, b = part[CABLES[cable]]
            if a != b:  # it joins two parts
                part[part == b] = a
                laid.append(cable)
        return np.sort(laid)


rng = np.random.default_rng(0)
prices = np.array([2.0, 1.0, -1.0])
task = SpanningTree()
X = list(rng.random((120, len(CABLES), FEATURES)))
Y = [task.decode(x, prices + 0.1 * rng.normal(size=FEATURES)) for x in X]
model = multiplane.StructuredSVM(task, lam=0.01, gap="1%").fit(X[:60], Y[:60])
wrong = 1.0 - model.score(X[60:], Y[60:])
print(f"{wrong:.2f} of {VILLAGES - 1} cables are wrong in new networks, certified: {model.certified_}")
print("prices over the first:", np.round(2.0 * model.coef_ / model.coef_[0], 2), "truly:", prices)
