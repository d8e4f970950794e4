"""The command `penstock`: data on stdout, everything else on stderr; exits 0, 1 or 2."""

from __future__ import annotations

import atexit
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from penstock.cli.analyze import analyze
from penstock.cli.bench import bench
from penstock.cli.bundle.command import bundle
from penstock.cli.completion import completion, prepare_completion
from penstock.cli.control.dashboard import dashboard
from penstock.cli.control.replan import replan
from penstock.cli.control.report import report
from penstock.cli.control.shed import shed
from penstock.cli.control.status import status
from penstock.cli.control.stop import stop
from penstock.cli.control.top import top
from penstock.cli.demo.command import demo
from penstock.cli.doctor import doctor
from penstock.cli.explain import explain
from penstock.cli.grouped_help import GroupedCommand
from penstock.cli.lab.commands import lab
from penstock.cli.profiling.command import profile
from penstock.cli.run import run
from penstock.cli.scripts.check import check
from penstock.cli.scripts.fmt import fmt
from penstock.cli.scripts.init import init
from penstock.cli.scripts.new import new
from penstock.cli.suggesting import SuggestingGroup
from penstock.cli.warm.command import warm
from penstock.errors import PenstockError

app = typer.Typer(
    name="penstock",
    cls=SuggestingGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)

# A command is a function in a file of its own. The file imports typer and what is light; the rest
# is imported inside the function, so that `explain` loads no Spark and `--help` no parser.
_OF_QUERIES = (explain, run, analyze, demo, bench, profile, doctor, warm)
_OF_SHELLS = (completion,)
_OF_SCRIPTS = (new, init, check, fmt)
_OF_CHECKPOINTS = (status, top, dashboard, report, bundle, stop, replan, shed)
for command in (*_OF_SCRIPTS, *_OF_QUERIES, *_OF_CHECKPOINTS, *_OF_SHELLS):
    app.command(cls=GroupedCommand)(command)
app.add_typer(lab)


def main() -> None:
    """Run the command line; a mistake of the user's is one message and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    prepare_completion()
    leave = _Leave()
    atexit.register(leave)
    try:
        app()
    except PenstockError as error:
        print(f"error: {error}", file=sys.stderr)
        leave.code = 1
        sys.exit(1)
    except SystemExit as end:
        leave.code = end.code or 0
        raise


class _Leave:
    """The end of the process, when all is done and said: what other libraries clean up after the
    interpreter has ended now and then aborts the process, which then seems to have failed.

    Registered first, it is called last of all that is to be done at the exit. An exit without a
    code, after an error that nobody caught, is left to Python.
    """

    def __init__(self) -> None:
        self.code: object = None

    def __call__(self) -> None:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            return
        if isinstance(self.code, int):
            os._exit(self.code)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"penstock {version('penstock')}")
        raise typer.Exit


@app.callback()
def penstock(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Continuous queries over data streams, planned by rate and run on Spark.

    Example: penstock new shop, and then what shop/README.md says.
    """
