"""Several classes: train, read the certificate, choose lambda, save.

    python multiclass.py [--plot FILE.png]
"""

import argparse

import numpy as np
from sklearn.base import clone

import multiplane

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--plot", metavar="FILE", help="where to save the curves of the bounds")
plot = arguments.parse_args().plot

# Five overlapping clouds of points in 20 dimensions. Labels may be names or whole numbers.
rng = np.random.default_rng(0)
names = np.array(["ash", "beech", "elm", "lime", "oak"])
centres = rng.normal(size=(5, 20))
classes = rng.integers(5, size=1500)
X, y = centres[classes] + 1.5 * rng.normal(size=(1500, 20)), names[classes]
X_train, X_test, y_train, y_test = X[:1000], X[1000:], y[:1000], y[1000:]

# A model has no intercept unless asked for one: "task.bias" adds a feature that is always 1.
# gap="1%" stops as soon as the objective is proven to be within 1 % of the optimum.
model = multiplane.MulticlassSSVM(gap="1%", bias=True)
model.fit(X_train, y_train, X_test=X_test, y_test=y_test)  # test data is only watched: see model.history_

print(f"weights        {model.coef_.shape}: a row for each of {', '.join(model.classes_)}; the last column is the bias")
print(f"primal         {model.primal_:.5f}  the objective of these weights")
print(f"dual           {model.dual_:.5f}  no weights have a lower objective")
print(f"gap            {model.gap_:.5f}  ({100 * model.gap_ / model.primal_:.2f} %, certified: {model.certified_})")
print(f"oracle calls   {model.summary_['oracle_calls']} in {model.summary_['passes']:.1f} passes")
print(f"test accuracy  {model.score(X_test, y_test):.3f}")

# The default lam="1/n" is weak regularisation, like C = 1 elsewhere. With a warm start a fit at another lambda begins
# with the planes that the last one found. Choose lambda on data that is neither for training nor for testing.
model = clone(model).set_params(warm_start=True)
part, held = slice(0, 800), slice(800, 1000)
scores, before = {}, 0
for lam in (0.0003, 0.001, 0.01, 0.1, 1.0):
    model.set_params(lam=lam).fit(X_train[part], y_train[part])
    scores[lam] = model.score(X_train[held], y_train[held])
    passes = model.summary_["passes"]  # counts from the first fit on this data
    print(f"lambda {lam:<7} held-out accuracy {scores[lam]:.3f}, {passes - before:.1f} more passes")
    before = passes
best = max(scores, key=scores.get)

model.set_params(lam=best, warm_start=False).fit(X_train, y_train)
print(f"chosen lambda  {best}: test accuracy {model.score(X_test, y_test):.3f}")

# A safetensors file: no pickle, and the command line reads it too.
model.save("trees.safetensors")
again = multiplane.load("trees.safetensors")
print("the saved model predicts the same:", bool(np.all(again.predict(X_test) == model.predict(X_test))))

if plot:
    axes = model.history_.plot(x="oracle_calls")
    axes.set_yscale("log")
    axes.figure.savefig(plot)
    print(f"curves are in {plot}")
