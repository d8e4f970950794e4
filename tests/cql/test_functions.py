"""Users' functions in queries: registered, parsed, evaluated on both engines, the least called."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import permutations
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.api import sql
from penstock.cql import parse
from penstock.cql.declare.function_file import load_functions
from penstock.engine.expressions.apply import apply
from penstock.engine.expressions.evaluate import evaluate, holds, passing
from penstock.errors import EvaluationError, FunctionError, PenstockError, SqlError
from penstock.figure import Figure
from penstock.lab.laboratory import run as run_laboratory
from penstock.lab.schedule import Eager
from penstock.optimize.filters.condition_order import by_rank
from penstock.plan.default_plan import default_plan
from penstock.query import (
    Apply,
    Call,
    Column,
    Condition,
    DataType,
    Expression,
    Function,
    Literal,
    Output,
    Query,
)
from penstock.query.expression import columns_of, render, walk
from penstock.stats.known import ConditionFigures
from reference import Row, answer
from support.cases import arrival, canonical, random_case, write_case
from support.engines import Place, run_local, run_spark
from support.laboratory import rows_of, tables_of
from support.paths import ROOT

T = DataType


@ps.function(cost="0.5 ms", selectivity=0.1)
def near(price: float, note: str) -> bool:
    return price < 10 * len(note)


@ps.function(cost=2e-6)
def spell(number: int) -> str | None:
    return None if number < 0 else ["one", "two", "three"][number % 3]


@ps.function(cost=0)
def next_day(day: date) -> date:
    return day + timedelta(days=1)


@ps.function(cost="0.2 us", arguments=["DOUBLE", "INTEGER"], returns="double", vectorized=True)
def scaled(prices: pa.Array, by: pa.Array) -> pa.Array:
    return pc.multiply(prices, by)


FUNCTIONS = (near, spell, next_day, scaled)

# Stands after the query, so that errors count its own lines.
DECLARATION = """
;
CREATE STREAM bid (ts TIMESTAMP, auction BIGINT, bidder INT, price DOUBLE, note STRING, day DATE)
WITH (format = 'csv', path = 'bids', timestamp = 'ts')
"""


def ask(select: str, *functions: Function) -> Query:
    return parse(select + DECLARATION, functions=functions or FUNCTIONS)


def column(name: str, type_: DataType) -> Column:
    return Column("bid", name, type_)


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

FILE = """\
from __future__ import annotations

from dataclasses import dataclass

import penstock

@dataclass
class Level:
    least: float

LEVEL = Level(3.0)

def above(price: float) -> bool:
    return price > LEVEL.least

@penstock.function(cost="0.5 ms", selectivity=0.3)
def dear(price: float, reserve: float) -> bool:
    return above(price) and price > reserve

@penstock.function(cost="2 us")
def factorial(n: int) -> int:
    return n * factorial(n - 1) if n > 1 else 1
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


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


# ── evaluated ─────────────────────────────────────────────────────────────────────────────────────


def made(returns: DataType, value: Any, **more: Any) -> Function:
    """A function `f` of a BIGINT that gives always the same."""
    call = value if callable(value) else lambda x: value
    return Function("f", (T.BIGINT,), returns, 0.0, call, **more)


def test_rows_with_a_null_are_null_without_a_call() -> None:
    seen: list[tuple[float, str]] = []

    def watched(price: float, note: str) -> bool:
        seen.append((price, note))
        return price > 1

    function = replace(near, call=watched)
    arguments = (pa.array([0.5, None, 2.0, 3.0]), pa.array(["a", "b", None, "d"]))
    found = apply(function, arguments)
    assert (found.type, found.to_pylist()) == (pa.bool_(), [False, None, None, True])
    assert seen == [(0.5, "a"), (3.0, "d")]


