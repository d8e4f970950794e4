"""Planning problems, plans and decisions made by hand or at random."""
