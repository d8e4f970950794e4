"""All mistakes of a script at once: none is left out that a parse would tell, and none made up."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from penstock.cql import mistakes, parse_script
from penstock.cql.script import declared
from penstock.errors import SqlError
from support import paths
from support.golden import golden_cases
from support.streams.auction import DECLARATIONS, answer_to, over_auctions

GOLDEN = golden_cases(paths.GOLDEN / "errors.yaml")
EXAMPLES = sorted((paths.ROOT / "examples" / "nexmark").glob("*.cql"))

SEVERAL = """
CREATE STREAM bid (ts TIMESTAMP, auction BIGNT, bidder INT, price DOUBLE, "ts" INT)
WITH (fromat='csv', pat='x', timestamp='ts');
CREATE STREAM auction (ts TIMESTAMP, id INT, reserve FLOAT)
WITH (format='json', path='nowhere', timestamp='ts', lateness='soon', delimiter=';', unit='ms');
CREATE STREAM tick WITH (format='rate', rat=10);
CREATE VIEW best AS
SELECT b.auctoin, SUM(pric) AS s, MAX(nope), COUNT(*) FROM bid [RANGE 1 MINUTE] AS b
GROUP BY b.auctoin HAVING s > 'x' AND zzz;
SELECT b.auction, a.idd, b.price + 'x', a.reserv FROM bid b, auction [RANGE 1 HOUR] a
WHERE b.auction = a.id AND b.bider = 3 AND a.reserve LIKE 'x' AND b.price = TRUE;
SELECT v.auctoin, v.none FROM bid [NOW] AS b, best AS v WHERE b.auction = v.auctoin INTO second;
SELECT t.nothing FROM tick [NOW] AS t INTO third;
SELECT x FROM bd [NOW], auctio [NOW] INTO fourth;
SELECT FROM WHERE INTO fifth;
SELECT b.ts, b.price AS ts FROM bid [NOW] AS b INTO sixth;
SELECT b.auction FROM bid [RANGE 1 PARSEC] AS b INTO seventh;
"""
# Each with the text that the caret stands under.
FOUND = [
    ("BIGNT is not a type of the language", "BIGNT"),
    ("there are two columns named ts", '"ts"'),
    ("there is no option fromat", "fromat"),
    ("there is no option pat", "pat"),
    ("lateness must be a length of time", "'soon'"),
    ("format json has no option delimiter", "delimiter"),
    ("ts is a TIMESTAMP, which needs no unit", "unit"),
    ("there is no option rat", "rat"),
    ("b has no column auctoin", "auctoin"),
    ("b has no column pric", "pric"),
    ("b has no column nope", "nope"),
    ("b has no column auctoin", "auctoin"),
    ("b has no column zzz", "zzz"),
    ("a has no column idd", "idd"),
    ("+ needs BIGINT or DOUBLE, but this is STRING", "'x'"),
    ("a has no column reserv", "reserv"),
    ("stream bid has no window", "bid b"),
    ("b has no column bider", "bider"),
    ("LIKE needs STRING, but this is FLOAT", "a.reserve"),
    ("cannot compare DOUBLE with BOOLEAN", "b.price = TRUE"),
    ("v has no column none", "none"),
    ("there is no stream or table bd", "bd"),
    ("there is no stream or table auctio", "auctio"),
    ("expected a stream or table before 'WHERE'", "WHERE"),
    ("two columns of the result are named ts", "b.price"),
    ("'1 PARSEC' is not a length of time", "1 PARSEC"),
]


def marked(error: SqlError) -> str:
    """What the caret of a mistake stands under."""
    assert error.place is not None
    return error.place.text[error.place.start : error.place.end]


def test_an_unknown_option_hides_no_wrong_values_of_others() -> None:
    options = "timestmp='ts', lateness='-1 second', max_files='x', delimiter=';'"
    told = [
        ("there is no option timestmp", "timestmp"),
        ("lateness must be 0 seconds or longer", "'-1 second'"),
        ("max_files must be a whole number, 1 or more", "'x'"),
    ]
    for format_, more in {
        "format='csv'": (),
        "fromat='csv'": (("there is no option fromat", "fromat"),),
        "format='json'": (("format json has no option delimiter", "delimiter"),),
    }.items():
        found = mistakes(
            f"CREATE STREAM a (ts TIMESTAMP) WITH ({options}, path='x', {format_});"
            "SELECT * FROM a [NOW]"
        )
        assert sorted((e.message, marked(e)) for e in found) == sorted([*told, *more])
    table = "CREATE TABLE t (id INT) WITH (format='csv', path='x', kye='id', timestamp='ts');"
    found = mistakes(table + DECLARATIONS + "SELECT * FROM bid [NOW]")
    assert [error.message for error in found] == ["there is no option kye"]


def test_all_mistakes_of_a_script_are_found_at_once_and_nothing_that_follows_from_them() -> None:
    found = mistakes(SEVERAL)
    assert [(error.message, marked(error)) for error in found] == FOUND
    assert all(error.hint for error in found)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["says"])
def test_the_one_mistake_of_a_query_is_the_one_that_is_found(case: dict[str, str]) -> None:
    found = [str(error) for error in mistakes(over_auctions(case["query"]))]
    assert case["error"].rstrip("\n") in [text.rstrip("\n") for text in found]


def test_a_script_without_mistakes_has_none() -> None:
    for path in EXAMPLES:
        assert mistakes(path.read_text(encoding="utf-8")) == []
    assert len(EXAMPLES) > 5


def test_secrets_are_in_no_mistake() -> None:
    text = (
        "CREATE STREAM a (ts TIMESTAMP) WITH (format='kafka', servers='x:1', topic='t', "
        "timestamp='tss', 'kafka.sasl.password'='hunter2');SELECT nope FROM a [NOW]"
    )
    found = mistakes(text)
    assert len(found) == 2
    assert not [error for error in found if "hunter2" in str(error)]


def test_sources_are_known_where_other_statements_are_wrong() -> None:
    text = "CREATE STREAM a (x INT) WITH (format='csv', path='p', timestamp='y'); CREATE OH; SELECT"
    assert [source.name for source in declared(text + DECLARATIONS)] == [
        *("a", "bid", "auction", "person")
    ]
    assert declared("SELECT 'never closed") == []


def test_a_query_that_is_nested_too_deeply_is_one_mistake() -> None:
    text = f"SELECT {'(' * 5000}1{')' * 5000} FROM bid [NOW]" + DECLARATIONS
    assert [error.message for error in mistakes(text)] == ["the query is nested too deeply"]


SCRIPT = (
    """
