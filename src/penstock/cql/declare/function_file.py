"""Functions for queries, from a Python file."""

from __future__ import annotations

import runpy
import traceback
from pathlib import Path

from penstock.errors import Caret, FunctionError, PenstockError
from penstock.query.function import Function

# Not the name of any module that can be imported: so the functions are pickled by value, and
# workers that do not have the file can run them.
_MODULE = "penstock functions"


def load_functions(path: str) -> tuple[Function, ...]:
    """The functions that a Python file registers with `@penstock.function(…)`, in its order."""
    text = _read(path)
    try:
        names = runpy.run_path(path, run_name=_MODULE)
    except PenstockError as error:
        place = _place(path, text, error)
        raise FunctionError(error.message, place=place, hint=error.hint) from None
    except (Exception, SystemExit) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        message = f"cannot load {path}: {type(error).__name__}: {said}"
        raise FunctionError(message, place=_place(path, text, error), hint=_hint(error)) from None
    found = tuple(value for value in names.values() if isinstance(value, Function))
    if not found:
        hint = "decorate one: @penstock.function(cost='0.5 ms')"
        raise FunctionError(f"{path} has no functions for queries", hint=hint)
    return tuple(dict.fromkeys(found))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        hint = "give the path of a Python file"
        raise FunctionError(f"cannot read {path}: {error.strerror}", hint=hint) from None
    except UnicodeDecodeError:
        raise FunctionError(f"{path} is not UTF-8", hint="save it as UTF-8 text") from None


def _hint(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return "install what it needs, here and on the workers, or put it into the same file"
    return "the file must run by itself: try it with python"


def _place(path: str, text: str, error: BaseException) -> Caret | None:
    """The last line of the user's own file that the error came through."""
    steps = traceback.extract_tb(error.__traceback__)
    numbers = [step.lineno for step in steps if step.filename == path and step.lineno]
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno:
        numbers.append(error.lineno)
    lines = text.splitlines(keepends=True)
    if not numbers or numbers[-1] > len(lines):
        return None
    line = lines[numbers[-1] - 1]
    start = sum(map(len, lines[: numbers[-1] - 1])) + len(line) - len(line.lstrip())
    return Caret(text, start, start + len(line.strip()), path)
