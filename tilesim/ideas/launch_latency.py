"""Launch latency: who waits for whom where kernels are launched one after another.

A launch is asynchronous: the call returns before the kernel runs, and calls queue up in a stream. The caller
takes `call` for each; the GPU runs them in order, and between two that are ready it needs `gap`. For the
kernels i of `kernel` ns each,

    called[i] = (i + 1) · call
    begin[i]  = max(called[i], end[i - 1] + gap)
    end[i]    = begin[i] + kernel

so that, but for the first, each takes

    max(call, kernel + gap)

A kernel of at least call − gap hides its successor's call, and then the host costs nothing. A shorter one
leaves the GPU idle, and a CUDA graph helps, which is one call for many kernels. How long a call takes to
reach a GPU that is idle is left out: it delays all kernels alike.

NVIDIA, CUDA C++ Programming Guide, Asynchronous Concurrent Execution and CUDA Graphs. Inside a kernel there
is one more kind of launch, which no host sees: when a thread block ends, the next takes its place on the SM.
What that costs a schedule, tilesim.engine computes; `tilesim bench launch-latency` measures all of them.

Times are whole ns.
"""

import numpy as np

from tilesim.errors import TilesimError, whole

MOST_KERNELS = 2**20
LONGEST = 10**12

KERNEL = np.dtype([(name, np.int64) for name in ("called", "begin", "end")])
"""When the caller is done with a kernel, and when the GPU begins and ends it: ns from the first call."""


def timeline(kernels: int, kernel: int, call: int, gap: int) -> np.ndarray:
    """When so many kernels are called and run: KERNEL [kernels]. With a `call` of 0 all are ready at once.

    Raises TilesimError for numbers out of range.

    >>> timeline(3, kernel=5, call=17, gap=1).tolist()
    [(17, 17, 22), (34, 34, 39), (51, 51, 56)]
    >>> timeline(3, kernel=30, call=17, gap=1)["begin"].tolist()
    [17, 48, 79]
    """
    kernels = whole("the number of kernels", kernels, 1, MOST_KERNELS, TilesimError)
    kernel, call, gap = _checked(kernel, call, gap)
    made = np.zeros(kernels, KERNEL)
    made["called"] = call * np.arange(1, kernels + 1)
    number = np.arange(kernels)
    # Each begins a turn after the one before, or when it was called, whichever is later.
    turn = kernel + gap
    made["begin"] = np.maximum.accumulate(made["called"] - turn * number) + turn * number
    made["end"] = made["begin"] + kernel
    return made


def each(kernel: int, call: int, gap: int) -> int:
    """What a kernel of a long row takes, ns, with the host's work. Raises what `timeline` raises.

    >>> each(kernel=5, call=17, gap=1), each(kernel=30, call=17, gap=1)
    (17, 31)
    """
    kernel, call, gap = _checked(kernel, call, gap)
    return max(call, kernel + gap)


def hides(call: int, gap: int) -> int:
    """The shortest kernel, ns, that hides a call. Raises what `timeline` raises.

    >>> hides(call=17, gap=1)
    16
    """
    _, call, gap = _checked(0, call, gap)
    return max(0, call - gap)


def idle(kernel: int, call: int, gap: int) -> float:
    """The share of a long row's time in which the GPU runs no kernel. Raises what `timeline` raises.

    >>> idle(kernel=5, call=20, gap=1), idle(kernel=30, call=20, gap=10)
    (0.75, 0.25)
    """
    whole_turn = each(kernel, call, gap)
    return 1 - kernel / whole_turn if whole_turn else 0.0


def _checked(kernel: int, call: int, gap: int) -> tuple[int, int, int]:
    times = {"the kernel's time": kernel, "the call's time": call, "the gap": gap}
    kernel, call, gap = (whole(name, value, 0, LONGEST, TilesimError) for name, value in times.items())
    return kernel, call, gap
