"""Sharing: queries of a script that have a join in common, and whether one finds it for all."""
