"""Settings that experiments share: planning problems with given figures, streams to run."""
