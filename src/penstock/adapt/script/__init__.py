"""Following the streams of a script: all of its queries, and one delay for them together."""
