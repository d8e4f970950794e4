"""Blocks of rows as they are read from a file."""

from __future__ import annotations

from typing import Any

from penstock.engine.sources.read import Block


def rows(blocks: list[Block]) -> list[tuple[Any, ...]]:
    """The values of all rows."""
    return [tuple(row.values()) for block in blocks for row in block.batch.to_pylist()]
