"""Tiles: in what order they come, what they read, and how their K-steps are shared out."""
