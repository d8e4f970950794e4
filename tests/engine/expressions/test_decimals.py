"""DECIMALs: every operator and cast on hostile digits, against fractions and against Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.cql import parse
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.decimals import lowered
from penstock.engine.expressions.evaluate import evaluate
from penstock.engine.sources.made.distributions import default_for, draw
from penstock.errors import EvaluationError
from penstock.query import (
    Apply,
    Call,
    Column,
    DataType,
    Expression,
    Field,
    Function,
    Literal,
)
from penstock.query.expression import Value
from penstock.query.families.decimal_types import averaged, computed, rounded, summed
from penstock.query.keys import key_classes
from penstock.query.types import common_type, decimal
from support.engines.runs import Place, run_local
from support.streams.expressions import to_decimal, value_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS = tuple(
    decimal(*digits)
    for digits in ((1, 0), (4, 2), (10, 2), (18, 0), (18, 18), (20, 5), (38, 0), (38, 10), (38, 38))
)
OPERATORS = ("add", "subtract", "multiply", "divide", "modulo")


def hostile(rng: Random, type_: DataType) -> Decimal | None:
    """The ends, zero, ties and any digits of a type, often NULL."""
    precision, scale = type_.digits
    most = 10**precision - 1
    digits = rng.randrange(1, 10 ** rng.randint(1, precision))
    power = 2 ** rng.choice((31, 32, 63, 64, 95, 96)) * 10 ** rng.choice((0, scale))
    near = (power + rng.choice((-1, 0, 1))) % (most + 1)
    ends = (None, 0, 1, -1, 5, -5, most, -most, most // 2, 10**scale)
    whole = rng.choice((*ends, digits, -digits, near, -near))
    return None if whole is None else to_decimal(Decimal(f"{whole}e-{scale}"), type_)


@pytest.mark.parametrize("places", range(6))
@pytest.mark.parametrize("way", ["half", "floor", "ceil", "cut"])
def test_digits_are_taken_off_rightly_near_powers_of_two(places: int, way: str) -> None:
    """Arrow's division of decimals is wrong for some of these."""
    modes = {"half": ROUND_HALF_UP, "floor": ROUND_FLOOR, "ceil": ROUND_CEILING, "cut": ROUND_DOWN}
    for (precision, scale), power in product(((18, 6), (38, 18), (38, 10)), (31, 32, 63, 64)):
        numbers = [
            Decimal(sign * (2**power * 10**moved + more)).scaleb(-scale)
            for sign, moved, more in product((-1, 1), (0, scale), (-1, 0, 1, 5))
        ]
        held = [n for n in numbers if abs(n) < Decimal(10) ** (precision - scale)]
        found = lowered(pa.array(held, pa.decimal128(precision, scale)), places, way).to_pylist()
        exact = Context(prec=80, rounding=modes[way])
        assert found == [n.quantize(Decimal(1).scaleb(-places), context=exact) for n in held]


@pytest.mark.parametrize("written", ["1e-999999999", "-1E-100000000", "2.5e-1", "1e0", "1e999999"])
def test_exponents_are_read_without_harm(tmp_path: Path, written: str) -> None:
    """Arrow ends the process at some of them."""
    (tmp_path / "a.json").write_text(f'{{"ts": 1, "x": {written}}}\n{{"ts": 2, "x": 0.5}}\n')
    (tmp_path / "b.csv").write_text(f"ts,x\n1,{written}\n2,0.5\n")
    read = {"2.5e-1": "0.25", "1e0": "1.00", "1e999999": None}.get(written, "0.00")
    expected = sorted(each for each in (read, "0.50") if each is not None)
    for path, format_ in (("a.json", "json"), ("b.csv", "csv")):
        query = parse(
            f"CREATE STREAM s (ts BIGINT, x DECIMAL(4, 2)) WITH (format = '{format_}', "
            f"path = '{tmp_path / path}', timestamp = 'ts', unit = 's', malformed = 'drop'); "
            "SELECT s.x FROM s [NOW]"
        )
        place = Place(tmp_path / format_)
        run_local(query, place)
        assert sorted(str(x) for (x,) in place.results(query)) == expected


