"""The Python of a Connect server's workers: this one, with PySpark as it is installed.

Spark has its workers import PySpark from a zip, every module of which is compiled each time. That
takes most of the ten seconds that it gives a worker to call back, on a machine that is busy.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

_SCRIPT = """#!/bin/sh
PYTHONPATH=$(printf %s "$PYTHONPATH" | tr : '\\n' | grep -v '/pyspark[.]zip$' | tr '\\n' :)
export PYTHONPATH
exec '{python}' "$@"
"""


def worker_python() -> str:
    """The path of a command that starts it; whoever has chosen another gets that."""
    if "PYSPARK_PYTHON" in os.environ:
        return os.environ["PYSPARK_PYTHON"]
    script = Path(tempfile.gettempdir(), f"penstock-tests-python-{os.getuid()}-{os.getpid()}")
    script.write_text(_SCRIPT.format(python=sys.executable), encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)
