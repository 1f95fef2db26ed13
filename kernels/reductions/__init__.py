"""The reduction ladder: five kernels that sum a vector, each improving on the previous one by one idea.

    interleaved.py   a tree in shared memory that adds neighbors first
    sequential.py    a tree with adjacent addresses
    unrolled.py      each thread block adds several blocks of input while loading
    shuffles.py      lanes of a warp exchange their sums in registers
    multi_block.py   one wave of thread blocks strides over the whole input

After Mark Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007), and, for the shuffles, Justin
Luitjens, "Faster Parallel Reductions on Kepler" (NVIDIA, 2014). Each thread block sums its values of x [n]
into one sum, and the kernel is launched again on these sums until one is left. No kernel uses float atomics,
so sums are bitwise reproducible on one GPU.
"""

from .steps import STEPS, THREADS, ReductionStep, Summing, launches, summing

__all__ = ["STEPS", "THREADS", "ReductionStep", "Summing", "launches", "summing"]