def outcome(expression: Expression, row: dict[Column, Value]) -> Any:
    """The value on one row by the engine, or that it is an error."""
    columns = {c.name: pa.array([v], arrow_type(c.type)) for c, v in row.items()}
    try:
        return evaluate(expression, pa.record_batch(columns), lambda c: c.name)[0].as_py()
    except EvaluationError:
        return "error"


def meant(expression: Expression, row: dict[Column, Value]) -> Any:
    """The same by the reference."""
    try:
        return value_of(expression, row)
    except EvaluationError:
        return "error"


@pytest.mark.parametrize("function", OPERATORS)
def test_operators_give_the_exact_result_rounded_once(function: str) -> None:
    rng = Random(function)
    for left, right in product(KINDS, KINDS):
        a, b = Column("s", "a", left), Column("s", "b", right)
        type_ = decimal(*computed(function, left.digits, right.digits))
        call = Call(function, (a, b), type_)
        for _ in range(6):
            row: dict[Column, Value] = {a: hostile(rng, left), b: hostile(rng, right)}
            assert outcome(call, row) == meant(call, row), (call, row)


def test_casts_and_rounding_agree_with_fractions() -> None:
    rng = Random("casts")
    others = (DataType.TINYINT, DataType.BIGINT, DataType.DOUBLE, DataType.FLOAT)
    targets = (*KINDS, *others, DataType.STRING, DataType.BOOLEAN)
    for source, target in product(KINDS, targets):
        a = Column("s", "a", source)
        calls: list[Call] = [Call("cast", (a,), target)]
        for places in (0, 1, -1, -40):
            made = decimal(*rounded(source.digits, places))
            calls.append(Call("round", (a, Literal(places, DataType.INT)), made))
        whole = decimal(*rounded(source.digits, 0))
        calls += [Call("floor", (a,), whole), Call("ceil", (a,), whole), Call("abs", (a,), source)]
        for _ in range(3):
            row: dict[Column, Value] = {a: hostile(rng, source)}
            for call in calls:
                assert outcome(call, row) == meant(call, row), (call, row)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        (
            DataType.STRING,
            ["1.005", "-1.005", " 12 ", "+.5", "5.", "1e3", "1e-99", "x", "NaN"],
        ),
        (
            DataType.STRING,
            [
                f"{(1 << 128) + 1}",
                f"-{1 << 128}.5",
                f"{1 << 64}.{1 << 80}",
                "0" * 50 + "7",
                "19900400.5",
                "27959099055959347099909999400106906",
            ],
        ),
        (DataType.DOUBLE, [1.005, -0.0, 1e22, 1e300, float("nan"), float("inf"), 2.5, 0.1, None]),
        (DataType.BIGINT, [0, 2**63 - 1, -(2**63), 99, None]),
        (DataType.BOOLEAN, [True, False, None]),
    ],
)
def test_what_becomes_a_decimal(source: DataType, values: list[Value]) -> None:
    a = Column("s", "a", source)
    for target, value in product(KINDS, values):
        call = Call("cast", (a,), target)
        assert outcome(call, {a: value}) == meant(call, {a: value}), (call, value)


def test_comparisons_are_exact_where_there_is_a_common_type() -> None:
    rng = Random("compared")
    for left, right in product((*KINDS, DataType.BIGINT, DataType.INT), KINDS):
        common = common_type(left, right)
        if common is None:
            continue
        a, b = Column("s", "a", left), Column("s", "b", right)
        sides = (Call("cast", (a,), common), Call("cast", (b,), common))
        for function in ("eq", "lt", "ge"):
            one = hostile(rng, right)
            fits = one is not None and left.is_decimal
            row: dict[Column, Value] = {a: to_decimal(one, left) if fits else 3, b: one}
            if left.is_decimal and row[a] == 3:
                row[a] = None
            call = Call(function, sides, DataType.BOOLEAN)
            assert outcome(call, row) == meant(call, row), (call, row)


