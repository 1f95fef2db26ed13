"""Matrix multiplication kernels in Triton, and the measuring of them.

    gemm/             the kernels, a file each, and the device functions that they share
    reductions.py     five kernels that sum a vector
    launch/           from a problem and a variant to a launch: configuration, operands, jobs
    measure/          kernel times by graph replay, the float64 reference, and recorded traces
    bench/            what `tilesim bench` measures: kernels beside each other and libraries, and the GPU
    tuning/           the fastest kernel for each shape, and the table of them
    probes/           thread blocks that spin, which show how the GPU runs them
    microbenchmarks/  kernels for its memory system and its tensor cores, one figure at a time
    matmul.py         the torch operator, which finds and keeps the launches of its shapes

A module of bench/ has a function of its own name, such as `bench.fusion.fusion()`, which measures one thing
and returns a report in JSON values: "machine", "method", "rows", and what else its docstring names.

Importing this needs torch and triton; running it, an NVIDIA GPU, or for products Triton's interpreter.
"""

from .bench.bench import NAMES, bench
from .errors import KernelError
from .matmul import matmul
from .measure.machine import gpu_facts
from .measure.record import record
from .tuning.tuner import tune

__all__ = ["NAMES", "KernelError", "bench", "gpu_facts", "matmul", "record", "tune"]
