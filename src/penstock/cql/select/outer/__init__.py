"""The joins of a SELECT, outer ones among them: bound, in the order in which they are made."""
