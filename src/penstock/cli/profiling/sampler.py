"""py-spy, which samples the stacks of a process and of all below it, where it is there and may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from penstock.cli.profiling.usage import INSTALL

_MISSING = f"py-spy is missing, so kinds of work are not told apart: {INSTALL}"
_REFUSED = (
    "py-spy may not look into processes, so kinds of work are not told apart; in a container give "
    "--cap-add SYS_PTRACE, on macOS use sudo ({})"
)
_TRIED = "import time; time.sleep(0.5)"
_PATIENCE = 30.0


@dataclass(frozen=True)
class Sampler:
    """py-spy, where it may sample a run; otherwise why it may not."""

    path: str | None
    note: str | None = None

    def command(self, run: list[str], rate: int, output: Path) -> list[str]:
        """The command that starts a run and samples it, or that of the run itself."""
        if self.path is None:
            return run
        return [*_record(self.path, rate, output), "--", *run]


def find_sampler() -> Sampler:
    """py-spy beside this Python or in the PATH, if it works here."""
    folders = (str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    path = shutil.which("py-spy", path=os.pathsep.join(folders))
    if path is None:
        return Sampler(None, _MISSING)
    trouble = _trouble(path)
    return Sampler(path) if trouble is None else Sampler(None, _REFUSED.format(trouble))


def _trouble(path: str) -> str | None:
    """What py-spy says if it cannot sample a process that does nothing; None if it can."""
    with tempfile.TemporaryDirectory(prefix="penstock-profile-") as scratch:
        tried = [*_record(path, 10, Path(scratch, "stacks")), "--", sys.executable, "-c", _TRIED]
        try:
            done = subprocess.run(tried, capture_output=True, text=True, timeout=_PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return None if done.returncode == 0 else (said or [f"exit code {done.returncode}"])[0]


def _record(path: str, rate: int, output: Path) -> list[str]:
    shown = ["--subprocesses", "--threads", "--full-filenames", "--format", "raw"]
    return [path, "record", *shown, "--rate", str(rate), "--output", str(output)]
