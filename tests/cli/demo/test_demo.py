"""The demo on Spark, small: all its parts, and Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from support.waiting import PATIENCE

PENSTOCK = Path(sys.executable).with_name("penstock")


@pytest.mark.spark
@pytest.mark.slow
def test_the_demo_shows_plans_a_live_run_and_what_came_of_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [PENSTOCK, "demo", "--seconds", "4"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (place,) = tmp_path.glob("out/demo-*")
    titles = re.findall(r"^── (.*?) ─+$", done.stdout, flags=re.M)
    assert titles[0] == "An auction site, and a question"
    assert titles[-2:] == ["What happened", "The view as it was at the end"]
    said = " ".join(done.stdout.split())
    assert "as written: ((bid auction) person)" in said
    assert re.search(r"Both gave the same [\d,]+ results", said)
    assert re.search(r"It read [\d,]+ tuples in \d+ seconds", said)
    assert re.search(r"^second +bid/s", done.stderr, flags=re.M)
    assert f"{place.relative_to(tmp_path)}/results (parquet)" in done.stdout
    assert len(pq.read_table(place / "results")) > 0
    assert "<svg" in (place / "run.html").read_text("utf-8")
    assert "shape = 'burst(2 s, 1 s, 3)'" in (place / "site.cql").read_text("utf-8")


def test_ctrl_c_leaves_a_clear_last_line(tmp_path: Path) -> None:
    with subprocess.Popen(
        [PENSTOCK, "demo", "--seconds", "4"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        # Before Spark starts; what stops a query that runs is tested with runs.
        for line in process.stderr:
            if line.startswith("Compiling"):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("stopped before its end")
    assert "Traceback" not in said
