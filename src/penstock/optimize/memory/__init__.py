"""Limited memory: which windows of a plan have an index, and how many buckets each."""
