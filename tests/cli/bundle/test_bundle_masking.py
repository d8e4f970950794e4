"""Texts of a bundle: what a query compares with is gone, what planners go by is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.bundle.masking import Mask, literals, masked_query, masked_words


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("WHERE a.name = 'bob' AND a.k > 4711", "WHERE a.name = '…' AND a.k > 0"),
        ("WHERE a.name = 'it''s bob' OR x = .5e3", "WHERE a.name = '…' OR x = 0"),
        ("WHERE a.name = “bob” -- of bob\nAND m['k'] = 1", "WHERE a.name = '…' \nAND m['…'] = 0"),
        ("/* bob */ SELECT {# bob #} 'never closed", " SELECT  '…'"),
        ("FROM a [RANGE 10 SECONDS SLIDE 2 SECONDS]", "FROM a [RANGE 10 SECONDS SLIDE 2 SECONDS]"),
        ("b [RANGE '1.5 hours'] EVERY 5 s LIMIT 3", "b [RANGE '1.5 hours'] EVERY 5 s LIMIT 3"),
        ("(d DECIMAL(10, 2), a5 INT)", "(d DECIMAL(10, 2), a5 INT)"),
        ('WITH (format = \'csv\', path = \'/home/bob\')', "WITH (format = 'csv', path = '…')"),
        ("WITH (\"sasl.password\" = 'hunter2')", "WITH (\"sasl.password\" = '…')"),
        ("WITH (values = 'k: one(4711)', rows = 100)", "WITH (values = '…', rows = 100)"),
        ("WITH (delete = 'op = ''D''') WHERE unit = 'bob'", "WITH (delete = '…') WHERE unit = '…'"),
        ("WITH w AS (SELECT 1) WHERE (unit = 'bob')", "WITH w AS (SELECT 0) WHERE (unit = '…')"),
    ],
)  # fmt: skip
def test_a_query_keeps_its_shape_and_loses_its_literals(text: str, seen: str) -> None:
    assert masked_query(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("b.price * 12 > 4711", "b.price * 0 > 0"),
        ("a.name LIKE 'bob%'", "a.name LIKE '…'"),
        ("a.name = 'bob and …", "a.name = '…'"),
        ("rate of a2", "rate of a2"),
    ],
)
def test_a_condition_has_no_literals(text: str, seen: str) -> None:
    assert masked_words(text) == seen


WITHIN = (
    "SELECT a.x, {} AS y FROM a [RANGE 10 SECONDS] WHERE a.k = {}",
    "CREATE STREAM a (x INT) WITH (format = 'csv', path = {}, \"sasl.password\" = {});",
    "SELECT \"it's\" -- don't\nFROM a /* isn't */ WHERE m[{}] IN ({}, 'x')",
    "WITH w AS (SELECT {} FROM a) SELECT `a'b` FROM w WHERE unit = {} LIMIT 3",
)


@given(
    st.sampled_from(WITHIN),
    st.text("abc'\"`-/*#{}()\n=;“ ", min_size=1, max_size=12),
    st.integers(100_000, 10**18),
)
def test_no_literal_is_left_whatever_is_in_it(query: str, text: str, number: int) -> None:
    """Of any text in quotes: the same is left as of a text that is empty."""
    quoted = "'" + text.replace("'", "''") + "'"
    seen = masked_query(query.format(quoted, number))
    assert seen == masked_query(query.format("''", 7))
    assert str(number) not in seen
    assert masked_words(f"a.x = {quoted} OR a.y > {number}") == "a.x = '…' OR a.y > 0"


def test_literals_are_known_again_but_names_are_none() -> None:
    query = "SELECT a.k FROM a WHERE a.x = 'a' AND a.y = 'bob' AND a.z = 4711 AND a.w = 5"
    assert literals(query) == {"bob", "4711"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a.x + 7 > 4711: 0.12 pass, was 0.5", "a.x + 0 > 0: 0.12 pass, was 0.5"),
        ("a: b; b: a keep a 0.25", "a: b; b: a keep a 0.25"),
        ("where x >= 33 of bob, 12 % less", "where x >= 0 of …, 12 % less"),
        ("mesh a: b 60 % or c by if k <= 5 then 1", "mesh a: b 60 % or c by if k <= 0 then 0"),
        ("rate of a: 4711 /s", "rate of a: 0 /s"),
        ("no match yet for a.y = 'bob …", "no match yet for a.y = '…'"),
    ],
)  # fmt: skip
def test_a_sentence_keeps_its_figures(text: str, seen: str) -> None:
    mask = Mask.of(["a.x + 7 > 4711"], "SELECT a.k FROM a WHERE a.x + 7 > 4711 AND a.y = 'bob'")
    assert mask.sentence(text) == seen
