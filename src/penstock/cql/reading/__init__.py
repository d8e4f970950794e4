"""The words of the language: tokens, cursor, names in scope, carets, near misses."""