@pytest.mark.spark
def test_types_and_values_are_those_of_spark(spark: SparkSession) -> None:
    """The digits of results, how they are rounded, and what a sum and a mean are."""
    from pyspark.sql import functions as f

    rng = Random("spark")
    pairs = [(decimal(10, 2), decimal(4, 2)), (decimal(38, 10), decimal(20, 5))]
    signs = dict(zip(OPERATORS, "+-*/%", strict=True))
    for left, right in pairs:
        a, b = Column("s", "a", left), Column("s", "b", right)
        value, other = Decimal("12345.67"), Decimal(rng.randint(1, 999)) / 100
        frame = spark.createDataFrame([(value, other)], f"a {left}, b {right}")
        exprs = [f.expr(f"a {sign} b").alias(name) for name, sign in signs.items()]
        found = frame.select(*exprs, f.expr("round(a, 1)").alias("round"))
        row: dict[Column, Value] = {a: to_decimal(value, left), b: to_decimal(other, right)}
        types = {each.name: each.dataType.simpleString() for each in found.schema}
        (values,) = found.collect()
        for function in OPERATORS:
            type_ = decimal(*computed(function, left.digits, right.digits))
            assert types[function] == str(type_).lower().replace(" ", "")
            assert values[function] == outcome(Call(function, (a, b), type_), row)
        made = decimal(*rounded(left.digits, 1))
        assert types["round"] == str(made).lower().replace(" ", "")
        totals = frame.agg(f.sum("a").alias("s"), f.avg("a").alias("m")).schema
        assert totals["s"].dataType.simpleString() == "decimal({},{})".format(*summed(left.digits))
        assert totals["m"].dataType.simpleString() == "decimal({},{})".format(
            *averaged(left.digits)
        )


def test_functions_take_and_give_decimals() -> None:
    kind = decimal(6, 2)

    def taxed(price: Decimal) -> Decimal:
        return price * Decimal("1.195")

    def doubled(prices: pa.Array) -> pa.Array:
        return pc.add(prices, prices)

    a = Column("s", "a", kind)
    row: dict[Column, Value] = {a: Decimal("9999.99")}
    one = Apply(Function("taxed", (kind,), decimal(9, 2), 0.0, taxed), (a,))
    assert outcome(one, row) == Decimal("11949.99")
    all_ = Function("doubled", (kind,), decimal(7, 2), 0.0, doubled, is_vectorized=True)
    assert outcome(Apply(all_, (a,)), row) == Decimal("19999.98")
    short = Apply(replace(all_, returns=kind), (a,))
    assert outcome(short, row) == outcome(Apply(replace(one.function, returns=kind), (a,)), row)
    assert outcome(short, row) == "error"


@pytest.mark.parametrize("type_", [decimal(5, 2), decimal(38, 10), DataType.BINARY])
def test_made_up_streams_have_them_too(type_: DataType) -> None:
    drawn = draw(default_for(type_), Field("x", type_), 50, np.random.default_rng(1), 0)
    assert drawn.type == arrow_type(type_)
    drawn.validate(full=True)
    assert len(set(drawn.to_pylist())) > 25


def test_three_decimals_that_are_equal_need_no_common_type(tmp_path: Path) -> None:
    """Any two of them have one; a key is hashed as DOUBLE then, and compared exactly."""
    kinds = {"a": "DECIMAL(30, 0)", "b": "DECIMAL(20, 8)", "c": "DECIMAL(20, 18)"}
    script = ""
    for name, kind in kinds.items():
        (tmp_path / name).mkdir()
        values = ("1", "99", "7") if name == "a" else ("1.0", "1.00000001", "7")
        rows = [json.dumps({"ts": 1, "k": value}) for value in values]
        (tmp_path / name / "1.json").write_text("\n".join(rows), encoding="utf-8")
        options = f"format='json', path='{tmp_path / name}', timestamp='ts', unit='s'"
        script += f"CREATE STREAM {name} (ts BIGINT, k {kind}) WITH ({options});"
    select = "SELECT a.k FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.k = c.k"
    query = parse(script + select)
    assert key_classes(query)[0].types == (DataType.DOUBLE,)
    run_local(query, Place(tmp_path))
    assert sorted(Place(tmp_path).results(query)) == [(Decimal(1),), (Decimal(7),)]
