"""What a query says of combinations: its predicates, and the join that is not an inner one."""
