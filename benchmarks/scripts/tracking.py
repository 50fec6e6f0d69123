#!/usr/bin/env python3
"""Compares weights of trackers learned by this package with those of structsvm, on synthetic movies of cells.

    OMP_NUM_THREADS=1 tracking.py one|seeds|many|coarse|overhead|branching|partial [--movies small medium large] [--repeats 3]

Needs motile, structsvm, PySCIPOpt and highspy. Cells move, divide, appear and die; detections are noisy, some are false and some
are missing; candidate edges join detections of successive frames that are near. CPU seconds are those of whole fits, from a
motile solver whose costs and constraints are there to weights, medians over the repeats, which alternate between learners. Calls
count all solutions, also those that only prove a bound or find the nearest feasible truth; a call for a part of a movie counts by
its share of the variables.
"""

import argparse
import functools
import math
import multiprocessing
import statistics
import time
import warnings

import motile
import networkx as nx
import numpy as np
import structsvm
from motile.constraints import MaxChildren, MaxParents
from motile.costs import EdgeDistanceCost, EdgeSelectedCost, NodeAppearCost, NodeDisappearCost, NodeSelectedCost, NodeSplitCost
from motile.variables import EdgeSelected, NodeSelected

from common import finish
from multiplane.ilp import FeasibleSet, IlpSSVM, Least, _feasible, _solver
from multiplane.ilp._solver import silenced
from multiplane.motile import SoftMarginLoss, example, fit_losses, fit_weights

RADIUS = 0.12
"""Candidate edges are at most this long; the movie is a square of side ``sqrt(cells / 12)``."""

SIZES = {"small": (10, 10, 6), "medium": (28, 30, 10), "large": (70, 65, 12)}
"""Cells at first, frames and weights: about 200, 2 000 and 20 000 candidate edges."""

LAMBDA, EPS, COMPLETE = 0.1, 1e-6, False
"""motile's defaults; ``--regularizer`` is another lambda."""


# -- movies --


def movie(cells, frames, seed, false=0.2, missed=0.03):
    """A graph of detections and candidate edges, with the truth as ``gt`` (0 or 1) and the ``track`` of true objects."""
    rng = np.random.default_rng(seed)
    side = math.sqrt(cells / 12.0)
    graph = nx.DiGraph()
    alive = [(rng.uniform(0.0, side, 2), rng.normal(0.0, 0.015, 2), None, track) for track in range(cells)]
    before, count, tracks = [], 0, cells
    for t in range(frames):
        now, following = [], []
        for x, v, parent, track in alive:
            node = None
            if rng.random() > missed:
                node, count = count, count + 1
                seen = x + rng.normal(0.0, 0.008, 2)
                graph.add_node(node, t=t, x=seen[0], y=seen[1], score=float(np.clip(rng.normal(0.65, 0.2), 0.0, 1.0)), gt=1, track=track)
                now.append((node, seen))
                if parent is not None:
                    graph.nodes[node]["parent"] = parent
            fate = rng.random()
            children = 0 if fate < 0.03 else 2 if fate < 0.06 else 1
            for _ in range(children):
                turn = v + rng.normal(0.0, 0.008, 2) + (rng.normal(0.0, 0.03, 2) if children == 2 else 0.0)
                place = np.clip(x + turn, 0.0, side)
                following.append((place, turn, node, track))
        if rng.random() < 0.3:
            following.append((rng.uniform(0.0, side, 2), rng.normal(0.0, 0.015, 2), None, tracks))
            tracks += 1
        for _ in range(rng.poisson(false * len(alive))):
            node, count = count, count + 1
            seen = rng.uniform(0.0, side, 2)
            graph.add_node(node, t=t, x=seen[0], y=seen[1], score=float(np.clip(rng.normal(0.4, 0.2), 0.0, 1.0)), gt=0)
            now.append((node, seen))
        for v, at in now:
            for u, start in before:
                distance = float(np.linalg.norm(at - start))
                if distance < RADIUS:
                    graph.add_edge(u, v, distance=distance / RADIUS, gt=int(graph.nodes[v].get("parent") == u))
        before, alive = now, following
    return graph


