# %% [markdown]
# # An oracle of your own: matching points
#
# Whatever your outputs are (matchings, tours, layouts, plans), if you can search for the best one at given weights, you can
# learn the weights. A *task* is an object with four methods; nothing is inherited. Here an output is a matching of the points
# of two pictures, and the search is `scipy.optimize.linear_sum_assignment`. You need NumPy, SciPy and Matplotlib.

# %%
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import multiplane

N = 9
rng = np.random.default_rng(5)


def pair():
    """Two pictures of the same nine points, which move, and what each point looks like; and which is which."""
    before = rng.uniform(size=(N, 2))
    look = rng.normal(size=(N, 4))
    order = rng.permutation(N)
    after = (before + 0.12 * rng.normal(size=(N, 2)))[order]
    x = {"before": before, "after": after, "looks": (look, look[order] + 0.7 * rng.normal(size=(N, 4)))}
    return x, np.argsort(order)  # y[i]: where point i has gone


pairs = [pair() for _ in range(160)]
X, Y = [x for x, _ in pairs], [y for _, y in pairs]


# %%
def draw(ax, x, y, truth=None):
    """The points before (circles) and after (crosses), joined as y says; red where the truth says otherwise."""
    ax.plot(*x["before"].T, "o", color="tab:blue", markersize=5)
    ax.plot(*x["after"].T, "x", color="black", markersize=5)
    for i, j in enumerate(y):
        wrong = truth is not None and truth[i] != j
        ax.plot(*np.stack([x["before"][i], x["after"][j]]).T, color="tab:red" if wrong else "gray", linewidth=1)
    ax.set(xticks=[], yticks=[], aspect="equal")


figure, axes = plt.subplots(1, 3, figsize=(6.5, 2.3), layout="constrained")
for ax, x, y in zip(axes, X, Y):
    draw(ax, x, y)

# %% [markdown]
# ## The task
#
# * `dim()`: how many weights.
# * `features(x, y)`: what the weights are multiplied with. Here a sum over the pairs that y matches.
# * `loss(truth, y)`: how wrong y is: 0 for the truth.
# * `decode(x, w, truth)`: the best y at weights w. In training there is a truth, and its loss is added to the score: that is the
#   *max-oracle*. An assignment can do this because the loss, too, is a sum over pairs.
#
# `quality = "exact"` promises that nothing scores higher. On that promise rests the certificate.


# %%
class Matching:
    quality = "exact"

    def dim(self):
        return 6

    def table(self, x):
        """[N, N, 6]: the features of every pair of points: squared distance, differences of looks, an idle one."""
        moved = ((x["before"][:, None] - x["after"][None]) ** 2).sum(axis=2)
        looks = (x["looks"][0][:, None] - x["looks"][1][None]) ** 2
        idle = np.sin(7 * x["before"][:, None, 0] + 5 * x["after"][None, :, 1])  # means nothing: its weight should be small
        return np.concatenate([moved[..., None], looks, idle[..., None]], axis=2)

    def features(self, x, y):
        return self.table(x)[np.arange(N), y].sum(axis=0) / N

    def loss(self, truth, y):
        return float(np.mean(truth != y))

    def decode(self, x, w, truth=None):
        gains = self.table(x) @ w / N
        if truth is not None:
            gains += 1 / N  # every pair is wrong ...
            gains[np.arange(N), truth] -= 1 / N  # ... but for the true ones
        return linear_sum_assignment(gains, maximize=True)[1]


# %% [markdown]
# ## Ask the doctor first
#
# Most failures are mistakes in a task, and training only shows them as a strange result. `check` asks a few thousand questions
# beforehand. Plant a mistake that is easily made, a wrong sign of the loss:


# %%
class WrongSign(Matching):
    def decode(self, x, w, truth=None):
        gains = self.table(x) @ w / N
        if truth is not None:
            gains[np.arange(N), truth] += 1 / N  # rewards the truth; it should be the errors
        return linear_sum_assignment(gains, maximize=True)[1]


for finding in multiplane.StructuredSVM(WrongSign()).check(X[:20], Y[:20]):
    print(f"{finding.kind}, example {finding.example}")
    print(textwrap.fill(finding.message, 110, initial_indent="  ", subsequent_indent="  "))
    print("  probable cause:", finding.cause)

# %% [markdown]
# And the task as it should be:

# %%
findings = multiplane.StructuredSVM(Matching()).check(X[:20], Y[:20])
print("findings:", list(findings))

# %% [markdown]
# ## Train
#
# Training keeps every answer of the oracle and learns from it again and again: oracles of your own are slow, and calls are what
# costs.

# %%
model = multiplane.StructuredSVM(Matching(), lam=0.003, gap="2%", clock="work", progress=False).fit(X[:100], Y[:100])
print(f"the optimum is in [{model.dual_:.5f}, {model.primal_:.5f}], certified: {model.certified_}")
print("calls to learn", model.summary_["oracle_calls"], "and to prove", model.summary_["evaluation_calls"])
print(f"pairs right: {model.score(X[100:], Y[100:]):.3f} on new pictures")

# %% [markdown]
# Proving a gap takes calls, so a fit does it only where that can end it. For a curve have it done after every pass:

# %%
watched = multiplane.StructuredSVM(Matching(), lam=0.003, gap="2%", params={"evaluate": "pass"}, clock="work", progress=False)
watched.fit(X[:100], Y[:100])
figure, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
watched.history_.plot(ax, x="oracle_calls")

# %% [markdown]
# Whatever the true optimum is, it lies between the two curves. The weights say what counts; distance and looks do, the
# idle feature does not:

# %%
for name, weight in zip(["distance", "look 1", "look 2", "look 3", "look 4", "idle"], model.coef_):
    print(f"{name:9} {weight:7.3f}")

# %%
nearest = np.array([-1.0, 0, 0, 0, 0, 0])  # weights that look at distances alone
figure, axes = plt.subplots(2, 3, figsize=(6.5, 4.6), layout="constrained")
for (above, below), x, y in zip(axes.T, X[101:], Y[101:]):
    draw(above, x, Matching().decode(x, nearest), y)
    draw(below, x, model.predict([x])[0], y)
axes[0, 0].set_ylabel("nearest points")
axes[1, 0].set_ylabel("learned weights")

# %% [markdown]
# ## All lambdas at once
#
# `path` gives weights for every lambda of a range, each proven to be within `eps` of its optimum; `at` takes one of them out.

# %%
path = multiplane.StructuredSVM(Matching(), clock="work", progress=False).path(X[:100], Y[:100], eps=0.05, lambda_min=1e-3)
print(path)
held_out = [path.at(lam).score(X[100:], Y[100:]) for lam in path.lambdas_]

# %%
figure, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
path.plot(ax)
ax.plot(path.lambdas_, 1 - np.array(held_out), "--", label="loss on new pictures")
ax.legend()

# %% [markdown]
# ## Where to go from here
#
# * `loss` and `features` are free; `features` may be sparse (a dict, indices and values, a SciPy row).
# * A search that stops early declares `quality = "upper-bound"` and returns `multiplane.Bounded(y, bound)`: the gap stays
#   certified. A heuristic declares `"heuristic"`: the gap is an estimate, and is called so.
# * `n_jobs=4` starts processes that answer calls; the result stays the same, to the bit.
# * Oracles in other languages: [external-oracles.md](../external-oracles.md). All of it: [python.md](../python.md#your-own-task).
# * [words.ipynb](words.ipynb): sequences; [segmentation.ipynb](segmentation.ipynb): graphs.
