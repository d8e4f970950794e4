"""`penstock run`: queries in batches, in the laboratory, and scripts of several."""
