"""What this machine costs: designed runs are timed and the cost constants fitted."""
