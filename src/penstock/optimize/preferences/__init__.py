"""Why one plan is taken and not another: one file for each preference, in an order."""
