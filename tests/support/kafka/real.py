"""Tests that only a real broker can answer: they run where one was started for them."""

from __future__ import annotations

import os
import uuid

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from support.waiting import PATIENCE

SERVERS = os.environ.get("PENSTOCK_TEST_KAFKA", "")
"""The address of a real broker, if one was started for these tests."""
WITH_PASSWORD = os.environ.get("PENSTOCK_TEST_KAFKA_SASL", "")
"""The same broker where it asks for a password."""
USER, PASSWORD = "writer", "pass word of tests"
only_real = pytest.mark.skipif(not SERVERS, reason="make test-kafka runs it, with a real broker")

only_made_up = pytest.mark.skipif(bool(SERVERS), reason="a real broker does not do that so soon")


def new_topic(partitions: int = 2) -> str:
    """A topic of a name that was never used."""
    name = f"t{uuid.uuid4().hex}"
    make(name, partitions)
    return name


def make(name: str, partitions: int = 2) -> None:
    """Make a topic."""
    admin = _admin()
    admin.create_topics([NewTopic(name, partitions)])[name].result(PATIENCE)


def delete(name: str) -> None:
    """Delete a topic."""
    admin = _admin()
    admin.delete_topics([name])[name].result(PATIENCE)


def let_read(name: str) -> None:
    """Let the user with the password read a topic."""
    allowed = AclBinding(
        ResourceType.TOPIC,
        name,
        ResourcePatternType.LITERAL,
        f"User:{USER}",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )
    admin = _admin()
    admin.create_acls([allowed])[allowed].result(PATIENCE)


def _admin() -> AdminClient:
    """A client, which must be held until it has its answer."""
    return AdminClient({"bootstrap.servers": SERVERS})
