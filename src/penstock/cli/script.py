"""The query that a command is about, from a file or from stdin."""

from __future__ import annotations

import sys

from penstock.query import Query


def read_query(file: str, functions: str | None = None) -> Query:
    """The query of a script, which may call the functions of a Python file; `-` is stdin."""
    from penstock.cql.script_file import decoded, read_script

    name = "stdin" if file == "-" else file
    text = decoded(sys.stdin.buffer.read, name) if file == "-" else read_script(file)
    from penstock.cql import parse
    from penstock.cql.declare.function_file import load_functions

    return parse(text, file=name, functions=load_functions(functions) if functions else ())
