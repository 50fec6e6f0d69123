"""The API site: one command makes it, and it has all that the package shows. Skipped by name where pdoc is not installed."""

import html.parser
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import multiplane
from multiplane import ilp, pystruct, solvers

ROOT = Path(__file__).resolve().parents[3]


class Page(html.parser.HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found["id"]} if "id" in found else set()
        self.links += [found["href"]] if tag == "a" and found.get("href") else []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The Python part; rustdoc has a check of its own."""
    if importlib.util.find_spec("pdoc") is None:
        pytest.skip("pdoc is not installed: the API site was not made (pip install pdoc)")
    if not (ROOT / "site").is_file():
        pytest.skip("the script `site` is not part of this source tree: the API site was not made")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [ROOT / "site", "--only", "python", folder],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("index.html")
    return folder


def test_everything_public_is_there(site):
    """Every name that the modules show has its place, with its parameters."""
    for module in (multiplane, solvers, pystruct, ilp):
        file = module.__name__.replace(".", "/")
        page = Page(site / "python" / f"{file}.html")
        missing = {name for name in module.__all__ if not name.startswith("_")} - page.anchors - {"solvers"}
        assert not missing, f"{file}: {missing}"
    inherited = {f"{name}.{member}" for name in ("ChainSSVM", "StructuredSVM", "TreeSSVM") for member in ("fit", "score", "save")}
    assert inherited <= Page(site / "python" / "multiplane.html").anchors, "methods stand where users meet them"
    page = (site / "python" / "multiplane.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", "", page)
    assert "Trains a user's task" in text or "Trains a user&#39;s task" in text
    for sentence in ("The labelling of least energy", "duality gap"):
        assert sentence in text


def test_links_lead_somewhere(site):
    """Links of the index and of the pages, within the site."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) >= 5
    links = 0
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            place = (path.parent / target).resolve() if target else path
            assert place.exists(), f"{path}: {link}"
            assert not anchor or anchor in pages[place].anchors, f"{path}: {link}"
            links += 1
    assert links > 100
    index = pages[site / "index.html"]
    assert "python/multiplane.html" in index.links and not any("rust" in link for link in index.links)


def test_faults_are_told(tmp_path):
    """Another part than the two is refused, and a Python without the generator is named."""
    if not (ROOT / "site").is_file():
        pytest.skip("the script `site` is not part of this source tree")
    done = subprocess.run([ROOT / "site", "--only", "java"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "expected rust or python" in done.stderr
    done = subprocess.run(
        [ROOT / "site", "--only", "python", tmp_path], env={**os.environ, "PYTHON": "false"}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "pip install" in done.stderr
