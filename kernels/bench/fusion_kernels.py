"""fusion: a chain of elementwise functions, and a product with bias and relu, as several kernels or one.

The functions alternate between multiplications and additions, x = x · 1.5, x = x + 0.25, ..., of one FLOP
each; two of them are one FFMA. After all eight, x is unchanged but for SHIFTS[-1] and rounding, so chains of
any length stay in range.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
import triton
import triton.language as tl

from tilesim.problems import Problem
from tilesim.products import Product

from ..gemm.tile_ops import compute_pid, load, multiply, store
from ..launch.operands import matrices

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
    own, made = y.detach(), torch.compile(chain, dynamic=False, fullgraph=True)
    return Work(lambda: own.set_(made(x, functions)), own)  # takes over the storage of the result


WAYS = {"eager": eager, "torch.compile": compiled, "fused": fused}


TILE_WARPS, STAGES, GROUP_M = 8, 3, 8

Operands = Mapping[str, torch.Tensor]
"""a [M, K], b [K, N], bias [N] and c [M, N], dense and row-major."""


@triton.jit
def product(
    a, b, bias, c,  # [M, K], [K, N], [N], [M, N]
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP_M: tl.constexpr,
    EPILOGUE: tl.constexpr,  # c = relu(a · b + bias) if true, else a · b
):  # fmt: skip
    pid_m, pid_n = compute_pid(tl.program_id(0), None, M, N, BM, BN, "grouped", GROUP_M)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        x = load(a, pid_m * BM, k * BK, M, K, None, BM, BK, False, False)  # [BM, BK]
        y = load(b, k * BK, pid_n * BN, K, N, None, BK, BN, False, False)  # [BK, BN]
        acc = multiply(x, y, acc, "ieee")  # [BM, BN]
    if EPILOGUE:
        columns = pid_n * BN + tl.arange(0, BN)
        added = tl.load(bias + columns, mask=columns < N, other=0.0).to(tl.float32)  # [BN]
        acc = tl.maximum(acc + added[None, :], 0.0)
    store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, False)


def operands(problem: Problem, device: str, seed: int) -> Operands:
    """Random operands, with a bias about as large as the products."""
    a, b, c = matrices(Product.of(problem), device, seed)
    random = torch.Generator(device).manual_seed(seed)
    bias = problem.k**0.5 * torch.randn(problem.n, generator=random, device=device)
    return {"a": a, "b": b, "bias": bias.to(c.dtype), "c": c}


def product_of(given: Operands) -> torch.Tensor:
    return torch.relu(given["a"].double() @ given["b"].double() + given["bias"].double())


def separate(problem: Problem, given: Operands) -> Work:
    """This package's product, then PyTorch kernels for bias and relu."""
    run = _product(problem, given, epilogue=False)
    return Work(lambda: (run(), _after(given)), given["c"])


def with_epilogue(problem: Problem, given: Operands) -> Work:
    return Work(_product(problem, given, epilogue=True), given["c"])


def eager_product(problem: Problem, given: Operands) -> Work:
    """PyTorch's product, from cuBLAS, then the same two kernels."""
    multiply_them = partial(torch.mm, given["a"], given["b"], out=given["c"])
    return Work(lambda: (multiply_them(), _after(given)), given["c"])


def compiled_product(problem: Problem, given: Operands) -> Work:
    own = given["c"].detach()
    made = torch.compile(lambda a, b, bias: torch.relu(a @ b + bias), dynamic=False, fullgraph=True)
    return Work(lambda: own.set_(made(given["a"], given["b"], given["bias"])), own)


def _product(problem: Problem, given: Operands, epilogue: bool) -> Callable[[], object]:
    bm, bn, bk = problem.tile
    run = product[(triton.cdiv(problem.m, bm) * triton.cdiv(problem.n, bn),)]
    sizes = (problem.m, problem.n, problem.k, bm, bn, bk, GROUP_M, epilogue)
    tensors = (given["a"], given["b"], given["bias"], given["c"])
    return partial(run, *tensors, *sizes, num_warps=TILE_WARPS, num_stages=STAGES)


def _after(given: Operands) -> None:
    given["c"].add_(given["bias"]).relu_()


PRODUCT_WAYS: dict[str, Callable[[Problem, Operands], Work]] = {
    "eager": eager_product, "torch.compile": compiled_product, "separate": separate, "fused": with_epilogue,
}  # fmt: skip
