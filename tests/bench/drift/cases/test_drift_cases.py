"""Every case of the drift benchmark, in a tiny size: figures are not judged, results are."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.bench.drift.cases import calm, content, migration
from penstock.bench.drift.cases.following import Setting, follow
from penstock.bench.drift.streams import waves
from penstock.bench.drift.streams.steps import STAR3, Size, swapped_rates

TINY = Size(3, 3_000.0)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path, progress=lambda what: None, repeat=1)


def test_all_plans_and_the_adaptive_run_give_the_same(setting: Setting) -> None:
    found = follow(swapped_rates(STAR3, TINY), setting)
    assert found.is_exact
    assert found.adaptive[0].answer.count > 0
    assert len(found.static) >= 2
    assert all(len(run.cpu) == len(run.plans) == 6 for run in found.adaptive)
    assert found.clairvoyant_work <= found.best_static[1]


def test_streams_that_stay_are_run_with_and_without_a_supervisor(setting: Setting) -> None:
    found = calm.beside([waves.stationary(waves.Size(1, 40.0, 400.0, 200.0), 1)], setting)
    assert found.is_exact
    assert len(found.followed) == len(found.alone) == 1


def test_a_wrong_stats_file_starts_with_the_wrong_plan(setting: Setting) -> None:
    found = calm.wrong_stats(TINY, setting)
    assert found.is_exact
    assert found.batches is None or found.batches > 0


def test_a_mesh_grows_stale_and_results_stay(setting: Setting) -> None:
    found = content.content(content.Size(200, 2, 30.0), setting)
    assert found.is_exact
    assert found.stale[0].answer.count > 0


def test_a_tree_is_changed_for_another_half_way(setting: Setting) -> None:
    found = migration.migration(migration.Size(1e4, 100.0, 6), setting)
    assert found.is_exact
    assert found.changed.plans[found.edge - 1 : found.edge + 1] == ("((A B) C)", "((A C) B)")
    assert 0.9e4 < found.inner_rows < 2e4
