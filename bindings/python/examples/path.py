"""Every lambda at once: the regularisation path, and the lambda with the lowest loss on held-out data.

    python path.py [--plot FILE.png]
"""

import argparse

import numpy as np

import multiplane

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
arguments.add_argument("--plot", metavar="FILE", help="where to save the curves")
plot = arguments.parse_args().plot

# 150 examples with 60 features, of which 5 matter, and a tenth of the labels wrong: too little regularisation overfits.
rng = np.random.default_rng(0)
X = rng.normal(size=(1150, 60))
y = (X[:, :5].sum(axis=1) > 0) ^ (rng.random(1150) < 0.1)
X_train, X_held, X_test = X[:150], X[150:650], X[650:]
y_train, y_held, y_test = y[:150], y[150:650], y[650:]

# eps is absolute: the mean loss at w = 0, here 1, sets the scale. The estimator's lam and gap play no part.
model = multiplane.BinarySSVM()
path = model.path(X_train, y_train, eps=0.03, lambda_min=1e-3, X_test=X_held, y_test=y_held)
print(path)
print(f"certified: {path.certified_}; {path.summary_['passes']:.0f} passes for all {len(path)} breakpoints together")

# path.summary_["breakpoints"] has for each breakpoint its bounds and losses: "test_loss" is that of X_test, y_test.
points = path.summary_["breakpoints"]
for point in points[:: max(1, len(points) // 10)]:
    print(f"lambda {point['lambda']:<10.4g} gap {point['gap']:.4f}  loss on training data {point['train_loss']:.3f}, "
          f"on held-out data {point['test_loss']:.3f}")

# The held-out loss falls and rises again. Each breakpoint answers for all lambdas down to the next one.
best = min(points, key=lambda point: point["test_loss"])
chosen = path.at(best["lambda"])  # a fitted estimator, as from fit
last = path.at(path.lambda_end_)
print(f"chosen lambda {best['lambda']:.4g}: test accuracy {chosen.score(X_test, y_test):.3f}")
print(f"smallest lambda {path.lambda_end_:.4g}: test accuracy {last.score(X_test, y_test):.3f}")

path.save("path.safetensors")  # one file for every lambda; multiplane.load and the command line read it
print("reloaded:", multiplane.load("path.safetensors"))

if plot:
    path.plot().figure.savefig(plot)
    print(f"curves are in {plot}")
