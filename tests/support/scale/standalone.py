"""A standalone cluster of Spark's on this machine: a master and workers from the pip package, each
a process on loopback with folders of its own, as if it were a machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil  # type: ignore[import-untyped]
import pyspark

from penstock.engine.spark.java import ensure_java
from support.waiting import wait_until

LOOPBACK = "127.0.0.1"
_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_MASTER = re.compile(rf"spark://{re.escape(LOOPBACK)}:\d+")


@dataclass(frozen=True)
class Machine:
    """A process that stands for a machine, with its folder."""

    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def family(self) -> list[psutil.Process]:
        """The process and all that it has started."""
        try:
            own = psutil.Process(self.process.pid)
            return [own, *own.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def lose(self) -> None:
        """End everything that runs there at once, and delete whatever is on its disk."""
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class StandaloneCluster:
    """A master and its workers; machines can be lost and come."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._count = 0
        self.master = self._started("org.apache.spark.deploy.master.Master", "--port", "0")
        wait_until(lambda: _MASTER.search(self._alive(self.master).log) is not None)
        found = _MASTER.search(self.master.log)
        assert found is not None
        self.url = found[0]
        self.workers: list[Machine] = []

    def add_worker(self) -> None:
        """Start a worker of one core, and wait until the master knows it."""
        size = ("--cores", "1", "--memory", "1g")
        folder = ("--work-dir", str(self._folder / f"{self._count}" / "work"))
        worker = self._started("org.apache.spark.deploy.worker.Worker", *size, *folder, self.url)
        self.workers.append(worker)
        wait_until(lambda: "Successfully registered with master" in self._alive(worker).log)

    def kill(self, victim: str, rng: Random) -> bool:
        """Kill an executor, or lose the machine of a worker, in whose place another comes; False if
        there is no executor."""
        if victim == "machine":
            self.workers.pop(rng.randrange(len(self.workers))).lose()
            self.add_worker()
            return True
        found = [process for worker in self.workers for process in worker.family()[1:]]
        executors = [process for process in found if _is_executor(process)]
        if not executors:
            return False
        rng.choice(executors).kill()
        return True

    def stop(self) -> None:
        """End all of it."""
        for machine in (*self.workers, self.master):
            machine.lose()

    def _started(self, name: str, *arguments: str) -> Machine:
        folder = self._folder / f"{self._count}"
        self._count += 1
        for each in ("work", "local"):
            (folder / each).mkdir(parents=True)
        environment = os.environ | {
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_LOCAL_IP": LOOPBACK,
            "TMPDIR": str(folder / "local"),
        }
        with open(folder / "log", "wb") as log:
            command = [str(_CLASS), name, "--host", LOOPBACK, "--webui-port", "0", *arguments]
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        return Machine(process, folder)

    def _alive(self, machine: Machine) -> Machine:
        assert machine.process.poll() is None, machine.log
        return machine


@contextmanager
def standalone_cluster(folder: Path, workers: int) -> Iterator[StandaloneCluster]:
    """A cluster with some workers, which is gone afterwards."""
    ensure_java()
    cluster = StandaloneCluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()


def _is_executor(process: psutil.Process) -> bool:
    try:
        return any("CoarseGrainedExecutorBackend" in word for word in process.cmdline())
    except psutil.Error:
        return False
