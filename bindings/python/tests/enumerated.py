"""Small random problems of every estimator whose labellings are listed, with the objective at any weights."""

import itertools

import numpy as np

import multiplane as mp

TASKS = ("binary", "multiclass", "multilabel", "chain", "tree", "arborescence", "graph", "mrf", "own")


class Listed:
    """A problem: an estimator with its arguments, the data, and what every labelling of every example is worth."""

    def __init__(self, make, X, y, features, losses, truths, nonnegative=None):
        self.make, self.X, self.y = make, X, y
        self.changes = [phi - phi[truth] for phi, truth in zip(features, truths, strict=True)]
        self.losses = [np.asarray(loss, dtype=float) for loss in losses]
        self.nonnegative = nonnegative

    def primal(self, w, lam, rescaling, weights=None):
        """lambda/2 |w|^2 and the mean over the examples of the largest term of a labelling."""
        shares = np.full(len(self.losses), 1 / len(self.losses)) if weights is None else weights / weights.sum()
        factors = [loss if rescaling == "slack" else np.ones(len(loss)) for loss in self.losses]
        terms = zip(shares, factors, self.changes, self.losses, strict=True)
        return 0.5 * lam * w @ w + sum(s * np.max(f * (change @ w) + loss) for s, f, change, loss in terms)


def everything(counts):
    """All labellings of variables with so many labels."""
    return np.array(list(itertools.product(*map(range, counts))))


def hamming(truth, labellings):
    return (labellings != np.asarray(truth)).mean(axis=1)


def place(truth, labellings):
    return int(np.flatnonzero((labellings == np.asarray(truth)).all(axis=1))[0])


def parts(nodes, edges, labellings, classes):
    """Per labelling the sum of rows by label, then of pairs by (type or feature, label, label)."""
    count = max((len(row) for _, _, row in edges), default=0)
    found = []
    for y in labellings:
        unary, pair = np.zeros((classes, nodes.shape[1])), np.zeros((count, classes, classes))
        np.add.at(unary, y, nodes)
        for a, b, row in edges:
            pair[:, y[a], y[b]] += row
        found.append(np.concatenate([unary.ravel(), pair.ravel()]))
    return np.array(found)


class Shelf:
    """A task of a user's: which of some rows, by their distance from the right one."""

    quality = "exact"

    def __init__(self, width, labels):
        self.width, self.labels = width, labels

    def dim(self):
        return self.width

    def features(self, x, y):
        return x[y]

    def loss(self, truth, y):
        return abs(truth - y) / self.labels

    def decode(self, x, w, truth=None):
        added = 0 if truth is None else np.abs(np.arange(self.labels) - truth) / self.labels
        return int(np.argmax(x @ w + added))


def rows(rng, n, classes):
    X = rng.normal(size=(n, 3))
    return X, np.arange(n) % classes


def binary(rng, n):
    X, y = rows(rng, n, 2)
    losses, more = [(t, 1 - t) for t in y], {}
    if rng.random() < 0.5:
        factors = rng.uniform(0.3, 3, 2)
        losses = [np.multiply(loss, factors[t]) for loss, t in zip(losses, y, strict=True)]
        more = {"class_weight": factors.tolist()}
    return Listed(lambda **k: mp.BinarySSVM(**more, **k), X, y, [np.array([-x / 2, x / 2]) for x in X], losses, y)


def multiclass(rng, n):
    X, y = rows(rng, n, 3)
    costs = rng.uniform(0.2, 2, (3, 3)) * (1 - np.eye(3))
    features = [np.array([np.kron(row, x) for row in np.eye(3)]) for x in X]
    return Listed(lambda **k: mp.MulticlassSSVM(loss=costs.tolist(), **k), X, y, features, costs[y], y)


def multilabel(rng, n):
    X, Y = rng.normal(size=(n, 2)), rng.integers(0, 2, (n, 3))
    Y[0], Y[1] = 0, 1
    pairs, sets = [(0, 1), (0, 2), (1, 2)], everything([2] * 3)
    features = []
    for x in X:
        tables = [[np.bincount([2 * z[a] + z[b]], minlength=4) for a, b in pairs] for z in sets]
        features.append(np.array([[*np.kron(z, x), *np.ravel(t)] for z, t in zip(sets, tables, strict=True)]))
    losses, truths = [hamming(y, sets) for y in Y], [place(y, sets) for y in Y]
    return Listed(mp.MultiLabelSSVM, X, Y, features, losses, truths)


def chain(rng, n):
    X = [rng.normal(size=(rng.integers(2, 4), 2)) for _ in range(n)]
    Y = [rng.integers(0, 2, len(x)) for x in X]
    Y[0][:2] = 0, 1
    lists = [everything([2] * len(x)) for x in X]
    steps = [[(k, k + 1, [1.0]) for k in range(len(x) - 1)] for x in X]
    features = [parts(x, edges, ys, 2) for x, edges, ys in zip(X, steps, lists, strict=True)]
    both = list(zip(Y, lists, strict=True))
    return Listed(mp.ChainSSVM, X, Y, features, [hamming(*b) for b in both], [place(*b) for b in both])


