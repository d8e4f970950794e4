"""Users' functions in queries: registered, called, and read from a file."""

from __future__ import annotations

from textwrap import dedent

import pytest

import penstock as ps
from penstock.cql import parse
from penstock.errors import FunctionError, SqlError
from penstock.query import Apply, Literal
from penstock.query.expression import columns_of, render, walk
from support.streams.functions import (
    T,
    ask,
    column,
    near,
)


def test_a_function_that_is_not_registered_is_refused() -> None:
    with pytest.raises(FunctionError) as caught:
        ask("SELECT price FROM bid [NOW]", len)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "<built-in function len> is not registered for queries\n"
        "hint: decorate it: @penstock.function(cost='0.5 ms')"
    )


def test_calls_stand_wherever_expressions_do() -> None:
    query = ask(
        "SELECT Spell(auction) || '!' AS word FROM bid [NOW] WHERE NOT NEAR(bidder + 1, note)"
        " AND day < next_day('2026-01-31')"
    )
    assert str(query.filters[0]) == (
        "NOT near(CAST(CAST(bid.bidder AS BIGINT) + 1 AS DOUBLE), bid.note)"
    )
    assert str(query.filters[1]) == "bid.day < next_day(DATE '2026-01-31')"
    (word,) = query.outputs
    assert render(word.expression) == "CONCAT(spell(bid.auction), '!')"
    assert word.expression.type is T.STRING


def test_expressions_know_what_a_call_reads() -> None:
    (condition,) = ask("SELECT ts FROM bid [NOW] WHERE near(price, 'x')").filters
    price, text = column("price", T.DOUBLE), Literal("x", T.STRING)
    assert condition.expression == Apply(near, (price, text))
    assert set(walk(condition.expression)) == {condition.expression, price, text}
    assert columns_of(condition.expression) == {price}
    assert condition.streams == {"bid"}


def test_a_call_may_be_a_join_key_or_a_theta_predicate() -> None:
    query = ask(
        "SELECT a.ts FROM bid [NOW] a, bid [NOW] b"
        " WHERE spell(a.auction) = b.note AND near(a.price, b.note)"
    )
    assert [str(e) for e in query.equalities] == ["spell(a.auction) = b.note"]
    assert [str(c) for c in query.thetas] == ["near(a.price, b.note)"]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            "near(price)",
            """\
            near takes 2 arguments, not 1
             --> query:1:32
              |
            1 | SELECT ts FROM bid [NOW] WHERE near(price)
              |                                ^^^^
            hint: write it near(DOUBLE, STRING)""",
        ),
        (
            "spell() = 'one'",
            """\
            spell takes 1 argument, not 0
             --> query:1:32
              |
            1 | SELECT ts FROM bid [NOW] WHERE spell() = 'one'
              |                                ^^^^^
            hint: write it spell(BIGINT)""",
        ),
        (
            "near(note, note)",
            """\
            near needs DOUBLE, but this is STRING
             --> query:1:37
              |
            1 | SELECT ts FROM bid [NOW] WHERE near(note, note)
              |                                     ^^^^
            hint: convert it: CAST(… AS DOUBLE)""",
        ),
        (
            "next_day('soon') = day",
            """\
            'soon' is not a DATE
             --> query:1:41
              |
            1 | SELECT ts FROM bid [NOW] WHERE next_day('soon') = day
              |                                         ^^^^^^
            hint: write it like '2026-01-31'""",
        ),
        (
            "nears(price, note)",
            """\
            there is no function nears
             --> query:1:32
              |
            1 | SELECT ts FROM bid [NOW] WHERE nears(price, note)
              |                                ^^^^^
            hint: did you mean near?""",
        ),
        (
            "spell(auction)",
            """\
            WHERE needs a condition, but this is STRING
             --> query:1:32
              |
            1 | SELECT ts FROM bid [NOW] WHERE spell(auction)
              |                                ^^^^^
            hint: compare it with something""",
        ),
        (
            "near(1, 'x')",
            """\
            this condition is always the same
             --> query:1:32
              |
            1 | SELECT ts FROM bid [NOW] WHERE near(1, 'x')
              |                                ^^^^
            hint: leave it out, or compare with a column""",
        ),
    ],
)
def test_a_wrong_call_is_answered_with_its_place(where: str, said: str) -> None:
    with pytest.raises(SqlError) as caught:
        ask(f"SELECT ts FROM bid [NOW] WHERE {where}")
    assert str(caught.value) == dedent(said)


def test_a_function_of_ones_own_may_be_named_like_a_window() -> None:
    @ps.function(cost=1e-6)
    def hop(price: float) -> float:
        return price + 1

    text = "CREATE STREAM A (x DOUBLE, ts TIMESTAMP) WITH (format='csv', path='a', timestamp='ts');"
    query = parse(f"{text} SELECT hop(x) AS y FROM A [NOW]", functions=[hop])
    assert str(query.outputs[0].expression)
    with pytest.raises(SqlError, match=r"hop\(…\) is not in the language"):
        parse(f"{text} SELECT hop(x) AS y FROM A [NOW]")
