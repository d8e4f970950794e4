"""Figures of the streams, measured: out of reports and facts, smoothed, each with its error."""
