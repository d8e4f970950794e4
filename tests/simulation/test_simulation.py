"""Whatever happens to a run, by whichever of thousands of seeds: each result is there once.

`make simulate SEEDS=100000` lives through more of them; one that fails fails again by its number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from unittest import mock

import pytest

from penstock.engine.measures.watch import Watch
from penstock.engine.run import commit
from penstock.engine.script import script_pipeline
from penstock.engine.state import hold
from penstock.engine.state.listing.differences import left_and_come
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.modules import Modules
from penstock.engine.state.upkeep import sweeping
from support.simulation.simulation import simulate_all, simulate_side_by_side

SEEDS = int(os.environ.get("PENSTOCK_SEEDS", "2000"))
MOST = 400
"""Seeds within which a planted bug must have been found."""
STRIDE = 10


@pytest.mark.slow
def test_every_seed_gives_each_result_once() -> None:
    outcomes = simulate_side_by_side(range(SEEDS))
    assert len(outcomes) == SEEDS
    wrong = [f"seed {each.seed}: {each.wrong}" for each in outcomes if each.wrong is not None]
    assert wrong == [], f"--seed {wrong[0].split()[1]} --show tells what happens"


def test_a_seed_is_the_same_again(tmp_path: Path) -> None:
    """In another order and in another process, step by step."""
    seeds = range(40)
    here = simulate_all(seeds[::-1], tmp_path / "world")[::-1]
    assert here == simulate_side_by_side(seeds, 1)
    assert len({each.digest for each in here}) == len(seeds)


def _publish_first(self: commit.Committer, made: Manifest, watch: Watch) -> None:
    commit.flush(self.checkpoint.store, [self._publisher])
    self.show(made)
    self._chain.commit(made)


def _sweep_at_once(
    self: sweeping.Sweeper, made: Manifest, begun: Iterable[Modules], written: Iterable[str]
) -> None:
    left, come = left_and_come(self._standing, made.modules)
    self._standing = made.modules
    self._store.remove(sorted({*left, *written} - come - {c.name for c in made.chunks()}))


def _littered_at_once(
    self: sweeping.Sweeper, made: Manifest, begun: Iterable[Modules], written: Iterable[str]
) -> None:
    left, come = left_and_come(self._standing, made.modules)
    self._standing = made.modules
    if self._litter is not None:
        self._litter.leave(sorted(left - come))


@contextmanager
def no_flush() -> Iterator[None]:
    """What a batch has written is not flushed before its manifest is."""
    with (
        mock.patch.object(commit, "flush", return_value=None),
        mock.patch.object(script_pipeline, "flush", return_value=None),
    ):
        yield


@contextmanager
def published_first() -> Iterator[None]:
    """Results are shown before their batch is final."""
    with mock.patch.object(commit.Committer, "commit", _publish_first):
        yield


@contextmanager
def swept_early() -> Iterator[None]:
    """Chunks of the manifest before the newest are deleted."""
    with mock.patch.object(sweeping.Sweeper, "sweep", _sweep_at_once):
        yield


@contextmanager
def littered_early() -> Iterator[None]:
    """The same, by tasks of the next batch."""
    with mock.patch.object(sweeping.Sweeper, "sweep", _littered_at_once):
        yield


@contextmanager
def no_lock() -> Iterator[None]:
    """Two drivers may have one checkpoint."""
    with mock.patch.object(hold, "_is_locked", return_value=True):
        yield


BUGS = (no_flush, published_first, swept_early, littered_early, no_lock)


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(
    bug: Callable[[], AbstractContextManager[None]], tmp_path: Path
) -> None:
    with bug():
        for first in range(0, MOST, STRIDE):
            outcomes = simulate_all(range(first, first + STRIDE), tmp_path / "world")
            wrong = [each.seed for each in outcomes if each.wrong is not None]
            if wrong:
                print(f"found by seed {wrong[0]}")
                return
    raise AssertionError(f"it is not found within {MOST} seeds")
