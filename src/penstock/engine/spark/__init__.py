"""The batch engine on Spark; the only room that imports pyspark."""
