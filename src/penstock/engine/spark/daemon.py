"""Spark's worker daemon with Penstock loaded: workers are forked from it ready to go.

A worker that loads everything itself takes most of a second, and a query needs several of them.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

from penstock.light_start import LIGHT_START, loading, start_light

# Spark starts one daemon for each kind of worker; only this kind runs our steps.
_RUNS_STEPS = "pyspark.worker"


def main() -> None:
    """Load what steps need, then serve Spark as its own daemon does."""
    sys.path[:] = installed_first(sys.path)
    from pyspark import daemon

    if _RUNS_STEPS in sys.argv[1:]:
        # Pages that the collector does not write to stay shared with all workers.
        with loading():
            _load()
    daemon.manager()


def _load() -> None:
    """Load what workers need; Spark's own daemon leaves the module of workers to each of them."""
    if LIGHT_START in os.environ:
        start_light()
    import pyspark.worker  # noqa: F401

    from penstock.engine.run import job  # noqa: F401
    from penstock.kernels.warm_up import warm_up

    warm_up()


def installed_first(paths: list[str]) -> list[str]:
    """The paths, with the archives of PySpark last that lie in the PySpark which is installed.

    Spark puts them first. Of modules in an archive Python keeps no bytecode: each daemon would
    compile them again, which takes longer than all else that it loads from PySpark. Archives that
    lie elsewhere were brought by Spark, and may be of another version: they stay first.
    """
    found = PathFinder.find_spec("pyspark", [path for path in paths if not path.endswith(".zip")])
    if found is None or found.origin is None:
        return paths
    archives = Path(found.origin).parent / "python" / "lib"
    last = [path for path in paths if Path(path).parent == archives]
    return [path for path in paths if path not in last] + last


if __name__ == "__main__":
    main()
