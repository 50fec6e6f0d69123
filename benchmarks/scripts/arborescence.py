#!/usr/bin/env python3
"""Maximum arborescences and the matrix-tree theorem beside networkx and NumPy, on random sentences.

Sentences have 1 to 60 words and whole scores in [-20, 20], so that sums are exact and ties abound; a fifth of the edges is
forbidden in half of them. networkx finds the maximum spanning arborescence: scores must be equal. With one child of the
root it is asked with the root's edges lowered by 10^6 each. NumPy computes the log-partition as the log-determinant of the
Laplacian (Koo et al. 2007 with one child).

Prints one line of JSON; ends with an error where anything differs. Build first:
cargo build --profile dist -p multiplane-infer --example arborescence
"""

import argparse
import json
import math
import subprocess

import networkx as nx
import numpy as np

LOWERED = 10**6


def sentence(random):
    """Scores [head, word]; -inf forbids."""
    side = random.integers(1, 61) + 1
    scores = random.integers(-20, 21, size=(side, side)).astype(float)
    if random.random() < 0.5:
        scores[random.random((side, side)) < 0.2] = -math.inf
    return scores


def best(scores, single_root):
    """The score of the best tree by networkx; none where there is no tree."""
    graph = nx.DiGraph()
    side = len(scores)
    graph.add_nodes_from(range(side))
    for head in range(side):
        for word in range(1, side):
            if head != word and scores[head, word] > -math.inf:
                lowered = LOWERED if single_root and head == 0 else 0
                graph.add_edge(head, word, weight=scores[head, word] - lowered)
    try:
        tree = nx.maximum_spanning_arborescence(graph)
    except nx.NetworkXException:
        return None
    if single_root and tree.out_degree(0) != 1:
        return None
    return sum(scores[head, word] for head, word in tree.edges)


def log_partition(scores, single_root):
    """ln of the sum over all trees, by a determinant."""
    weights = np.exp(scores[:, 1:])
    words = weights.shape[1]
    inner = weights[1:] * (1 - np.eye(words))
    laplacian = np.diag(inner.sum(axis=0)) - inner
    if single_root:
        laplacian[0] = weights[0]
    else:
        laplacian += np.diag(weights[0])
    sign, log = np.linalg.slogdet(laplacian)
    return log if sign > 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/dist/examples/arborescence")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    asked = [(sentence(random), bool(random.random() < 0.5)) for _ in range(options.sentences)]
    lines = []
    for scores, single_root in asked:
        values = " ".join(repr(float(value)) for value in scores.ravel())
        lines.append(f"{len(scores) - 1} {int(single_root)} {values}")
    program = subprocess.run([options.program], input="\n".join(lines), text=True, capture_output=True, check=True)
    answers = [json.loads(line) for line in program.stdout.splitlines()]
    assert len(answers) == len(asked), "one answer per sentence"
    none, largest = 0, 0.0
    for index, ((scores, single_root), answer) in enumerate(zip(asked, answers)):
        expected = best(scores, single_root)
        assert answer["score"] == expected, f"sentence {index}: {answer['score']} instead of {expected}"
        none += expected is None
        if expected is not None:
            expected = log_partition(scores, single_root)
            # Determinants lose digits where weights differ much; ours do not.
            difference = abs(answer["log_partition"] - expected)
            largest = max(largest, difference)
            assert difference <= 1e-4, f"sentence {index}: {answer['log_partition']} instead of {expected}"
    print(json.dumps({"sentences": len(asked), "without_tree": none, "largest_difference_of_determinants": largest}))


if __name__ == "__main__":
    main()
