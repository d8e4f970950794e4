"""Queries on Spark Connect: the driver's part runs on the server, the handle in the client."""
