"""Object stores for tests: a server on this machine, and runs over it."""
