"""Clusters of several processes, and a key that all tuples have."""
