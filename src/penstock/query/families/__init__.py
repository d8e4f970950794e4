"""Families of names and types: spellings of names, digits of decimals, parts of nested types."""
