"""What tests of the views of a run share."""
