"""Measuring: times, the SMs' clock, what machine this is, and whether a result is right."""