def test_vectorized_functions_see_no_null_and_are_not_called_for_nothing() -> None:
    sizes: list[int] = []

    def watched(x: pa.Array) -> pa.ChunkedArray:
        sizes.append(len(x))
        assert x.null_count == 0
        return pa.chunked_array([x[:1].cast(pa.int32()), x[1:].cast(pa.int32())])

    function = made(T.BIGINT, watched, is_vectorized=True)
    found = apply(function, [pa.array([1, None, 3])])
    assert (found.type, found.to_pylist()) == (pa.int64(), [1, None, 3])
    assert apply(function, [pa.array([None], pa.int64())]).to_pylist() == [None]
    assert apply(function, [pa.array([], pa.int64())]).to_pylist() == []
    assert sizes == [2]


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("returns", "value", "expected"),
    [
        (T.BOOLEAN, True, True),
        (T.BOOLEAN, np.bool_(True), True),
        (T.TINYINT, -128, -128),
        (T.INT, np.int64(5), 5),
        (T.DOUBLE, 2**60 + 1, float(2**60)),
        (T.DOUBLE, np.float32(0.5), 0.5),
        (T.STRING, "x", "x"),
        (T.STRING, None, None),
        (T.DATE, date(2026, 1, 31), date(2026, 1, 31)),
        (T.TIMESTAMP, datetime(2026, 1, 31, 12), NOON),
        (T.TIMESTAMP, NOON.astimezone(timezone(timedelta(hours=2))), NOON),
    ],
)
def test_results_get_the_declared_type(returns: DataType, value: Any, expected: Any) -> None:
    assert apply(made(returns, value), [pa.array([1])]).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("returns", "value", "shown"),
    [
        (T.BOOLEAN, 1, "1"),
        (T.INT, True, "True"),
        (T.DOUBLE, False, "False"),
        (T.TINYINT, 128, "128"),
        (T.BIGINT, 1.0, "1.0"),
        (T.DOUBLE, "1", "'1'"),
        (T.STRING, 1, "1"),
        (T.DATE, datetime(2026, 1, 1), "datetime.datetime(2026, 1, 1, 0, 0)"),
        (T.TIMESTAMP, date(2026, 1, 1), "datetime.date(2026, 1, 1)"),
    ],
)
def test_a_result_of_another_type_is_an_error(returns: DataType, value: Any, shown: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(returns, value), [pa.array([7])])
    assert str(caught.value) == (
        f"f(7) gave {shown}, but is declared to give {returns}\n"
        "hint: mend f, or the type that it is declared to give"
    )


@pytest.mark.parametrize(
    ("returns", "value", "shown"),
    [
        (T.BOOLEAN, [True], "list, not an Arrow array"),
        (T.BOOLEAN, pa.array([True, False]), "2 values"),
        (T.BOOLEAN, pa.array([1]), "int64"),
        (T.STRING, pa.array([1]), "int64"),
        (T.TINYINT, pa.array([300]), "Integer value 300 not in range: -128 to 127"),
    ],
)
def test_an_array_that_does_not_fit_is_an_error(returns: DataType, value: Any, shown: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(returns, value, is_vectorized=True), [pa.array([7])])
    assert caught.value.message == f"f(1 rows) gave {shown}, but is declared to give {returns}"


def fails(x: Any) -> bool:
    raise KeyError("nowhere")


@pytest.mark.parametrize(("vectorized", "arguments"), [(False, "7"), (True, "1 rows")])
def test_a_failure_names_the_function_its_arguments_and_the_reason(
    vectorized: bool, arguments: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(T.BOOLEAN, fails, is_vectorized=vectorized), [pa.array([7])])
    assert str(caught.value) == (
        f"f({arguments}) failed: KeyError: 'nowhere'\n"
        "hint: mend f, or keep such values from it with CASE"
    )


def test_what_python_or_arrow_cannot_hold_is_an_error_too() -> None:
    with pytest.raises(EvaluationError, match="UnicodeEncodeError"):
        apply(made(T.STRING, "\ud800"), [pa.array([7])])
    with pytest.raises(EvaluationError, match="OverflowError"):
        apply(made(T.DOUBLE, 10**400), [pa.array([7])])


