"""The experiments of Tran and Lee: aggregating before the join."""
