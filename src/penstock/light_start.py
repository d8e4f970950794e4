"""A light start: what libraries load for the sake of others stays out, where nobody needs it, and
what is loaded is not looked through for garbage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LIGHT_START = "PENSTOCK_LIGHT_START"
"""The variable that has workers of Spark start light."""


def start_light() -> None:
    """Keep PyArrow from loading pandas, and Numba from loading SciPy's linear algebra.

    Each looks once whether the other is there, PyArrow with its first array. That took a quarter
    of the time to a first result. Only for processes that run no code of users: their functions may
    give pandas' series to PyArrow, or compile products of matrices.
    """
    with _hidden("pandas"):
        import pyarrow as pa

        pa.array([None])
    with _hidden("scipy.linalg"):
        import numba.np.arraymath  # noqa: F401 - Numba would load it with the first inner loop


@contextmanager
def loading() -> Iterator[None]:
    """Have modules loaded that stay out of the collector's sight.

    It would look through them again and again while there are more and more of them, and find
    nothing: that took a seventh of the time to a first result.
    """
    was_enabled, before = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()
        if was_enabled:
            gc.enable()


class _Hidden:
    """A finder that says of one module that it is not there."""

    def __init__(self, module: str):
        self._module = module

    def find_spec(self, name: str, *_: object) -> None:
        if name == self._module:
            raise ModuleNotFoundError(f"{name} stays out", name=name)


@contextmanager
def _hidden(module: str) -> Iterator[None]:
    """A module that cannot be imported for now, unless it has been already."""
    finder = _Hidden(module)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