BATCH = pa.record_batch({"price": [5.0, None, 500.0], "note": ["some", "text", "here"]})
IS_NEAR = Apply(near, (column("price", T.DOUBLE), column("note", T.STRING)))


def plain_name(each: Column) -> str:
    return each.name


def test_a_condition_that_is_null_does_not_hold() -> None:
    assert evaluate(IS_NEAR, BATCH, plain_name).to_pylist() == [True, None, False]
    assert holds(IS_NEAR, BATCH, plain_name).to_pylist() == [True, False, False]


def test_constants_are_arguments_as_well() -> None:
    expression = Apply(scaled, (column("price", T.DOUBLE), Literal(2, T.INT)))
    assert evaluate(expression, BATCH, plain_name).to_pylist() == [10.0, None, 1000.0]


# ── called the least ──────────────────────────────────────────────────────────────────────────────


def counted(name: str, seen: list[Any], keep: Any, type_: DataType = T.BIGINT) -> Function:
    """A function that notes what it is called with."""

    def call(*arguments: Any) -> bool:
        seen.append(arguments if len(arguments) > 1 else arguments[0])
        return bool(keep(*arguments))

    return Function(name, (type_,), T.BOOLEAN, 1e-3, call)


def test_each_condition_sees_only_what_those_before_it_left() -> None:
    x = column("x", T.BIGINT)
    first: list[int] = []
    second: list[int] = []
    conditions = [
        Condition(Call("gt", (x, Literal(2, T.BIGINT)), T.BOOLEAN)),
        Condition(Apply(counted("even", first, lambda v: v % 2 == 0), (x,))),
        Condition(Apply(counted("small", second, lambda v: v < 6), (x,))),
    ]
    batch = pa.record_batch({"x": [1, 2, 3, 4, 5, 6, None], "other": ["a"] * 7})
    for rows in (batch, pa.Table.from_batches([batch])):
        assert np.flatnonzero(passing(conditions, rows, plain_name)).tolist() == [3]
    assert (first, second) == ([3, 4, 5, 6] * 2, [4, 6] * 2)
    assert passing((), batch, plain_name).all()


def stream(folder: Path, name: str, xs: list[int]) -> str:
    """A stream of one file, a tuple a second, and its declaration."""
    (folder / name).mkdir(parents=True)
    times = pa.array(range(1, len(xs) + 1), pa.int64())
    rows = pa.table({"ts": times, "x": pa.array(xs, pa.int64())})
    pq.write_table(rows, folder / name / "rows.parquet")
    return (
        f"CREATE STREAM {name} (ts BIGINT, x BIGINT) WITH (format = 'parquet', "
        f"path = '{folder / name}', timestamp = 'ts', unit = 's');\n"
    )


def test_a_run_calls_functions_only_for_what_is_left(tmp_path: Path) -> None:
    filtered: list[int] = []
    paired: list[tuple[int, int]] = []
    even = counted("even", filtered, lambda v: v % 2 == 0)
    pair = counted("pair", paired, lambda a, b: a + b == 8)
    pair = replace(pair, arguments=(T.BIGINT, T.BIGINT))
    query = parse(
        stream(tmp_path, "l", [1, 2, 3, 4, 5, 6])
        + stream(tmp_path, "r", [4, 4, 4])
        + "SELECT l.x FROM l [UNBOUNDED], r [UNBOUNDED]"
        " WHERE l.x > 2 AND even(l.x) AND l.x <> r.x + 2 AND pair(l.x, r.x)",
        functions=(even, pair),
    )
    run_local(query, Place(tmp_path / "run"))
    assert Place(tmp_path / "run").results(query) == [(4,)] * 3
    assert sorted(filtered) == [3, 4, 5, 6]
    assert paired == [(4, 4)] * 3


