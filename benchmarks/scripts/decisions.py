#!/usr/bin/env python3
"""Predict, then optimise: regret and CPU seconds of DecisionSSVM, least squares and PyEPO's SPO+ (torch, OR-Tools, one thread).

    python decisions.py run --learner ours --out DIR [--problem path] [--degrees 1,4,6] [--sizes 100,1000] [--first 0] [--seeds 10]
    python decisions.py run --learner pyepo --out DIR ...     # in an environment with pyepo, torch and ortools
    python decisions.py table --out DIR                       # prints a table of DIR/*.jsonl

Data follow the formulas of Elmachtoub and Grigas (2022) and of Tang and Khalil (2024): inputs are standard normal, a cost is a
polynomial of a random sum of inputs, times noise that is uniform on [1 - noise, 1 + noise]. Every fit is measured on 1000 other
points. Seconds are CPU seconds of the whole fit, the best decisions of the training costs included, imports and data not.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import time

import numpy as np

INPUTS, TEST, NOISE = 5, 1000, 0.5
EPOCHS = {100: (20, 100), 1000: (20,)}
CAPACITY = 2000
"""Of both rows of the knapsack with two, in hundredths."""

RATES = (1e-1, 1e-2, 1e-3)
CASES = (("auto", "1/n"), ("one-slack", "1/n"), ("auto", "cv"), ("one-slack", "cv"))


def grid_edges(side=5):
    """The edges of a grid whose steps go right or down, row by row: those to the right of a row, then those down from it."""
    edges = []
    for row in range(side):
        edges += [(row * side + k, row * side + k + 1) for k in range(side - 1)]
        if row + 1 < side:
            edges += [(row * side + k, row * side + k + side) for k in range(side)]
    return edges


def polynomial(random, n, variables, degree):
    """Inputs ``[n, p]`` and ``((B x / sqrt p + 3)^degree + 1) / 3.5^degree``, ``[n, variables]``."""
    chosen = random.binomial(1, 0.5, (variables, INPUTS))
    x = random.normal(0.0, 1.0, (n, INPUTS))
    return x, ((x @ chosen.T / np.sqrt(INPUTS) + 3.0) ** degree + 1.0) / 3.5**degree


def path_data(n, degree, seed):
    random = np.random.RandomState(seed)
    x, c = polynomial(random, n, len(grid_edges()), degree)
    return x, c * random.uniform(1.0 - NOISE, 1.0 + NOISE, c.shape)


def knapsack_data(n, degree, seed, items=32, rows=1):
    """Gains of items, and their weights ``[rows, items]`` (3 to 8 in steps of a hundredth, here whole hundredths)."""
    random = np.random.RandomState(seed)
    weights = random.choice(range(300, 800), size=(rows, items))
    x, c = polynomial(random, n, items, degree)
    return x, np.ceil(5.0 * c * random.uniform(1.0 - NOISE, 1.0 + NOISE, c.shape)), weights


def tour_data(n, degree, seed, cities=10):
    """Distances between cities, plus what inputs add: ``(B x / sqrt p + 3)^degree / 3^(degree - 1)``."""
    random = np.random.RandomState(seed)
    at = np.concatenate([random.uniform(-2.0, 2.0, (cities // 2, 2)), random.normal(0.0, 1.0, (cities - cities // 2, 2))])
    one, other = np.triu_indices(cities, 1)
    factors = random.binomial(1, 0.5, (len(one), INPUTS)) * random.uniform(-2.0, 2.0, (len(one), INPUTS))
    x = random.normal(0.0, 1.0, (n, INPUTS))
    added = (x @ factors.T / np.sqrt(INPUTS) + 3.0) ** degree / 3.0 ** (degree - 1)
    return x, np.linalg.norm(at[one] - at[other], axis=1) + added * random.uniform(1.0 - NOISE, 1.0 + NOISE, added.shape)


class Tours:
    """Exact tours by dynamic programming over sets of cities (Held and Karp), many costs at once. City 0 is where they begin."""

    def __init__(self, cities=10):
        self.cities = cities
        self.number = np.zeros((cities, cities), dtype=int)
        one, other = np.triu_indices(cities, 1)
        self.number[one, other] = self.number[other, one] = np.arange(len(one))

    def __call__(self, costs):
        k, length = self.cities - 1, costs[self.number]
        best, back = np.full((1 << k, k), np.inf), np.zeros((1 << k, k), dtype=int)
        best[1 << np.arange(k), np.arange(k)] = length[0, 1:]
        for visited in range(1, 1 << k):
            inside = [city for city in range(k) if visited >> city & 1]
            if len(inside) > 1:
                for city in inside:
                    found = best[visited ^ (1 << city)] + length[1:, city + 1]
                    back[visited, city] = found.argmin()
                    best[visited, city] = found.min()
        visited = (1 << k) - 1
        city = int((best[visited] + length[1:, 0]).argmin())
        y = np.zeros(len(costs))
        y[self.number[0, city + 1]] += 1.0
        while visited & (visited - 1):
            before = back[visited, city]
            y[self.number[city + 1, before + 1]] += 1.0
            visited, city = visited ^ (1 << city), before
        y[self.number[0, city + 1]] += 1.0
        return y


def tour_programme(cities=10):
    """The same tours: two edges at each city, and at least two out of every set of 2 to cities / 2 cities."""
    from multiplane.ilp import IntegerProgramme

    one, other = np.triu_indices(cities, 1)
    groups = [[city] for city in range(cities)]
    groups += [list(group) for size in range(2, cities // 2 + 1) for group in itertools.combinations(range(cities), size)]
    rows = np.array([np.isin(one, group) != np.isin(other, group) for group in groups], dtype=float)
    upper = np.where(np.arange(len(rows)) < cities, 2.0, np.inf)
    return IntegerProgramme(rows, 2.0, upper)


def problem(name, n, degree, seed):
    """Inputs and costs, those to train on first, the set of decisions, and the sense."""
    from multiplane.ilp import IntegerProgramme, Knapsack, ShortestPath

    if name == "path":
        return *path_data(n + TEST, degree, seed), ShortestPath(grid_edges(), 0, 24), "min"
    if name == "knapsack":
        x, gains, weights = knapsack_data(n + TEST, degree, seed)
        return x, gains, Knapsack(weights[0], int(weights.sum() * 0.3)), "max"
    if name == "knapsack2":
        x, gains, weights = knapsack_data(n + TEST, degree, seed, rows=2)
        return x, gains, IntegerProgramme(weights, -np.inf, CAPACITY), "max"
    return *tour_data(n + TEST, degree, seed), tour_programme(), "min"


def ours(name, n, degree, seed):
    """Records of DecisionSSVM by several solvers and lambdas, and of least squares."""
    from multiplane.ilp import DecisionSSVM

    x, c, feasible, sense = problem(name, n, degree, seed)
    for solver, lam in CASES[: 2 if name in ("knapsack2", "tour") else None]:  # a fit takes 5 to 15 s
        started = time.process_time()
        model = DecisionSSVM(feasible, sense=sense, solver=solver, lam=lam, gap="1%").fit(x[:n], c[:n])
        seconds = time.process_time() - started
        yield {
            "learner": f"ours, {solver}, lam={lam}", "regret": -model.score(x[n:], c[n:]), "seconds": seconds, "certified": model.certified_,
            "gap": model.gap_ / model.primal_, "lambda": model.lam_, "calls": model.summary_["oracle_calls"],
        }  # fmt: skip
    started = time.process_time()
    ones = np.hstack([x, np.ones((len(x), 1))])
    weights = np.linalg.lstsq(ones[:n], c[:n], rcond=None)[0]
    seconds = time.process_time() - started
    model.coef_, model.intercept_ = weights[:-1].T, weights[-1]
    yield {"learner": "least squares", "regret": -model.score(x[n:], c[n:]), "seconds": seconds}


def pyepo(name, n, degree, seed):
    """Records of PyEPO's SPO+ with Adam in batches of 32, at several rates and after several epochs."""
    import torch
    from pyepo.data.dataset import optDataset
    from pyepo.func import SPOPlus
    from pyepo.metric import regret
    from pyepo.model.opt import optModel
    from pyepo.model.predefined import knapsackModel, shortestPathModel
    from torch.utils.data import DataLoader

    class TourModel(optModel):
        """The tours of this script: PyEPO's own need a commercial solver."""

        def _getModel(self):
            return Tours(), range(45)

        def setObj(self, c):
            self.costs = np.asarray(c, dtype=float)

        def solve(self):
            y = self._model(self.costs)
            return y, float(self.costs @ y)

    torch.set_num_threads(1)
    if name == "path":
        x, c = path_data(n + TEST, degree, seed)
        solver = shortestPathModel((5, 5), backend="ortools")
        if [tuple(arc) for arc in solver.arcs] != grid_edges():
            raise ValueError("the arcs of PyEPO's grid are in another order")
    elif name == "tour":
        (x, c), solver = tour_data(n + TEST, degree, seed), TourModel()
    elif name == "knapsack2":
        x, c, weights = knapsack_data(n + TEST, degree, seed, rows=2)
        solver = knapsackModel(weights, np.full(2, CAPACITY), backend="ortools")
    else:
        raise ValueError(f"PyEPO runs here on the problems path, knapsack2 and tour, not on {name}")
    test = DataLoader(optDataset(solver, x[n:], c[n:]), batch_size=256)
    torch.optim.Adam(torch.nn.Linear(1, 1).parameters()).step()  # what the first step loads is not counted
    epochs = EPOCHS[n] if name == "path" else (20,)
    for rate in RATES:
        torch.manual_seed(seed)
        started = time.process_time()
        train = DataLoader(optDataset(solver, x[:n], c[:n]), batch_size=32, shuffle=True)
        model = torch.nn.Linear(INPUTS, c.shape[1])
        loss, steps, paused = SPOPlus(solver, processes=1), torch.optim.Adam(model.parameters(), lr=rate), 0.0
        for epoch in range(1, max(epochs) + 1):
            for inputs, costs, decisions, objectives in train:
                found = loss(model(inputs), costs, decisions, objectives)
                steps.zero_grad()
                found.backward()
                steps.step()
            if epoch in epochs:
                seconds = time.process_time() - started - paused
                found = regret(model, solver, test)
                paused = time.process_time() - started - seconds
                yield {"learner": f"PyEPO, {epoch} epochs, rate {rate:g}", "regret": found, "seconds": seconds}


