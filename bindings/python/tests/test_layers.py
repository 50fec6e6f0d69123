"""No two files of the package import each other in a circle, neither at their head nor later nor by name."""

import ast
from pathlib import Path

import multiplane

PACKAGE = Path(multiplane.__file__).parent

BY_NAME = {"load", "import_module", "__import__"}
"""Functions that import what their argument names."""


def modules(folder):
    """Files by the names of their modules."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source, known):
    """The modules of ``known`` that a source imports: by statements anywhere, or by name."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & known
            found |= {node.module} if not inner <= known else set()
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in BY_NAME:
            found |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found & known


def circle(graph):
    """A circle of a graph ``{node: neighbours}``, or None."""
    done, way = set(), []

    def visit(node):
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return None
        way.append(node)
        for other in sorted(graph[node]):
            if found := visit(other):
                return found
        done.add(way.pop())
        return None

    return next((found for node in sorted(graph) if (found := visit(node))), None)


def test_imports_run_one_way():
    """Every import of the package's own modules, lazy ones too."""
    files = {**modules(PACKAGE), "multiplane._core": PACKAGE / "_core.pyi"}  # compiled
    assert {"multiplane", "multiplane._nodes", "multiplane.vision", "multiplane.vision._work"} <= files.keys()
    graph = {name: imported(path.read_text(), files.keys()) - {name} for name, path in files.items()}
    assert "multiplane.vision._graph" in graph["multiplane.vision"], "imports by name are seen"
    assert circle(graph) is None


def test_a_circle_is_found():
    """By statements, within functions, by name."""
    known = {"p.a", "p.b", "p.c", "p"}
    sources = {"p.a": "from p import b", "p.b": "def f():\n    from p.c import x", "p.c": "load('p.a')", "p": ""}
    graph = {name: imported(source, known) for name, source in sources.items()}
    assert graph == {"p.a": {"p.b"}, "p.b": {"p.c"}, "p.c": {"p.a"}, "p": set()}
    assert circle(graph) == ["p.a", "p.b", "p.c", "p.a"]
    graph["p.c"].clear()
    assert circle(graph) is None