def test_a_condition_may_fail_only_on_what_is_left(tmp_path: Path) -> None:
    inverse = Function("inverse", (T.BIGINT,), T.DOUBLE, 1e-6, lambda x: 1 / x)
    text = stream(tmp_path, "l", [0, 1, 2]) + "SELECT l.x FROM l [NOW] WHERE {} AND {}"
    guarded = parse(text.format("l.x > 0", "inverse(l.x) < 1"), functions=[inverse])
    run_local(guarded, Place(tmp_path / "good"))
    assert Place(tmp_path / "good").results(guarded) == [(2,)]
    bare = parse(text.format("inverse(l.x) < 1", "l.x > 0"), functions=[inverse])
    with pytest.raises(PenstockError, match=r"inverse\(0\) failed: ZeroDivisionError"):
        run_local(bare, Place(tmp_path / "bad"))


# ── on the engines ────────────────────────────────────────────────────────────────────────────────


@ps.function(cost="1 us")
def alike(one: float, other: float) -> bool | None:
    return None if one == 0 else abs(one - other) < 4


@ps.function(cost="1 us")
def is_plain(text: str) -> bool:
    return text.startswith("v")


@ps.function(cost="1 us", arguments=["STRING"], returns="BOOLEAN", vectorized=True)
def are_plain(texts: pa.Array) -> pa.Array:
    return pc.starts_with(texts, "v")


def with_functions(query: Query, plain: Function) -> Query:
    """The query with users' functions in a filter, a theta predicate and an output."""
    one, other = query.aliases[0], query.aliases[-1]

    def read(alias: str, name: str) -> Expression:
        found = query.input(alias).source.field(name)
        assert found is not None
        return Column(alias, name, found.type)

    filter_ = Condition(Apply(plain, (read(one, "s"),)))
    theta = Condition(Apply(alike, (read(one, "x"), read(other, "x"))))
    word = Apply(spell, (Call("cast", (read(other, "j"),), T.BIGINT),))
    return replace(
        query,
        filters=(*query.filters, filter_),
        thetas=(*query.thetas, theta),
        outputs=(*query.outputs, Output("word", word)),
    )


SEEDS = [seed for seed in range(40) if len(random_case(seed).query.inputs) > 1][:16]


