"""Time in tests: what others do is waited for, however busy the machine is; hours just pass."""

from __future__ import annotations

import time
from collections.abc import Callable

from penstock.engine.local import LocalRun

PATIENCE = 1200.0
"""Seconds, so that a test that hangs ends at all. Whatever takes this long will never be done."""


def wait_until(is_true: Callable[[], bool]) -> None:
    """Return as soon as something is true."""
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, f"it did not happen within {PATIENCE:.0f} s"
        time.sleep(0.05)


def let_hours_pass(run: LocalRun) -> None:
    """As if nothing had come for two hours: streams that may be `idle` for one are silent."""
    seen = run.pipeline.silence.last_seen
    seen.update({name: moment - 7200.0 for name, moment in seen.items()})
