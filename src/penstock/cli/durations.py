"""Lengths of time on the command line."""

from __future__ import annotations

import typer

from penstock.duration import Duration


def duration(text: str, option: str) -> Duration:
    """That of `1s`, `500 ms` and the like, from zero on; a usage error if it is none."""
    try:
        found = Duration.parse(text)
    except ValueError as error:
        raise typer.BadParameter("; ".join(error.args), param_hint=option) from None
    if found.micros < 0:
        raise typer.BadParameter(f"{text!r} is not zero or above", param_hint=option)
    return found


def positive_duration(text: str, option: str) -> Duration:
    """The same, above zero."""
    found = duration(text, option)
    if not found.micros:
        raise typer.BadParameter(f"{text!r} is not above zero", param_hint=option)
    return found
