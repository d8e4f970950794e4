"""The frame of an experiment: what it asks, what it finds, and how claims are judged."""
