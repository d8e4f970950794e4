"""What tests of queries that are changed on their checkpoints share."""
