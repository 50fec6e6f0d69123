# %% [markdown]
# # Segmentation: labels on graphs
#
# A graph model labels all nodes of a graph at once: from what each node looks like, and from its neighbours, with which it likes to
# agree. How much it likes that is learned, too. Here the graphs are small pictures of our own making, with a node for every
# pixel, so that all of it can be seen. For photographs, `multiplane.vision` makes graphs of superpixels
# ([segmentation.md](../segmentation.md)).

# %%
import matplotlib.pyplot as plt
import numpy as np

import multiplane

SIZE = 20
rng = np.random.default_rng(3)


def scene(kinds=1):
    """A noisy picture [20, 20, 3] of clouds of some kinds before a sky, and the label of every pixel: 0 is sky."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    truth = np.zeros((SIZE, SIZE), dtype=int)
    for _ in range(rng.integers(1, 4)):
        x, y, height = rng.uniform(3, SIZE - 3), rng.uniform(3, SIZE - 3), rng.uniform(1, 3)
        truth[((columns - x) / 3) ** 2 + (rows - y) ** 2 < height**2] = rng.integers(1, kinds + 1)
    colours = np.array([[0.35, 0.5, 0.65], [0.6, 0.5, 0.45], [0.35, 0.3, 0.35]])
    return colours[truth] + 0.16 * rng.normal(size=(SIZE, SIZE, 3)), truth


scenes = [scene() for _ in range(60)]
figure, axes = plt.subplots(2, 5, figsize=(6.5, 2.8), layout="constrained")
for (above, below), (picture, truth) in zip(axes.T, scenes):
    above.imshow(np.clip(picture, 0, 1))
    below.imshow(truth, cmap="viridis", vmin=0, vmax=2)
    above.axis("off"), below.axis("off")

# %% [markdown]
# ## Pictures as graphs
#
# A graph is `(features, edges, edge_features)`: `[nodes, f]`, `[edges, 2]`, `[edges, g]`. Here a pixel is joined to the four around
# it. Its features are its colour and a constant. The features of an edge say whether it goes across or down: the model learns
# for each what it costs to have different labels at the ends.

# %%
number = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
EDGES = np.concatenate([across, down])
KINDS = np.repeat(np.eye(2), [len(across), len(down)], axis=0)  # [edges, 2]


def graph(picture):
    colours = picture.reshape(-1, 3)
    return np.column_stack([colours, np.ones(len(colours))]), EDGES, KINDS


X = [graph(picture) for picture, _ in scenes]
y = [truth.ravel() for _, truth in scenes]
X_test, y_test = X[40:], y[40:]
X, y = X[:40], y[:40]

# %% [markdown]
# ## Train
#
# With two labels, and edges that only ever ask for agreement, the best labelling is a minimum cut, found exactly. So the gap is
# *certified*: no weights have an objective below `dual_`. Features are sums over nodes here, so the lambdas that serve are large:
# begin with `lam=1`, up to 100 where examples are few, or have it chosen, as here.

# %%
model = multiplane.GraphSSVM(lam="cv", gap="2%", clock="work", progress=False).fit(X, y)
print(f"lambda {model.lam_:.4g}; the optimum is in [{model.dual_:.5f}, {model.primal_:.5f}], certified: {model.certified_}")
print("what it costs to cut an edge: {:.4f} across, {:.4f} down".format(*model.edge_coef_))

# %% [markdown]
# Clouds are wide: neighbours across like to agree more than neighbours down, which nobody told the model.

# %%
watched = multiplane.GraphSSVM(
    lam=model.lam_, gap="2%", clock="work", params={"evaluate": "pass"}, progress=False
).fit(X, y)
figure, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
watched.history_.plot(ax, x="oracle_calls")

# %% [markdown]
# The curves are bounds on the best value of the objective, proven at every point. Proving takes calls, too; so a fit proves only
# where that can end it, unless it is told to do so after every pass, as it was for this picture.
#
# ## Look
#
# Without neighbours, pixel by pixel, the same features leave noise everywhere:

# %%
pixels, of_pixels = np.concatenate([features for features, _, _ in X]), np.concatenate(y)
alone = multiplane.BinarySSVM(lam=1e-4, gap="2%", clock="work", progress=False).fit(pixels, of_pixels)
by_pixel = np.mean([alone.score(features, truth) for (features, _, _), truth in zip(X_test, y_test)])
print(f"pixels right: {by_pixel:.3f} each on its own, {model.score(X_test, y_test):.3f} as a graph")

# %%
found = model.predict(X_test)
figure, axes = plt.subplots(4, 4, figsize=(5.6, 5.8), layout="constrained")
for row, (picture, truth) in enumerate(scenes[40:44]):
    labels = alone.predict(X_test[row][0]).reshape(SIZE, SIZE)
    axes[row, 0].imshow(np.clip(picture, 0, 1))
    for ax, shown in zip(axes[row, 1:], [truth, labels, found[row].reshape(SIZE, SIZE)]):
        ax.imshow(shown, cmap="viridis", vmin=0, vmax=2)
for ax, name in zip(axes[0], ["picture", "truth", "pixel by pixel", "as a graph"]):
    ax.set_title(name, fontsize=9)
for ax in axes.flat:
    ax.axis("off")

# %% [markdown]
# How sure is the model of each pixel? `margins` says by how much the labelling wins over the best one with another label there.
# It is unsure at borders, where it should be.

# %%
sure = model.margins(X_test[:1])[0].reshape(SIZE, SIZE)
figure, (left, right) = plt.subplots(1, 2, figsize=(5.6, 2.6), layout="constrained")
left.imshow(found[0].reshape(SIZE, SIZE), cmap="viridis", vmin=0, vmax=2)
figure.colorbar(right.imshow(sure, cmap="magma"), label="margin")
left.axis("off"), right.axis("off")

# %% [markdown]
# ## Pixels that nobody has labelled
#
# Label maps have holes. A label of -1 is a pixel whose truth is unknown: training leaves it out, prediction labels it.

# %%
holes = [np.where(rng.random(SIZE * SIZE) < 0.2, -1, truth) for truth in y]
fewer = multiplane.GraphSSVM(lam=model.lam_, gap="2%", clock="work", progress=False).fit(X, holes)
print(f"with four fifths of the labels: {fewer.score(X_test, y_test):.3f} of the test pixels right")

# %% [markdown]
# ## More than two labels
#
# With three labels or more the best labelling is hard to find. The oracle then takes expansion moves and says how good
# a labelling could be at most. The gap holds that bound, so it is still proven, but it may end above what was asked
# for: then a stop of another kind is needed, as `passes` here.

# %%
pairs = [scene(kinds=2) for _ in range(60)]  # light clouds and dark ones
X3, y3 = [graph(picture) for picture, _ in pairs], [truth.ravel() for _, truth in pairs]
three = multiplane.GraphSSVM(lam=model.lam_, gap="5%", passes=60, clock="work", progress=False).fit(X3[:40], y3[:40])
print(f"the optimum is in [{three.dual_:.4f}, {three.primal_:.4f}], certified: {three.certified_}")
print(f"{three.score(X3[40:], y3[40:]):.3f} of the test pixels right")

# %%
figure, axes = plt.subplots(3, 4, figsize=(5.6, 4.6), layout="constrained")
for column, (picture, truth) in zip(axes.T, pairs[40:]):
    labels = three.predict([graph(picture)])[0].reshape(SIZE, SIZE)
    column[0].imshow(np.clip(picture, 0, 1))
    for ax, shown in zip(column[1:], [truth, labels]):
        ax.imshow(shown, cmap="viridis", vmin=0, vmax=2)
for ax, name in zip(axes[:, 0], ["picture", "truth", "prediction"]):
    ax.set_title(name, fontsize=9)
for ax in axes.flat:
    ax.axis("off")

# %% [markdown]
# ## Read on
#
# * [Train a segmentation model](../segmentation.md): photographs, superpixels, features, overlays
# * [Any pairwise model](../mrf.md): tables of features in the place of labels that agree
# * [words.ipynb](words.ipynb): sequences; [oracle.ipynb](oracle.ipynb): a problem of your own
