"""element: one program, of one warp, per output element, which reads a row of A and a column of B for it."""

import triton
import triton.language as tl

from .jobs import job_of


@triton.jit
def element(
    a, b, c,  # pointers to [M, K], [K, N], [M, N]
    M, N, K,
    BK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0)
    m = tl.cast(i // N, tl.int64)
    n = i % N
    acc = tl.zeros((BK,), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(a + (m * K + k), mask=k < K, other=0.0)  # [BK], contiguous
        y = tl.load(b + (tl.cast(k, tl.int64) * N + n), mask=k < K, other=0.0)  # [BK], stride N
        acc += x.to(tl.float32) * y.to(tl.float32)
    tl.store(c + (m * N + n), tl.sum(acc).to(c.dtype.element_ty))


job = job_of(element, ctas=lambda config, problem, device: problem.m * problem.n)
