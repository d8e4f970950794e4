"""A quick start: an archive of classes for the JVM, and workers that are warm."""
