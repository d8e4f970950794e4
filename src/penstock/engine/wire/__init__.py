"""Packets between tasks: tags, rows and facts in them, exchange, files, errors of tasks."""
