"""Drivers that take turns at every operation of the disk, as drawn: which of them is next does not
depend on threads, of which one runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from threading import Semaphore, Thread

from support.simulation.simulated_disk import Driver, SimulatedDisk


class Turns:
    """Runs the lives of drivers side by side, one step of one of them at a time."""

    def __init__(self, disk: SimulatedDisk, rng: Random):
        self._disk = disk
        self._rng = rng
        self._waiting: dict[str, Semaphore] = {}
        self._errors: list[BaseException] = []

    def run(self, lives: Sequence[tuple[Driver, Callable[[], None]]]) -> None:
        """Live all lives to their ends; an error in one of them is raised."""
        self._disk.drivers = [driver for driver, _ in lives]
        if len(lives) == 1:
            (self._disk.driver, live), *_ = lives
            live()
            return
        self._waiting = {driver.name: Semaphore(0) for driver, _ in lives}
        self._disk.turn = self._turn
        threads = [Thread(target=self._live, args=each, daemon=True) for each in lives]
        for thread in threads:
            thread.start()
        self._next()
        for thread in threads:
            thread.join()
        self._disk.turn = lambda: None
        for error in self._errors:
            raise error

    def _live(self, driver: Driver, live: Callable[[], None]) -> None:
        self._waiting[driver.name].acquire()
        self._disk.driver = driver
        try:
            live()
        except BaseException as error:
            self._errors.append(error)
        del self._waiting[driver.name]
        self._next()

    def _next(self) -> None:
        if self._waiting:
            self._waiting[self._rng.choice(sorted(self._waiting))].release()

    def _turn(self) -> None:
        """Let somebody have the next step, perhaps the one who has had this one."""
        mine = self._disk.driver
        if len(self._waiting) > 1 and self._rng.random() < 0.3:
            self._next()
            self._waiting[mine.name].acquire()
            self._disk.driver = mine
