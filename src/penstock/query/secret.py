"""Secrets: values of options that nobody may read, and where they are kept instead."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Of librdkafka's settings, and of Java's clients', which users may write by mistake, and with
# mistakes.
_NAMES = re.compile(
    r"(?i)pas+w|pwd|pas+phras|secret|jaas|credential|token|kinit\.cmd|access[._]?key|key[._]pem"
    r"|oauthbearer\.config"
)
_ENVIRONMENT, _FILE = "env:", "file:"


class Secret:
    """A value that is shown as `***` wherever it is printed, and that only `reveal` tells.

    A text of nothing but stars is what is left of one in a query that was written down: it is
    missing. It is pickled as it is, for the tasks that need it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str):
        self._value = value

    @property
    def is_missing(self) -> bool:
        """Whether only its stars are left."""
        return bool(self._value) and not self._value.strip("*")

    def reveal(self) -> str:
        """The value itself, for the client that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


def is_secret_name(name: str) -> bool:
    """Whether an option of that name has a value that nobody may read."""
    return _NAMES.search(name) is not None


def is_reference(value: str) -> bool:
    """Whether a value says where the value is: `env:NAME` or `file:PATH`."""
    return value.startswith((_ENVIRONMENT, _FILE))


def looked_up(value: str) -> str:
    """The value that a reference leads to, of this process; a ValueError says what is missing."""
    if value.startswith(_ENVIRONMENT):
        name = value.removeprefix(_ENVIRONMENT)
        found = os.environ.get(name)
        if found is None:
            raise ValueError(f"there is no environment variable {name}")
        return found
    path = value.removeprefix(_FILE)
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
