"""Kafka's client library as C has it, beneath the Python package that brings it along."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine.sources.kafka.client import Value, library

Int64s = NDArray[np.int64]
_POINTER, _TEXT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_FUNCTIONS: Mapping[str, tuple[Any, ...]] = {
    # The type of what it gives, and those of what it takes.
    "conf_new": (_POINTER,),
    "conf_set": (ctypes.c_int, _POINTER, _TEXT, _TEXT, _TEXT, _SIZE),
    "new": (_POINTER, ctypes.c_int, _POINTER, _TEXT, _SIZE),
    "poll_set_consumer": (ctypes.c_int, _POINTER),
    "queue_get_consumer": (_POINTER, _POINTER),
    "queue_destroy": (None, _POINTER),
    "topic_partition_list_new": (_POINTER, ctypes.c_int),
    "topic_partition_list_add": (_POINTER, _POINTER, _TEXT, ctypes.c_int32),
    "topic_partition_list_set_offset": (
        ctypes.c_int,
        _POINTER,
        _TEXT,
        ctypes.c_int32,
        ctypes.c_int64,
    ),
    "topic_partition_list_destroy": (None, _POINTER),
    "assign": (ctypes.c_int, _POINTER, _POINTER),
    "consume_batch_queue": (ctypes.c_ssize_t, _POINTER, ctypes.c_int, _POINTER, _SIZE),
    "topic_name": (_TEXT, _POINTER),
    "message_errstr": (_TEXT, _POINTER),
    "err2str": (_TEXT, ctypes.c_int),
    "message_timestamp": (ctypes.c_int64, _POINTER, _POINTER),
    "message_destroy": (None, _POINTER),
    "destroy_flags": (None, _POINTER, ctypes.c_int),
}
_CONSUMER, _NO_CLOSE, _REASON_BYTES = 1, 8, 512


@lru_cache(maxsize=1)
def bound() -> Any | None:
    """The library with its functions typed; None where it shows none of its own, or is not laid
    out as its messages are read here."""
    library()
    from confluent_kafka import cimpl

    if ctypes.sizeof(_POINTER) != ctypes.sizeof(ctypes.c_int64):
        return None
    try:
        # What the extension is linked with is found through it, wherever that is installed.
        found = ctypes.CDLL(cimpl.__file__)
        for name, (gives, *takes) in _FUNCTIONS.items():
            function = getattr(found, f"rd_kafka_{name}")
            function.restype, function.argtypes = gives, takes
    except (AttributeError, OSError):
        return None
    return found


@dataclass(frozen=True)
class Handle:
    """A consumer of the library, and the queue that its messages come by."""

    c: Any
    client: int
    queue: int

    @classmethod
    def of(cls, c: Any, settings: Mapping[str, Value]) -> Handle:
        """A new consumer, which ends with its object."""
        reason = ctypes.create_string_buffer(_REASON_BYTES)
        conf = c.rd_kafka_conf_new()
        for name, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if c.rd_kafka_conf_set(conf, name.encode(), text.encode(), reason, _REASON_BYTES):
                raise failure(c, -186, reason.value)
        client = c.rd_kafka_new(_CONSUMER, conf, reason, _REASON_BYTES)
        if not client:
            raise failure(c, -196, reason.value)
        c.rd_kafka_poll_set_consumer(client)
        made = cls(c, client, c.rd_kafka_queue_get_consumer(client))
        # A process that ends takes it along, without waiting for its brokers.
        weakref.finalize(made, _end, c, client, made.queue, os.getpid()).atexit = False
        return made

    def assign(self, topic: str, part: int, first: int) -> None:
        """Read a partition from an offset on, and nothing else."""
        c, name = self.c, topic.encode()
        parts = c.rd_kafka_topic_partition_list_new(1)
        try:
            c.rd_kafka_topic_partition_list_add(parts, name, part)
            c.rd_kafka_topic_partition_list_set_offset(parts, name, part, first)
            if code := c.rd_kafka_assign(self.client, parts):
                raise failure(c, code)
        finally:
            c.rd_kafka_topic_partition_list_destroy(parts)

    def unassign(self) -> None:
        """Read nothing any more."""
        self.c.rd_kafka_assign(self.client, None)

    def messages(self, most: int, timeout: float) -> Int64s:
        """The addresses of the next messages, which must be given back."""
        found = np.empty(most, np.int64)
        wait, place = int(timeout * 1000), found.ctypes.data
        count = self.c.rd_kafka_consume_batch_queue(self.queue, wait, place, most)
        return found[: max(count, 0)]


def failure(c: Any, code: int, reason: bytes | None = None) -> Exception:
    """The Python package's exception for an error of the library."""
    from confluent_kafka import KafkaError, KafkaException

    text = c.rd_kafka_err2str(code) if reason is None else reason
    error: Exception = KafkaException(KafkaError(code, text.decode(errors="replace")))
    return error


def _end(c: Any, client: int, queue: int, pid: int) -> None:
    # Its threads are not in processes that were forked from the one that made it.
    if os.getpid() == pid:
        c.rd_kafka_queue_destroy(queue)
        c.rd_kafka_destroy_flags(client, _NO_CLOSE)
