"""Text to query: the language, with a caret under every mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.cql.script import mistakes, parse, parse_script

__all__ = ["mistakes", "parse", "parse_script"]


def __getattr__(name: str) -> Any:
    """Load the parser when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'penstock.cql' has no attribute {name!r}")
    from penstock.cql import script

    return getattr(script, name)
