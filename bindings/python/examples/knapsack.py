"""Learning what a camper packs: a knapsack by dynamic programming as max-oracle, and the k best items.

Items have 3 features and a weight; the bag holds 20. From bags that were packed we learn what items are worth. Where all
items weigh the same the bag holds the k best ones, and sorting does.
"""

import numpy as np

import multiplane

ITEMS, FEATURES, CAPACITY = 12, 3, 20


class Knapsack:
    """x is a pair: the features of the items ``[12, 3]`` and their weights, whole numbers. An answer is an array of bools."""

    quality = "exact"

    def dim(self):
        return FEATURES

    def features(self, x, y):
        return x[0][y].sum(axis=0)

    def loss(self, truth, y):
        return float(np.sum(truth != y))

    def decode(self, x, w, truth=None):
        gains = x[0] @ w
        if truth is not None:
            gains += np.where(truth, -1.0, 1.0)  # the loss, less what does not depend on the answer
        return self.packed(gains, x[1])

    def packed(self, gains, weights):
        best, taken = np.zeros(CAPACITY + 1), []
        for gain, weight in zip(gains, weights):
            found = np.concatenate([np.full(weight, -np.inf), best[: CAPACITY + 1 - weight] + gain])
            taken.append(found > best)
            best = np.maximum(best, found)
        y, left = np.zeros(ITEMS, dtype=bool), CAPACITY
        for item in reversed(range(ITEMS)):
            y[item] = taken[item][left]
            left -= weights[item] * y[item]
        return y


class TopK(Knapsack):
    def packed(self, gains, weights):
        return np.argsort(np.argsort(-gains)) < CAPACITY // weights[0]


rng = np.random.default_rng(0)
for task, weights in ((Knapsack(), rng.integers(2, 9, (160, ITEMS))), (TopK(), np.full((160, ITEMS), 5))):
    X = list(zip(rng.normal(size=(160, ITEMS, FEATURES)), weights))
    Y = [task.decode(x, np.array([1.0, 0.5, -1.0]) + 0.1 * rng.normal(size=FEATURES)) for x in X]
    model = multiplane.StructuredSVM(task, lam=0.01, gap="1%").fit(X[:80], Y[:80])
    print(f"{type(task).__name__}: {1 - model.score(X[80:], Y[80:]):.2f} of {ITEMS} items differ, certified: {model.certified_}")
