"""Queries that share a join give what they mean, whoever finds their combinations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from penstock.engine.script.shared_joins import standing_in
from support.engines.script_runs import expected, found, opened
from support.sharing.coming import hide_batches, show_batches, standing_of, without
from support.sharing.forced import any_plans, forced, shareable
from support.sharing.shared_scripts import shared_case
from support.streams.scripts import write_script


@pytest.mark.parametrize("seed", range(30))
def test_a_shared_join_gives_what_each_query_means(seed: int, tmp_path: Path) -> None:
    case, rng = shared_case(seed), Random(seed)
    planned = forced(write_script(case, tmp_path))
    script, plans = planned.script, any_plans(planned, rng)
    assert planned.sharing
    opened(script, tmp_path, plans, partitions=rng.randint(1, 3)).available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(30, 36))
def test_what_is_not_drained_waits_in_a_shared_join_too(seed: int, tmp_path: Path) -> None:
    case = shared_case(seed)
    planned = forced(write_script(case, tmp_path))
    opened(planned.script, tmp_path, planned.plans).available_now()
    assert found(planned.script, tmp_path) == expected(case, drain=False)


@pytest.mark.parametrize("seed", range(12))
def test_who_leaves_a_shared_join_leaves_it_to_the_others(seed: int, tmp_path: Path) -> None:
    case = shared_case(seed, count=3)
    script = write_script(case, tmp_path)
    makers, hidden = shareable(script), hide_batches(tmp_path, case)
    # One reads the results of m0, and only who has all inputs can find those of a part.
    group = sorted(makers["shared.1"], key=lambda name: -len(script.member(name).query.inputs))
    going = [name for name in group[1:] if name != "m0"]
    for number, gone in enumerate((0, 1, len(going))):
        show_batches(hidden, 1 if number < 2 else len(hidden))
        left = without(script, going[:gone])
        planned = forced(left, standing_of(left, makers))
        assert [each.maker for each in planned.sharing] == list(makers)
        run = opened(planned.script, tmp_path, planned.plans, partitions=2)
        run.available_now(drain=number == 2)
    wanted, last = expected(case), found(left, tmp_path)
    assert last == {name: wanted[name] for name in last}
    assert {"m0", "over", "rows", group[0]} <= set(last)


def test_queries_that_come_share_among_themselves_and_begin_with_what_comes(
    tmp_path: Path,
) -> None:
    case = shared_case(4, count=4)
    script = write_script(case, tmp_path)
    hidden = hide_batches(tmp_path, case)
    first = without(script, ["m2", "m3"])
    show_batches(hidden, 1)
    both = forced(first, {"shared.1": ("m0", "m1")})
    opened(both.script, tmp_path, both.plans).available_now()
    assert standing_in(tmp_path / "checkpoint").makers == {"shared.1": ("m0", "m1")}
    show_batches(hidden, len(hidden))
    makers = {"shared.1": ("m0", "m1"), "shared.2": ("m2", "m3")}
    planned = forced(script, makers)
    opened(planned.script, tmp_path, planned.plans).available_now(drain=True)
    wanted, got = expected(case), found(script, tmp_path)
    assert (got["m0"], got["m1"]) == (wanted["m0"], wanted["m1"])
    rest = {name: batches[1:] for name, batches in case.brought.items()}
    late = expected(replace(case, brought=rest))
    assert (got["m2"], got["m3"]) == (late["m2"], late["m3"])
    assert standing_in(tmp_path / "checkpoint").makers == makers


def test_who_took_some_inputs_goes_on_without_those_who_had_all(tmp_path: Path) -> None:
    case = shared_case(12)
    script = write_script(case, tmp_path)
    hidden = hide_batches(tmp_path, case)
    show_batches(hidden, 1)
    makers = {"shared.1": ("m1", "m3")}
    planned = forced(without(script, ["m0", "m2", "over"]), makers)
    assert [len(script.member(name).query.inputs) for name in makers["shared.1"]] == [3, 2]
    opened(planned.script, tmp_path, planned.plans).available_now()
    left = without(script, ["m0", "m1", "m2", "over"])
    alone = forced(left, {"shared.1": ("m3",)})
    show_batches(hidden, len(hidden))
    opened(alone.script, tmp_path, alone.plans).available_now(drain=True)
    got = found(left, tmp_path)
    assert got["m3"] == expected(case)["m3"]
