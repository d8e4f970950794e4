"""Where filters stand, and the order of conditions."""
