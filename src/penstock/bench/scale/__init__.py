"""`bench scale`: what the driver takes for a batch of thousands of partitions."""
