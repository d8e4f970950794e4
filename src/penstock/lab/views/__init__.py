"""Views in the laboratory: aggregation joins tuple by tuple, late and early (Tran and Lee)."""
