"""The page of all public names: signatures, and what each gives."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import penstock as ps
from documented import field_table, fields_of, first_line

_HEAD = """\
# Names in Python

All that `import penstock as ps` offers, as the code declares it. [From Python](../python.md) says
how it is used.
"""
_WIDE = 92


def name_page() -> str:
    """All of it: functions first, then classes."""
    found = [(name, getattr(ps, name)) for name in ps.__all__]
    functions = [_function(f"ps.{name}", it) for name, it in found if inspect.isfunction(it)]
    classes = [_class(name, thing) for name, thing in found if inspect.isclass(thing)]
    others = [f"`ps.{name}`" for name, thing in found if not callable(thing)]
    tail = [f"## Other types\n\nFor annotations: {', '.join(others)}."] if others else []
    return "\n\n".join([_HEAD, "## Functions", *functions, *classes, *tail]) + "\n"


def _function(name: str, thing: Any) -> str:
    return f"### {name}\n\n{first_line(thing)}\n\n```python\n{_signature(name, thing)}\n```"


def _class(name: str, kind: type) -> str:
    parts = [f"## ps.{name}", first_line(kind)]
    if any(each.text for each in fields_of(kind)):
        parts.append(field_table(kind))
    for own, thing in _own(kind):
        parts += [f"```python\n{_signature(own, thing)}\n```", first_line(thing)]
    return "\n\n".join(parts)


def _own(kind: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class that are for its users."""
    for name, thing in vars(kind).items():
        plain = getattr(thing, "func", getattr(thing, "fget", thing))
        if not name.startswith("_") and inspect.isfunction(plain) and plain.__doc__:
            yield name, thing


def _signature(name: str, thing: Any) -> str:
    """How it is called, in a line or with a line for each argument."""
    if not inspect.isfunction(thing):
        plain = getattr(thing, "func", getattr(thing, "fget", thing))
        return f"{name}: {_written(inspect.signature(plain).return_annotation)}"
    found = inspect.signature(thing)
    words = list(_arguments(found))
    gives = _written(found.return_annotation)
    line = f"{name}({', '.join(words)}) -> {gives}"
    if len(line) <= _WIDE:
        return line
    lines = "".join(f"    {word},\n" for word in words)
    return f"{name}(\n{lines}) -> {gives}"


def _arguments(found: inspect.Signature) -> Iterator[str]:
    is_named = False
    for argument in found.parameters.values():
        if argument.name == "self":
            continue
        if argument.kind is argument.KEYWORD_ONLY and not is_named:
            is_named = True
            yield "*"
        default = "" if argument.default is argument.empty else f" = {argument.default!r}"
        yield f"{argument.name}: {_written(argument.annotation)}{default}"


def _written(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
