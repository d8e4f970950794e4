"""Meshes, lotteries and eddies, tuple by tuple."""
