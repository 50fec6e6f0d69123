"""Warm starts see what a task looks up in the user's modules, and start anew where that cannot be seen."""

from __future__ import annotations

import importlib
import sys
import textwrap

import numpy as np
import pytest

from multiplane import StructuredSVM
from multiplane._digest import Unknown, digest

HELPERS = """
COST, UNUSED = {}, [0]

def cost(i):
    return scaled(COST.get(i, 1.0))

def scaled(value):
    return SCALE * value

SCALE = 1.0

class Costs:
    base = 1.0

    def of(self, i):
        return self.base * COST.get(i, 1.0)
"""

TASK = """
import functools
import numpy as np
{head}

class Task:
    quality = "exact"

    def dim(self):
        return 6

    def features(self, x, y):
        v = np.zeros(6)
        y = y[1] if isinstance(y, tuple) else y
        v[2 * y : 2 * y + 2] = x[1]
        return v

    def price(self, i):
        {price}

    def loss(self, truth, y):
        y = y[1] if isinstance(y, tuple) else y
        return self.price(truth[0]) * float(truth[1] != y)

    def decode(self, x, w, truth=None):
        scores = w.reshape(3, 2) @ x[1]
        if truth is not None:
            scores = scores + self.price(truth[0]) * (np.arange(3) != truth[1])
        return int(scores.argmax())
"""

SEEN = {
    "attribute": ("import helpers", "return helpers.COST.get(i, 1.0)"),
    "by another name": ("import helpers as h", "return h.COST.get(i, 1.0)"),
    "function": ("import helpers", "return helpers.cost(i)"),
    "taken from": ("from helpers import cost", "return cost(i)"),
    "class": ("import helpers", "return helpers.Costs().of(i)"),
    "kept": ("import helpers\ncosts = helpers.Costs()", "return costs.of(i)"),
    "cached": ("import helpers\ncost = functools.cache(lambda i: helpers.cost(i))", "return cost.__wrapped__(i)"),
    "imported in the call": ("", "import helpers; return helpers.COST.get(i, 1.0)"),
    "from imported in the call": ("", "from helpers import COST; return COST[i] if i in COST else 1.0"),
    "within a function": ("import helpers", "return (lambda: helpers.cost(i))()"),
    "of a package": ("import tools.helpers", "return tools.helpers.COST.get(i, 1.0)"),
    "of a package in the call": ("", "import tools.helpers; return tools.helpers.cost(i)"),
    "of a package by name": ("", "import tools.helpers as h; return h.cost(i)"),
    "a module of a package": ("from tools import helpers", "return helpers.cost(i)"),
    "a module of a package in the call": ("", "from tools import helpers; return helpers.cost(i)"),
    "enclosed": (
        "def made():\n    import helpers\n    def of(i):\n        return helpers.cost(i)\n    return of\nprice = made()",
        "return price(i)",
    ),
}
"""How a task comes to a cost that another module holds, in ways that are looked into."""

