"""Watching: what the log of a checkpoint tells, as the data of views that people look at."""
