"""Probes: kernels that measure the GPU itself rather than a product."""
