"""Scripts whose plans change at nearly every batch give what they mean, whoever shares a join."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from penstock.errors import PlanError
from penstock.plan.text.parse import forced_plan
from support.engines.script_runs import expected, found, opened
from support.outer.outer_scripts import outer_script
from support.sharing.forced import forced
from support.sharing.restless import Restless
from support.sharing.shared_scripts import shared_case
from support.streams.scripts import random_script, write_script


@pytest.mark.parametrize("seed", range(500, 520))
def test_changing_plans_change_no_results(seed: int, tmp_path: Path) -> None:
    case, rng = random_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    restless = Restless(script, seed)
    run = opened(script, tmp_path, partitions=rng.randint(1, 3), followed_by=restless)
    run.available_now(drain=True)
    assert restless.followed
    assert found(script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(600, 612))
def test_changing_plans_of_shared_joins_change_no_results(seed: int, tmp_path: Path) -> None:
    case, rng = shared_case(seed), Random(seed)
    planned = forced(write_script(case, tmp_path))
    restless = Restless(planned.script, seed)
    run = opened(
        planned.script,
        tmp_path,
        planned.plans,
        partitions=rng.randint(1, 3),
        followed_by=restless,
        # Where inner state would fill itself, others take combinations of one plan all the same.
        rebuilt_at_once=rng.choice((0, 1 << 16)),
    )
    run.available_now(drain=True)
    assert any(name.startswith("shared.") for name in restless.followed)
    assert found(planned.script, tmp_path) == expected(case)


@pytest.mark.parametrize("seed", range(700, 712))
def test_changing_plans_of_outer_joins_change_no_results(seed: int, tmp_path: Path) -> None:
    """Plans that an outer join cannot follow are left alone."""
    case, rng = outer_script(seed), Random(seed)
    script = write_script(case, tmp_path)
    restless = Restless(script, seed)
    run = opened(script, tmp_path, partitions=rng.randint(1, 3), followed_by=restless)
    run.available_now(drain=True)
    assert found(script, tmp_path) == expected(case)


def test_a_plan_that_does_not_come_by_what_others_take_is_refused(tmp_path: Path) -> None:
    case = shared_case(12)
    planned = forced(write_script(case, tmp_path), {"shared.1": ("m1", "m3")})
    run = opened(planned.script, tmp_path, planned.plans)
    maker = next(m for m in run.batches.members if m.name == "shared.1")  # type: ignore[attr-defined]
    (part,) = maker.turns._taken.parts
    query = maker.turns.plan.query
    (other,) = set(query.aliases) - part
    orders = "; ".join(
        f"{a}: {other} {' '.join(x for x in query.aliases if x not in (a, other))}" for a in part
    )
    orders += f"; {other}: {' '.join(part)}"
    wrong = forced_plan(query, orders)
    with pytest.raises(PlanError, match="does not come by all that others take"):
        maker.turns.check(wrong, maker.manifest)
    assert not maker.possible(wrong)
    assert maker.possible(planned.plans["shared.1"])
    run.stop()
