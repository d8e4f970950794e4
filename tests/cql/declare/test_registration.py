"""Users' functions as they are registered."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

import penstock as ps
from penstock.cql.expressions.types import TYPES_HINT
from penstock.errors import FunctionError
from support.streams.functions import (
    T,
    ask,
    near,
    scaled,
    spell,
)


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
    "hint: annotate it with bool, int, float, str, bytes, date or datetime, or give arguments= and "
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
            {"arguments": ["MONEY"], "returns": "INT"},
            f"function untyped: MONEY is not a type of the language\nhint: {TYPES_HINT}",
        ),
        (
            untyped,
            {"arguments": ["ARRAY<INT>"], "returns": "INT"},
            f"function untyped: ARRAY<INT> is not a type of the language\nhint: {TYPES_HINT}",
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
