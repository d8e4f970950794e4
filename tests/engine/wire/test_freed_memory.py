"""Freed memory: a process that makes large arrays again and again is given its pages once."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from penstock.engine.wire.freed_memory import keep_freed_memory

ARRAYS, PAGES = 200, 512
"""Arrays of two megabytes, one after the other: too small for pages of that size."""
MADE = f"""
import resource
import numpy as np
from penstock.engine.wire.freed_memory import keep_freed_memory

keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ARRAYS}):
    first, second = np.ones(1 << 18), np.ones(1 << 18)
    del first, second
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**environment: str) -> int:
    """Pages that the system gave to a process that makes the arrays."""
    said = subprocess.run(
        [sys.executable, "-c", MADE],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(said.stdout)


pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc is told what to keep"
)


def test_pages_are_given_once() -> None:
    assert faults() < ARRAYS * PAGES / 10


def test_who_has_tuned_that_is_left_alone() -> None:
    assert faults(MALLOC_MMAP_THRESHOLD_="65536") > ARRAYS * PAGES / 2


def test_it_may_be_said_again() -> None:
    keep_freed_memory()
    keep_freed_memory()
