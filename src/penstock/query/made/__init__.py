"""Streams that are made up and whose columns are known beforehand."""
