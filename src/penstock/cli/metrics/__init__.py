"""`penstock run --metrics`: the figures of reports, for Prometheus."""
