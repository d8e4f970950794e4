"""A run in a terminal: a frame of text with its streams, its plan and its last batches."""
