"""CREATE STREAM and registered functions: columns, options, what a source needs."""
