"""One module a decision; `planner` composes them."""
