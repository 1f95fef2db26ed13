"""The reduction ladder: five kernels that sum a vector, each better than the one before by one idea.

    interleaved.py   the tree of the textbooks, in shared memory, neighbours first
    sequential.py    the same tree with its addresses side by side
    unrolled.py      each thread block adds several blocks of input while it loads
    shuffles.py      lanes of a warp exchange their sums in registers
    multi_block.py   one wave of thread blocks strides over the whole input

After Mark Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007), and, for the shuffles, Justin
Luitjens, "Faster Parallel Reductions on Kepler" (NVIDIA, 2014). In each kernel a thread block adds its values
of x [n] and stores one sum. Launched again on these sums, until one is left, the kernel sums the vector. No
step adds floats atomically, so a sum has the same bits each time on one GPU.
"""

from .steps import STEPS, THREADS, ReductionStep, Summing, launches, summing

__all__ = ["STEPS", "THREADS", "ReductionStep", "Summing", "launches", "summing"]
