"""Matrix multiplication kernels in Triton, and the measuring of them.

    naive.py, ping_pong.py ... the kernels, one file each
    reductions/                five kernels that sum a vector
    record(schedule, problem) -> Trace    when and where each tile ran on this machine's GPU
    bench(problem, ...) -> dict           kernel times beside cuBLAS
    matmul(a, b) -> Tensor                a torch operator: the fastest of them for the shape
    NAMES                                 of the kernels and libraries that bench knows
    bench_reductions(n, ...) -> dict      the same of sums, beside a copy and torch.sum
    tune(problem, ...) -> dict            the fastest kernel for each, which matmul then takes
    turnaround() -> dict                  from a thread block's end to its successor's begin
    ladder() -> dict                      every step from one program per element to the fastest
    coalescing() -> dict                  loads down columns against loads along rows
    sm_order() -> dict                    which SM gets which thread block

Importing this needs torch and triton; running it on anything but Triton's interpreter, an NVIDIA GPU.
"""

from .bench.bench import NAMES, bench
from .bench.coalescing import coalescing
from .bench.ladder import ladder
from .bench.reductions import bench_reductions
from .errors import KernelError
from .matmul import matmul
from .measure.record import record
from .probes.sm_order import sm_order
from .probes.turnaround import turnaround
from .tuning.tune import tune

__all__ = [
    "NAMES",
    "KernelError",
    "bench",
    "bench_reductions",
    "coalescing",
    "ladder",
    "matmul",
    "record",
    "sm_order",
    "tune",
    "turnaround",
]
