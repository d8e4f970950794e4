"""Tables of plain text: names to the left, figures to the right."""

from __future__ import annotations

from collections.abc import Sequence


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with aligned columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    lines = [heading, ["─" * width for width in widths], *rows]
    return ["  ".join(_aligned(line, widths)) for line in lines]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *rest = zip(cells, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