@pytest.mark.parametrize("seed", SEEDS)
def test_both_ways_to_run_here_give_what_the_reference_gives(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    expected = canonical(answer(with_functions(case.query, is_plain), case.batches))
    query = with_functions(write_case(case, tmp_path / "in"), are_plain)
    run_local(query, Place(tmp_path), partitions=2)
    assert canonical(Place(tmp_path).results(query)) == expected
    plan = default_plan(with_functions(case.query, are_plain))
    outcome = run_laboratory(plan, tables_of(case), Eager())
    assert canonical(rows_of(outcome)) == expected


def test_the_cases_have_results() -> None:
    cases = [random_case(seed) for seed in SEEDS]
    counts = [len(answer(with_functions(case.query, is_plain), case.batches)) for case in cases]
    assert sum(count > 0 for count in counts) >= 10


@pytest.mark.spark
def test_spark_runs_the_functions_of_a_file_that_workers_do_not_have(
    spark: Any, tmp_path: Path
) -> None:
    path = written(tmp_path, FILE)
    xs, ys = list(range(8)), [2, 4, 3, 5]
    query = parse(
        stream(tmp_path, "l", xs)
        + stream(tmp_path, "r", ys)
        + "SELECT l.x, factorial(r.x) AS f FROM l [UNBOUNDED], r [UNBOUNDED]"
        " WHERE factorial(l.x) % 2 = 0 AND dear(l.x, r.x)",
        functions=load_functions(path),
    )
    Path(path).unlink()
    run_spark(spark, query, Place(tmp_path / "run"))
    batches = {
        "l": [[Row(n * 10**6, arrival(0, n), {"ts": n, "x": x}) for n, x in enumerate(xs, 1)]],
        "r": [[Row(n * 10**6, arrival(0, n), {"ts": n, "x": y}) for n, y in enumerate(ys, 1)]],
    }
    expected = canonical(answer(query, batches))
    assert canonical(Place(tmp_path / "run").results(query)) == expected
    assert expected.total() == 13


@pytest.mark.spark
def test_a_failure_on_a_worker_reaches_the_user_as_it_is(spark: Any, tmp_path: Path) -> None:
    inverse = Function("inverse", (T.BIGINT,), T.DOUBLE, 1e-6, lambda x: 1 / x)
    text = stream(tmp_path, "l", [2, 0]) + "SELECT inverse(l.x) AS i FROM l [NOW]"
    with pytest.raises(EvaluationError) as caught:
        run_spark(spark, parse(text, functions=[inverse]), Place(tmp_path / "run"))
    assert caught.value.message == "inverse(0) failed: ZeroDivisionError: division by zero"


# ── in which order ────────────────────────────────────────────────────────────────────────────────

A, B, C, D = (
    Condition(Call("gt", (column(name, T.BIGINT), Literal(0, T.BIGINT)), T.BOOLEAN))
    for name in "abcd"
)


def figures(**by_name: tuple[float, float]) -> dict[str, ConditionFigures]:
    """Selectivity and cost of `bid.<name> > 0`."""
    return {
        f"bid.{name} > 0": ConditionFigures(
            Figure(selectivity, "declared"), Figure(cost, "declared")
        )
        for name, (selectivity, cost) in by_name.items()
    }


def output_rate(order: tuple[Condition, ...], known: dict[str, ConditionFigures]) -> float:
    """Tuples/s out of selections with a server each, from 500/s: `f·r`, or `f/C` (V&N)."""
    rate = 500.0
    for each in order:
        cost = known[str(each)].cost.value
        served = min(rate, 1 / cost) if cost else rate
        rate = known[str(each)].selectivity.value * served
    return rate


def cost_of(order: tuple[Condition, ...], known: dict[str, ConditionFigures]) -> float:
    """Seconds for one tuple that passes through the conditions until one drops it (A&N Eq. 14)."""
    left, cost = 1.0, 0.0
    for each in order:
        cost += left * known[str(each)].cost.value
        left *= known[str(each)].selectivity.value
    return cost


def test_the_slow_selection_comes_last() -> None:
    # V&N's introduction: σ1 handles 50 tuples/s, σ2 any number; both let a tenth through.
    known = figures(a=(0.1, 1 / 50), b=(0.1, 0.0))
    assert output_rate((A, B), known) == pytest.approx(0.5)
    assert output_rate((B, A), known) == pytest.approx(5.0)
    assert by_rank((A, B), known) == (B, A)


@pytest.mark.parametrize("seed", range(50))
def test_no_order_is_cheaper_than_the_one_by_rank(seed: int) -> None:
    rng = Random(seed)
    drawn = {
        name: (rng.choice((0.0, 1.0, rng.random())), rng.choice((0.0, rng.expovariate(1000))))
        for name in "abcd"
    }
    known = figures(**drawn)
    chosen = by_rank((A, B, C, D), known)
    assert sorted(map(str, chosen)) == sorted(known)
    cheapest = min(cost_of(order, known) for order in permutations((A, B, C, D)))
    assert cost_of(chosen, known) == pytest.approx(cheapest)


def test_equal_ranks_keep_their_order() -> None:
    known = figures(a=(0.5, 1e-3), b=(1.0, 1e-3), c=(0.5, 1e-3), d=(1.0, 1e-6))
    assert by_rank((B, C, A, D), known) == (C, A, B, D)


def test_a_function_of_ones_own_may_be_named_like_a_window() -> None:
    @ps.function(cost=1e-6)
    def hop(price: float) -> float:
        return price + 1

    text = "CREATE STREAM A (x DOUBLE, ts TIMESTAMP) WITH (format='csv', path='a', timestamp='ts');"
    query = parse(f"{text} SELECT hop(x) AS y FROM A [NOW]", functions=[hop])
    assert str(query.outputs[0].expression)
    with pytest.raises(SqlError, match=r"hop\(…\) is not in the language"):
        parse(f"{text} SELECT hop(x) AS y FROM A [NOW]")
