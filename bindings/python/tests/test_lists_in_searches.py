"""scikit-learn's searches and scores with ``cv`` a number, on labels that are lists of lists."""

import numpy as np
import pytest
from conftest import sequences
from graph_data import COLUMNS, grids, models
from sklearn.model_selection import GridSearchCV, cross_val_score
from test_arborescence import sentences as parsed
from test_tree import trees

from multiplane import ArborescenceSSVM, ChainSSVM, GraphSSVM, MrfSSVM, TreeSSVM

WORDS = [[["the", "DT"], ["cat", "NN"], ["sat", "VB"]], [["dogs", "NN"], ["bark", "VB"]]] * 6
TAGS = [["B-NP", "I-NP", "O"], ["B-NP", "O"]] * 6
TOKENS = {
    "tuples": [[tuple(token) for token in sentence] for sentence in WORDS],
    "dicts": [[{"w": word, "title": word.istitle()} for word, _ in sentence] for sentence in WORDS],
    "names": [[[f"w={word}", f"p={tag}"] for word, tag in sentence] for sentence in WORDS],
    "words": [[word for word, _ in sentence] for sentence in WORDS],
}
KINDS = {
    "rows": (ChainSSVM(gap="10%"), *sequences()),
    "trees": (TreeSSVM(gap="10%"), *trees(12)),
    "graphs": (GraphSSVM(lam=1.0, gap="10%"), *grids()),
    "models": (MrfSSVM(lam=1.0, gap="10%", **COLUMNS), *models()),
    "parses": (ArborescenceSSVM(gap="10%"), *parsed(12)),
    **{name: (ChainSSVM(gap="10%"), x, TAGS) for name, x in TOKENS.items()},
}


@pytest.mark.parametrize("name", KINDS)
def test_folds_are_drawn_of_examples(name):
    """Labels may be lists of lists, arrays, or lists of one length: a number of folds is one of parts of the list."""
    model, x, y = KINDS[name]
    lists = [np.asarray(labels).tolist() for labels in y]
    for labels in (lists, [np.asarray(one) for one in lists]):
        scores = cross_val_score(model, x, labels, cv=3)
        assert len(scores) == 3 and np.all(scores > 0.4)
    search = GridSearchCV(model, {"lam": [0.1, 1.0]}, cv=3).fit(x, lists)
    assert search.best_score_ > 0.4 and len(search.predict(x)) == len(x)


def test_sequences_of_one_length():
    """Equal lengths look like a table of labels to scikit-learn: they are sequences all the same."""
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(4, 2)) for _ in range(12)]
    y = [(one[:, 0] > 0).astype(int).tolist() for one in x]
    assert cross_val_score(ChainSSVM(gap="10%"), x, y, cv=3).mean() > 0.5


