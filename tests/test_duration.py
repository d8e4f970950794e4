"""Lengths of time: read in every spelling, kept to the microsecond, shown in two ways."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.arguments import as_duration
from penstock.duration import LONGEST, UNITS, Duration, parse_seconds
from penstock.errors import UsageError


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1 second", 1_000_000),
        ("10 MINUTES", 600_000_000),
        ("1.5h", 5_400_000_000),
        (" .5 ms ", 500),
        ("2 d", 172_800_000_000),
        ("0 seconds", 0),
        ("-1 s", -1_000_000),
    ],
)
def test_a_length_is_read(text: str, micros: int) -> None:
    assert Duration.parse(text) == Duration(micros)
    assert Duration.parse(text).seconds == parse_seconds(text) == micros / 1e6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "'soon' is not a length of time"),
        ("5", "'5' is not a length of time"),
        ("5 weeks", "'5 weeks' is not a length of time"),
        ("0.5 us", "'0.5 us' is not a whole number of microseconds"),
        ("9999999 days", "'9999999 days' is too long"),
    ],
)
def test_what_is_none_says_why(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="is") as caught:
        Duration.parse(text)
    assert caught.value.args[0] == message
    assert caught.value.args[1]


@pytest.mark.parametrize(
    ("micros", "exact", "about"),
    [
        (0, "0 SECONDS", "0 seconds"),
        (1, "1 MICROSECOND", "1 microsecond"),
        (1_500, "1500 MICROSECONDS", "1.5 milliseconds"),
        (90_000_000, "90 SECONDS", "1.5 minutes"),
        (3_600_000_000, "1 HOUR", "1 hour"),
        (40 * 3_600_000_000, "40 HOURS", "1.7 days"),
        (-1, "-1 MICROSECOND", "-1 microsecond"),
        (-90_000_000, "-90 SECONDS", "-1.5 minutes"),
        (-40 * 60_000_000, "-40 MINUTES", "-40 minutes"),
    ],
)
def test_a_length_is_shown(micros: int, exact: str, about: str) -> None:
    assert str(Duration(micros)) == exact
    assert Duration.parse(exact) == Duration(micros)
    assert Duration(micros).about == about


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_is_read_as_it_is_shown(unit: str) -> None:
    assert Duration.parse(str(Duration.parse(f"7 {unit}"))) == Duration(7 * UNITS[unit])


def test_the_longest_is_taken() -> None:
    assert Duration.parse(f"{LONGEST} us").micros == LONGEST


@pytest.mark.parametrize(
    "given", ["90 seconds", 90, 90.0, timedelta(seconds=90), Duration(90_000_000)]
)
def test_an_argument_may_be_given_in_several_ways(given: Any) -> None:
    assert as_duration(given, "trigger") == Duration(90_000_000)


def test_an_argument_is_above_zero_unless_it_may_be() -> None:
    assert as_duration(0, "trigger", may_be_zero=True) == Duration(0)
    for given in (0, "0 s", Duration(0), Duration(-1), timedelta(0)):
        with pytest.raises(UsageError, match=r"trigger: .* is not above zero"):
            as_duration(given, "trigger")
    with pytest.raises(UsageError, match=r"trigger: -1 is not zero or above"):
        as_duration(-1, "trigger", may_be_zero=True)


@pytest.mark.parametrize("seconds", [1e300, -1e300, 1e12, float("inf"), float("nan")])
def test_seconds_may_be_too_many(seconds: float) -> None:
    with pytest.raises(ValueError, match="are too long"):
        Duration.of_seconds(seconds)
    with pytest.raises(UsageError, match=r"trigger: .* are too long|trigger cannot be (inf|nan)"):
        as_duration(seconds, "trigger")
