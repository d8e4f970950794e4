"""Calibration: designed runs are timed on this machine and the cost constants fitted."""
