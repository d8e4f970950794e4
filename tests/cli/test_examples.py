"""The examples: each folder has a query and a page, and what the page says to type runs, small."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli.main import app
from penstock.cql import parse_script
from penstock.cql.declare.function_file import load_functions
from support.kafka.cluster import Cluster
from support.paths import ROOT

EXAMPLES = ROOT / "examples"
NO_QUERIES = {"data", "grafana"}
"""What queries read, and a board for what they tell."""
FOLDERS = sorted(
    path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in NO_QUERIES
)
EVERY = pytest.mark.parametrize("folder", FOLDERS)
BROKER = "localhost:9092"


def page(folder: str) -> str:
    return (EXAMPLES / folder / "README.md").read_text(encoding="utf-8")


def commands(folder: str) -> list[list[str]]:
    """The lines that the page of a folder says to type, as words."""
    blocks = re.findall(r"^```\n(.*?)^```", page(folder), flags=re.S | re.M)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@EVERY
def test_a_folder_has_a_query_and_a_short_page(folder: str) -> None:
    assert sorted((EXAMPLES / folder).glob("*.cql"))
    lines = page(folder).splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) < 25
    is_typed = [line.startswith(("penstock ", "python ")) for line in lines]
    said = [line for line, typed in zip(lines, is_typed, strict=True) if not typed]
    assert max(map(len, said)) <= 120
    assert "Look at" in " ".join(said)


def test_the_list_has_every_folder() -> None:
    listed = re.findall(r"\[(\w+)\]\((\w+)/README\.md\)", (EXAMPLES / "README.md").read_text())
    assert {name for name, _ in listed} == {folder for _, folder in listed}
    assert {folder for _, folder in listed} == {*FOLDERS, *NO_QUERIES}


@pytest.mark.parametrize("path", [*EXAMPLES.glob("README.md"), *EXAMPLES.glob("*/README.md")])
def test_links_and_files_that_a_page_names_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []
    named = re.findall(r"examples/[\w./-]+\w", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    beside = re.findall(r"`([\w-]+\.(?:cql|py|ipynb))`", text)
    assert [name for name in beside if not any(path.parent.rglob(name))] == []


def test_every_query_is_one() -> None:
    functions = load_functions(str(EXAMPLES / "stocks" / "stocks.py"))
    for path in EXAMPLES.rglob("*.cql"):
        assert parse_script(path.read_text("utf-8"), functions=functions).members, path


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, whose made-up streams are slower and end sooner."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for path in tmp_path.rglob("*.cql"):
        path.write_text(small(path.read_text("utf-8")))
    stocks = tmp_path / "examples" / "stocks" / "stocks.py"
    stocks.write_text(stocks.read_text("utf-8").replace("20_000", "2_000"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def small(text: str) -> str:
    text = re.sub(r"rate = (\d+)000\b", r"rate = \g<1>00", text)
    return re.sub(r"'(40 seconds|1 minute)'", "'12 seconds'", text)


def typed(words: list[str]) -> str:
    """Run a command in this process; what it shows."""
    if words[0] == "python":
        return _script(words[1:])
    assert words[0] == "penstock"
    done = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def _script(words: list[str]) -> str:
    before, sys.argv = sys.argv, words
    try:
        runpy.run_path(words[0], run_name="__main__")
    finally:
        sys.argv = before
    return ""


def results(words: list[str]) -> Iterator[list[dict[str, Any]]]:
    """The rows of all files that a command has written results to."""
    for word in words:
        _, is_file, name = word.partition("jsonl:")
        if is_file:
            yield [json.loads(line) for line in Path(name).read_text().splitlines()]


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != "kafka"])
def test_what_a_page_says_to_type_runs(folder: str, clone: Path) -> None:
    asked = commands(folder)
    assert asked
    for words in asked:
        shown = typed(words)
        if "run" in words:
            assert all(len(rows) > 0 for rows in results(words)), words
            assert "results" in shown


def test_every_query_is_run_by_a_page() -> None:
    """But for those of Nexmark, all of which another test runs."""
    said = {word for folder in FOLDERS for words in commands(folder) for word in words}
    paths = [path.relative_to(ROOT) for path in EXAMPLES.rglob("*.cql")]
    others = [path for path in paths if str(path) not in said]
    assert {path.parent.name for path in others} == {"nexmark"}


def test_records_go_from_topics_to_a_topic_once(clone: Path) -> None:
    cluster = Cluster()
    query = clone / "examples" / "kafka" / "kafka.cql"
    query.write_text(query.read_text().replace(BROKER, cluster.servers))
    for topic in ("auctions", "bids", "sold"):
        cluster.make(topic)
    send, run = [[w.replace(BROKER, cluster.servers) for w in c] for c in commands("kafka")]
    typed(send)
    typed(run)
    bids, auctions = ([r.data for r in cluster.read(topic)] for topic in ("bids", "auctions"))
    reserve = {auction["id"]: (auction["reserve"], auction["at"]) for auction in auctions}
    expected = sorted(
        (bid["auction"], bid["bidder"], bid["price"])
        for bid in bids
        if bid["price"] >= reserve[bid["auction"]][0]
    )
    assert len(expected) > 20
    typed(run)
    sold = [record.data for record in cluster.read("sold")]
    assert sorted((row["id"], row["bidder"], row["price"]) for row in sold) == expected


def test_the_notebook_has_no_outputs_and_runs_cell_by_cell(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = (clone / "examples" / "notebook").glob("*.ipynb")
    cells = [
        cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    assert cells
    assert [cell["outputs"] for cell in cells] == [[] for _ in cells]
    # A notebook runs in its own folder.
    monkeypatch.chdir(path.parent)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert Path.cwd() == clone
    changes = names["changes"]
    assert set(changes["_change"]) <= {"upsert", "delete"}
    assert changes["pairs"].max() > 0
    assert names["reports"][-1].total_results == len(changes)
