"""Matrix multiplication kernels in Triton, and the measuring of them.

    naive.py, persistent.py   the kernels, one file each; a schedule's name is its kernel's
    reductions/               five kernels that sum a vector
    record(schedule, problem) -> Trace    when and where each tile ran on this machine's GPU
    bench(problem, ...) -> dict           kernel times beside cuBLAS
    KERNELS                               the names that bench knows
    bench_reductions(n, ...) -> dict      the same of sums, beside a copy and torch.sum
    turnaround() -> dict                  from a thread block's end to its successor's begin
    sm_order() -> dict                    which SM gets which thread block

Importing this needs torch and triton; running it on anything but Triton's interpreter, an NVIDIA GPU.
"""

from ._bench import KERNELS, bench
from ._errors import KernelError
from ._record import record
from ._reductions import bench_reductions
from ._sm_order import sm_order
from ._turnaround import turnaround

__all__ = ["KERNELS", "KernelError", "bench", "bench_reductions", "record", "sm_order", "turnaround"]
