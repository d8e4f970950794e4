"""The experiments of Ayad and Naughton: windows, utilization, load shedding."""
