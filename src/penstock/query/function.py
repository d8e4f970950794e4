"""Functions that a user writes in Python and queries call by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.query.types import DataType


@dataclass(frozen=True)
class Function:
    """A Python function with the types it takes and gives, and seconds for one call.

    `selectivity` is the fraction of calls that give TRUE, if it is known. A vectorized function
    takes and gives Arrow arrays. To Python it is still the function that it was made from.
    """

    name: str
    arguments: tuple[DataType, ...]
    returns: DataType
    cost: float
    call: Callable[..., Any] = field(compare=False, repr=False)
    selectivity: float | None = None
    is_vectorized: bool = False

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)

    @property
    def usage(self) -> str:
        """How it is called: `score(DOUBLE, STRING)`."""
        return f"{self.name}({', '.join(self.arguments)})"
