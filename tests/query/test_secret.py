"""Which options have values that nobody may read."""

from __future__ import annotations

import pytest

from penstock.query.secret import is_secret_name


@pytest.mark.parametrize(
    "name",
    [
        "kafka.sasl.password",
        "kafka.sasl.pasword",
        "kafka.ssl.key.passwrd",
        "fs.s3a.access.key",
        "fs.s3a.secret.key",
        "user.pwd",
        "kafka.sasl.kerberos.kinit.cmd",
        "auth.token",
        "kafka.ssl.key.pem",
    ],
)
def test_names_of_secrets_are_known_though_misspelt(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["kafka.fetch.wait.max.ms", "topic", "servers", "path", "null"])
def test_others_are_none(name: str) -> None:
    assert not is_secret_name(name)
