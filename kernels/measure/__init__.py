"""Measuring: kernel times by graph replay, results against a float64 reference, and recorded traces."""
