"""Output: what commands print and write."""
