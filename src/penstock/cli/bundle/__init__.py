"""`penstock bundle`: what a bug report needs of a checkpoint, without any data."""
