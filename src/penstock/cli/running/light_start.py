"""A light start: what libraries load for the sake of others stays out, where nobody needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
