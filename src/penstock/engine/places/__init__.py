"""Where files lie: local folders and URIs, names of files, appending."""
