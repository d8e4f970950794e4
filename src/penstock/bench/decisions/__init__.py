"""How good the planner's decisions are, measured."""
