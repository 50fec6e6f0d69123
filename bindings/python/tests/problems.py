"""Small tasks as users write them, each with an exact decoder."""

import numpy as np

from multiplane import Bounded


class Multiclass:
    """Classes with their own weights, by enumeration; ``form`` says in what form features come."""

    quality = "exact"

    def __init__(self, classes=3, features=4, form="dense"):
        self.classes, self.width, self.form = classes, features, form

    def fingerprint(self):
        return type(self).__qualname__, self.classes, self.width, self.form

    def dim(self):
        return self.classes * self.width

    def features(self, x, y):
        start = int(y) * self.width
        if self.form == "pairs":
            return np.arange(start, start + self.width), x
        if self.form == "dict":
            return {start + k: float(value) for k, value in enumerate(x)}
        if self.form == "list of pairs":
            return [(start + k, float(value)) for k, value in enumerate(x)]
        phi = np.zeros(self.dim())
        phi[start : start + self.width] = x
        if self.form == "list":
            return phi.tolist()
        if self.form == "float32":
            return phi.astype(np.float32)
        if self.form == "csr":
            from scipy.sparse import csr_matrix

            return csr_matrix(phi)
        if self.form == "coo array":
            from scipy.sparse import coo_array

            return coo_array(phi)
        return phi

    def loss(self, truth, y):
        return float(truth != y)

    def scores(self, x, w, truth=None):
        scores = w.reshape(self.classes, self.width) @ x
        return scores if truth is None else scores + (np.arange(self.classes) != truth)

    def decode(self, x, w, truth=None):
        return int(self.scores(x, w, truth).argmax())


class Undeclared(Multiclass):
    """Says nothing of its decoder."""

    quality = None


class Batched(Multiclass):
    """Decodes many examples at once, and counts."""

    batch = 7

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.batches = []

    def decode_many(self, xs, w, truths):
        self.batches.append(len(xs))
        return [self.decode(x, w, None if truths is None else truths[i]) for i, x in enumerate(xs)]


class Described(Batched):
    """Gives features and losses of many answers at once; ``change(features, losses)`` spoils them."""

    def __init__(self, change=lambda features, losses: (features, losses)):
        super().__init__()
        self.change, self.described = change, 0

    def describe_many(self, xs, truths, ys):
        self.described += len(ys)
        features = np.array([self.features(x, y) for x, y in zip(xs, ys, strict=True)])
        return self.change(features, np.array([self.loss(truth, y) for truth, y in zip(truths, ys, strict=True)]))


class Loose(Multiclass):
    """A decoder that gives a bound above what it found."""

    quality = "upper-bound"
    slack = 0.0

    def decode(self, x, w, truth=None):
        scores = self.scores(x, w, truth)
        return Bounded(int(scores.argmax()), float(scores.max()) + self.slack)


class Viterbi:
    """A chain in NumPy: ``unary[label][feature]``, then ``pair[from][to]``; the loss is Hamming / length."""

    quality = "exact"

    def __init__(self, labels, features):
        self.labels, self.width = labels, features

    def dim(self):
        return self.labels * (self.width + self.labels)

    def features(self, x, y):
        unary = np.zeros((self.labels, self.width))
        np.add.at(unary, y, x)
        pair = np.zeros((self.labels, self.labels))
        np.add.at(pair, (y[:-1], y[1:]), 1.0)
        return np.concatenate([unary.ravel(), pair.ravel()])

    def loss(self, truth, y):
        return float(np.mean(truth != y))

    def decode(self, x, w, truth=None):
        k = self.labels
        scores = x @ w[: k * self.width].reshape(k, self.width).T
        pair = w[k * self.width :].reshape(k, k)
        if truth is not None:
            scores = scores + (np.arange(k) != truth[:, None]) / len(truth)
        best, came = scores[0], []
        for row in scores[1:]:
            ways = best[:, None] + pair
            came.append(ways.argmax(axis=0))
            best = ways.max(axis=0) + row
        path = [int(best.argmax())]
        for back in reversed(came):
            path.append(int(back[path[-1]]))
        return np.array(path[::-1])
