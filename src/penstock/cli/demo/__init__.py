"""`penstock demo`: an auction site on Spark, plans beside each other, a rush and a burst."""
