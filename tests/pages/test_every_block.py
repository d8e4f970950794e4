"""Every fenced block of the documentation: a test runs it, or it says why not, and is looked at."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

import penstock as ps
from support.pages.page_blocks import Block, blocks_of
from support.pages.page_commands import check_command, commands
from support.paths import GOLDEN, ROOT, TESTS

HOW_TO = sorted(f"docs/how-to/{path.name}" for path in (ROOT / "docs" / "how-to").iterdir())
EXAMPLES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("examples/*/README.md"))
SHOWN = ("bash", "text", "json", "csv", "sql", "python", "toml")
# Which test runs which kinds of blocks of a page. A block that it leaves out must say why it is not
# run, as must those of other kinds.
RUNS: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
    ("test_readme.py", ["README.md"], ("", "json")),
    ("test_readme.py", ["docs/tour.md"], ("", "sql", "python")),
    ("test_docs_architecture.py", ["docs/architecture.md"], ("", "sql")),
    ("cli/scripts/test_docs_first_query.py", ["docs/first-query.md"], ("", "sql", "json", "text")),
    ("pages/test_how_to.py", ["docs/concepts.md", "docs/second-query.md", *HOW_TO], SHOWN),
    ("engine/spark/connect/test_connect.py", ["docs/connect.md"], ("python",)),
    ("watch/test_docs_dashboard.py", ["docs/dashboard.md"], ("python",)),
    ("engine/spark/test_docs_dataframes.py", ["docs/dataframes.md"], ("python", "sql")),
    ("engine/reports/test_docs_following.py", ["docs/following.md"], ("python",)),
    ("engine/sources/kafka/test_docs_kafka.py", ["docs/kafka.md"], ("sql", "json")),
    ("cql/test_docs_language.py", ["docs/language.md"], ("", "sql")),
    ("cql/declare/test_function_files.py", ["docs/language.md"], ("python",)),
    ("pages/test_every_block.py", ["docs/planner.md"], ("toml",)),
    ("api/test_docs_python.py", ["docs/python.md"], ("python",)),
    ("api/test_docs_results.py", ["docs/results.md"], ("python",)),
    ("pages/test_security_page.py", ["docs/security.md"], ("console",)),
    ("cli/test_examples.py", EXAMPLES, ("",)),
)
RUN_BY = {(page, kind): test for test, pages, kinds in RUNS for page in pages for kind in kinds}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmarks" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
    )
)
EVERY_PAGE = pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(ROOT / page)])

# All that is not run, by reason: whoever adds a block to it says so here.
NOT_RUN = {
    "a drawing": ["docs/architecture.md"],
    "does not end": ["docs/how-to/tuning.md", "docs/second-query.md", "docs/second-query.md"],
    "fields, not values": ["benchmarks/README.md"] * 9,
    "figures of one machine": ["docs/planner.md", "docs/planner.md"],
    "installs a package": [
        *("docs/connect.md", "docs/dashboard.md", "docs/kafka.md", "docs/monitoring.md")
    ],
    "names stand for yours": [
        *("README.md", "docs/following.md", "docs/following.md", "docs/laboratory.md"),
        *("docs/language.md", "docs/monitoring.md", "docs/monitoring.md", "docs/monitoring.md"),
        *("docs/planner.md", "docs/planner.md"),
    ],
    "needs Declarative Pipelines": ["docs/results.md"],
    "needs Delta Lake": ["docs/results.md"],
    "needs a broker": [
        *("benchmarks/README.md", "benchmarks/README.md"),
        *("docs/kafka.md", "docs/kafka.md", "docs/kafka.md"),
    ],
    "needs a cluster": ["docs/how-to/cluster.md", "docs/how-to/cluster.md"],
    "takes minutes": [
        *("CONTRIBUTING.md", "README.md", "README.md", "benchmarks/README.md"),
        *("docs/how-to/tuning.md", "docs/how-to/tuning.md", "docs/laboratory.md"),
    ],
}


def found(page: str, *kinds: str) -> list[Block]:
    """The blocks of a page that are of some kinds."""
    return [block for block in blocks_of(ROOT / page) if block.kind in kinds]


@EVERY_PAGE
def test_a_block_is_run_or_says_why_not(page: str) -> None:
    silent = [block for block in blocks_of(ROOT / page) if not block.why_not]
    assert [block for block in silent if (page, block.kind) not in RUN_BY] == []


@pytest.mark.parametrize("test", sorted({test for test, _, _ in RUNS}))
def test_those_who_run_blocks_are_there(test: str) -> None:
    assert "def test_" in (TESTS / test).read_text(encoding="utf-8")


def test_all_that_is_not_run_is_listed() -> None:
    marked = [(block.why_not, page) for page in PAGES for block in blocks_of(ROOT / page)]
    listed = [(why, page) for why, pages in NOT_RUN.items() for page in pages]
    assert Counter(each for each in marked if each[0]) == Counter(listed)


def test_every_mark_is_one_of_a_block() -> None:
    for page in PAGES:
        said = (ROOT / page).read_text(encoding="utf-8").count("<!-- not run")
        assert said == sum(bool(block.why_not) for block in blocks_of(ROOT / page)), page


@EVERY_PAGE
def test_commands_name_only_what_there_is(page: str) -> None:
    made = [block.title for block in blocks_of(ROOT / page) if block.title]
    for block in found(page, "", "bash", "sh", "console"):
        for command in commands(block.text):
            check_command(command, made)


@EVERY_PAGE
def test_code_is_code(page: str) -> None:
    for block in found(page, "python", "py"):
        compile(block.text, page, "exec", dont_inherit=True)


@EVERY_PAGE
def test_data_is_data(page: str) -> None:
    for block in found(page, "toml"):
        assert tomllib.loads(block.text)
    for block in found(page, "json"):
        rows = [line for line in block.text.splitlines() if line.startswith("{")]
        assert is_json(block.text) or (rows and all(map(is_json, rows))), block.text


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


SEVERAL_JOINS = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, bidder BIGINT, price DOUBLE)
WITH (format = 'csv', path = 'b', timestamp = 'ts', rate = 1000);
CREATE STREAM auction (ts TIMESTAMP, id BIGINT, seller BIGINT)
WITH (format = 'csv', path = 'a', timestamp = 'ts', rate = 60);
CREATE STREAM sale (ts TIMESTAMP, auction BIGINT, total DOUBLE)
WITH (format = 'csv', path = 's', timestamp = 'ts', rate = 20);
SELECT a.seller, b.price INTO offers
FROM bid [RANGE 20 s] AS b, auction [RANGE 1 MINUTE] AS a WHERE b.auction = a.id;
SELECT b.bidder, s.total INTO winners
FROM bid [RANGE 20 s] AS b, sale [RANGE 20 s] AS s WHERE b.auction = s.auction;
"""
SELECTIVE = """
[joins]
"b.auction = a.id" = {selectivity = 0.0003}
"b.auction = s.auction" = {selectivity = 0.0003}
"""


def test_what_is_shared_is_said_as_it_is_on_the_page(tmp_path: Path) -> None:
    one, several = (each.text for each in found("docs/language.md", "") if "shared  " in each.text)
    assert one in (GOLDEN / "explain" / "shared_script.txt").read_text(encoding="utf-8")
    stats = tmp_path / "stats.toml"
    stats.write_text(SELECTIVE, encoding="utf-8")
    assert several in ps.script(SEVERAL_JOINS, stats=stats).explain()


@pytest.mark.parametrize(
    "command",
    [
        "penstock nothing",
        "penstock run x.cql --no-such-option",
        "penstock lab run all --no-such-option",
        "penstock replan CHECKPOINT sometimes",
        "make nothing-of-the-kind",
        "python examples/nowhere.py",
        "python -m pip install 'penstock[nothing]'",
    ],
)
def test_a_command_that_is_wrong_is_refused(command: str) -> None:
    with pytest.raises(BaseException):  # noqa: B017, PT011
        check_command(command)
