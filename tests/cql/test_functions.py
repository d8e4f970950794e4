"""Users' functions in queries: registered, called, and read from a file."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import penstock as ps
from penstock.api import sql
from penstock.cql import parse
from penstock.cql.declare.function_file import load_functions
from penstock.errors import FunctionError, SqlError
from penstock.query import Apply, Literal
from penstock.query.expression import columns_of, render, walk
from support.paths import ROOT
from support.streams.functions import (
    DECLARATION,
    FILE,
    T,
    ask,
    column,
    near,
    scaled,
    spell,
    written,
)

# ── registered ────────────────────────────────────────────────────────────────────────────────────


def test_a_function_takes_its_types_from_the_annotations() -> None:
    assert (near.name, near.arguments, near.returns) == ("near", (T.DOUBLE, T.STRING), T.BOOLEAN)
    assert (near.cost, near.selectivity, near.is_vectorized) == (0.0005, 0.1, False)
    assert (spell.arguments, spell.returns, spell.selectivity) == ((T.BIGINT,), T.STRING, None)


def test_named_types_and_names_come_before_what_the_code_says() -> None:
    assert (scaled.arguments, scaled.returns) == ((T.DOUBLE, T.INT), T.DOUBLE)
    assert (scaled.cost, scaled.is_vectorized) == (2e-7, True)
    named = ps.function(cost=1, name="first", arguments=["tinyint"])(spell.call)
    assert (named.name, named.arguments, named.returns) == ("first", (T.TINYINT,), T.STRING)


def test_a_registered_function_can_still_be_called_from_python() -> None:
    assert near(5.0, "note") is True


def untyped(x):  # type: ignore[no-untyped-def]
    return x


def listed(x: list[int]) -> bool:
    return bool(x)


def variadic(*x: int) -> bool:
    return bool(x)


def nothing() -> bool:
    return True


def unresolved(x: "Nowhere") -> bool:  # type: ignore[name-defined]  # noqa: F821, UP037
    return bool(x)


ANNOTATE = (
    "hint: annotate it with bool, int, float, str, date or datetime, or give arguments= and "
    "returns= by their SQL types"
)
COST = "hint: write it like cost='0.5 ms', or as seconds: cost=0.0005"


@pytest.mark.parametrize(
    ("call", "options", "said"),
    [
        (untyped, {}, f"function untyped: the argument x has no type\n{ANNOTATE}"),
        (listed, {}, f"function listed: the argument x has the type list[int]\n{ANNOTATE}"),
        (untyped, {"arguments": ["INT"]}, f"function untyped: the result has no type\n{ANNOTATE}"),
        (max, {}, f"function max hides its arguments\n{ANNOTATE}"),
        (unresolved, {}, f"function unresolved: name 'Nowhere' is not defined\n{ANNOTATE}"),
        (
            variadic,
            {},
            "function variadic has the parameter *x\n"
            "hint: queries give arguments by their place: list them one by one",
        ),
        (
            nothing,
            {},
            "function nothing takes no arguments\nhint: give it the column it is to look at",
        ),
        (
            untyped,
            {"arguments": ["DECIMAL"], "returns": "INT"},
            "function untyped: DECIMAL is not a type of the language\n"
            "hint: the types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, "
            "DATE, TIMESTAMP",
        ),
        (near.call, {"cost": "a lot"}, f"function near: 'a lot' is not a length of time\n{COST}"),
        (near.call, {"cost": -1}, f"function near cannot cost -1\n{COST}"),
        (near.call, {"cost": math.nan}, f"function near cannot cost nan\n{COST}"),
        (
            near.call,
            {"selectivity": 1.5},
            "function near cannot have the selectivity 1.5\n"
            "hint: it is the fraction that passes, from 0 to 1",
        ),
        (
            spell.call,
            {"selectivity": 0.5},
            "function spell gives STRING, which has no selectivity\n"
            "hint: only conditions have one; leave it out",
        ),
    ],
)
def test_what_cannot_be_registered_is_said(call: Any, options: Any, said: str) -> None:
    with pytest.raises(FunctionError) as caught:
        ps.function(**{"cost": 0, **options})(call)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Length", "function Length has the name of a built-in one"),
        ("sum", "function sum has the name of a built-in one"),
        ("NEAR", "two functions are named NEAR"),
        ("between", "between is a word of SQL, or no name"),
        ("case", "case is a word of SQL, or no name"),
        ("cast", "cast is a word of SQL, or no name"),
        ("<lambda>", "<lambda> is a word of SQL, or no name"),
        ("a.b", "a.b is a word of SQL, or no name"),
    ],
)
def test_names_that_mean_something_else_are_refused(name: str, said: str) -> None:
    with pytest.raises(FunctionError) as caught:
        ask("SELECT price FROM bid [NOW]", near, replace(spell, name=name))
    assert str(caught.value) == f"{said}\nhint: rename it: @function(name='my_{name}', …)"


def test_a_function_that_is_not_registered_is_refused() -> None:
    with pytest.raises(FunctionError) as caught:
        ask("SELECT price FROM bid [NOW]", len)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "<built-in function len> is not registered for queries\n"
        "hint: decorate it: @penstock.function(cost='0.5 ms')"
    )


# ── parsed ────────────────────────────────────────────────────────────────────────────────────────


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


# ── from a file ───────────────────────────────────────────────────────────────────────────────────


def test_a_file_gives_the_functions_that_it_registers(tmp_path: Path) -> None:
    dear, factorial = load_functions(written(tmp_path, FILE))
    assert (dear.name, dear.selectivity) == ("dear", 0.3)
    assert (dear(4.0, 1.0), dear(2.0, 1.0), factorial(5)) == (True, False, 120)


def test_a_script_is_read_with_its_functions(tmp_path: Path) -> None:
    script = tmp_path / "query.cql"
    script.write_text("SELECT ts FROM bid [NOW] WHERE dear(price, 2)" + DECLARATION)
    (condition,) = sql(script, functions=written(tmp_path, FILE)).query.filters
    assert str(condition) == "dear(bid.price, 2.0)"
    with pytest.raises(SqlError, match="there is no function dear"):
        sql(script)


RUNS = "hint: the file must run by itself: try it with python"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import penstock\n\nx = 1 / 0\n",
            f"""\
            cannot load PATH: ZeroDivisionError: division by zero
             --> PATH:3:1
              |
            3 | x = 1 / 0
              | ^^^^^^^^^
            {RUNS}""",
        ),
        (
            "def f(:\n    pass\n",
            f"""\
            cannot load PATH: SyntaxError: invalid syntax
             --> PATH:1:1
              |
            1 | def f(:
              | ^^^^^^^
            {RUNS}""",
        ),
        (
            "def f():\n    import no_such_module\nf()\n",
            """\
            cannot load PATH: ModuleNotFoundError: No module named 'no_such_module'
             --> PATH:2:5
              |
            2 |     import no_such_module
              |     ^^^^^^^^^^^^^^^^^^^^^
            hint: install what it needs, here and on the workers, or put it into the same file""",
        ),
        (
            "import sys\nsys.exit('no')\n",
            f"""\
            cannot load PATH: SystemExit: no
             --> PATH:2:1
              |
            2 | sys.exit('no')
              | ^^^^^^^^^^^^^^
            {RUNS}""",
        ),
        (
            "import penstock\n@penstock.function(cost='much')\ndef f(x: int) -> bool: ...\n",
            f"""\
            function f: 'much' is not a length of time
             --> PATH:2:1
              |
            2 | @penstock.function(cost='much')
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            {COST}""",
        ),
        (
            "def f(x: int) -> bool: ...\n",
            """\
            PATH has no functions for queries
            hint: decorate one: @penstock.function(cost='0.5 ms')""",
        ),
    ],
)
def test_a_file_that_does_not_load_is_answered_in_its_own_words(
    text: str, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FunctionError) as caught:
        load_functions(path)
    assert str(caught.value).replace(path, "PATH") == dedent(said)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FunctionError, match=r"cannot read .*none\.py: No such file"):
        load_functions(str(tmp_path / "none.py"))
    with pytest.raises(FunctionError, match=r"cannot read .*: Is a directory"):
        load_functions(str(tmp_path))
    (tmp_path / "latin.py").write_bytes(b"# \xe9")
    with pytest.raises(FunctionError, match=r"latin\.py is not UTF-8"):
        load_functions(str(tmp_path / "latin.py"))


def test_functions_of_a_file_travel_to_a_process_that_does_not_have_it(tmp_path: Path) -> None:
    from pyspark import cloudpickle

    path = written(tmp_path, FILE)
    pickled = cloudpickle.dumps(load_functions(path))
    Path(path).unlink()
    there = (
        "import pickle, sys\n"
        "dear, factorial = pickle.loads(sys.stdin.buffer.read())\n"
        "print(dear.cost, dear(4.0, 1.0), dear(2.0, 1.0), factorial(5))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", there], input=pickled, capture_output=True, check=True, cwd=tmp_path
    )
    assert found.stdout.decode().split() == ["0.0005", "True", "False", "120"]


def test_the_function_on_the_language_page_works_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (looks_odd,) = load_functions(written(tmp_path, block))
    assert (looks_odd(2000.0, ""), looks_odd(1.0, "Cash!"), looks_odd(1.0, "")) == (1, 1, 0)
    declarations = page[page.index("CREATE STREAM bid") : page.index("SELECT b.ts")]
    inputs = "SELECT b.ts FROM bid [RANGE 1 MINUTE] b, auction [RANGE 1 MINUTE] a"
    (where,) = re.findall(r"`(WHERE [^`]*looks_odd[^`]*)`", page)
    assert len(parse(f"{declarations}{inputs} {where}", functions=[looks_odd]).filters) == 1
    (guarded,) = re.findall(r"`(CASE [^`]*looks_odd[^`]*)`", page)
    query = parse(f"{declarations}{inputs} WHERE {guarded}", functions=[looks_odd])
    assert len(query.filters) == 1


def test_a_function_of_ones_own_may_be_named_like_a_window() -> None:
    @ps.function(cost=1e-6)
    def hop(price: float) -> float:
        return price + 1

    text = "CREATE STREAM A (x DOUBLE, ts TIMESTAMP) WITH (format='csv', path='a', timestamp='ts');"
    query = parse(f"{text} SELECT hop(x) AS y FROM A [NOW]", functions=[hop])
    assert str(query.outputs[0].expression)
    with pytest.raises(SqlError, match=r"hop\(…\) is not in the language"):
        parse(f"{text} SELECT hop(x) AS y FROM A [NOW]")
