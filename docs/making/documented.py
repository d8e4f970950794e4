"""The fields of a class with their types, defaults and the texts that stand below them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Documented:
    """A field as its class declares it."""

    name: str
    type: str
    text: str


def fields_of(kind: type) -> Iterator[Documented]:
    """The fields that a class declares itself, in their order."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)
    for node, after in zip(found.body, [*found.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield Documented(node.target.id, ast.unparse(node.annotation), _below(after))


def _below(node: ast.stmt | None) -> str:
    """The text of a statement that is nothing but a text."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def first_line(thing: object) -> str:
    """What one gets, by the first sentence of its docstring."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def field_table(kind: type) -> str:
    """All fields of a class."""
    rows = [(f"`{each.name}`", f"`{each.type}`", each.text) for each in fields_of(kind)]
    return table(("field", "type", ""), rows)
