"""Settings of adaptation: every threshold by name, with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """When figures count as moved, when another plan is worth a switch, and how shedding is led."""


DEFAULT_SETTINGS = Settings()
