"""Feasible sets that need no integer programme: assignments, paths, matchings, trees, knapsacks, and a user's function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from multiplane.ilp._feasible import FeasibleSet, Least, Slack, Vector, no_slack, numbers
from multiplane.ilp._programme import IntegerProgramme

Integers = NDArray[np.int64]

TABLE = 1 << 24
"""Entries of the table of knapsacks that are filled at once."""


class ZeroOne(FeasibleSet):
    """Vectors of zeros and ones, with an exact algorithm for the one of the least cost. A subclass has ``_least`` and ``_fault``."""

    def __init__(self, variables: int) -> None:
        self.lower, self.upper = np.zeros(variables), np.ones(variables)

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns a vector of the least cost for each row of costs, ``[n, variables]``."""
        raise NotImplementedError

    def _fault(self, chosen: Integers) -> str | None:
        """Returns which rule the set of chosen variables breaks."""
        raise NotImplementedError

    def minimise(self, costs: Vector, slack: Slack = no_slack, seconds: float = math.inf) -> Least:
        return self.minimise_many(np.asarray(costs)[None, :])[0]

    def minimise_many(self, costs: NDArray[np.float64], slack: Slack = no_slack, seconds: float = math.inf) -> list[Least]:
        found = self._least(costs)
        return [Least(y, bound) for y, bound in zip(found, np.einsum("ij,ij->i", costs, found).tolist(), strict=True)]

    def fault(self, y: Vector) -> str | None:
        wrong = np.flatnonzero((y != 0.0) & (y != 1.0))
        return f"variable {wrong[0]} is {y[wrong[0]]:g}: expected 0 or 1" if len(wrong) else self._fault(np.flatnonzero(y))


