"""Hints at the laboratory, for plans that batches do not run."""

from __future__ import annotations

from penstock.query import Query

NESTED_LOOPS = ("nested loops on equalities run", "--engine local --eager", "leave /nested out")
"""The words of `laboratory_hint` for nested loops where there is a key."""


def laboratory_hint(query: Query, what: str, options: str, otherwise: str) -> str:
    """The options that run a plan in the laboratory; of views, which it has not, another way."""
    return otherwise if query.view is not None else f"{what} in the laboratory: {options}"
