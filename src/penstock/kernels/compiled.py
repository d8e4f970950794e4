"""Decorators that compile an inner loop with Numba, without hiding its types."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from time import perf_counter
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

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
    return cast(Function, njit(cache=True)(function))


def inlined(function: Function) -> Function:
    """The same, for small functions that are called in inner loops.

    Numba keeps compiled code by the file of the caller: after a change to an inlined function of
    another file, the caller's cache must go too.
    """
    return cast(Function, njit(cache=True, inline="always")(function))


def uncounted(function: Function) -> Function:
    """The same, for loops that allocate nothing: references to arrays are not counted.

    Counting them is an atomic write at every turn, and took from half to three quarters of the time
    of an eager join.
    """
    return cast(Function, njit(cache=True, _nrt=False)(function))
