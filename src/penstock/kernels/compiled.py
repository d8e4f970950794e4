"""Decorators that compile an inner loop with Numba, without hiding its types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


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
