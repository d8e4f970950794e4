"""The site of the documentation: it builds without a warning, has all pages, and asks no host."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

import penstock as ps
from support.paths import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` builds it; every warning is an error there."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


class Asked(HTMLParser):
    """What a page asks for as soon as it is opened."""

    LOADED = ("stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and set(str(given.get("rel")).split()) & set(self.LOADED):
            self.addresses.append(given.get("href") or "")
        names = ("src", "srcset", "data", "poster")
        self.addresses += [given[name] or "" for name in names if name in given]
        self.addresses += re.findall(r"url\(([^)]*)\)", given.get("style") or "")


def is_elsewhere(address: str) -> bool:
    return re.match(r"""['"]?\s*(?:\w+:)?//""", address) is not None


def styles(site: Path) -> Iterator[str]:
    for path in site.rglob("*.css"):
        yield from re.findall(r"url\(([^)]*)\)|@import\s+(\S+)", path.read_text("utf-8"))


def test_no_page_asks_another_host(site: Path) -> None:
    pages = {path: Asked(path.read_text("utf-8")).addresses for path in site.rglob("*.html")}
    assert len(pages) > 30
    assert all(pages.values())
    assert [each for asked in pages.values() for each in asked if is_elsewhere(each)] == []
    assert [each for found in styles(site) for each in found if is_elsewhere(each)] == []


def test_what_a_page_asks_for_is_there(site: Path) -> None:
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        for address in Asked(path.read_text("utf-8")).addresses:
            assert (path.parent / address.partition("#")[0]).exists(), (path.name, address)


def test_other_hosts_are_seen() -> None:
    page = '<link rel="stylesheet" href="https://x/a.css"><img src="//y/b.png"><a href="https://z">'
    assert [is_elsewhere(each) for each in Asked(page).addresses] == [True, True]


def test_the_site_has_every_page(site: Path) -> None:
    written = {path.relative_to(DOCS) for path in DOCS.rglob("*.md")}
    for page in written - {Path("README.md")}:
        assert (site / page).with_suffix(".html").exists(), page
    assert (site / "index.html").exists()
    assert not list(site.rglob("*.py"))


def test_the_tabs_are_tutorial_how_to_concepts_reference_and_inside() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    assert [name for tab in nav for name in tab] == [
        *("Home", "Tutorial", "How-to", "Concepts", "Reference", "Inside")
    ]


@pytest.mark.parametrize(
    ("page", "has"),
    [
        ("commands", ["penstock run", "--available-now", "penstock lab run", "Example: penstock"]),
        ("names", ["ps.sql", "available_now", *(f"ps.{name}" for name in ps.__all__)]),
        ("stats-file", ["rows_warmup", "at least 1 and finite", "Seconds to evaluate it once"]),
        ("reports", ["state_tuples", "arrival_rate", "is_refused", "verdict", "reports/run.json"]),
        ("explain-json", ["chosen.utilization", "inputs[].window", "changes_rate"]),
    ],
)
def test_the_reference_is_made_from_code(site: Path, page: str, has: list[str]) -> None:
    text = (site / "reference" / f"{page}.html").read_text("utf-8")
    plain = re.sub(r"<[^>]*>", "", text)
    assert [each for each in has if each not in plain] == []


def test_lists_tables_and_links_are_as_in_the_repository(site: Path) -> None:
    glossary = (site / "glossary.html").read_text("utf-8")
    assert "../src" not in glossary
    assert "<code>query/query.py</code>" in glossary
    following = (site / "following.html").read_text("utf-8")
    assert 'href="benchmarks.html#what-measuring-takes"' in following
    assert re.search(r"<strong>Limits.</strong></p>\s*<ul>", following)
    assert r"\|" not in (site / "language.html").read_text("utf-8")
