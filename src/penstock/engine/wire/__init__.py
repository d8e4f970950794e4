"""Packets between tasks, in memory and in files, and the errors of tasks."""
