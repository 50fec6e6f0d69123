"""Learning to match: SciPy's solvers as max-oracles.

A dispatcher assigns 6 orders to 6 couriers. Each pair has 4 features (distance, delay, ...). We see what the
dispatcher did on past days and learn the weights behind it, first where any assignment is allowed, then where every
courier tires and the whole day has a budget, so that finding the best assignment is an integer program.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

import multiplane

SIZE, FEATURES = 6, 4
ROWS = np.arange(SIZE)


class Matching:
    """An answer is an array: answer[i] is the courier of order i. x is ``{"pairs": [6, 6, 4], "effort": [6, 6]}``."""

    quality = "exact"

    def dim(self):
        return FEATURES

    def features(self, x, y):
        return x["pairs"][ROWS, y].sum(axis=0)

    def loss(self, truth, y):
        return float(np.mean(truth != y))  # share of orders that go to another courier

    def gains(self, x, w, truth):
        """What every pair adds to the score, and to the loss where there is a truth."""
        gains = x["pairs"] @ w
        if truth is not None:
            gains += 1 / SIZE  # every order is wrong ...
            gains[ROWS, truth] -= 1 / SIZE  # ... but for the true pairs
        return gains

    def decode(self, x, w, truth=None):
        return linear_sum_assignment(self.gains(x, w, truth), maximize=True)[1]


class BudgetedMatching(Matching):
    """The same with a budget of effort. The solver may stop early: it then gives an assignment and an upper bound."""

    quality = "upper-bound"
    budget = 0.45 * SIZE

    def decode(self, x, w, truth=None):
        gains = self.gains(x, w, truth).ravel()
        once = np.concatenate([np.kron(np.eye(SIZE), np.ones(SIZE)), np.kron(np.ones(SIZE), np.eye(SIZE))])
        limits = [LinearConstraint(once, 1, 1), LinearConstraint(x["effort"].reshape(1, -1), -np.inf, self.budget)]
        found = milp(-gains, integrality=1, bounds=Bounds(0, 1), constraints=limits, options={"mip_rel_gap": 0.02})
        # milp minimises, so its lower bound, negated, is our upper bound.
        return multiplane.Bounded(found.x.reshape(SIZE, SIZE).argmax(axis=1), -found.mip_dual_bound)


rng = np.random.default_rng(0)
rules = np.array([-2.0, -1.0, 0.5, 0.0])  # what the dispatcher goes by; the last feature is of no importance
for task, days in ((Matching(), 200), (BudgetedMatching(), 60)):
    shape = (SIZE, SIZE)
    X = [{"pairs": rng.normal(size=(*shape, FEATURES)), "effort": rng.random(shape)} for _ in range(2 * days)]
    Y = [task.decode(x, rules + 0.3 * rng.normal(size=FEATURES)) for x in X]  # the dispatcher is not quite consistent
    Y = [y.y if isinstance(y, multiplane.Bounded) else y for y in Y]
    model = multiplane.StructuredSVM(task, gap="5%", passes=50).fit(X[:days], Y[:days])
    right = model.score(X[days:], Y[days:])  # 1 - mean loss
    print(f"{type(task).__name__}: {100 * right:.1f} % of the orders of new days go where the dispatcher sends them")
    print(f"  optimum in [{model.dual_:.4f}, {model.primal_:.4f}], certified {model.certified_}, "
          f"{model.summary_['oracle_calls']} calls, {model.summary_['oracle_seconds']:.1f} s in the solver")
    print("  weights over the first:", np.round(model.coef_ / -model.coef_[0] * 2, 2), "rules:", rules)
