"""Random outer joins, and outer joins in text."""
