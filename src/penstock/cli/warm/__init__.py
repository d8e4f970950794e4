"""`penstock warm`: the inner loops compiled before the first query wants them."""