SELECT b . auction , SUM ( price * 2 ) / COUNT ( * ) AS mean , COUNT ( b . * ) , MIN ( day )
FROM bid [ TUMBLE 10 SECONDS ] b LEFT JOIN auction AS a [ TUMBLE 5 SECONDS ] ON b . auction = a . id
WHERE b . price > 3 AND ( b . note LIKE 'x' OR CAST ( price AS INT ) IN ( 1 , 2 ) )
GROUP BY b . auction , LOWER ( note ) HAVING mean > 1 AND MAX ( a . id ) <> 3
ORDER BY mean LIMIT 3 EVERY 10 SECONDS INTO first ; CREATE STREAM s AS
SELECT b . price * 2 AS p , a . * , CASE WHEN b . urgent THEN 'x' ELSE LOWER ( note ) END
FROM bid [ RANGE 10 SECONDS ] AS b , auction AS a [ ROWS 3 ] , ( SELECT MAX ( price ) AS m FROM
bid [ NOW ] ) AS x WHERE b . auction = a . id AND b . price > x . m ; SELECT DISTINCT p FROM s [
RANGE 1 HOUR ]
"""
    + DECLARATIONS
)


@settings(deadline=None, max_examples=200, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.data())
def test_a_mangled_script_has_mistakes_if_and_only_if_it_asks_no_query(data: st.DataObject) -> None:
    words = SCRIPT.split(" ")
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(words) - 1))
        words[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.lists(st.sampled_from([*words, "nope", "'", "[", "?", "\n", "SELECT"]), max_size=2)
        )
    script = " ".join(words)
    found, answer = mistakes(script), answer_to(script)
    assert bool(found) == isinstance(answer, SqlError)
    for error in found:
        assert error.hint
        assert error.place is not None
    if not found:
        assert parse_script(script).members


@pytest.mark.parametrize("end", ["", ";"])
def test_a_with_that_nothing_follows(end: str) -> None:
    found = mistakes(f"WITH high AS (SELECT b.k FROM b){end}")
    assert any("WITH" in error.message for error in found)


def test_endless_names_are_cut_in_messages() -> None:
    found = mistakes(f"SELECT {'k' * 5000}.x FROM {'t' * 5000} [RANGE 1 SECOND]")
    assert found
    assert all(len(error.message) < 500 for error in found)
