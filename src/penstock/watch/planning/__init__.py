"""Questions to the planner about a run, by what it has measured: other plans, and what if."""
