"""Stats files: what they say, what is refused, and that what is written reads back the same."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

import pytest
import yaml

from penstock.cql import parse
from penstock.errors import StatsError
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.costs import Costs, WindowCosts
from penstock.stats.files.dump import dump
from penstock.stats.files.load import load, loads
from penstock.stats.guess import complete
from penstock.stats.statistics import GivenCondition, Group, Statistics
from support import paths
from support.golden import golden_cases
from support.plans.stats_query import QUERY

GOLDEN = paths.GOLDEN / "stats_errors.yaml"


@cache
def asked() -> Query:
    """The query that the files are about."""
    return parse(QUERY)


FILE = """\
capacity = 2.0
rows_warmup = inf
horizon = "1 hour"

[streams.a]
rate = 10
variation = 0.3
distinct = {A = 500}

[streams.B]
rate = {value = 70.5, origin = "sampled", error = 0.2}

[streams.B2]
distinct.b = 7

[streams.T]
cardinality = 5000

[joins]
"b.A=A.a" = {selectivity = 0.5}
"A.a = B2.a = B.a" = {selectivity = 0.125}
"a.x < b.Y" = {selectivity = 0.25, cost = 2e-6}

[filters]
"x>5" = {selectivity = 0.1, cost = 0.0005}
"A.s = 'a = b'" = {selectivity = {value = 0.2, origin = "sampled", error = 0.01}}
"A.x  <=  9" = {cost = {value = 1e-8, origin = "measured"}}

[costs]
join = 0.0005
"""


def declared(value: float) -> Figure:
    return Figure(value, "declared")


@pytest.fixture(scope="module")
def given() -> Statistics:
    return loads(FILE, asked())


def test_settings_are_read(given: Statistics) -> None:
    assert given.capacity == declared(2.0)
    assert given.rows_warmup == math.inf
    assert given.horizon == 3600.0
    assert given.costs == Costs("declared", join=0.0005)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4096", 4096.0), ("'64 kB'", 64e3), ("'1.5MiB'", 1.5 * 2**20), ("'2 KiB'", 2048.0)],
)
def test_memory_is_bytes_or_has_a_unit_and_is_written_again(text: str, size: float) -> None:
    read = loads(f"memory = {text}\n", asked())
    assert read.memory == size
    assert loads(dump(read), asked()).memory == size


def test_streams_are_found_by_alias_or_by_stream_in_any_case(given: Statistics) -> None:
    assert given.streams["A"].rate == declared(10.0)
    assert given.streams["A"].variation == declared(0.3)
    assert given.streams["A"].distinct == {"a": declared(500.0)}
    assert given.streams["B"].rate == Figure(70.5, "sampled", 0.2)
    assert given.streams["B2"].rate == Figure(70.5, "sampled", 0.2)
    assert given.streams["B"].distinct == {}
    assert given.streams["B2"].distinct == {"b": declared(7.0)}
    assert given.streams["T"].cardinality == declared(5000.0)


def test_joins_are_found_whatever_the_order_of_their_sides(given: Statistics) -> None:
    assert given.groups == {
        Group(0, (0,), frozenset({"A", "B"})): declared(0.5),
        Group(0, (0,), frozenset({"A", "B", "B2"})): declared(0.125),
    }


def test_conditions_are_found_whatever_their_spelling(given: Statistics) -> None:
    assert given.conditions == {
        "A.x < B.y": GivenCondition(declared(0.25), declared(2e-6)),
        "A.x > 5.0": GivenCondition(declared(0.1), declared(0.0005)),
        "A.s = 'a = b'": GivenCondition(Figure(0.2, "sampled", 0.01)),
        "A.x <= 9.0": GivenCondition(cost=Figure(1e-8, "measured")),
    }


def test_an_implied_equality_can_be_given() -> None:
    given = loads("[joins]\n'A.a = B2.a' = {selectivity = 0.5}", asked())
    assert given.groups == {Group(0, (0,), frozenset({"A", "B2"})): declared(0.5)}


def test_an_equality_may_have_a_cost_of_its_own() -> None:
    text = "[joins]\n'A.a = B.a' = {selectivity = 0.5, cost = 0.005}\n'B.a = B2.a' = {cost = 1e-3}"
    given = loads(text, asked())
    pair, other = (Group(0, (0,), frozenset(two)) for two in (("A", "B"), ("B", "B2")))
    assert given.groups == {pair: declared(0.5)}
    assert given.handling == {pair: declared(0.005), other: declared(1e-3)}
    assert loads(dump(given), asked()) == given
    assert complete(asked(), given).handling == given.handling


def test_keys_may_be_unique() -> None:
    text = """
