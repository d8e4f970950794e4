"""The seconds that a thread compiles for are told apart."""

from __future__ import annotations

from threading import Thread

import pytest
from numba import njit
from numba.core import event

from penstock.engine.measures.phases import compiling_of_job
from penstock.engine.wire.facts import TaskTime
from penstock.kernels import compiled
from penstock.kernels.compiled import compile_seconds


def test_compiling_counts_and_running_does_not() -> None:
    @njit  # type: ignore[untyped-decorator]
    def doubled(x: int) -> int:
        return 2 * x

    before = compile_seconds()
    assert doubled(2) == 4
    compiled_by = compile_seconds()
    assert doubled(3) == 6
    assert before < compiled_by == compile_seconds()


def test_what_is_nested_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 14.0])
    monkeypatch.setattr(compiled, "perf_counter", lambda: next(times))
    before = compile_seconds()
    for change in (event.start_event, event.start_event, event.end_event, event.end_event):
        change("numba:compiler_lock")
    assert compile_seconds() - before == pytest.approx(4.0)


def test_each_thread_has_its_own() -> None:
    found: list[float] = []
    other = Thread(target=lambda: found.append(compile_seconds()))
    other.start()
    other.join()
    assert found == [0.0]


def test_of_tasks_side_by_side_the_longest_counts() -> None:
    times = [TaskTime("pack", 3.0, 3.0, 2.0), TaskTime("pack", 2.0, 2.0, 1.0)]
    times.append(TaskTime("round 0", 1.0, 1.0, 0.5))
    assert compiling_of_job(times, is_parallel=True) == 2.5
    assert compiling_of_job(times, is_parallel=False) == 3.5
