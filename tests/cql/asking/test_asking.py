"""Which queries a script asks, by which names, and in what order."""

from __future__ import annotations

from penstock.cql.script import parse_script
from penstock.query.script import RESULT, Script

BID = "CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, price DOUBLE) WITH (format = 'csv', "
BID += "path = 'bid', timestamp = 'ts');"
HOT = "CREATE VIEW hot AS SELECT auction, COUNT(*) AS n FROM bid [RANGE 1 MINUTE] GROUP BY auction;"


def script_of(text: str) -> Script:
    return parse_script(f"{BID}\n{text}")


def names(script: Script) -> list[str]:
    return [member.name for member in script.members]


def test_each_query_comes_after_those_that_it_reads() -> None:
    script = script_of(
        f"SELECT b.price, h.n FROM bid [NOW] b, hot h WHERE b.auction = h.auction; {HOT}"
    )
    assert names(script) == ["hot", RESULT]
    assert script.member(RESULT).reads == ("hot",)
    assert [member.name for member in script.shown] == [RESULT]


def test_a_view_without_a_window_is_a_relation_by_its_groups() -> None:
    script = script_of(f"{HOT} SELECT AVG(n) AS mean FROM hot")
    (relation,) = script.member(RESULT).query.inputs
    assert relation.is_relation
    assert relation.source.key == ("auction",)


def test_a_query_that_nobody_needs_is_left_out() -> None:
    assert names(script_of(f"{HOT} SELECT price FROM bid [NOW]")) == [RESULT]


def test_queries_with_and_without_names_are_the_same() -> None:
    named = script_of(f"{HOT} SELECT MAX(n) AS most FROM hot")
    inner = HOT.removeprefix("CREATE VIEW hot AS ").rstrip(";")
    nested = script_of(f"WITH hot AS ({inner}) SELECT MAX(n) AS most FROM hot")
    assert [m.query.results for m in nested.members] == [m.query.results for m in named.members]


def test_a_united_stream_has_a_maker_for_each_part() -> None:
    part = "SELECT price FROM bid [NOW]"
    script = script_of(
        f"CREATE STREAM x AS {part} UNION ALL {part}; SELECT * FROM x [NOW] INTO all_"
    )
    (united,) = script.member("all_").query.inputs
    assert len(united.source.makers) == 2
    assert set(united.source.makers) < set(names(script))
