"""`penstock profile`: where the time of one run goes, by phase and by kind of work."""
