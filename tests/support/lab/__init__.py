"""Streams and plans for the laboratory, and networks run tuple by tuple."""
