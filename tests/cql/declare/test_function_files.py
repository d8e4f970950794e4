"""Users' functions in files: loaded, refused and sent to other processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from penstock.api import sql
from penstock.cql import parse
from penstock.cql.declare.function_file import load_functions
from penstock.errors import FunctionError, SqlError
from support.paths import ROOT
from support.streams.functions import (
    DECLARATION,
    FILE,
    written,
)

COST = "hint: write it like cost='0.5 ms', or as seconds: cost=0.0005"


def test_a_file_gives_the_functions_that_it_registers(tmp_path: Path) -> None:
    dear, factorial = load_functions(written(tmp_path, FILE))
    assert (dear.name, dear.selectivity) == ("dear", 0.3)
    assert (dear(4.0, 1.0), dear(2.0, 1.0), factorial(5)) == (True, False, 120)


def test_a_script_is_read_with_its_functions(tmp_path: Path) -> None:
    script = tmp_path / "query.cql"
    script.write_text("SELECT ts FROM bid [NOW] WHERE dear(price, 2)" + DECLARATION)
    (condition,) = sql(script, functions=written(tmp_path, FILE)).query.filters
    assert str(condition) == "dear(bid.price, 2.0)"
    with pytest.raises(SqlError, match="there is no function dear"):
        sql(script)


RUNS = "hint: the file must run by itself: try it with python"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import penstock\n\nx = 1 / 0\n",
            f"""\
            cannot load PATH: ZeroDivisionError: division by zero
             --> PATH:3:1
              |
            3 | x = 1 / 0
              | ^^^^^^^^^
            {RUNS}""",
        ),
        (
            "def f(:\n    pass\n",
            f"""\
            cannot load PATH: SyntaxError: invalid syntax
             --> PATH:1:1
              |
            1 | def f(:
              | ^^^^^^^
            {RUNS}""",
        ),
        (
            "def f():\n    import no_such_module\nf()\n",
            """\
            cannot load PATH: ModuleNotFoundError: No module named 'no_such_module'
             --> PATH:2:5
              |
            2 |     import no_such_module
              |     ^^^^^^^^^^^^^^^^^^^^^
            hint: install what it needs, here and on the workers, or put it into the same file""",
        ),
        (
            "import sys\nsys.exit('no')\n",
            f"""\
            cannot load PATH: SystemExit: no
             --> PATH:2:1
              |
            2 | sys.exit('no')
              | ^^^^^^^^^^^^^^
            {RUNS}""",
        ),
        (
            "import penstock\n@penstock.function(cost='much')\ndef f(x: int) -> bool: ...\n",
            f"""\
            function f: 'much' is not a length of time
             --> PATH:2:1
              |
            2 | @penstock.function(cost='much')
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            {COST}""",
        ),
        (
            "def f(x: int) -> bool: ...\n",
            """\
            PATH has no functions for queries
            hint: decorate one: @penstock.function(cost='0.5 ms')""",
        ),
    ],
)
def test_a_file_that_does_not_load_is_answered_in_its_own_words(
    text: str, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(FunctionError) as caught:
        load_functions(path)
    assert str(caught.value).replace(path, "PATH") == dedent(said)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(FunctionError, match=r"cannot read .*none\.py: No such file"):
        load_functions(str(tmp_path / "none.py"))
    with pytest.raises(FunctionError, match=r"cannot read .*: Is a directory"):
        load_functions(str(tmp_path))
    (tmp_path / "latin.py").write_bytes(b"# \xe9")
    with pytest.raises(FunctionError, match=r"latin\.py is not UTF-8"):
        load_functions(str(tmp_path / "latin.py"))


def test_functions_of_a_file_travel_to_a_process_that_does_not_have_it(tmp_path: Path) -> None:
    from pyspark import cloudpickle

    path = written(tmp_path, FILE)
    pickled = cloudpickle.dumps(load_functions(path))
    Path(path).unlink()
    there = (
        "import pickle, sys\n"
        "dear, factorial = pickle.loads(sys.stdin.buffer.read())\n"
        "print(dear.cost, dear(4.0, 1.0), dear(2.0, 1.0), factorial(5))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", there], input=pickled, capture_output=True, check=True, cwd=tmp_path
    )
    assert found.stdout.decode().split() == ["0.0005", "True", "False", "120"]


def test_the_function_on_the_language_page_works_as_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (looks_odd,) = load_functions(written(tmp_path, block))
    assert (looks_odd(2000.0, ""), looks_odd(1.0, "Cash!"), looks_odd(1.0, "")) == (1, 1, 0)
    declarations = page[page.index("CREATE STREAM bid") : page.index("SELECT b.ts")]
    inputs = "SELECT b.ts FROM bid [RANGE 1 MINUTE] b, auction [RANGE 1 MINUTE] a"
    (where,) = re.findall(r"`(WHERE [^`]*looks_odd[^`]*)`", page)
    assert len(parse(f"{declarations}{inputs} {where}", functions=[looks_odd]).filters) == 1
    (guarded,) = re.findall(r"`(CASE [^`]*looks_odd[^`]*)`", page)
    query = parse(f"{declarations}{inputs} WHERE {guarded}", functions=[looks_odd])
    assert len(query.filters) == 1
