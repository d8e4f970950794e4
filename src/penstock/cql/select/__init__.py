"""SELECT: inputs and windows, conditions, outputs, GROUP BY and EVERY."""
