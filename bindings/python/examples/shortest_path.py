"""Learning how a hiker chooses paths: a dynamic programme as max-oracle.

Steps on a grid go right or down. Each has 3 features (climb, mud, view). From the paths of past hikes we learn what the
hiker minds, so that the cheapest path on a new map is the hiker's.
"""

import numpy as np

import multiplane

SIDE, FEATURES = 6, 3


class ShortestPath:
    """x is ``[2, 6, 6, 3]``: the features of the step down (0) and of the step right (1) into each cell.

    An answer is the tuple of steps, 0 or 1, from the first cell to the last one.
    """

    quality = "exact"

    def dim(self):
        return FEATURES

    def cells(self, y):
        """The index of every step in x."""
        down = np.cumsum([step == 0 for step in y])
        return np.array(y), down, np.arange(1, len(y) + 1) - down

    def features(self, x, y):
        return -x[self.cells(y)].sum(axis=0)

    def loss(self, truth, y):
        return float(len(set(zip(*self.cells(y))) - set(zip(*self.cells(truth)))))  # steps that the hiker did not take

    def decode(self, x, w, truth=None):
        costs = x @ w
        if truth is not None:
            costs -= 1.0  # every step is wrong ...
            costs[self.cells(truth)] += 1.0  # ... but for those of the truth
        best, steps = {(0, 0): 0.0}, {(0, 0): ()}
        for i, j in np.ndindex(SIDE, SIDE):
            ways = [(best[a] + costs[k, i, j], k, a) for k, a in enumerate([(i - 1, j), (i, j - 1)]) if a in best]
            if ways:
                best[i, j], step, before = min(ways)
                steps[i, j] = (*steps[before], step)
        return steps[SIDE - 1, SIDE - 1]


rng = np.random.default_rng(0)
minds = np.array([2.0, 1.0, -0.5])
task = ShortestPath()
X = list(rng.random((120, 2, SIDE, SIDE, FEATURES)))
Y = [task.decode(x, minds + 0.1 * rng.normal(size=FEATURES)) for x in X]
model = multiplane.StructuredSVM(task, lam=0.01, gap="1%").fit(X[:60], Y[:60])
print(f"{1.0 - model.score(X[60:], Y[60:]):.2f} of {2 * SIDE - 2} steps are not the hiker's on new maps, certified: {model.certified_}")
print("what is minded, over the climb:", np.round(2.0 * model.coef_ / model.coef_[0], 2), "truly:", minds)
