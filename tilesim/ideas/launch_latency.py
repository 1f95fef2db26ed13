"""Launch latency: when kernels that are launched in sequence run, and when the GPU is idle.

The host takes `call` per launch, and the GPU needs `gap` between two kernels. For kernels of `kernel` ns,

    called[i] = (i + 1) · call
    begin[i]  = max(called[i], end[i - 1] + gap)
    end[i]    = begin[i] + kernel

so each kernel but the first takes max(call, kernel + gap). Times are whole ns. Source: NVIDIA, CUDA C++
Programming Guide, Asynchronous Concurrent Execution and CUDA Graphs.
"""

import numpy as np

KERNEL = np.dtype([(name, np.int64) for name in ("called", "begin", "end")])
"""When the host has launched a kernel, and when the GPU begins and ends it: ns since the first call."""


def timeline(kernels: int, kernel: int, call: int, gap: int) -> np.ndarray:
    """When each kernel is launched and runs: KERNEL [kernels]. With `call=0` all are ready at once."""
    made = np.zeros(kernels, KERNEL)
    made["called"] = call * np.arange(1, kernels + 1)
    number = np.arange(kernels)
    turn = kernel + gap
    made["begin"] = np.maximum.accumulate(made["called"] - turn * number) + turn * number
    made["end"] = made["begin"] + kernel
    return made


def each(kernel: int, call: int, gap: int) -> int:
    """ns per kernel in a long sequence, launches included."""
    return max(call, kernel + gap)


def hides(call: int, gap: int) -> int:
    """The shortest kernel, in ns, that hides a call."""
    return max(0, call - gap)


def idle(kernel: int, call: int, gap: int) -> float:
    """The fraction of a long sequence in which the GPU runs no kernel."""
    turn = each(kernel, call, gap)
    return 1 - kernel / turn if turn else 0.0
