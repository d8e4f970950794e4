"""`penstock replan`: have a running query plan again by itself, or follow a plan that is given."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from penstock.cli.control.ordering import CheckpointArgument, NoWait, order


def replan(
    checkpoint: CheckpointArgument,
    whether: Annotated[
        Literal["on", "advise", "off"] | None,
        typer.Argument(help="Plan again, only say so, or keep the plan."),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(help="Follow this plan from the next batch on: a text as explain prints it."),
    ] = None,
    no_wait: NoWait = False,
) -> None:
    """Have a running query plan again by what it measures, or pin a plan.

    Example: penstock replan CHECKPOINT --plan '((A B) C)'
    """
    match whether, plan:
        case None, str(text) if text:
            order(checkpoint, "pin", text, no_wait=no_wait)
        case str(wanted), None:
            order(checkpoint, "replan", wanted, no_wait=no_wait)
        case str(wanted), str():
            what = f"{wanted} plans by what is measured, --plan by no measure: give one of them"
            raise typer.BadParameter(what, param_hint="whether")
        case _, str():
            what = "it is empty: give a plan as explain prints it"
            raise typer.BadParameter(what, param_hint="--plan")
        case _:
            what = "give on, advise or off, or a plan: --plan TEXT"
            raise typer.BadParameter(what, param_hint="whether")
