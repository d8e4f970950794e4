"""`penstock completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Literal

import typer

_VARIABLE = "_PENSTOCK_COMPLETE"


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> None:
    """Print a script by which a shell completes commands, options and their values.

    Example: penstock completion bash >> ~/.bash_completion

    For zsh write it to a file _penstock in a folder of fpath, for fish to
    ~/.config/fish/completions/penstock.fish.
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(prog_name="penstock", complete_var=_VARIABLE, shell=shell)
    sys.stdout.write(script.strip() + "\n")


def prepare_completion() -> None:
    """Get ready to answer a shell, if it is one that asks."""
    if _VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