def union(graphs):
    """All movies in one graph, at the same frames."""
    return nx.disjoint_union_all(graphs)


def tracker(graph, weights=10):
    """A motile solver with so many weights: 6, 10 or 12."""
    solver = motile.Solver(motile.TrackGraph(graph))
    solver.add_cost(NodeSelectedCost(attribute="score"))
    solver.add_cost(EdgeSelectedCost(attribute="distance"))
    solver.add_cost(NodeAppearCost(attribute="score"))
    if weights > 6:
        solver.add_cost(NodeSplitCost(attribute="score"))
        solver.add_cost(NodeDisappearCost(attribute="score"))
    if weights > 10:
        solver.add_cost(EdgeDistanceCost(position_attribute=("x", "y")))
    solver.add_constraint(MaxParents(1))
    solver.add_constraint(MaxChildren(2))
    assert len(solver.weights.to_ndarray()) == weights
    return solver


@functools.cache
def trackers(size, count=1, is_union=False, first_seed=0):
    cells, frames, weights = SIZES[size]
    graphs = [movie(cells, frames, first_seed + seed) for seed in range(count)]
    return [tracker(graph, weights) for graph in ([union(graphs)] if is_union else graphs)]


# -- learners --


def truths(solver):
    """Marks and their mask, ``[variables]`` each, as motile makes them; with ``--complete`` what follows from marks is not 0 but true."""
    mask, truth = np.zeros(solver.num_variables, np.float32), np.zeros(solver.num_variables, np.float32)
    for kind, objects in ((NodeSelected, solver.graph.nodes), (EdgeSelected, solver.graph.edges)):
        for name, variable in solver.get_variables(kind).items():
            mask[variable], truth[variable] = 1.0, objects[name]["gt"]
    if COMPLETE:
        (programme, _), _ = example(solver, "gt")
        truth = programme.nearest(np.zeros(len(truth)), truth.astype(float), mask.astype(float))
    return truth, mask


def theirs(solver, seconds):
    """structsvm with SCIP, in a process that is ended after so many seconds. Returns weights (None then), calls, CPU seconds and the
    lowest objective that a call evaluated.
    """
    calls, least = multiprocessing.Value("i", 0), multiprocessing.Value("d", math.inf)
    receiver, sender = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=structsvms, args=(solver, calls, least, sender))
    process.start()
    found = receiver.recv() if receiver.poll(seconds) else (None, seconds)
    process.kill()
    process.join()
    return found[0], calls.value, found[1], least.value


def structsvms(solver, calls, least, sender):
    start = time.process_time()
    features = solver.features.to_ndarray()
    truth, mask = truths(solver)
    with silenced():
        loss = structsvm.SoftMarginLoss(solver.constraints, features.T, truth, structsvm.HammingCosts(truth, mask))

        def counted(w):
            found = loss.value_and_gradient(w)
            calls.value += 1
            least.value = min(least.value, 0.5 * LAMBDA * float(w @ w) + float(found[0]))
            return found

        w = structsvm.BundleMethod(counted, dims=features.shape[1], regularizer_weight=LAMBDA, eps=EPS).optimize(1000)
    sender.send((w, time.process_time() - start))


def losses(solvers, make=None):
    """This package's losses of movies, of structsvm's costs."""
    found = []
    for solver in solvers:
        (programme, features), _ = example(solver, "gt")
        truth, mask = truths(solver)
        loss = SoftMarginLoss(programme, features.T, truth, structsvm.HammingCosts(truth, mask))
        if make is not None:
            loss.programme = make(programme)
        found.append(loss)
    return found


