"""fusion: a chain of elementwise functions, as one kernel each or all in one.

The functions alternate between multiplications and additions, x = x · 1.5, x = x + 0.25, ..., of one FLOP
each; two of them are one FFMA. After all eight, x is unchanged but for SHIFTS[-1] and rounding, so chains of
any length stay in range.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import torch
import triton
import triton.language as tl

SCALES = (1.5, 0.5, 2.0, 2 / 3)
SHIFTS = (0.25, -0.5, 0.75, 2**-10)
PERIOD = len(SCALES) + len(SHIFTS)
"""Functions after which a chain repeats."""

BLOCK, WARPS = 1024, 4
"""Elements per thread block, 8 per thread, and its warps."""


@triton.jit
def one_kernel(
    x, y,  # fp32 [n], read and written
    n,
    ROUNDS: tl.constexpr, REST: tl.constexpr,  # functions: ROUNDS times all, then the first REST
    SCALES: tl.constexpr, SHIFTS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)  # [BLOCK]
    for _ in range(ROUNDS):
        for number in tl.static_range(2 * len(SCALES)):
            value = function(value, number, SCALES, SHIFTS)
    for number in tl.static_range(REST):
        value = function(value, number, SCALES, SHIFTS)
    tl.store(y + at, value, mask=at < n)


@triton.jit
def function(value, NUMBER: tl.constexpr, SCALES: tl.constexpr, SHIFTS: tl.constexpr):
    if NUMBER % 2 == 0:
        return value * SCALES[NUMBER // 2]
    else:
        return value + SHIFTS[NUMBER // 2]


@dataclass(frozen=True, slots=True)
class Work:
    """A launch of one or more kernels, and the tensor that it fills."""

    launch: Callable[[], object]
    result: torch.Tensor


def step(x: torch.Tensor, number: int, out: torch.Tensor | None = None) -> torch.Tensor:
    pair, shift = divmod(number % PERIOD, 2)
    return torch.add(x, SHIFTS[pair], out=out) if shift else torch.mul(x, SCALES[pair], out=out)


def chain(x: torch.Tensor, functions: int) -> torch.Tensor:
    """x after `functions` functions, as PyTorch users write it."""
    for number in range(functions):
        x = step(x, number)
    return x


def eager(functions: int, x: torch.Tensor, y: torch.Tensor, spare: torch.Tensor) -> Work:
    """One kernel per function. All but the last alternate between `spare` and y, as PyTorch's do."""
    outs = [(y, spare)[(functions - 1 - number) % 2] for number in range(functions)]

    def launch() -> None:
        value = x
        for number, out in enumerate(outs):
            value = step(value, number, out)

    return Work(launch, y)


def fused(functions: int, x: torch.Tensor, y: torch.Tensor, spare: torch.Tensor) -> Work:
    run = one_kernel[(triton.cdiv(len(x), BLOCK),)]
    about = (*divmod(functions, PERIOD), SCALES, SHIFTS, BLOCK)
    return Work(partial(run, x, y, len(x), *about, num_warps=WARPS), y)


def compiled(functions: int, x: torch.Tensor, y: torch.Tensor, spare: torch.Tensor) -> Work:
    own, made = y.detach(), _compiled_chain()
    return Work(lambda: own.set_(made(x, functions)), own)  # takes over the storage of the result


@cache
def _compiled_chain() -> Callable[[torch.Tensor, int], torch.Tensor]:
    return torch.compile(chain, dynamic=False, fullgraph=True)


WAYS = {"eager": eager, "torch.compile": compiled, "fused": fused}