UNSEEN = {
    "getattr": ("import helpers", "return getattr(helpers, 'CO' + 'ST').get(i, 1.0)"),
    "vars": ("import helpers", "return vars(helpers)['COST'].get(i, 1.0)"),
    "passed on": ("import helpers\ndef of(m, i): return m.cost(i)", "return of(helpers, i)"),
    "in a list": ("import helpers\nheld = [helpers]", "return held[0].cost(i)"),
    "passed on from the call": ("", "import helpers; return getattr(helpers, 'CO' + 'ST').get(i, 1.0)"),
    "passed on from a package": ("import tools.helpers\ndef of(m, i): return m.cost(i)", "return of(tools.helpers, i)"),
    "taken from a package": ("", "from tools import helpers; return getattr(helpers, 'CO' + 'ST').get(i, 1.0)"),
    "passed on from within": ("", "import helpers; return (lambda: getattr(helpers, 'CO' + 'ST'))().get(i, 1.0)"),
    "import_module": ("import importlib", "return importlib.import_module('helpers').cost(i)"),
    "eval": ("import helpers", "return eval('helpers.cost(i)')"),
    "globals": ("import helpers", "return globals()['help' + 'ers'].cost(i)"),
}
"""Ways in which names are made at run time: nothing tells what is used."""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Writes the modules and returns a task and the helpers that it uses."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(head, price):
        (tmp_path / "helpers.py").write_text(HELPERS)
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "__init__.py").write_text("")
        (tmp_path / "tools" / "helpers.py").write_text(HELPERS)
        (tmp_path / "priced.py").write_text(TASK.format(head=textwrap.dedent(head), price=price))
        importlib.invalidate_caches()
        used = head + price
        task = importlib.import_module("priced").Task()
        in_package = "tools import" in used or "tools.helpers" in used
        return task, importlib.import_module("tools.helpers" if in_package else "helpers")

    yield make
    for name in ("priced", "helpers", "tools", "tools.helpers"):
        sys.modules.pop(name, None)


def data(n=40):
    chance = np.random.default_rng(0)
    return [(i, chance.normal(size=2)) for i in range(n)], [(i, int(chance.integers(3))) for i in range(n)]


def fitted_after_a_change(task, helpers):
    """A warm fit and a fresh one after costs have changed for examples of which no answers are kept."""
    X, Y = data()
    parameters = {"clock": "work", "lam": 0.1}
    warm = StructuredSVM(task, warm_start=True, gap=1e-4, **parameters).fit(X, Y)
    helpers.COST.update((i, 0.05) for i in range(len(X)) if i % 3)
    warm.set_params(gap=0.2).fit(X, Y)
    return warm, StructuredSVM(task, gap=0.2, **parameters).fit(X, Y)


@pytest.mark.parametrize("way", SEEN)
def test_a_change_in_a_module_is_seen(way, made):
    """However the task comes to it: the fit after it is a fresh one; and without a change a fit goes on."""
    task, helpers = made(*SEEN[way])
    X, Y = data()
    calls = StructuredSVM(task, warm_start=True, passes=3, clock="work").fit(X, Y).fit(X, Y).summary_["oracle_calls"]
    assert calls >= 6 * len(X), "the same content is gone on from"
    same = digest(task, own="priced")
    helpers.UNUSED.append(1)
    assert digest(task, own="priced") == same, "what is not looked up does not count"
    warm, fresh = fitted_after_a_change(task, helpers)
    assert (warm.primal_, warm.dual_) == (fresh.primal_, fresh.dual_)


@pytest.mark.parametrize("way", UNSEEN)
def test_names_made_at_run_time_start_anew(way, made):
    """With a warning that says why."""
    task, helpers = made(*UNSEEN[way])
    with pytest.raises(Unknown):
        digest(task, own="priced")
    with pytest.warns(UserWarning, match="every fit starts anew"):
        warm, fresh = fitted_after_a_change(task, helpers)
    assert (warm.primal_, warm.dual_) == (fresh.primal_, fresh.dual_)


def test_parts_of_what_a_module_does_are_seen(made):
    """A function exchanged, a number that a function further on reads, an attribute of a class."""
    task, helpers = made(*SEEN["function"])
    digests = [digest(task, own="priced")]
    helpers.SCALE = 2.0
    digests.append(digest(task, own="priced"))
    helpers.scaled = lambda value: 3 * value
    digests.append(digest(task, own="priced"))
    assert len(set(digests)) == 3


def test_libraries_go_by_their_names():
    """NumPy, the standard library and this package: what they hold is not looked through."""
    import math

    import multiplane

    def uses(x):
        return np.linalg.norm(x) + math.pi + len(multiplane.__all__)

    before = digest([uses, np, math, multiplane], own=__name__)
    assert digest([uses, np, math, multiplane], own=__name__) == before
