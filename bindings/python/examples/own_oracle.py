"""A task of your own: learning to rank, with an oracle of one line.

A query comes with a handful of documents, rows of features x. Readers look at the top of a list, so position p counts
d[p] = 1 / log2(p + 2), and a ranking is as good as its NDCG: the discounted relevance, divided by that of the best
ranking. We learn w such that sorting by x @ w gives a high NDCG on new queries.
"""

import itertools

import numpy as np

import multiplane


class Ranking:
    """A truth is the relevance of each document (floats), an answer their order, best first (whole numbers)."""

    quality = "exact"  # decode always finds the best order: only then is the gap certified

    def __init__(self, features):
        self.features_per_document = features

    def dim(self):
        return self.features_per_document

    def order(self, y):
        return np.argsort(-y, kind="stable") if y.dtype.kind == "f" else y

    def features(self, x, y):
        return discount(len(y)) @ x[self.order(y)]  # so w . features is the sum over p of d[p] * score[order[p]]

    def loss(self, truth, y):
        d, ideal = discount(len(truth)), np.sort(truth)[::-1]
        return 1 - (d @ truth[self.order(y)]) / (d @ ideal)  # 1 - NDCG: 0 at the truth, as it must be

    def decode(self, x, w, truth=None):
        score = x @ w
        if truth is not None:
            # Training asks for the worst answer: high score plus high loss. The loss is 1 - sum of d[p] gain[order[p]],
            # of the same form as the score: add the two document by document, sort once.
            score = score - truth / (discount(len(truth)) @ np.sort(truth)[::-1])
        return np.argsort(-score, kind="stable")


def discount(length):
    return 1 / np.log2(np.arange(length) + 2)


# Before training, try the oracle against brute force: a decoder that is not exact, but says so, makes wrong claims.
rng = np.random.default_rng(0)
task = Ranking(6)
for _ in range(50):
    x, truth, w = rng.normal(size=(5, 6)), rng.integers(1, 4, size=5).astype(float), rng.normal(size=6)
    orders = [task.decode(x, w, truth), *map(np.array, itertools.permutations(range(5)))]
    values = [w @ task.features(x, order) + task.loss(truth, order) for order in orders]
    assert values[0] > max(values) - 1e-12
print("the oracle agrees with brute force on 50 small queries")

taste = rng.normal(size=6)  # what the readers like, unknown to the learner
X = [rng.normal(size=(15, 6)) for _ in range(400)]
Y = [np.clip(np.round(3 + x @ taste + rng.normal(size=15)), 1, 5) for x in X]  # stars
model = multiplane.StructuredSVM(task, gap="2%").fit(X[:200], Y[:200])
print(f"certified: {model.certified_}; the optimum lies between {model.dual_:.5f} and {model.primal_:.5f}")
print(f"{model.summary_['oracle_calls']} calls of our oracle to train, {model.summary_['evaluation_calls']} to certify")

# score is 1 minus the mean loss, here the mean NDCG; predict gives the orders.
chance = 1 - np.mean([task.loss(y, rng.permutation(15)) for y in Y[200:]])
print(f"NDCG on new queries: {model.score(X[200:], Y[200:]):.3f}; any order: {chance:.3f}")
cosine = model.coef_ @ taste / np.linalg.norm(model.coef_) / np.linalg.norm(taste)
print(f"cosine of the learned weights and the readers' taste: {cosine:.3f}")
