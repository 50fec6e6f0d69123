"""Learning who teaches what: a bipartite matching with capacities as max-oracle.

4 teachers take up to 2 of 6 courses each, or fewer: a course without a teacher is dropped. A pair has 3 features. SciPy's
assignment solver suffices: a teacher of capacity 2 stands twice, and every course may go to a place of no gain.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

import multiplane

TEACHERS, COURSES, FEATURES, CAPACITY = 4, 6, 3, 2


class Matching:
    """x is ``[6, 4, 3]``: the features of each course with each teacher. An answer has the teacher of each course, or -1."""

    quality = "exact"

    def dim(self):
        return FEATURES

    def features(self, x, y):
        return x[y >= 0, y[y >= 0]].sum(axis=0)

    def loss(self, truth, y):
        return float(np.sum(truth != y))

    def decode(self, x, w, truth=None):
        gains = np.hstack([x @ w, np.zeros((COURSES, 1))])  # the last column: no teacher
        if truth is not None:
            gains += 1.0
            gains[np.arange(COURSES), truth] -= 1.0  # -1 is the last column
        places = np.repeat(np.arange(TEACHERS + 1), [CAPACITY] * TEACHERS + [COURSES])
        chosen = places[linear_sum_assignment(gains[:, places], maximize=True)[1]]
        return np.where(chosen == TEACHERS, -1, chosen)


rng = np.random.default_rng(0)
wishes = np.array([1.0, -1.0, 0.5])
task = Matching()
X = list(rng.normal(size=(160, COURSES, TEACHERS, FEATURES)))
Y = [task.decode(x, wishes + 0.1 * rng.normal(size=FEATURES)) for x in X]
model = multiplane.StructuredSVM(task, lam=0.01, gap="1%").fit(X[:80], Y[:80])
wrong = 1.0 - model.score(X[80:], Y[80:])
print(f"{wrong:.2f} of {COURSES} courses go elsewhere in new terms, certified: {model.certified_}")
print("at most", max(np.bincount(y[y >= 0]).max() for y in model.predict(X[80:])), "courses for a teacher")
print("weights over the first:", np.round(model.coef_ / model.coef_[0], 2), "wishes:", wishes)
