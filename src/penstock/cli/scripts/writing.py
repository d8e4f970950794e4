"""Files that commands write for the user, and that they never replace."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import SinkError


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        hint = "delete it first, or give another name"
        raise SinkError(f"{path} is there already", hint=hint) from None
    except OSError as error:
        hint = "give a file in a directory that exists and is writable"
        raise SinkError(f"cannot write {path}: {error.strerror}", hint=hint) from error
