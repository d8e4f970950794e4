"""How long data waits for its results: a queueing model of batches."""
