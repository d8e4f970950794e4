"""What Spark and stores have to do with each other: its settings for them, and its logs there.

Spark reaches a store only by a connector that must be installed beside it. We do not need one: what
a batch reads is in our own checkpoint, so that where no rows come through Spark, its logs say
nothing that we do not know, and lie in a temporary folder of the driver.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass

from pyspark.sql import SparkSession

from penstock.engine.places.access import settings_here, settings_of_spark, take_settings
from penstock.engine.sources.feed import serving_name
from penstock.engine.spark.jvm import own_folder
from penstock.engine.state.manifest import Manifest
from penstock.engine.state.store import Store


@dataclass(frozen=True)
class SparkLogs:
    """Where Spark keeps the logs of a query, and which batch of ours its first one there is."""

    location: str
    first: int = 0
    is_temporary: bool = False

    def remove(self) -> None:
        """Have no logs that nobody reads again."""
        if self.is_temporary:
            shutil.rmtree(self.location, ignore_errors=True)


def logs_for(store: Store, standing: Manifest, *, has_streams: bool) -> SparkLogs:
    """The logs of a query that goes on from a manifest, with rows that come through Spark or
    without."""
    if store.is_local or has_streams:
        return SparkLogs((store.root / "spark").for_spark)
    folder = tempfile.mkdtemp(prefix="logs-", dir=own_folder())
    return SparkLogs(folder, _next_batch(store, standing), is_temporary=True)


def _next_batch(store: Store, standing: Manifest) -> int:
    """The batch that an earlier run has begun, or the next one: Spark's numbers have gaps."""
    begun = [name for name in store.names("feed") if name > serving_name(max(standing.batch, 0))]
    if standing.batch < 0:
        begun = store.names("feed")
    return int(begun[0].rpartition("/")[2].partition(".")[0]) if begun else standing.batch + 1


def tell_access(spark: SparkSession) -> None:
    """Reach stores as Spark was told to, or the environment, in this process and in the workers:
    these may have been started before, or elsewhere."""
    context = getattr(spark, "_sc", None)
    if context is None or context._jsc is None:
        return  # A client of Spark Connect, or what is refused later.
    take_settings(settings_of_spark(dict(context.getConf().getAll())))
    context.environment.update(settings_here())
