"""Sessions and DataFrames that tests of the Spark engine share."""
