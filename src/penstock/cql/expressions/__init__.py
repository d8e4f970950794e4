"""Expressions of the language: operators, functions, types, literals, coercion."""
