"""`bench scale`: how a batch grows, and what its driver takes with thousands of partitions."""
