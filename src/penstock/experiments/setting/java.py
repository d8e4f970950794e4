"""Java, without which an experiment on Spark is left out."""

from __future__ import annotations

from penstock.engine.spark.java import INSTALL_HINT, find_java

NO_JAVA = f"Spark needs Java, and there is none, so this is left out; {INSTALL_HINT}"


def has_java() -> bool:
    """Whether experiments on Spark can run here."""
    return find_java() is not None
