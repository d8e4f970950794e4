"""Early aggregation: rows folded before they join, and the segments they fold into."""
