"""The curves of a run as data: the same for the page of the dashboard and for the report."""
