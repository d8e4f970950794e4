"""Results, reports and state of a query as rows, for whoever reads them back from a checkpoint."""
