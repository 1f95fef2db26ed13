"""Tuning: which kernel is the fastest for a shape, and the table that remembers it."""
