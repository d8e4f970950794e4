"""The architecture page: its map is that of the folders, its examples run as they are told."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

import penstock as ps
from penstock.cql import parse
from penstock.plan.mesh import DriverMesh, Goes, MeshJoin, MeshRoute, Screen, Split
from penstock.plan.multiway import Probe
from penstock.plan.plan import Plan
from penstock.plan.text.parse import render_plan
from penstock.query import Query
from support.engines.runs import Place, run_local
from support.paths import ROOT, TESTS

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MICROS = 1_000_000
Row = dict[str, Any]


def section(heading: str) -> str:
    """The text of a section, with its sub-sections if it has any."""
    start = PAGE.index(f"{heading}\n")
    level = heading.split(" ")[0]
    end = re.compile(rf"^#{{2,{len(level)}}} ", re.M).search(PAGE, start + len(heading))
    return PAGE[start : end.start() if end else None]


def table(text: str, *columns: str) -> list[list[str]]:
    """The rows of the table with these columns."""
    head = "| " + " | ".join(columns) + " |\n"
    lines = text[text.index(head) + len(head) :].splitlines()[1:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def row(text: str) -> Row:
    """`ts 5, item 7` as columns."""
    pairs = (part.split(" ", 1) for part in text.split(", "))
    return {name: value(given) for name, given in pairs}


# ── the map ───────────────────────────────────────────────────────────────────────────────────────


def named() -> Iterator[tuple[str, ...]]:
    """The folders and modules of the map, each with those that it is in."""
    tree = section("## The map").split("```")[3]
    above: list[str] = []
    for line in tree.splitlines()[2:]:
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2 - 1
        above = [*above[:depth], name]
        yield tuple(above)


def test_the_map_has_every_folder_and_no_other() -> None:
    source = ROOT / "src" / "penstock"
    there = {
        tuple(f"{part}/" for part in folder.relative_to(source).parts)
        for folder in source.rglob("*")
        if (folder / "__init__.py").exists()
    }
    drawn = {path for path in named() if path[-1].endswith("/")}
    # Benchmarks and what the command line shows are named in one line.
    assert drawn == {path for path in there if path[0] not in ("bench/", "cli/") or len(path) == 1}


def test_the_map_has_the_engine_in_the_order_of_its_imports() -> None:
    tree = ast.parse((TESTS / "test_rooms.py").read_text(encoding="utf-8"))
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    order = ast.literal_eval(assigned["ORDER"])["penstock.engine"]
    inside = [path[1] for path in named() if path[0] == "engine/" and len(path) == 2]
    assert [name.strip("/").removesuffix(".py") for name in inside] == list(order)


# ── the examples ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Example:
    """An example of the page, run batch by batch in a folder."""

    heading: str
    folder: Path
    functions: tuple[ps.Function, ...] = ()

    @cached_property
    def text(self) -> str:
        return section(self.heading)

    @cached_property
    def query(self) -> Query:
        declared = next(b for b in blocks(PAGE) if b.startswith("CREATE"))
        select = next(b for b in blocks(self.text) if b.startswith("SELECT"))
        used = set(re.findall(r"(\w+) \[", select))
        creates = [c for c in declared.split(";") if set(re.findall(r"STREAM (\w+)", c)) & used]
        script = ";".join([*creates, select])
        script = re.sub(r"path = '(\w+)'", rf"path = '{self.folder}/\1'", script)
        return parse(script, functions=self.functions)

    @cached_property
    def place(self) -> Place:
        return Place(self.folder, "jsonl")

    def run(self, batch: int, plan: str | Plan) -> list[Row]:
        """Bring the rows of a batch; the results that it adds."""
        for number, stream, text in table(self.text, "batch", "stream", "row"):
            if int(number) == batch:
                self._append(stream, f"{number}.csv", row(text))
        return self._run(plan, drain=False)

    def drain(self, plan: str | Plan) -> list[Row]:
        """End the streams; the results that this adds."""
        return self._run(plan, drain=True)

    def _append(self, stream: str, name: str, found: Row) -> None:
        path = self.folder / stream / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(",".join(found) + "\n")
        with path.open("a") as file:
            file.write(",".join(map(str, found.values())) + "\n")

    def _run(self, plan: str | Plan, *, drain: bool) -> list[Row]:
        before = len(self._results())
        run_local(self.query, self.place, plan=plan, drain=drain, partitions=2)
        return self._results()[before:]

    def _results(self) -> list[Row]:
        path = Path(str(self.place.sink.place))
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def manifest(self) -> dict[str, Any]:
        """The newest manifest, as it lies in the checkpoint."""
        newest = max((self.place.checkpoint / "manifests").glob("*.json"))
        found: dict[str, Any] = json.loads(newest.read_text())["manifest"]
        return found

    def chunks(self, *modules: str) -> list[tuple[str, int, list[Row]]]:
        """The rows of each chunk with its module and partition; all modules if none is named."""
        return [
            (module, int(partition), self._rows(chunk["name"]))
            for module, partitions in self.manifest["modules"].items()
            if not modules or module in modules
            for partition, chunks in partitions.items()
            for chunk in chunks
        ]

    def _rows(self, name: str) -> list[Row]:
        found: list[Row] = (
            pa.ipc.open_file(str(self.place.checkpoint / name)).read_all().to_pylist()
        )
        return found


def blocks(text: str) -> list[str]:
    return re.findall(r"```sql\n(.*?)```", text, re.S)


def as_set(rows: list[Row]) -> Counter[tuple[tuple[str, Any], ...]]:
    return Counter(tuple(sorted(each.items())) for each in rows)


def seconds(micros: int) -> int:
    assert micros % MICROS == 0
    return micros // MICROS


def plan_in(text: str) -> str:
    found = re.search(r"The plan is `([^`]*)`", text)
    assert found is not None
    return found[1]


def test_the_join_runs_as_told(tmp_path: Path) -> None:
    example = Example("### Example: a join", tmp_path)
    plan = plan_in(example.text)
    told = table(example.text, "batch", "result")
    for batch in (0, 1):
        found = example.run(batch, plan)
        assert as_set(found) == as_set([row(text) for number, text in told if int(number) == batch])
        (item,) = (rows for module, p, rows in example.chunks("i@1") if p == 3)
        assert set(item[0]) == {"#ts", "#h0", "#h1"}
    kept = [
        (module, partition, sorted(seconds(each["#ts"]) for each in rows))
        for module, partition, rows in example.chunks()
    ]
    listed = table(example.text, "module", "partition", "times of its rows")
    assert sorted(kept) == sorted(
        (module, int(partition), sorted(map(int, times.split(", "))))
        for module, partition, times in listed
    )
    (bids,) = (rows for module, p, rows in example.chunks("b@0") if p == 1)
    assert set(bids[0]) == {"#ts", "#h0", "b.ts", "b.item", "b.price"}
    highest = [seconds(stream["highest"]) for stream in example.manifest["streams"].values()]
    assert f"The frontier is {min(highest)} s" in example.text


def test_the_view_runs_as_told(tmp_path: Path) -> None:
    example = Example("### Example: a view", tmp_path)
    plan = plan_in(example.text)
    changes = table(example.text, "evaluated in", "change")
    intervals = table(
        example.text, "after batch", "seller", "first tick", "last tick", "n", "total"
    )
    assert example.run(0, plan) == []
    folded = [rows for _, partition, rows in example.chunks("b@0") if partition == 0]
    assert [(f["=n:b"], seconds(f["#ts"]), seconds(f["#until"])) for (f,) in folded] == [(2, 5, 10)]
    assert in_table(example) == [row[1:] for row in intervals if row[0] == "0"]
    found = {"batch 1": example.run(1, plan)}
    assert in_table(example) == [row[1:] for row in intervals if row[0] == "1"]
    found["drain"] = example.drain(plan)
    for when, results in found.items():
        told = [change for evaluated, change in changes if evaluated == when]
        assert Counter(map(as_change, results)) == Counter(told)


def in_table(example: Example) -> list[list[str]]:
    """The rows of the interval table as the page shows them, by their sellers, highest first."""
    rows = [each for _, _, rows in example.chunks("calendar") for each in rows]
    (group,) = {name for each in rows for name in each if name.startswith("#g")}
    (total,) = {name.partition(":")[2] for each in rows for name in each if "=s:" in name}
    shown = [
        [
            each[group],
            seconds(each["#ts"]),
            seconds(each["#until"]),
            each["=n"],
            int(each[f"=s:{total}"] + each[f"=e:{total}"]),
        ]
        for each in rows
    ]
    return [[str(cell) for cell in line] for line in sorted(shown, reverse=True)]


def as_change(result: Row) -> str:
    tick = int(result["_time"][17:19])
    shown = ", ".join(f"{name} {result[name]}" for name in ("seller", "n", "total"))
    return f"at {tick}, {result['_change']}, {shown}"


def test_the_mesh_runs_as_told(tmp_path: Path) -> None:
    calls: list[int] = []

    @ps.function(cost="10 us")
    def odd(number: int) -> bool:
        calls.append(number)
        return number % 2 == 1

    example = Example("### Example: a mesh", tmp_path, (odd,))
    plan = mesh_of(example.query)
    assert f"```\n{render_plan(plan)}\n```" in example.text
    for batch, called, results in table(example.text, "batch", "`odd` is called for", "results"):
        calls.clear()
        found = example.run(int(batch), plan)
        assert sorted(calls) == [int(number) for number in called.split(", ")]
        assert sorted(f"{each['price']} {each['mood']}" for each in found) == results.split(", ")
    kept = [each for _, _, rows in example.chunks("t@0") for each in rows]
    assert sorted(each["t.price"] for each in kept) == [31, 50, 51, 61]
    assert not any("#route" in each for each in kept)
    assert {p for _, p, _ in example.chunks("t@0")} == {0, 1}


def mesh_of(query: Query) -> MeshJoin:
    """Oil goes through the filter first, all else to the news."""
    (condition,) = query.filters
    news, trades = Probe("n", "sorted"), Probe("t", "sorted")
    routes = (
        MeshRoute(((Screen(condition),), (news,))),
        MeshRoute(((news,), (Screen(condition),))),
    )
    tree = Split("sector", None, frozenset({"oil"}), Goes(0), Goes(1))
    return MeshJoin(
        replace(query, filters=(), thetas=(condition,)),
        (
            DriverMesh("n", Goes(0), (MeshRoute(((trades,),)),), (1.0,)),
            DriverMesh("t", tree, routes, (0.4, 0.6)),
        ),
    )