[streams.a]
unique = ["A", {value = ["X", "a"], origin = "sampled"}, ["s", "x", "s"]]
[streams.B]
unique = [{value = "b", origin = "sampled"}]
[streams.B2]
unique = ["b"]
"""
    given = loads(text, asked())
    assert given.streams["A"].unique == {
        ("a",): "declared",
        ("a", "x"): "sampled",
        ("s", "x"): "declared",
    }
    assert given.streams["B2"].unique == {("b",): "declared"}
    assert loads(dump(given), asked()) == given
    assert complete(asked(), given).unique["B"] == {("b",): "sampled"}


def test_inputs_of_one_stream_have_its_unique_keys() -> None:
    given = loads("[streams.B2]\nunique = ['b']", asked())
    assert complete(asked(), given).unique["B"] == {("b",): "declared"}


def test_a_window_may_have_costs_of_its_own() -> None:
    text = "[streams.A]\ncosts = {probe = 1e-6, insert = {value = 2e-6, origin = 'measured'}}"
    given = loads(f"{text}\n[streams.T]\ncosts.probe = 0", asked())
    costs = WindowCosts(probe=declared(1e-6), insert=Figure(2e-6, "measured"))
    assert given.streams["A"].costs == costs
    assert given.streams["T"].costs == WindowCosts(probe=declared(0.0))
    assert loads(dump(given), asked()) == given
    assert complete(asked(), given).windows == {
        "A": costs,
        "T": WindowCosts(probe=declared(0.0)),
    }


def test_what_is_written_reads_back_the_same(given: Statistics) -> None:
    text = dump(given)
    assert loads(text, asked()) == given
    assert dump(loads(text, asked())) == text


def test_an_empty_file_gives_nothing() -> None:
    assert loads("", asked()) == Statistics(asked())
    assert dump(Statistics(asked(), notes=("nothing",))) == "# nothing\n"


def test_detailed_costs_read_back_the_same() -> None:
    costs = Costs("measured", insert=1e-7, probe=2e-7, compare=1e-9)
    assert loads(dump(Statistics(asked(), costs=costs)), asked()).costs == costs


def odd_query() -> Query:
    """Keys of two parts, an equality beside the key, odd names, times and intervals."""
    return parse(
        """\
CREATE STREAM "my bids" (ts TIMESTAMP, k INT, "the key" BIGINT, t TIMESTAMP, s STRING)
  WITH (format = 'csv', path = 'a', timestamp = 'ts');
CREATE STREAM S (ts TIMESTAMP, k BIGINT, m BIGINT, t TIMESTAMP, s STRING)
  WITH (format = 'csv', path = 's', timestamp = 'ts');
CREATE STREAM R (ts TIMESTAMP, k BIGINT, m BIGINT)
  WITH (format = 'csv', path = 'r', timestamp = 'ts');
SELECT S.k FROM "my bids" AS b [NOW], S [NOW], R [NOW]
WHERE b.k = S.k AND b."the key" = S.m AND R.k = S.m + 1 AND R.m = S.m + 1
  AND b.t > S.t + INTERVAL '5' SECONDS AND b.t > TIMESTAMP '2026-01-01 00:00:00'
  AND S.s LIKE '%"it''s"%' AND (S.k + 1) * 2 IN (1, 2) AND NOT S.m = 3
"""
    )


def test_what_a_query_prints_is_always_understood() -> None:
    query = odd_query()
    texts = [str(condition) for condition in (*query.filters, *query.thetas)]
    pair = frozenset({"b", "S"})
    given = Statistics(
        query,
        groups={
            Group(0, (0, 1), pair): declared(0.01),
            Group(0, (1,), pair): declared(0.25),
            Group(1, (0,), frozenset({"S", "R"})): declared(0.5),
        },
        conditions={text: GivenCondition(declared(0.5)) for text in [*texts, "R.m = S.m + 1"]},
    )
    assert len(texts) == 5
    assert loads(dump(given), query) == given


def test_a_file_is_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("[streams.A]\nrate = -1", encoding="utf-8")
    with pytest.raises(StatsError, match=r"s\.toml: streams\.A\.rate is -1"):
        load(path, asked())
    with pytest.raises(StatsError, match="cannot read"):
        load(tmp_path / "other.toml", asked())
    path.write_bytes(b"\xff")
    with pytest.raises(StatsError, match="is not UTF-8"):
        load(path, asked())


def complaint(text: str) -> str:
    """What a wrong stats file is answered."""
    with pytest.raises(StatsError) as caught:
        loads(text, asked(), "s.toml")
    return f"{caught.value}\n"


@pytest.mark.parametrize("case", golden_cases(GOLDEN), ids=lambda case: case["says"])
def test_a_wrong_file_is_refused_by_name(case: dict[str, str]) -> None:
    if "PENSTOCK_GOLDEN" not in os.environ:
        assert complaint(case["stats"]) == case["error"]


def test_golden_errors_are_written_anew_when_asked() -> None:
    cases = [{**case, "error": complaint(case["stats"])} for case in golden_cases(GOLDEN)]
    text = "# What is wrong with stats files for the query in tests/support/plans/stats_query.py.\n"
    text += yaml.dump(cases, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    if "PENSTOCK_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, to be read by people."""


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "")


_Dumper.add_representer(str, _as_block)
