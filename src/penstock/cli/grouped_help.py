"""Help in groups: what is seldom needed is named with `--help`, and explained with `--help-all`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

PLANNING = "Planning"
LABORATORY = "Laboratory (engine local)"
SPARK = "Spark"
SAFETY = "Scripts that are not trusted"

_ALL = "help_all"
_FOLDED = "More, which --help-all explains"
_ARGUMENTS, _OPTIONS = "Arguments", "Options"


class GroupedCommand(TyperCommand):
    """A command whose options stand in groups, by their `rich_help_panel`.

    Where there is a `--help-all`, `--help` has the names of what is in groups, and nothing more.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, group by group."""
        params = self.get_params(ctx)
        groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OPTIONS: []}
        for param in params:
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(_group(param), []).append(record)
        is_folded = any(param.name == _ALL for param in params) and not ctx.meta.get(_ALL)
        for group, records in groups.items():
            is_common = group in (_ARGUMENTS, _OPTIONS)
            if records and (is_common or not is_folded):
                with formatter.section(group):
                    formatter.write_dl(records)
        rare = [(group, _names(rows)) for group, rows in list(groups.items())[2:] if rows]
        if is_folded and rare:
            with formatter.section(_FOLDED):
                formatter.write_dl(rare)


def _group(param: Any) -> str:
    common = _ARGUMENTS if param.param_type_name == "argument" else _OPTIONS
    return getattr(param, "rich_help_panel", None) or common


def _names(records: list[tuple[str, str]]) -> str:
    return ", ".join(shown.split(" ")[0] for shown, _ in records)


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[_ALL] = True
        print(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", help="Explain all options.", callback=_show_all, is_eager=True),
]
"""The option by which a command explains all of its groups: a parameter called `help_all`."""
