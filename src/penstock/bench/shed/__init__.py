"""`penstock bench shed`: a join at several times what the machine can do, shed to what it can."""
