"""A made-up cluster whose broker can be taken down: librdkafka's own, by its C functions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka

_PRODUCER = 0
_BROKER = 1


class Brokers:
    """One broker that listens on a port of this machine, up or down."""

    def __init__(self, library: Any, cluster: Any):
        self._library = library
        self._cluster = cluster
        self.servers: str = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()

    def set_down(self) -> None:
        """Cut all connections, and take no more."""
        assert self._library.rd_kafka_mock_broker_set_down(self._cluster, _BROKER) == 0

    def set_up(self) -> None:
        """Listen again, with all that there was."""
        assert self._library.rd_kafka_mock_broker_set_up(self._cluster, _BROKER) == 0


@contextmanager
def mock_brokers() -> Iterator[Brokers]:
    """A cluster for as long as this lasts."""
    library = _library()
    reason = ctypes.create_string_buffer(512)
    settings = library.rd_kafka_conf_new()
    library.rd_kafka_conf_set(settings, b"log_level", b"0", reason, len(reason))
    client = library.rd_kafka_new(_PRODUCER, settings, reason, len(reason))
    assert client, reason.value
    cluster = library.rd_kafka_mock_cluster_new(client, 1)
    try:
        yield Brokers(library, cluster)
    finally:
        library.rd_kafka_mock_cluster_destroy(cluster)
        library.rd_kafka_destroy(client)


def _library() -> Any:
    """The library that the client is built on, with the types of what is called."""
    folder = Path(confluent_kafka.__file__).parent
    found = [*folder.parent.glob("confluent_kafka.libs/librdkafka*"), *folder.glob(".dylibs/*rdk*")]
    library = ctypes.CDLL(str(found[0]))
    pointer = ctypes.c_void_p
    library.rd_kafka_conf_new.restype = pointer
    text, size = ctypes.c_char_p, ctypes.c_size_t
    library.rd_kafka_conf_set.argtypes = [pointer, text, text, text, size]
    library.rd_kafka_new.restype = pointer
    library.rd_kafka_new.argtypes = [ctypes.c_int, pointer, text, size]
    library.rd_kafka_mock_cluster_new.restype = pointer
    library.rd_kafka_mock_cluster_new.argtypes = [pointer, ctypes.c_int]
    library.rd_kafka_mock_cluster_bootstraps.restype = text
    for name in ("cluster_bootstraps", "cluster_destroy"):
        getattr(library, f"rd_kafka_mock_{name}").argtypes = [pointer]
    for name in ("broker_set_down", "broker_set_up"):
        getattr(library, f"rd_kafka_mock_{name}").argtypes = [pointer, ctypes.c_int32]
    library.rd_kafka_destroy.argtypes = [pointer]
    return library
