"""Kernels as small as the ideas that they measure."""