def tree(rng, n):
    X, Y, features, losses, truths = [], [], [], [], []
    for i in range(n):
        size = 1 + i % 4
        parents = [-1, *(int(rng.integers(k)) for k in range(1, size))]
        x, y = rng.normal(size=(size, 2)), rng.integers(0, 2, size)
        y[-1] = i % 2
        ys = everything([2] * size)
        X.append((x, parents, ["t"] * size))
        Y.append(y)
        features.append(parts(x, [(p, k, [1.0]) for k, p in enumerate(parents) if p >= 0] or [(0, 0, [0.0])], ys, 2))
        losses.append(hamming(y, ys))
        truths.append(place(y, ys))
    return Listed(mp.TreeSSVM, X, Y, features, losses, truths)


def arborescence(rng, n):
    X, Y, features, losses, truths = [], [], [], [], []
    for i in range(n):
        words = 2 + i % 2
        trees = []
        for heads in itertools.product(range(-1, words), repeat=words):
            reached = {-1}
            for _ in range(words):
                reached |= {word for word, head in enumerate(heads) if head in reached}
            if len(reached) == words + 1 and heads.count(-1) == 1:
                trees.append(heads)
        x, found = rng.normal(size=(words, 2)), []
        for heads in trees:
            root, distance, pair = np.zeros(2), np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
            for word, head in enumerate(heads):
                if head < 0:
                    root += x[word]
                    continue
                right = int(head > word)
                distance[right, int(abs(head - word) > 1)] += x[word]
                pair[:, right] += np.outer(x[head], x[word])
            found.append(np.concatenate([root, distance.ravel(), pair.ravel()]))
        truth = int(rng.integers(len(trees)))
        X.append(x)
        Y.append(list(trees[truth]))
        features.append(np.array(found))
        losses.append(hamming(trees[truth], np.array(trees)))
        truths.append(truth)
    return Listed(lambda **k: mp.ArborescenceSSVM(distances=[1], **k), X, Y, features, losses, truths)


def graph(rng, n):
    cut = rng.random() < 0.5
    X, Y, features, losses, truths = [], [], [], [], []
    for i in range(n):
        x, y = rng.normal(size=(3, 2)), rng.integers(0, 2, 3)
        y[:2] = 0, 1
        edges = np.array([(0, 1), (1, 2), (0, 2)][: 2 + i % 2])
        values = np.abs(rng.normal(size=(len(edges), 1)))
        ys = everything([2] * 3)
        full = parts(x, [(a, b, value) for (a, b), value in zip(edges, values, strict=True)], ys, 2)
        apart = -(full[:, 5] + full[:, 6])[:, None]  # of tables 00, 01, 10, 11
        X.append((x, edges, values))
        Y.append(y)
        features.append(np.hstack([full[:, :4], apart]) if cut else full)
        losses.append(hamming(y, ys))
        truths.append(place(y, ys))
    pairwise = "cut" if cut else "full"
    return Listed(
        lambda **k: mp.GraphSSVM(pairwise=pairwise, **k), X, Y, features, losses, truths, slice(4, None) if cut else None
    )


def mrf(rng, n):
    X, Y, features, losses, truths = [], [], [], [], []
    for _ in range(n):
        counts, edges = rng.integers(2, 4, 3), [(0, 1), (1, 2)]
        unary = [rng.normal(size=(count, 2)) for count in counts]
        pairs = [rng.normal(size=(counts[a], counts[b], 1)) for a, b in edges]
        ys, y = everything(counts), [int(rng.integers(count)) for count in counts]

        def worth(z, unary=unary, pairs=pairs, edges=edges):
            own = sum(table[label] for table, label in zip(unary, z, strict=True))
            return [*own, sum(t[z[a], z[b], 0] for t, (a, b) in zip(pairs, edges, strict=True))]

        X.append((unary, edges, pairs))
        Y.append(y)
        features.append(np.array([worth(z) for z in ys]))
        losses.append(hamming(y, ys))
        truths.append(place(y, ys))
    return Listed(lambda **k: mp.MrfSSVM(unary_columns=[0, 1], pair_columns=[2], **k), X, Y, features, losses, truths)


def own(rng, n):
    labels, width = 4, 3
    X, y = [rng.normal(size=(labels, width)) for _ in range(n)], [int(t) for t in rng.integers(0, labels, n)]
    losses = [np.abs(np.arange(labels) - t) / labels for t in y]
    return Listed(lambda **k: mp.StructuredSVM(Shelf(width, labels), **k), X, y, X, losses, y)


def problem(task, rng):
    """A random problem of a task."""
    return globals()[task](rng, int(rng.integers(4, 8)))
