"""`penstock new`: the commands of the README that it writes do what they say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app
from penstock.cql import mistakes
from penstock.cql.formatting.format import formatted
from penstock.cql.script import declared


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder made by the command, in which commands are run."""
    monkeypatch.chdir(tmp_path)
    done = penstock("new", "shop")
    assert done.exit_code == 0, done.exception
    assert "cd shop" in done.stdout
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def penstock(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def commands(folder: Path) -> list[list[str]]:
    """The commands of the README, in order."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    return [shlex.split(line, comments=True) for line in re.findall("^penstock .*$", text, re.M)]


def test_all_commands_of_its_readme_run(folder: Path) -> None:
    found = commands(folder)
    assert [words[1] for words in found] == [
        *("check", "explain", "run", "run", "init", "fmt", "check")
    ]
    for words in found:
        assert words[0] == "penstock"
        done = penstock(*words[1:])
        assert done.exit_code == 0, (words, done.output, done.exception)
    results = [json.loads(line) for line in (folder / "paid.jsonl").read_text().splitlines()]
    assert len(results) > 30
    assert all(row["price"] > 20 for row in results)


def test_no_tuple_of_its_data_is_late(folder: Path) -> None:
    """Orders are paid within the window in the data as often as in the results."""
    orders = {}
    for file in (folder / "data" / "orders").iterdir():
        for line in file.read_text().splitlines()[1:]:
            _, number, _, _, price = line.split(",")
            orders[int(number)] = float(price)
    lines = [
        json.loads(line)
        for file in (folder / "data" / "payments").iterdir()
        for line in file.read_text().splitlines()
    ]
    script = (folder / "query.cql").read_text()
    endless = script.replace("5 MINUTES", "1 DAY")
    (folder / "endless.cql").write_text(endless)
    done = penstock(
        *("run", "endless.cql", "--engine", "local", "--available-now", "--drain"),
        *("--sink", "jsonl:all.jsonl"),
    )
    assert done.exit_code == 0
    told = [json.loads(line)["id"] for line in (folder / "all.jsonl").read_text().splitlines()]
    wanted = [line["order_id"] for line in lines if orders[line["order_id"]] > 20]
    assert sorted(told) == sorted(wanted)


def test_its_script_is_in_our_layout_and_its_view_is_a_query(folder: Path) -> None:
    script = (folder / "query.cql").read_text()
    assert formatted(script) == script
    (view,) = re.findall(r"```sql\n(.*?)```", (folder / "README.md").read_text(), flags=re.S)
    assert mistakes(script[: script.index("SELECT")] + view) == []


def test_what_init_finds_is_what_the_script_says(folder: Path) -> None:
    found = {each.name: each for each in declared(penstock("init", "--from", "data").stdout)}
    written = {each.name: each for each in declared((folder / "query.cql").read_text())}
    assert {name: (s.fields, s.timestamp, s.unit, s.lateness) for name, s in found.items()} == {
        name: (s.fields, s.timestamp, s.unit, s.lateness) for name, s in written.items()
    }


def test_nothing_is_replaced(folder: Path) -> None:
    assert "there already" in str(penstock("new", str(folder)).exception)
    (folder / "file").write_text("x")
    assert "there already" in str(penstock("new", "file").exception)
    assert "cannot make" in str(penstock("new", "file/inside").exception)


@pytest.mark.parametrize("name", ['a b/ü "x"', "<x>;rm"])
def test_the_commands_that_are_printed_can_be_pasted(folder: Path, name: str) -> None:
    said = penstock("new", name).stdout
    (command,) = re.findall("^  cd .*$", said, re.M)
    assert shlex.split(command) == ["cd", name]
    said = penstock("init", "--from", "data", "--output", f"{name}/of init.cql").stderr
    assert shlex.split(said.partition("try: ")[2]) == ["penstock", "check", f"{name}/of init.cql"]
