"""Plans: what each kind of plan is, and what was decided with it."""
