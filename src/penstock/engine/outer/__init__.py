"""Outer joins: who asks for partners in a batch, and who has some."""
