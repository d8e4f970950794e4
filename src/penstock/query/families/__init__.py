"""Families of types that have parts: digits of decimals, what is inside of nested ones."""
