"""The query that a command is about, from a file or from stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.errors import PenstockError
from penstock.query import Query


def read_query(file: str, functions: str | None = None) -> Query:
    """The query of a script, which may call the functions of a Python file; `-` is stdin."""
    name = "stdin" if file == "-" else file
    text = _read(file, name)
    from penstock.sql import parse
    from penstock.sql.function_file import load_functions

    return parse(text, file=name, functions=load_functions(functions) if functions else ())


def _read(file: str, name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        hint = "give the path of a query, or - for stdin"
        raise PenstockError(f"cannot read {name}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        what = f"{name} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}"
        raise PenstockError(what, hint="save the query as UTF-8 text") from error