def ours(solvers, make=None, eps=EPS, **options):
    """This package's fit. Returns it, the losses and CPU seconds."""
    start = time.process_time()
    made = losses(solvers, make)
    fit = fit_losses(made, LAMBDA, eps=eps, **options)
    return fit, made, time.process_time() - start


def counted(made, what="calls"):
    """Calls of all programmes; those of a part count by its share of the variables."""
    found = 0.0
    for loss in made:
        sets = {id(part): part for part in (loss.programme, *(part for _, part in loss.programme.parts()))}
        found += sum(getattr(part.solver, what) * len(part) / len(loss.programme) for part in sets.values())
    return found


def calls(made):
    return counted(made)


def row(*cells):
    print("| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True)


def title(solvers, size):
    edges, nodes = (sum(len(getattr(s.graph, what)) for s in solvers) for what in ("edges", "nodes"))
    return f"{size}: {nodes} nodes, {edges} edges, {sum(s.num_variables for s in solvers)} variables, {SIZES[size][2]} weights"


SOLVERS = "auto", "bundle", "one-slack"


def compared(size, mine, other, repeats, limit, solvers=SOLVERS, **options):
    """A table of structsvm on one graph and of this package on movies."""
    print(f"\n{title(mine, size)}\n")
    row("learner", "calls", "CPU seconds", "seconds / structsvm", "objective", "gap", "branched")
    row(*["---"] * 7)
    w, taken, told = None, [], 0
    runs = {name: [] for name in solvers}
    for repeat in range(repeats):
        if repeat == 0 or (w is not None and statistics.median(taken) < limit / 3):
            w, told, seconds, least = theirs(other, limit)
            taken.append(seconds)
        for name in solvers:
            runs[name].append(ours(mine, solver=name, **options))
    reference = statistics.median(taken)
    if w is None:
        row("structsvm 0.2, SCIP", f"{told}, not done", f"> {reference:.0f}", "", f"at most {least:.9g}", "", "")
    else:
        exact = losses(mine)
        objective = 0.5 * LAMBDA * float(w @ w) + sum(loss.value_and_gradient(w)[0] for loss in exact)
        row("structsvm 0.2, SCIP", told, reference, 1.0, f"{objective:.9g}", "not known", "")
    for name in solvers:
        fit, made, _ = runs[name][0]
        seconds = statistics.median(run[2] for run in runs[name])
        per = calls(made) / len(mine)
        ends = f"{fit.primal:.9g}" if w is None else f"{fit.primal:.9g} ({fit.primal / objective - 1.0:+.1e})"
        shown = f"{per:.4g}" if len(mine) == 1 else f"{calls(made):.4g} ({per:.3g} passes)"
        branched = f"{counted(made, 'branched'):.3g}, {counted(made, 'searched'):.3g} twice"
        row(name, shown, seconds, seconds / reference, ends, f"{fit.gap:.1e}{'' if fit.certified else ' not certified'}", branched)


def one(options):
    for size in options.movies:
        mine = trackers(size)
        limits = {} if options.seconds is None else {"seconds": options.seconds}
        compared(size, mine, mine[0], options.repeats, options.limit, options.solvers, **limits)


def seeds(options):
    """Calls on further small movies, to structsvm's eps; structsvm has ``--limit`` seconds for each."""
    row("lambda", "seed", "structsvm", "auto", "auto / structsvm", "auto, clock wall", "CPU seconds / structsvm", "objective - structsvm's")
    row(*["---"] * 8)
    global LAMBDA
    ratios = []
    for LAMBDA in (1.0, 10.0):
        for seed in range(6):
            (mine,) = trackers("small", first_seed=seed)
            w, told, seconds, _ = theirs(mine, options.limit)
            if w is None:
                row(LAMBDA, seed, f"{told}, not done", *[""] * 5)
                continue
            (fit, made, taken), wall = ours([mine]), ours([mine], clock="wall")
            ratios.append(calls(made) / told)
            objective = 0.5 * LAMBDA * float(w @ w) + sum(loss.value_and_gradient(w)[0] for loss in losses([mine]))
            row(LAMBDA, seed, told, calls(made), ratios[-1], calls(wall[1]), taken / seconds, f"{fit.primal / objective - 1.0:+.1e}")
    print(f"\nmedian of auto / structsvm {statistics.median(ratios):.3g}, at most {max(ratios):.3g}")


def many(options):
    for size in options.movies:
        compared(size, trackers(size, 10), trackers(size, 10, True)[0], options.repeats, options.limit, ("auto",))


def coarse(options):
    row("movie", *(f"calls, {name}" for name in SOLVERS), "bundle, whole", "auto / bundle, whole")
    row(*["---"] * 6)
    for size in options.movies:
        for seed in range(5 if size != "large" else 1):
            counts = []
            for name in (*SOLVERS, "whole"):
                made = losses(trackers(size, 1, False, seed), None if name != "whole" else Whole)
                x = [(loss.programme, loss.features) for loss in made]
                y = [Costed(loss) for loss in made]
                IlpSSVM(lam=LAMBDA, gap="1%", solver="bundle" if name == "whole" else name).fit(x, [one.target() for one in y])
                counts.append(calls(made) - len(y))  # without the nearest truth
            row(f"{size}, seed {seed}", *counts, counts[0] / counts[-1])


class Whole(FeasibleSet):
    """A programme that is not taken apart."""

    quality = "upper-bound"

    def __init__(self, programme):
        self.programme, self.lower, self.upper = programme, programme.lower, programme.upper

    @property
    def solver(self):
        return self.programme.solver

    def minimise(self, *arguments):
        return self.programme.minimise(*arguments)

    def fault(self, y):
        return self.programme.fault(y)


class Costed:
    """A truth that is completed, with errors counted where it is marked."""

    def __init__(self, loss):
        self.loss = loss

    def target(self):
        from multiplane.ilp import Target

        nearest = self.loss.programme.minimise(self.loss.coefficients).y
        return Target(nearest, costs=self.loss.coefficients)


def overhead(options):
    row("movie", "CPU seconds", "of these in HiGHS", "overhead", "conversion", "first solver", "calls")
    row(*["---"] * 7)
    inside = 0.0
    run = _solver.Highspy._run

    def timed(self, highs, costs):
        nonlocal inside
        start = time.process_time()
        run(self, highs, costs)
        inside += time.process_time() - start

    _solver.Highspy._run = timed
    for size in options.movies:
        found, movies = [], trackers(size)  # which are there before the fit
        for _ in range(options.repeats):
            inside, start = 0.0, time.process_time()
            made = losses(movies)
            converted = time.process_time()
            for loss in made:
                for _, part in loss.programme.parts():
                    part.solver  # noqa: B018
            ready = time.process_time()
            fit_losses(made, LAMBDA, eps=EPS)
            seconds = time.process_time() - start
            found.append((seconds, inside, 1.0 - inside / seconds, converted - start, ready - converted, float(calls(made))))
        row(size, *(statistics.median(one[i] for one in found) for i in range(6)))
    _solver.Highspy._run = run


class AlwaysInteger(FeasibleSet):
    """The integer programme by HiGHS at every call, without a relaxation of our own."""

    quality = "upper-bound"

    def __init__(self, programme):
        self.programme, self.lower, self.upper = programme, programme.lower, programme.upper
        self.rows, self.calls, self.branched, self.searched = _solver.Rows(programme._core()), 0, 0, 0
        self.engine = _solver.Highspy(self.rows)
        self.solver, self.own = self, None

    def minimise(self, costs, slack=_feasible.no_slack, seconds=math.inf):
        self.calls += 1
        y, bound = self.engine.branch_and_bound(costs, self.lower, self.upper, slack(-math.inf) if slack is not _feasible.no_slack else 0.0, seconds)
        y = self.rows.rounded(y)
        return Least(y, min(bound, float(costs @ y)))

    def fault(self, y):
        return self.programme.fault(y)

    def parts(self):
        if self.own is None:
            parts = self.programme.parts()
            self.own = [(own, AlwaysInteger(part)) for own, part in parts] if len(parts) > 1 else super().parts()
        return self.own


def branching(options):
    row("movie", "calls", "branched", "twice", "CPU seconds", "always ILP: calls", "CPU seconds", "ratio")
    row(*["---"] * 8)
    for size in options.movies:
        runs, always = [], []
        for _ in range(options.repeats):
            runs.append(ours(trackers(size)))
            always.append(ours(trackers(size), AlwaysInteger))
        made = [counted(runs[0][1], what) for what in ("calls", "branched", "searched")]
        seconds, longer = (statistics.median(run[2] for run in found) for found in (runs, always))
        row(size, *made, seconds, calls(always[0][1]), longer, seconds / longer)


def marked(graph, share, rng):
    """The attribute ``seen``: the truth of some tracks and of what touches them, and of as large a share of other false objects."""
    tracks = sorted({data["track"] for _, data in graph.nodes(data=True) if data["gt"]})
    known = set(rng.choice(tracks, max(1, round(share * len(tracks))), replace=False).tolist())
    for _, data in graph.nodes(data=True):
        data["seen"] = data["gt"] if (data.get("track") in known if data["gt"] else rng.random() < share) else None
    for u, v, data in graph.edges(data=True):
        touches = any(graph.nodes[node].get("track") in known for node in (u, v))
        data["seen"] = data["gt"] if touches else None
    return graph


def f1(estimator, solver):
    x, truth = example(solver, "gt")
    y = estimator.predict([x])[0]
    at = [int(v) for v in solver.get_variables(EdgeSelected).values()]
    found, true = y[at] > 0.5, truth[at] > 0.5
    return 2.0 * float((found & true).sum()) / float(found.sum() + true.sum())


def partial(options):
    row("seed", "all known", "masked, 30 %", "fixed, 30 %", "masked - fixed", "masked: rounds", "CPU seconds", "fixed: CPU seconds")
    row(*["---"] * 8)
    differences = []
    for seed in range(options.repeats + 2):
        rng = np.random.default_rng(seed)
        train = [tracker(marked(movie(10, 10, 100 + 10 * seed + i), 0.3, rng), 6) for i in range(3)]
        test = [tracker(movie(10, 10, 500 + 10 * seed + i), 6) for i in range(3)]
        found, seconds, rounds = [], [], 0
        for attribute, how in (("gt", "masked"), ("seen", "masked"), ("seen", "fixed")):
            start = time.process_time()
            fit = fit_weights(train, attribute, LAMBDA, eps=0.1, partial=how)
            seconds.append(time.process_time() - start)
            rounds = len(fit.estimator.rounds_) if (attribute, how) == ("seen", "masked") else rounds
            found.append(100.0 * statistics.mean(f1(fit.estimator, solver) for solver in test))
        differences.append(found[1] - found[2])
        row(seed, *(f"{value:.1f}" for value in found), f"{differences[-1]:+.1f}", rounds, *seconds[1:])
    print(f"\nmean difference {statistics.mean(differences):+.1f} points of F1")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {part.__name__: part for part in (one, seeds, many, coarse, overhead, branching, partial)}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--movies", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for structsvm")
    parser.add_argument("--regularizer", type=float, default=0.1, help="lambda, of the sum of losses")
    parser.add_argument("--seconds", type=float, help="wall seconds for each of ours, in `one`")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=SOLVERS)
    parser.add_argument("--complete", action="store_true", help="give both learners truths that keep the constraints")
    options = parser.parse_args()
    global LAMBDA, COMPLETE
    LAMBDA, COMPLETE = options.regularizer, options.complete
    warnings.simplefilter("ignore")
    return parts[options.part](options)


if __name__ == "__main__":
    finish(main)
