"""The keeper of training: it writes the last one into the checkpoint, beside the batches."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Lock, Thread

from penstock.adapt.training.training_log import save_training
from penstock.engine.state.store import Store
from penstock.stats.training import Training

_LOG = logging.getLogger(__name__)
_PATIENCE = 30.0
"""Seconds that the end of a run waits for the last training."""


class TrainingKeeper:
    """Writes in a thread, one training at a time: of those that come meanwhile only the last.

    A run that is killed loses what it was about to write: the next one trains anew.
    """

    def __init__(self, store: Store):
        self._store = store
        self._lock = Lock()
        self._next: Mapping[str, Training] | None = None
        self._thread: Thread | None = None
        self._is_warned = False

    def keep(self, training: Mapping[str, Training]) -> None:
        """Have training written, soon."""
        with self._lock:
            self._next = training
            if self._thread is None:
                self._thread = Thread(target=self._work, name="penstock-training", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Wait until all is written, for a while."""
        thread = self._thread
        if thread is not None:
            thread.join(_PATIENCE)

    def _work(self) -> None:
        while (training := self._take()) is not None:
            try:
                save_training(self._store, training)
            except Exception as error:  # Whatever it is: no run ends because of it.
                self._warn(error)

    def _take(self) -> Mapping[str, Training] | None:
        """What is to be written next; None if nothing is, and then the thread ends."""
        with self._lock:
            training, self._next = self._next, None
            if training is None:
                self._thread = None
            return training

    def _warn(self, error: Exception) -> None:
        if not self._is_warned:
            self._is_warned = True
            _LOG.warning("cannot write training, so that a restart does without: %s", error)
