"""Reading streams: slices of files and generators, rows of every format."""
