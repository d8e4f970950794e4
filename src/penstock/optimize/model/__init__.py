"""The load of every kind of plan: one unit, CPU-seconds a second."""
