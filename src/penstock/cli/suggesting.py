"""Commands that say what may have been meant where a value is none of those there are.

Sub-commands and options that are misspelt are answered so by the library.
"""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperGroup

from penstock.cli.show.stopping import stoppable
from penstock.cql.reading.nearest import nearest

_CHOICES = re.compile(r"(?:Value error, )?'([^']*)' is not one of ('.*')\.?$")


class SuggestingGroup(TyperGroup):
    """A group of commands whose choices are answered with the nearest one."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        try:
            with stoppable("nothing more is done"):
                return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = suggested(error.message)
            raise


def suggested(message: str) -> str:
    """What is said of a value that is none of the choices, with the one that is nearest."""
    found = _CHOICES.fullmatch(message)
    if found is None:
        return message
    given, listed = found.groups()
    known = re.findall(r"'([^']*)'", listed)
    hint = nearest(given, known)
    said = f"'{given}' is not one of {', '.join(known)}"
    return f"{said}; {hint}" if hint else said
