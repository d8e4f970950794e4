"""The terminal's progress bars and tables while something runs."""
