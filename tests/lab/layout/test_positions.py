"""Positions: births and deaths in the total order are the windows of the reference."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.engine.rows.columns import ARRIVAL
from penstock.lab.layout.positions import lifetimes_of
from reference import Place, alive, in_time, place
from support.lab.laboratory import tables_of
from support.streams.cases import random_case


@pytest.mark.parametrize("seed", range(30))
def test_a_row_is_alive_from_its_birth_to_before_its_death(seed: int) -> None:
    case = random_case(seed)
    query = case.query
    found, times = lifetimes_of(query, tables_of(case))
    windows = {item.alias: in_time(item, case.batches[item.alias]) for item in query.inputs}
    order: list[Place] = sorted(
        place(query, item.alias, row) for item in query.streams for row in windows[item.alias]
    )
    assert times.tolist() == [ts for ts, _, _ in order]
    for item in query.streams:
        lives = found[item.alias]
        by_number = {row.arrival: row for row in windows[item.alias]}
        for number, birth, death in zip(
            lives.rows.column(ARRIVAL).to_pylist(), lives.births, lives.deaths, strict=True
        ):
            row = by_number[number]
            assert order[birth] == place(query, item.alias, row)
            met = [
                position
                for position in range(birth, len(order))
                if alive(query, item, windows[item.alias], row, order[position])
            ]
            assert met == list(range(birth, min(death, len(order))))
        steps = [int(((lives.births <= p) & (lives.deaths > p)).sum()) for p in range(len(order))]
        assert lives.peak() == max(steps, default=0)


def test_tables_are_there_before_everything_and_for_ever() -> None:
    cases = (random_case(seed) for seed in range(200))
    case = next(case for case in cases if any(item.is_table for item in case.query.inputs))
    found, times = lifetimes_of(case.query, tables_of(case))
    for item in case.query.inputs:
        if item.is_table:
            assert np.all(found[item.alias].births < 0)
            assert np.all(found[item.alias].deaths > len(times))
