"""Sums: how the lanes of a block, and the blocks of a grid, become one value."""
