"""Matrix multiplication kernels in Triton, and the measuring of them.

    gemm/             the kernels, a file each, and the device functions that they share
    reductions/       five kernels that sum a vector
    launch/           from a problem and a variant to a launch: configuration, operands, plan tables, jobs
    measure/          kernel times by graph replay, the float64 reference, and recorded traces
    bench/            kernels timed beside each other and beside libraries
    tuning/           the fastest kernel for each shape, and the table of them
    probes/           kernels that measure the GPU itself
    ideas/            small kernels, an idea each
    microbenchmarks/  its memory system and its tensor cores, one figure at a time
    matmul.py         the torch operator

What they offer:

    record(schedule, problem) -> Trace    when and where each tile ran on this machine's GPU
    matmul(a, b) -> Tensor                A · B by the fastest kernel known for the shape
    bench(problem, ...) -> dict           kernel times beside cuBLAS; NAMES are those it knows
    tune(problem, ...) -> dict            the table of the fastest kernels, which matmul reads
    ladder() -> dict                      every step from one program per element to the fastest kernel
    coalescing() -> dict                  uncoalesced loads against coalesced ones
    pipelining() -> dict                  one kernel with 1, 2, 3 and 4 stages
    latency_hiding() -> dict              y = a * x + y by 1 to 32 warps an SM, and by threads of the host
    launch_latency() -> dict              what a launch takes the host, a stream, a graph and an SM
    bench_reductions(n, ...) -> dict      times of sums, beside a copy and torch.sum
    turnaround() -> dict                  from a thread block's end to its successor's begin
    sm_order() -> dict                    which SM gets which thread block
    gpu_facts() -> dict                   what the driver says of this GPU, as a device file
    memory() -> dict                      latencies and bandwidths of shared memory, L2 and DRAM

Importing this needs torch and triton; running it, an NVIDIA GPU, or for products Triton's interpreter.
"""

from .bench.bench import NAMES, bench
from .bench.coalescing import coalescing
from .bench.ladder import ladder
from .bench.latency_hiding import latency_hiding
from .bench.launch_latency import launch_latency
from .bench.pipelining import pipelining
from .bench.reductions import bench_reductions
from .errors import KernelError
from .matmul import matmul
from .measure.gpu_facts import gpu_facts
from .measure.record import record
from .microbenchmarks.bench import memory
from .probes.sm_order import sm_order
from .probes.turnaround import turnaround
from .tuning.tune import tune

__all__ = [
    "NAMES",
    "KernelError",
    "bench",
    "bench_reductions",
    "coalescing",
    "gpu_facts",
    "ladder",
    "latency_hiding",
    "launch_latency",
    "matmul",
    "memory",
    "pipelining",
    "record",
    "sm_order",
    "tune",
    "turnaround",
]
