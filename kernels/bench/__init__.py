"""Benchmarks: kernels beside each other and beside libraries, in turns within one run. A bench raises
KernelError without an NVIDIA GPU, for a wrong result, or where the GPU fails."""
