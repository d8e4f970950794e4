"""What sources say of themselves: `analyze` samples them and estimates statistics."""