class Assignment(ZeroOne):
    """Assignments: every row has one column, every column at most one row. Variable ``row * columns + column`` is 1 if they meet.

    Args:
        rows: Number of rows, at most that of columns.
        columns: Number of columns.
    """

    is_quick = True

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = whole(rows, "rows", 1), whole(columns, "columns", 1)
        if rows > columns:
            raise ValueError(f"rows = {rows}, columns = {columns}: expected at most as many rows as columns, as each row has its own")
        super().__init__(rows * columns)

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.optimize import linear_sum_assignment

        found = np.zeros((len(costs), self.rows, self.columns))
        for y, table in zip(found, costs.reshape(found.shape), strict=True):
            y[linear_sum_assignment(table)] = 1.0
        return found.reshape(costs.shape)

    def _fault(self, chosen: Integers) -> str | None:
        counts = np.bincount(chosen // self.columns, minlength=self.rows)
        wrong = np.flatnonzero(counts != 1)
        if len(wrong):
            return f"row {wrong[0]} has {counts[wrong[0]]} columns: expected 1"
        counts = np.bincount(chosen % self.columns, minlength=self.columns)
        return f"column {np.argmax(counts)} has {counts.max()} rows: expected at most 1" if counts.max() > 1 else None


class ShortestPath(ZeroOne):
    """Paths from one node to another of a graph without cycles; costs may be negative. Variables are edges, 1 on the path.

    Args:
        edges: The nodes that each edge goes from and to, ``[edges, 2]``, counted from 0.
        source: Where paths begin.
        target: Where they end.
        nodes: Number of nodes; None counts up to the largest that an edge has.
    """

    is_quick = True

    def __init__(self, edges: Any, source: int, target: int, nodes: int | None = None) -> None:
        self.edges, count = pairs(edges, nodes)
        self.source, self.target = whole(source, "source", 0, count - 1), whole(target, "target", 0, count - 1)
        if source == target:
            raise ValueError(f"source and target are both node {source}: expected two nodes")
        super().__init__(len(self.edges))
        order = ordered(self.edges, count)
        ahead, back = np.arange(count) == source, np.arange(count) == target
        into = [np.flatnonzero(self.edges[:, 1] == node) for node in range(count)]
        for node in order:
            ahead[node] |= ahead[self.edges[into[node], 0]].any()
        for node in reversed(order):
            back[self.edges[into[node], 0]] |= back[node]
        if not ahead[target]:
            raise ValueError(f"edges: there is no path from node {source} to node {target}")
        useful = [node for node in order if ahead[node] and back[node] and node != source]
        self._into = [(node, into[node][ahead[self.edges[into[node], 0]]]) for node in useful]
        self._nodes = count

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        tails, each = self.edges[:, 0], np.arange(len(costs))
        by_edge = np.ascontiguousarray(costs.T)
        length, last = np.zeros((self._nodes, len(costs))), np.zeros((self._nodes, len(costs)), dtype=np.int64)
        for node, into in self._into:
            found = length[tails[into]] + by_edge[into]
            best = found.argmin(axis=0)
            length[node], last[node] = found[best, each], into[best]
        y, node_of = np.zeros(costs.shape), np.full(len(costs), self.target)
        while len(each):
            edge = last[node_of[each], each]
            y[each, edge] = 1.0
            node_of[each] = tails[edge]
            each = each[node_of[each] != self.source]
        return y

    def _fault(self, chosen: Integers) -> str | None:
        tails, heads = self.edges[chosen].T
        out, into = np.bincount(tails, minlength=self._nodes), np.bincount(heads, minlength=self._nodes)
        expected = np.zeros(self._nodes, dtype=np.int64)
        expected[[self.source, self.target]] = 1, -1
        wrong = np.flatnonzero((out - into != expected) | (np.maximum(out, into) > 1))
        return f"node {wrong[0]} has {into[wrong[0]]} edges in and {out[wrong[0]]} out: expected a path" if len(wrong) else None


class Matching(IntegerProgramme):
    """Bipartite matchings: how often each edge is used, where no node is used more often than its capacity.

    The relaxation of this programme is integral, so a linear programme with a proven bound finds the least.

    Args:
        edges: The left and the right node of each edge, ``[edges, 2]``, both counted from 0.
        left: The capacity of each left node, ``[left nodes]``, whole numbers.
        right: That of each right node.
        upper: How often an edge may be used: a number for each, or one for all.
        perfect: If every capacity must be met; else all are at most met.
    """

    def __init__(self, edges: Any, left: Any, right: Any, *, upper: Any = 1.0, perfect: bool = False) -> None:
        left, right = wholes(np.atleast_1d(left), "left"), wholes(np.atleast_1d(right), "right")
        self.edges = pairs(edges, None)[0]
        for side, name, capacities in ((0, "left", left), (1, "right", right)):
            wrong = np.flatnonzero(self.edges[:, side] >= len(capacities))
            if len(wrong):
                raise ValueError(
                    f"edges[{wrong[0]}] has the {name} node {self.edges[wrong[0], side]}: {name} has {len(capacities)} capacities"
                )
        if perfect and left.sum() != right.sum():
            raise ValueError(f"perfect: the capacities on the left sum to {left.sum()}, on the right to {right.sum()}: expected as much")
        self.sides = len(left), len(right)
        count, capacity = len(self.edges), np.concatenate([left, right]).astype(np.float64)
        rows = np.concatenate([self.edges[:, 0], len(left) + self.edges[:, 1]])
        matrix = coo_array((np.ones(2 * count), (rows, np.tile(np.arange(count), 2))), (len(capacity), count))
        highest = wholes(numbers(upper, count, "upper"), "upper").astype(np.float64)
        super().__init__(matrix, capacity if perfect else -np.inf, capacity, upper=highest)

    def fault(self, y: Vector) -> str | None:
        sums = self.matrix @ y
        wrong = np.flatnonzero((sums > self.row_upper) | (sums < self.row_lower))
        if not len(wrong):
            return super().fault(y)
        node, low, high = int(wrong[0]), self.row_lower[wrong[0]], self.row_upper[wrong[0]]
        name = f"left node {node}" if node < self.sides[0] else f"right node {node - self.sides[0]}"
        return f"{name} is used {sums[node]:g} times: expected {'' if low == high else 'at most '}{high:g}"


class SpanningTree(ZeroOne):
    """Spanning trees of an undirected graph. Variables are edges, 1 in the tree.

    Args:
        edges: The two nodes of each edge, ``[edges, 2]``, counted from 0.
        nodes: Number of nodes; None counts up to the largest that an edge has.
    """

    def __init__(self, edges: Any, nodes: int | None = None) -> None:
        self.edges, self.nodes = pairs(edges, nodes)
        super().__init__(len(self.edges))
        parts = self.nodes - len(self._joined(np.arange(len(self.edges)))[0])
        if parts != 1:
            raise ValueError(f"edges: the graph falls into {parts} parts: expected one, as a tree connects all {self.nodes} nodes")

    def _joined(self, order: Integers) -> tuple[list[int], list[int]]:
        """Returns the edges, taken in this order, that join two parts, and those that close a cycle."""
        parent = list(range(self.nodes))

        def root(node: int) -> int:
            while parent[node] != node:
                parent[node] = node = parent[parent[node]]
            return node

        taken: list[int] = []
        closing: list[int] = []
        for edge, (one, other) in zip(order.tolist(), self.edges[order].tolist(), strict=True):
            a, b = root(one), root(other)
            parent[a] = b
            (closing if a == b else taken).append(edge)
        return taken, closing

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        y = np.zeros(costs.shape)
        for row, order in zip(y, np.argsort(costs, axis=1, kind="stable"), strict=True):
            row[self._joined(order)[0]] = 1.0
        return y

    def _fault(self, chosen: Integers) -> str | None:
        taken, closing = self._joined(chosen)
        if closing:
            return f"edge {closing[0]} closes a cycle"
        return f"{len(taken)} edges connect {self.nodes} nodes in parts: expected {self.nodes - 1}" if len(taken) < self.nodes - 1 else None


class Knapsack(ZeroOne):
    """Items whose weights sum to at most the capacity. Those of negative cost (a gain, negated) are worth taking.

    Time grows with items times capacity.

    Args:
        weights: The weight of each item, ``[items]``, whole numbers from 0 up.
        capacity: A whole number.
    """

    def __init__(self, weights: Any, capacity: int) -> None:
        self.weights, self.capacity = wholes(np.atleast_1d(weights), "weights"), whole(capacity, "capacity", 0)
        super().__init__(len(self.weights))

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        most = max(1, TABLE // (len(self) * (self.capacity + 1)))
        if len(costs) > most:
            return np.vstack([self._least(costs[start : start + most]) for start in range(0, len(costs), most)])
        best, taken = np.zeros((len(costs), self.capacity + 1)), []
        for weight, cost in zip(self.weights.tolist(), costs.T, strict=True):
            is_less = np.zeros(best.shape, dtype=bool)
            if weight <= self.capacity:
                found = best[:, : self.capacity + 1 - weight] + cost[:, None]
                is_less[:, weight:] = found < best[:, weight:]
                best[:, weight:] = np.minimum(found, best[:, weight:])
            taken.append(is_less)
        y, left, each = np.zeros(costs.shape), np.full(len(costs), self.capacity), np.arange(len(costs))
        for item in reversed(range(len(self))):
            y[:, item] = taken[item][each, left]
            left -= self.weights[item] * taken[item][each, left]
        return y

    def _fault(self, chosen: Integers) -> str | None:
        weight = int(self.weights[chosen].sum())
        return f"the items weigh {weight}: expected at most {self.capacity}" if weight > self.capacity else None


class TopK(ZeroOne):
    """Choices of k variables.

    Args:
        variables: Number of variables.
        k: How many of them are 1.
        exactly: If False, at most k are.
    """

    is_quick = True

    def __init__(self, variables: int, k: int, exactly: bool = True) -> None:
        super().__init__(whole(variables, "variables", 1))
        self.k, self.exactly = whole(k, "k", 0, variables), bool(exactly)

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        y = np.zeros(costs.shape)
        np.put_along_axis(y, np.argsort(costs, axis=1, kind="stable")[:, : self.k], 1.0, axis=1)
        return y if self.exactly else np.where(costs < 0.0, y, 0.0)

    def _fault(self, chosen: Integers) -> str | None:
        is_wrong = len(chosen) != self.k if self.exactly else len(chosen) > self.k
        return f"{len(chosen)} variables are 1: expected {'' if self.exactly else 'at most '}{self.k}" if is_wrong else None


class FromFunction(FeasibleSet):
    """What a function of your own chooses from. Nothing else is known of the set, so no truth is refused for breaking its rules.

    Args:
        solve: Returns a vector ``[variables]`` of low cost for costs ``[variables]``; with quality ``"upper-bound"`` this and a lower
            bound on the cost of all others.
        variables: Number of variables.
        lower: The least value of each variable, or one for all.
        upper: The largest.
        quality: ``"exact"`` if the cost is always the least, ``"upper-bound"`` if there is a bound, else ``"heuristic"``: gaps are then
            estimates.
    """

    def __init__(
        self, solve: Callable[[Vector], Any], variables: int, lower: Any = 0.0, upper: Any = 1.0, quality: str = "heuristic"
    ) -> None:
        if not callable(solve):
            raise ValueError(f"solve: expected a function of costs, found {type(solve).__name__}")
        if quality not in ("exact", "upper-bound", "heuristic"):
            raise ValueError(f"quality = {quality!r}: must be 'exact', 'upper-bound' or 'heuristic'")
        size = whole(variables, "variables", 1)
        self.solve, self.quality = solve, quality
        self.lower, self.upper = numbers(lower, size, "lower"), numbers(upper, size, "upper")

    def minimise(self, costs: Vector, slack: Slack = no_slack, seconds: float = math.inf) -> Least:
        given = self.solve(costs)
        if self.quality == "upper-bound":
            if not isinstance(given, tuple) or len(given) != 2:
                raise ValueError(f"solve returned {type(given).__name__}: expected (vector, lower bound), as quality = 'upper-bound' says")
            return Least(self._vector(given[0]), float(given[1]))
        y = self._vector(given)
        return Least(y, float(costs @ y))

    def _vector(self, given: Any) -> Vector:
        y = numbers(given, len(self), "the vector that solve returned")
        if np.ndim(given) != 1:
            raise ValueError(f"solve returned one number: expected a vector of {len(self)}")
        wrong = np.flatnonzero((y < self.lower - 1e-9) | (y > self.upper + 1e-9))
        if len(wrong):
            v = wrong[0]
            raise ValueError(f"solve returned {y[v]:g} for variable {v}: expected {self.lower[v]:g} to {self.upper[v]:g}")
        return y

    def fault(self, y: Vector) -> str | None:
        return None


def whole(value: Any, what: str, least: int, most: int | None = None) -> int:
    """Returns a whole number in its range, or raises ValueError."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_whole or value < least or (most is not None and value > most):
        allowed = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{what} = {value!r}: must be a whole number {allowed}")
    return int(value)


def wholes(values: Any, what: str) -> Integers:
    """Returns whole numbers from 0 up, or raises ValueError with the first that is none."""
    found = numbers(values, len(values), what)
    wrong = np.flatnonzero(~((found >= 0.0) & (found == np.round(found)) & (found < 2.0**53)))
    if len(wrong):
        raise ValueError(f"{what}[{wrong[0]}] is {found[wrong[0]]:g}: must be a whole number >= 0")
    return found.astype(np.int64)


def pairs(edges: Any, nodes: int | None) -> tuple[Integers, int]:
    """Returns edges ``[edges, 2]`` and the number of nodes. Raises ValueError if one has a node that is not among them."""
    try:
        found = np.asarray(edges)
    except ValueError:
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found) or found.dtype.kind not in "iu":
        raise ValueError(f"edges: expected whole numbers [edges, 2], and at least one edge, found {edges!r:.60}")
    count = int(found.max()) + 1 if nodes is None else whole(nodes, "nodes", 1)
    wrong = np.flatnonzero(((found < 0) | (found >= count)).any(axis=1))
    if len(wrong):
        raise ValueError(f"edges[{wrong[0]}] is {tuple(found[wrong[0]].tolist())}: nodes are from 0 to {count - 1}")
    return found.astype(np.int64), count


def ordered(edges: Integers, nodes: int) -> list[int]:
    """Returns the nodes with every edge's tail before its head. Raises ValueError with the nodes of a cycle if there is one."""
    out: list[list[int]] = [[] for _ in range(nodes)]
    waiting = np.bincount(edges[:, 1], minlength=nodes).tolist()
    for tail, head in edges.tolist():
        out[tail].append(head)
    order = [node for node in range(nodes) if not waiting[node]]
    for node in order:  # grows
        for head in out[node]:
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    if len(order) == nodes:
        return order
    rest = set(range(nodes)) - set(order)
    before = {head: tail for tail, head in edges.tolist() if tail in rest and head in rest}
    walk = [next(iter(rest))]
    while walk[-1] not in walk[:-1]:
        walk.append(before[walk[-1]])
    cycle = walk[walk.index(walk[-1]) :][::-1]
    raise ValueError(f"edges: {' -> '.join(map(str, cycle))} is a cycle: expected a graph without")
