"""Tables that change while a query runs: another version in the place of the one before."""
