"""Spark's worker daemon with Penstock loaded: workers are forked from it ready to go.

A worker that loads everything itself takes most of a second, and a query needs several of them.
"""

from __future__ import annotations

import gc
import sys

from pyspark import daemon

# Spark starts one daemon for each kind of worker; only this kind runs our steps.
_RUNS_STEPS = "pyspark.worker"


def main() -> None:
    """Load what steps need, then serve Spark as its own daemon does."""
    if _RUNS_STEPS in sys.argv[1:]:
        from penstock.engine.run import job  # noqa: F401
        from penstock.kernels.warm_up import warm_up

        warm_up()
        # Pages that the collector does not write to stay shared with all workers.
        gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
