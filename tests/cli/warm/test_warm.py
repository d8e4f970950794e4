"""`penstock warm`: what first queries would compile is compiled, so that they compile nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from penstock.cli.main import main; main()"]

# A view over JSON and CSV that is none of the small queries, with keys, groups and sums of its own.
OTHER = """
CREATE STREAM orders (ts TIMESTAMP, id BIGINT, customer STRING, item STRING, price DOUBLE)
WITH (format = 'csv', path = 'data/orders', timestamp = 'ts');
CREATE STREAM payments (paid BIGINT, order_id BIGINT, method STRING)
WITH (format = 'json', path = 'data/payments', timestamp = 'paid', unit = 'ms', lateness = '60 s');
SELECT o.item, COUNT(*) AS n, SUM(o.price) AS paid, AVG(o.price) AS usual
FROM orders [RANGE 5 MINUTES] AS o, payments [RANGE 5 MINUTES] AS p
WHERE o.id = p.order_id GROUP BY o.item EVERY 1 MINUTE
"""


def penstock(folder: Path, *words: str) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def compiled(folder: Path) -> set[str]:
    return {path.name for path in (folder / "cache").rglob("*.nbc")}


@pytest.mark.slow
def test_a_first_query_compiles_nothing(tmp_path: Path) -> None:
    penstock(tmp_path, "warm")
    before = compiled(tmp_path)
    assert len(before) > 40
    penstock(tmp_path, "new", "shop")
    (tmp_path / "data").symlink_to(tmp_path / "shop" / "data")
    (tmp_path / "other.cql").write_text(OTHER)
    for query in ("shop/query.cql", "other.cql"):
        run = ("run", query, "--engine", "local", "--available-now", "--drain", "--sink", "noop")
        penstock(tmp_path, *run)
    assert compiled(tmp_path) == before
