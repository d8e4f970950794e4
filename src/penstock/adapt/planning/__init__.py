"""Planning again: the plans there are by the figures of now, beside the running one."""
