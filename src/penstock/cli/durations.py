"""Lengths of time on the command line."""

from __future__ import annotations

import typer


def micros_of(text: str, option: str) -> int:
    """The microseconds of `1s`, `500 ms` and the like; a usage error if it is no positive time."""
    from penstock.duration import parse_duration

    try:
        micros = parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter("; ".join(error.args), param_hint=option) from None
    if micros <= 0:
        raise typer.BadParameter(f"{text!r} is not above zero", param_hint=option)
    return micros
