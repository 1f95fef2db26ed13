"""Matrix multiplication kernels in Triton, and the measuring of them.

    gemm/             the kernels, a file each, and the device functions that they share
    ideas/            small kernels, each of which shows one idea by its time
    reductions/       five kernels that sum a vector
    launch/           from a problem and a variant to a launch: configuration, operands, plan tables, jobs
    measure/          kernel times by graph replay, the float64 reference, and recorded traces
    bench/            kernels timed beside each other and beside libraries
    tuning/           the fastest kernel for each shape, and the table of them
    probes/           kernels that measure the GPU itself
    microbenchmarks/  its memory system and its tensor cores, one figure at a time
    matmul.py         the torch operator

What they offer:

    record(schedule, problem) -> Trace    when and where each tile ran on this machine's GPU
    matmul(a, b) -> Tensor                A · B by the fastest kernel known for the shape
    bench(problem, ...) -> dict           kernel times beside cuBLAS; NAMES are those it knows
    tune(problem, ...) -> dict            the table of the fastest kernels, which matmul reads
    bank_conflicts() -> dict              what sums do to shared memory, counted
    bench_reductions(n, ...) -> dict      times of sums, beside a copy and torch.sum
    busy_sms(problem, ...) -> dict        kernel times while another kernel holds some of the SMs
    coalescing() -> dict                  uncoalesced loads against coalesced ones
    divergence() -> dict                  a branch and a loop that lanes take in 1 to 32 ways
    execution_model() -> dict             what an SM holds at once, and where its warps are
    fusion() -> dict                      chains of functions, one kernel each or all in one
    l2_order() -> dict                    one kernel, tiles in three orders: times, bytes out of DRAM
    ladder() -> dict                      every step from one program per element to the fastest kernel
    latency_hiding() -> dict              y = a * x + y by 1 to 32 warps an SM, and by threads of the host
    launch_latency() -> dict              what a launch takes the host, a stream, a graph and an SM
    loop_unrolling() -> dict              a sum with 1 to 16 loads a turn, and chains of multiply-adds
    memory_hierarchy() -> dict            bytes that cubes ask for, and what of them comes from L2 and DRAM
    pipelining() -> dict                  one kernel with 1, 2, 3 and 4 stages
    split_k_and_friends() -> dict         schedules for products whose last wave is nearly empty
    thread_indexing() -> dict             one sum, with neighbouring threads ever further apart
    tiling_hierarchy() -> dict            the tensor cores' rate by the columns of a wgmma
    turnaround() -> dict                  from a thread block's end to its successor's begin
    sm_order() -> dict                    which SM gets which thread block
    gpu_facts() -> dict                   what the driver says of this GPU, as a device file
    memory() -> dict                      latencies and bandwidths of shared memory, L2 and DRAM

Importing this needs torch and triton; running it, an NVIDIA GPU, or for products Triton's interpreter.
"""

from .bench.bank_conflicts import bank_conflicts
from .bench.bench import NAMES, bench
from .bench.busy_sms import busy_sms
from .bench.coalescing import coalescing
from .bench.divergence import divergence
from .bench.execution_model import execution_model
from .bench.fusion import fusion
from .bench.l2_order import l2_order
from .bench.ladder import ladder
from .bench.latency_hiding import latency_hiding
from .bench.launch_latency import launch_latency
from .bench.loop_unrolling import loop_unrolling
from .bench.memory_hierarchy import memory_hierarchy
from .bench.pipelining import pipelining
from .bench.reductions import bench_reductions
from .bench.split_k_and_friends import split_k_and_friends
from .bench.thread_indexing import thread_indexing
from .bench.tiling_hierarchy import tiling_hierarchy
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
    "bank_conflicts",
    "bench",
    "bench_reductions",
    "busy_sms",
    "coalescing",
    "divergence",
    "execution_model",
    "fusion",
    "gpu_facts",
    "l2_order",
    "ladder",
    "latency_hiding",
    "launch_latency",
    "loop_unrolling",
    "matmul",
    "memory",
    "memory_hierarchy",
    "pipelining",
    "record",
    "sm_order",
    "split_k_and_friends",
    "thread_indexing",
    "tiling_hierarchy",
    "tune",
    "turnaround",
]
