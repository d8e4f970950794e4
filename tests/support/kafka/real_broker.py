"""A real broker of Kafka: fetched by Maven, one node, on free ports of this machine.

    python tests/support/kafka/real_broker.py [--brokers 2] COMMAND ARGUMENT…

runs a command with the addresses of a broker in its environment, and stops the broker after it:
tests find it there, and `penstock bench sources`. Tests empty their broker, so that workers of
pytest that run side by side have one each.
Its jars are kept in the user's cache, outside of the repository; all else is gone afterwards.
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

SERVERS = "PENSTOCK_TEST_KAFKA"
"""The variable with the broker's address; whoever comes there may do everything. Those of several
brokers have a space between them."""
WITH_PASSWORD = "PENSTOCK_TEST_KAFKA_SASL"
"""That where a password is needed, by which users `writer` and `stranger` come: of these a test
grants rights to the first."""
BENCH_SERVERS, CONNECTOR = "PENSTOCK_KAFKA", "PENSTOCK_KAFKA_JARS"
"""The variables of `penstock bench sources`: the same address, and the jars of Spark's own
connector, separated by commas."""
PASSWORD = "pass word of tests"
KAFKA = (("org.apache.kafka", "kafka_2.13", "3.9.2"), ("org.slf4j", "slf4j-simple", "1.7.36"))
SPARK = (("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.3.0"),)
"""Spark's own connector, of the version of Spark that we have."""
SPARK_BEFORE = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.12.1"),
    ("org.scala-lang.modules", "scala-parallel-collections_2.13", "1.2.0"),
)
"""Where that cannot be had: an older one that works with it, and what it needs beside Spark. All
are fetched alone, since what its own list names need not be there either."""
Dependencies = tuple[tuple[str, str, str], ...]
_SPARK = "spark-kafka"
_START = 120.0
"""Seconds in which it must be there, also on a busy machine."""

_POM = """<project>
<modelVersion>4.0.0</modelVersion>
<groupId>tests</groupId><artifactId>{name}</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "{}</dependency>"
)
_ALONE = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
required user_writer="{password}" user_stranger="{password}";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs={folder}/logs
num.partitions=4
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
log.initial.task.delay.ms=100
log.retention.check.interval.ms=500
log.cleaner.backoff.ms=200
log.segment.delete.delay.ms=100
"""


def fetched(
    name: str, dependencies: Dependencies, *, are_all: bool = False, is_quiet: bool = False
) -> Path:
    """A folder with some jars, and what they need unless these are all; once fetched, it stays."""
    folder = _cached(name, dependencies)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        alone = _ALONE if are_all else ""
        text = "".join(_DEPENDENCY.format(*each, alone) for each in dependencies)
        (Path(place) / "pom.xml").write_text(_POM.format(name=name, dependencies=text))
        command = "mvn -q -B dependency:copy-dependencies -DincludeScope=runtime"
        told = subprocess.DEVNULL if is_quiet else None
        all_ = [*command.split(), "-DoutputDirectory=jars"]
        subprocess.run(all_, cwd=place, check=True, stdout=told, stderr=told)
        # Whole or not at all, whatever happens meanwhile.
        os.rename(Path(place) / "jars", folder)
    return folder


def _cached(name: str, dependencies: Dependencies) -> Path:
    """Where jars are kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "penstock" / f"{name}-{dependencies[0][2]}"


def choose_broker() -> None:
    """Leave a worker of pytest, of which there are as many as brokers, the address of its own.

    Whoever starts the workers gives them all."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    for name in (SERVERS, WITH_PASSWORD) if worker is not None else ():
        if addresses := os.environ.get(name, "").split():
            number = int(str(worker).removeprefix("gw"))
            os.environ[name] = addresses[number % len(addresses)]


def address_with_password() -> str:
    """Where the broker asks for a password."""
    return os.environ[WITH_PASSWORD]


def connector_jars() -> str:
    """The jars of Spark's own connector, if they were fetched for these tests."""
    return os.environ.get(CONNECTOR, "")


@contextmanager
def broker(jars: Path) -> Iterator[dict[str, str]]:
    """A broker that runs; its addresses as an environment has them."""
    ports = dict(zip(("plain", "sasl", "control"), _free_ports(3), strict=True))
    with tempfile.TemporaryDirectory(prefix="penstock-kafka-") as folder:
        settings = Path(folder) / "server.properties"
        settings.write_text(_PROPERTIES.format(folder=folder, password=PASSWORD, **ports))
        # The id of a cluster is one of 16 bytes.
        name = base64.urlsafe_b64encode(b"penstock's tests").decode().rstrip("=")
        java = ["java", "-Xms128m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*"]
        with (Path(folder) / "log").open("wb") as log:
            format_ = ["kafka.tools.StorageTool", "format", "-t", name, "-c", str(settings)]
            subprocess.run([*java, *format_], check=True, stdout=log, stderr=log)
            server = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
            try:
                _await(server, ports["plain"], Path(folder) / "log")
                plain, sasl = (f"127.0.0.1:{ports[each]}" for each in ("plain", "sasl"))
                yield {SERVERS: plain, BENCH_SERVERS: plain, WITH_PASSWORD: sasl}
            finally:
                server.kill()
                server.wait()


def _await(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a broker takes connections."""
    until = time.monotonic() + _START
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0 and b"Server started" in log.read_bytes():
                return
        time.sleep(0.1)
    sys.exit(f"the broker did not start:\n{log.read_text(errors='replace')[-4000:]}")


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; all are open at once, so that they differ."""
    opened = [socket.socket() for _ in range(count)]
    try:
        for each in opened:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in opened]
    finally:
        for each in opened:
            each.close()


def main(arguments: list[str]) -> int:
    """Run a command with brokers; how it ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if shutil.which("mvn") is None or shutil.which("java") is None:
        print("no Maven or no Java here: tests with a real broker of Kafka are left out")
        return 0
    with ExitStack() as running:
        jars = fetched("kafka", KAFKA)
        started = [running.enter_context(broker(jars)) for _ in range(options.brokers)]
        all_ = {name: " ".join(each[name] for each in started) for name in (SERVERS, WITH_PASSWORD)}
        environment = {**os.environ, **started[0], **all_, **_connector()}
        return subprocess.run(options.command, env=environment, check=False).returncode


def _connector() -> dict[str, str]:
    """Where Spark's own connector is; not every repository has it for every version of Spark."""
    sets = ((SPARK, False), (SPARK_BEFORE, True))
    # What is there is not looked for again: to be told that it is nowhere takes a while.
    for dependencies, are_all in sorted(
        sets, key=lambda each: not _cached(_SPARK, each[0]).is_dir()
    ):
        with suppress(subprocess.CalledProcessError):
            folder = fetched(_SPARK, dependencies, are_all=are_all, is_quiet=True)
            return {CONNECTOR: ",".join(sorted(map(str, folder.glob("*.jar"))))}
    versions = " or ".join(each[0][0][2] for each in sets)
    print(f"no {SPARK[0][1]} {versions} can be fetched: Spark's own source is not compared with")
    return {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
