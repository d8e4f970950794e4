"""Fresh processes for runs that are to die, forked from one in which everything is loaded."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import forkserver
from typing import Any

from support.paths import TESTS


def exit_code(
    function: Callable[..., None], *arguments: Any, killed_after: float | None = None
) -> int | None:
    """How a process that calls a function ends: 0, or minus the signal that killed it.

    After so many seconds, if given, it is killed wherever it is.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.loaded"])
    _ensure_server()
    process = context.Process(target=_called, args=(dict(os.environ), function, *arguments))
    process.start()
    process.join(killed_after)
    process.kill()
    process.join()
    return process.exitcode


def _called(variables: dict[str, str], function: Callable[..., None], *arguments: Any) -> None:
    """Call a function with the environment of who asked for it, not that of the process which this
    one was forked from, but for where it finds the modules of tests."""
    found = os.environ["PYTHONPATH"]
    os.environ.clear()
    os.environ.update({**variables, "PYTHONPATH": found})
    function(*arguments)


def _ensure_server() -> None:
    """Have the process to fork from, which finds the modules of tests by its environment alone."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), *([before] if before else [])])
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
