"""The batch engine, from the bottom to the top: a folder imports from those before it in order."""
