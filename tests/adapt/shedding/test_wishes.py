"""What is wanted of a run's delay: where it is led or only watched, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.adapt.follow import shedder_for, with_delay
from penstock.adapt.shedding.wish import wish_of
from penstock.engine.run.options import RunOptions
from penstock.errors import UsageError
from penstock.optimize.options import PlanOptions
from support.adapt.plant import pair_query

OPTIONS = RunOptions.of(sink="noop", checkpoint="there")
SHEDS, KEEPS = PlanOptions(sheds=True), PlanOptions()


def test_a_query_that_may_shed_has_a_delay() -> None:
    assert wish_of(with_delay(OPTIONS, SHEDS)).delay == 5.0
    slow = RunOptions.of(sink="noop", checkpoint="there", trigger="10 seconds")
    assert wish_of(with_delay(slow, SHEDS)).delay == 30.0
    given = RunOptions.of(sink="noop", checkpoint="there", delay="20 seconds")
    assert wish_of(with_delay(given, SHEDS)).delay == 20.0


def test_one_that_may_not_is_watched() -> None:
    wish = wish_of(with_delay(OPTIONS, KEEPS))
    assert not wish.is_on
    assert shedder_for(pair_query(10), OPTIONS, KEEPS) is not None


def test_where_all_there_is_gets_read_nobody_watches() -> None:
    options = replace(OPTIONS, available_now=True)
    assert with_delay(options, SHEDS) == options
    assert shedder_for(pair_query(10), options, SHEDS) is None


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"delay": "1 second"}, "results cannot have a delay of 1 SECOND if data is looked for"),
        ({"delay": "5 seconds", "available_now": True}, "a delay is for a run that goes on"),
        ({"delay": 0}, "delay: 0 is not above zero"),
    ],
)
def test_impossible_delays_are_refused(more: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        RunOptions.of(sink="noop", checkpoint="there", **more)


def test_a_delay_needs_shedding() -> None:
    given = RunOptions.of(sink="noop", checkpoint="there", delay="5 seconds")
    with pytest.raises(UsageError, match="kept by shedding"):
        with_delay(given, KEEPS)


def test_shedding_can_be_switched_while_it_runs() -> None:
    shedder = shedder_for(pair_query(10), OPTIONS, KEEPS)
    assert shedder is not None
    assert shedder.obey("on") == "shedding is on, for a delay of 5 s"
