"""Tuning: which kernels are worth timing, which is the fastest, and which one a shape gets."""