def run(args):
    args.out.mkdir(parents=True, exist_ok=True)
    learn = {"ours": ours, "pyepo": pyepo}[args.learner]
    with open(args.out / f"{args.learner}-{args.problem}.jsonl", "a") as file:
        for seed, n, degree in itertools.product(range(args.first, args.first + args.seeds), args.sizes, args.degrees):
            for record in learn(args.problem, n, degree, seed):
                record |= {"problem": args.problem, "n": n, "degree": degree, "seed": seed}
                print(json.dumps(record), file=file, flush=True)


def shown(values, digits=2):
    """A mean and its standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.{digits}f} ± {error:.{digits}f}"


def mean_regret(found):
    return statistics.mean(record["regret"] for record in found)


def table(args):
    """Prints learners of each problem: normalised regret in percent, the difference to PyEPO's best on the same seeds, seconds, and
    how many fits were certified. Of PyEPO's rates the row has the one that is best on the test points.
    """
    records = [json.loads(line) for path in sorted(args.out.glob("*.jsonl")) for line in path.read_text().splitlines()]
    cells = {}
    for record in records:
        cells.setdefault((record["problem"], record["n"], record["degree"]), {}).setdefault(record["learner"], []).append(record)
    print("| problem | n | degree | learner | fits | regret, % | less PyEPO | CPU seconds | certified to 1 % |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (name, n, degree), learners in sorted(cells.items()):
        best = {}
        for learner, found in learners.items():
            group = learner.split(", rate")[0]
            if group not in best or mean_regret(found) < mean_regret(best[group][1]):
                best[group] = learner, found
        rivals = [found for group, (_, found) in best.items() if group.startswith("PyEPO")]
        rival = {record["seed"]: record["regret"] for record in min(rivals, key=mean_regret, default=[])}
        for learner, found in best.values():
            regrets, seconds = [100.0 * record["regret"] for record in found], [record["seconds"] for record in found]
            less = [100.0 * (record["regret"] - rival[record["seed"]]) for record in found if record["seed"] in rival]
            certified = sum(record["certified"] and record["gap"] <= 0.01 for record in found) if "gap" in found[0] else "-"
            row = name, n, degree, learner, len(found), shown(regrets), shown(less) if less else "-", shown(seconds), certified
            print("|", " | ".join(map(str, row)), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--learner", choices=["ours", "pyepo"], default="ours")
    parser.add_argument("--problem", choices=["path", "knapsack", "knapsack2", "tour"], default="path")
    parser.add_argument("--first", type=int, default=0, help="the first seed; runs of two learners can thus alternate")
    parser.add_argument("--seeds", type=int, default=10)
    for name, default in (("degrees", [1, 4, 6]), ("sizes", [100, 1000])):
        parser.add_argument(f"--{name}", type=lambda text: [int(part) for part in text.split(",")], default=default)
    args = parser.parse_args()
    (run if args.command == "run" else table)(args)


if __name__ == "__main__":
    main()
