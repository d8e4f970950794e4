"""Columns as others describe them: Avro schemas, DataFrames."""
