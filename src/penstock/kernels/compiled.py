"""Decorators that compile an inner loop with Numba, without hiding its types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import local
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])


class _Stopwatch(event.Listener):  # type: ignore[misc]
    """The seconds in which a thread compiles, or loads what is compiled."""

    def __init__(self) -> None:
        self.of_thread = local()

    def on_start(self, _: event.Event) -> None:
        mine = self.of_thread
        mine.depth = getattr(mine, "depth", 0) + 1
        if mine.depth == 1:
            mine.started = perf_counter()

    def on_end(self, _: event.Event) -> None:
        mine = self.of_thread
        mine.depth -= 1
        if mine.depth == 0:
            mine.seconds = getattr(mine, "seconds", 0.0) + perf_counter() - mine.started


_STOPWATCH = _Stopwatch()
event.register("numba:compiler_lock", _STOPWATCH)


def compile_seconds() -> float:
    """The seconds that this thread has spent so far on compiling and loading inner loops."""
    return float(getattr(_STOPWATCH.of_thread, "seconds", 0.0))


def compiled(function: Function) -> Function:
    """The function as machine code, kept on disk between runs."""
    return cast(Function, _kept(njit(cache=True)(function)))


def inlined(function: Function) -> Function:
    """The same, for small functions that are called in inner loops."""
    return cast(Function, _kept(njit(cache=True, inline="always")(function)))


def uncounted(function: Function) -> Function:
    """The same, for loops that allocate nothing: references to arrays are not counted.

    Counting them is an atomic write at every turn, and took from half to three quarters of the time
    of an eager join.
    """
    return cast(Function, _kept(njit(cache=True, _nrt=False)(function)))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """An array in one piece that nobody writes to: a loop is compiled anew for others, and those of
    Arrow are of this kind."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _kept(dispatcher: Any) -> Any:
    """A compiled function whose code on disk is of these very sources.

    Numba looks at the file of the function alone. But inner loops call those of other files, whose
    code is in theirs: after a change there, or an update, theirs would be that of before.
    """
    file = dispatcher._cache._cache_file
    file._source_stamp = (file._source_stamp, _sources())
    return dispatcher


@cache
def _sources() -> str:
    """A text that is another one if any file with inner loops is."""
    package, digest = Path(__file__).parent.parent, sha256()
    for folder in (package / "kernels", package / "lab" / "kernels"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
