"""Loops of G&O's algorithms as the laboratory runs and counts them."""

from __future__ import annotations

import pytest

from penstock.experiments.multi_join.windows import counted, first, in_place, setting_of
from penstock.papers.multi_join import multiway_cost, naive_cost

SETTING = setting_of([(5.0, 20.0, 10), (2.0, 20.0, 10), (1.0, 40.0, 5)])


def test_loops_start_with_the_new_tuple_or_stay_in_place() -> None:
    order = ("S2", "S3", "S1")
    assert first(order)["S3"] == ("S3", "S2", "S1")
    assert set(in_place(order).values()) == {order}


def test_windows_are_as_the_table_says() -> None:
    assert SETTING.names == ("S1", "S2", "S3")
    assert SETTING.windows["S1"].tuples == 100.0
    assert SETTING.longest == 40.0
    assert len(SETTING.orders()) == 6


def test_what_is_counted_is_what_the_model_says() -> None:
    order = SETTING.names
    eager = multiway_cost(SETTING.windows, order, SETTING.match)
    naive = naive_cost(SETTING.windows, order, SETTING.match)
    assert counted(SETTING, first(order), 300.0) == pytest.approx(eager, rel=0.1)
    assert counted(SETTING, in_place(order), 300.0) == pytest.approx(naive, rel=0.1)


def test_rare_runs_look_at_more() -> None:
    often, rarely = (counted(SETTING, first(SETTING.names), 300.0, tau) for tau in (0.0, 20.0))
    assert rarely > often
