"""Small data of graph-like tasks, and their containers."""

import numpy as np

COLUMNS = {"unary_columns": [0, 1], "pair_columns": [1, 2, 3]}
"""Which features the columns of ``models`` are."""


def grids(n=12, seed=0, labels=2, width=3):
    """Pictures of width x width cells with one feature that tells the label, and noise."""
    rng = np.random.default_rng(seed)
    cells = np.arange(width * width).reshape(width, width)
    edges = np.vstack([
        np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1),
        np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1),
    ])
    x, y = [], []
    for _ in range(n):
        half = int(rng.integers(1, width))
        truth = (np.arange(width) >= half).astype(int).repeat(width) * int(rng.integers(1, labels))
        seen = np.eye(labels)[truth] + 0.7 * rng.normal(size=(width * width, labels))
        x.append((np.hstack([seen, np.ones((width * width, 1))]), edges))
        y.append(truth)
    return x, y


def models(n=12, seed=0, nodes=4, loopy=True):
    """Models of a few nodes with one to three labels; features 0 and 1 of labels, 1 to 3 of pairs."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(n):
        counts = rng.integers(1, 4, size=nodes)
        truth = np.array([rng.integers(c) for c in counts])
        edges = [(i, i + 1) for i in range(nodes - 1)] + ([(nodes - 1, 0)] if loopy else [])
        unary = [rng.normal(size=(c, 2)) for c in counts]
        pairs = [rng.normal(size=(counts[i], counts[j], 3)) for i, j in edges]
        for v, table in enumerate(unary):
            table[truth[v], 0] += 1.5
        for (i, j), table in zip(edges, pairs):
            table[truth[i], truth[j], 1] += 1.5
        x.append((unary, np.array(edges), pairs))
        y.append(truth)
    return x, y


def scenes(n=80, seed=0):
    """Rows of which label 1 never comes without label 0, and label 2 never with it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    y = np.zeros((n, 3), dtype=int)
    y[:, 0] = x[:, 0] + 0.5 * rng.normal(size=n) > 0
    y[:, 1] = y[:, 0] & (x[:, 1] > 0)
    y[:, 2] = (1 - y[:, 0]) & (x[:, 2] > -0.5)
    return x, y


def offsets(sizes):
    """Where parts of these sizes begin, and the last one's end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def graph_arrays(x, y):
    """The tensors of a container of graphs without edge features."""
    edges = sum(len(one[1]) for one in x)
    return {
        "node_offsets": offsets([len(one) for one in y]),
        "node_features": np.concatenate([one[0] for one in x]),
        "labels": np.concatenate(y).astype(np.int64),
        "edge_offsets": offsets([len(one[1]) for one in x]),
        "edges": np.concatenate([one[1] for one in x]).astype(np.int64),
        "edge_features": np.ones((edges, 1)),
    }


def mrf_arrays(x, y):
    """The tensors of a container of pairwise models with ``COLUMNS``."""
    return {
        "node_offsets": offsets([len(one) for one in y]),
        "label_offsets": offsets([len(table) for unary, _, _ in x for table in unary]),
        "unary_features": np.concatenate([table for unary, _, _ in x for table in unary]),
        "unary_feature_columns": np.array(COLUMNS["unary_columns"]),
        "labels": np.concatenate(y),
        "edge_offsets": offsets([len(edges) for _, edges, _ in x]),
        "edges": np.concatenate([edges for _, edges, _ in x]),
        "pair_offsets": offsets([table.shape[0] * table.shape[1] for _, _, pairs in x for table in pairs]),
        "pair_features": np.concatenate([table.reshape(-1, 3) for _, _, pairs in x for table in pairs]),
        "pair_feature_columns": np.array(COLUMNS["pair_columns"]),
    }
