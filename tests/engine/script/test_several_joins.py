"""Queries of different joins that keep their common inputs once give what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from penstock.adapt.script.follow_script import taken_sets
from penstock.cql import parse_script
from penstock.engine.script.shared_joins import standing_in
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query.script import Script
from support.engines.script_runs import expected, found, opened
from support.plans.several_joins import any_joins
from support.sharing.coming import hide_batches, show_batches, standing_of, without
from support.sharing.forced import forced
from support.sharing.restless import Restless
from support.sharing.shared_scripts import several_case
from support.streams.scripts import ScriptCase, write_script

MAKER = "shared.1"


def makers_of(script: Script) -> dict[str, tuple[str, ...]]:
    """All queries but the one over another share what they keep."""
    return {MAKER: tuple(m.name for m in script.members if m.name != "over")}


@pytest.mark.parametrize("seed", range(70))
def test_each_query_gives_what_it_means(seed: int, tmp_path: Path) -> None:
    case, rng = several_case(seed), Random(seed)
    script = write_script(case, tmp_path)
    planned = forced(script, makers_of(script))
    plan = planned.plans[MAKER]
    assert forced_plan(plan.query, render_plan(plan)) == plan
    wanted = taken_sets(planned.script, planned.script.member(MAKER))
    plans = planned.plans | {MAKER: any_joins(plan.query, wanted, rng)}
    run = opened(planned.script, tmp_path, plans, partitions=rng.randint(1, 3))
    run.available_now(drain=True)
    assert found(planned.script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(200, 221))
def test_changing_orders_change_no_results(seed: int, tmp_path: Path) -> None:
    case, rng = several_case(seed), Random(seed)
    script = write_script(case, tmp_path)
    planned = forced(script, makers_of(script))
    restless = Restless(planned.script, seed)
    run = opened(
        planned.script,
        tmp_path,
        planned.plans,
        partitions=rng.randint(1, 3),
        followed_by=restless,
    )
    run.available_now(drain=True)
    assert MAKER in restless.followed
    assert found(planned.script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(28))
def test_who_leaves_takes_only_the_inputs_along_that_nobody_else_has(
    seed: int, tmp_path: Path
) -> None:
    case, rng = several_case(seed), Random(seed)
    script = write_script(case, tmp_path)
    makers, hidden = makers_of(script), hide_batches(tmp_path, case)
    going = [name for name in makers[MAKER] if name != "m0"]
    rng.shuffle(going)
    left = script
    for gone in range(len(going) + 1):
        is_last, has_more = gone == len(going), bool(hidden)
        show_batches(hidden, len(hidden) if is_last else 1)
        left = without(script, going[:gone])
        planned = forced(left, standing_of(left, makers))
        assert [each.maker for each in planned.sharing] == [MAKER]
        run = opened(planned.script, tmp_path, planned.plans, partitions=2)
        run.available_now(drain=is_last)
        if has_more:
            assert standing_in(tmp_path / "checkpoint").makers[MAKER] == _names(left)
    _compare(case, left, tmp_path)


def test_a_key_that_is_null_equals_nothing_though_it_is_kept_for_another_join(
    tmp_path: Path,
) -> None:
    """Hashes take a NULL for 0, and b.k is kept where it is NULL for the join by j."""
    rows: dict[str, list[dict[str, int | None]]] = {
        "a": [{"ts": 1, "k": 0, "j": 5}],
        "b": [{"ts": 2, "k": None, "j": 0}, {"ts": 2, "k": 0, "j": None}],
        "c": [{"ts": 3, "k": 7, "j": 0}],
    }
    declared = ""
    for name, mine in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in mine))
        declared += (
            f"CREATE STREAM {name} (ts BIGINT, k INT, j INT) WITH (format = 'json', "
            f"path = '{tmp_path / name}.jsonl', timestamp = 'ts', unit = 's');"
        )
    texts = {
        "pair": "FROM a [RANGE 9 s], b [RANGE 9 s] WHERE a.k = b.k",
        "after": "FROM b [RANGE 9 s], c [RANGE 9 s] WHERE b.j = c.j",
        "every": "FROM a [RANGE 9 s], b [RANGE 9 s], c [RANGE 9 s] WHERE a.k = b.k AND b.j = c.j",
    }
    wanted = {"pair": [(0, None)], "after": [(None, 0)], "every": []}
    for names in (("pair", "after"), ("every", "pair", "after")):
        asked = "".join(f"SELECT b.k, b.j INTO {name} {texts[name]};" for name in names)
        planned = forced(parse_script(declared + asked), {MAKER: names})
        folder = tmp_path / "-".join(names)
        opened(planned.script, folder, planned.plans, partitions=2).available_now(drain=True)
        got = found(planned.script, folder)
        assert {name: list(each.elements()) for name, each in got.items()} == {
            name: wanted[name] for name in names
        }


def test_a_query_that_leaves_keeps_its_state_for_as_long_as_it_may_be_gone_back_to(
    tmp_path: Path,
) -> None:
    """A run that makes no batch must leave all that the manifest lists, whoever has left."""
    case = several_case(6)
    script = write_script(case, tmp_path)
    hidden = hide_batches(tmp_path, case)
    show_batches(hidden, 2)
    opened(script, tmp_path).available_now()
    left = without(script, [m.name for m in script.members if m.name not in ("m0", "over")])
    for _ in range(2):  # Nothing new has come.
        opened(left, tmp_path).available_now()
    opened(script, tmp_path).available_now()
    show_batches(hidden, len(hidden))
    opened(script, tmp_path).available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


def _names(script: Script) -> tuple[str, ...]:
    return tuple(sorted(member.name for member in script.members if member.name != "over"))


def _compare(case: ScriptCase, left: Script, folder: Path) -> None:
    wanted, last = expected(case), found(left, folder)
    assert last == {name: wanted[name] for name in last}
    assert {"m0", "over"} == set(last)
