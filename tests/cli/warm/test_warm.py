"""`penstock warm`: what first queries would compile is compiled, so that they compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.engine.spark.starting import class_archive
from penstock.engine.spark.starting.class_archive import reading_options
from support.kafka.cluster import Cluster

COMMAND = ["-c", "from penstock.cli.main import main; main()"]

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

# Long texts, which compiled loops read, in files and in a topic.
LONG = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x DOUBLE, t STRING)
WITH (format = 'json', path = 'long/a', timestamp = 'ts');
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x DOUBLE, t STRING)
WITH (format = 'csv', path = 'long/b', timestamp = 'ts');
CREATE STREAM c (ts TIMESTAMP, k BIGINT, x DOUBLE, t STRING, kafka_timestamp TIMESTAMP)
WITH (format = 'kafka', servers = '{servers}', topic = 'c', timestamp = 'ts');
SELECT a.x, b.t, c.kafka_timestamp FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.k = c.k
"""


# Views that are shed from their second batch on, by plans that no small query has.
SHED = """
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import penstock as ps
from penstock.cli.warm.small_queries import write_rows
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import jsonl
from penstock.plan.drops import DropBoxes

write_rows(Path("rows"))
text = "".join(
    f"CREATE STREAM {name} (ts BIGINT, k BIGINT, t STRING, x DOUBLE, n INT) WITH (format = 'csv', "
    "path = 'rows/a', timestamp = 'ts', unit = 's', max_files = 1);"
    for name in "pqr"
)
text += (
    "SELECT p.t, COUNT(*) AS c, SUM(q.x) AS s, MAX(r.n) AS h FROM p [RANGE 20 SECONDS], "
    "q [RANGE 15 SECONDS], r [RANGE 9 SECONDS] WHERE p.k = q.k AND q.n = r.n GROUP BY p.t "
    "EVERY 3 SECONDS"
)
orders = "p: q r; q: p r; r: q p"
ways = [orders, f"{orders} | early q", f"{orders} | early q r | recompute q", "((p q) r)"]
for number, way in enumerate(ways):
    plan = ps.sql(text, engine="local", plan=way).decision.plan
    shed = replace(plan, drops=DropBoxes((("p", 0.7), ("q", 0.5))))
    place, then = Path(f"shed-{number}"), lambda _, shed=shed: run.replan(shed)
    run = open_run(plan, RunOptions(jsonl(f"{place}.jsonl"), checkpoint=str(place), report=then))
    run.available_now(drain=True)
    assert '_low":' in Path(f"{place}.jsonl").read_text()
"""


def write_long(folder: Path) -> Cluster:
    """Some thousand rows for each of these streams, 64 KiB and more."""
    times = (f"2026-01-01 00:{n // 60:02}:{n % 60:02}.5" for n in range(2000))
    rows = [{"ts": ts, "k": n, "x": n / 7, "t": f"t{n}"} for n, ts in enumerate(times)]
    for name in "ab":
        (folder / "long" / name).mkdir(parents=True)
    (folder / "long" / "a" / "1.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [",".join(map(str, row.values())) for row in rows]
    (folder / "long" / "b" / "1.csv").write_text("\n".join(["ts,k,x,t", *lines]))
    cluster = Cluster()
    cluster.send("c", 0, *rows)
    return cluster


def penstock(folder: Path, *words: str) -> None:
    python(folder, *COMMAND, *words)


def python(folder: Path, *words: str) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def compiled(folder: Path) -> set[str]:
    return {path.name for path in (folder / "cache").rglob("*.nbc")}


@pytest.mark.slow
def test_a_first_query_compiles_nothing(tmp_path: Path) -> None:
    penstock(tmp_path, "warm", "--no-spark")
    before = compiled(tmp_path)
    assert len(before) > 40
    penstock(tmp_path, "new", "shop")
    (tmp_path / "data").symlink_to(tmp_path / "shop" / "data")
    (tmp_path / "other.cql").write_text(OTHER)
    cluster = write_long(tmp_path)
    (tmp_path / "long.cql").write_text(LONG.format(servers=cluster.servers))
    for query in ("shop/query.cql", "other.cql", "long.cql"):
        run = ("run", query, "--engine", "local", "--available-now", "--drain", "--sink", "noop")
        penstock(tmp_path, *run)
    python(tmp_path, "-c", SHED)
    assert compiled(tmp_path) == before


STARTED = """
from pathlib import Path
from types import SimpleNamespace
from pyspark import SparkContext
from penstock.engine.spark.session import own_session
with own_session("local[1]") as spark:
    jvm = SparkContext._gateway.jvm.ProcessHandle.current().pid()
    print(sum(".jsa" in line for line in Path(f"/proc/{jvm}/maps").read_text().splitlines()))
    print(spark.range(3).count())
"""
ARCHIVED = """
from penstock.cli.warm.archiving import archive_classes
print(archive_classes())
"""


@pytest.mark.slow
@pytest.mark.spark
def test_spark_starts_by_the_archive_of_its_classes(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    def printed(code: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    (path,) = printed(ARCHIVED)
    archive = Path(path)
    assert archive.parent == tmp_path / "penstock"
    assert [each.name for each in archive.parent.glob("*.jsa*")] == [archive.name]
    assert printed(ARCHIVED) == [path]
    mapped = int(printed(STARTED)[0])
    # A damaged one ends the JVM: it is removed, and Spark starts without.
    archive.write_bytes(archive.read_bytes()[: 1 << 20])
    *_, plain, rows = printed(STARTED)  # Behind what Java says of its end.
    assert int(plain) < mapped
    assert rows == "3"
    assert not archive.exists()


def test_an_archive_that_others_may_write_to_is_not_read(tmp_path: Path) -> None:
    archive = tmp_path / "spark.jsa"
    assert reading_options(archive) == ""
    archive.write_bytes(b"")
    archive.chmod(0o600)
    assert f"={archive} " in reading_options(archive)
    archive.chmod(0o666)
    assert reading_options(archive) == ""


def test_what_is_installed_anew_has_another_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JVM would pass the old one over, without a word."""
    (tmp_path / "jars").mkdir()
    jar = tmp_path / "jars" / "spark-core.jar"
    jar.touch()
    here = SimpleNamespace(__file__=str(tmp_path / "__init__.py"), __version__="4.3")
    monkeypatch.setattr(class_archive, "pyspark", here)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = class_archive.archive_path()
    assert class_archive.archive_path() == before
    os.utime(jar, (1, 1))
    now = class_archive.archive_path()
    assert now != before
    now.parent.mkdir()
    others = now.with_name("spark-0123456789ab-0123456789ab.jsa")
    for path in (before, now, others):
        path.touch()
    class_archive.forget_others(now)
    assert sorted(now.parent.iterdir()) == sorted([now, others])
