"""epilogue: relu(A · B + bias), with bias and relu as kernels after the product or in its epilogue."""

from collections.abc import Callable, Mapping
from functools import cache, partial

import torch
import triton
import triton.language as tl

from tilesim.problems import Problem
from tilesim.products import Product

from ..gemm.tile_ops import compute_pid, load, multiply, store
from ..launch.operands import matrices
from .fusion import Work

WARPS, STAGES, GROUP_M = 8, 3, 8

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


def reference(given: Operands) -> torch.Tensor:
    return torch.relu(given["a"].double() @ given["b"].double() + given["bias"].double())


def separate(problem: Problem, given: Operands) -> Work:
    """This package's product, then PyTorch kernels for bias and relu."""
    run = _product(problem, given, epilogue=False)
    return Work(lambda: (run(), _after(given)), given["c"])


def fused(problem: Problem, given: Operands) -> Work:
    return Work(_product(problem, given, epilogue=True), given["c"])


def eager(problem: Problem, given: Operands) -> Work:
    """PyTorch's product, from cuBLAS, then the same two kernels."""
    multiply_them = partial(torch.mm, given["a"], given["b"], out=given["c"])
    return Work(lambda: (multiply_them(), _after(given)), given["c"])


def compiled(problem: Problem, given: Operands) -> Work:
    own, made = given["c"].detach(), _compiled_product()
    # takes over the storage of the result
    return Work(lambda: own.set_(made(given["a"], given["b"], given["bias"])), own)


@cache
def _compiled_product() -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]:
    return torch.compile(lambda a, b, bias: torch.relu(a @ b + bias), dynamic=False, fullgraph=True)


def _product(problem: Problem, given: Operands, epilogue: bool) -> Callable[[], object]:
    bm, bn, bk = problem.tile
    run = product[(triton.cdiv(problem.m, bm) * triton.cdiv(problem.n, bn),)]
    sizes = (problem.m, problem.n, problem.k, bm, bn, bk, GROUP_M, epilogue)
    tensors = (given["a"], given["b"], given["bias"], given["c"])
    return partial(run, *tensors, *sizes, num_warps=WARPS, num_stages=STAGES)


def _after(given: Operands) -> None:
    given["c"].add_(given["bias"]).relu_()


WAYS: dict[str, Callable[[Problem, Operands], Work]] = {
    "eager": eager, "torch.compile": compiled, "separate": separate, "fused": fused,
}  # fmt: skip
