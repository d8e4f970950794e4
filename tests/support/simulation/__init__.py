"""A disk that fails and forgets, tasks that run twice, drivers that die: all by one seed."""
