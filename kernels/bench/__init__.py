"""Benchmarks: kernels beside each other and beside libraries, in turns within one run."""
