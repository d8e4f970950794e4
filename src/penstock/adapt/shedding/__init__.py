"""Shedding by itself: drop boxes that are led by the measured delay while a query runs."""
