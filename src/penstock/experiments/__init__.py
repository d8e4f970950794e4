"""Experiments: the figures and tables of the papers, run again and judged (`penstock lab`)."""
