"""DataFrames as queries see them: columns, watermarks, and whether they stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.query.source import Field


@dataclass(frozen=True)
class FrameShape:
    """The columns of a DataFrame, and how late their values may be."""

    fields: tuple[Field, ...]
    """The columns that queries can read, in their order."""

    is_streaming: bool
    """Whether rows keep coming; a table's do not."""

    unheld: tuple[tuple[str, str], ...] = ()
    """Other columns, with their types as Spark writes them."""

    watermarks: Mapping[str, int] = field(default_factory=dict)
    """The delay of each column that has a watermark, microseconds."""

    def has(self, field: Field) -> bool:
        """Whether there is such a column, whatever the case of names in it and inside of it."""
        return (self.type_of(field.name) or "").lower() == field.type.lower()

    def type_of(self, name: str) -> str | None:
        """The type of a column of that name, in any case; None if there is none."""
        types = {each.name.lower(): str(each.type) for each in self.fields}
        types |= {each.lower(): type_ for each, type_ in self.unheld}
        return types.get(name.lower())
