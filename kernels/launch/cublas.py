"""The same products by cuBLAS, through torch: what every kernel here is compared with."""

from collections.abc import Callable
from functools import partial

import torch

from .operands import Matrices


def cublas(dtype: str, matrices: Matrices) -> Callable[[], object]:
    """A function that computes C = A · B once, and raises RuntimeError where cuBLAS cannot do it at all. For
    fp8 cuBLAS wants A row-major, B column-major and K and N multiples of 16; other operands are copied here,
    once, so that no copy is timed. It sums as Triton does, in the tensor cores' own precision."""
    a, b, c = matrices
    if dtype == "fp8":
        one = torch.ones((), device=a.device)
        by_columns = b.T.contiguous().T
        fast = dict(out_dtype=c.dtype, use_fast_accum=True)
        return partial(torch._scaled_mm, a.contiguous(), by_columns, one, one, **fast, out=c)
    multiply = partial(torch.mm, a, b, out=c)
    if dtype not in ("fp32", "tf32"):
        return multiply

    def launch() -> None:
        before = getattr(SETTING, NAME)
        setattr(SETTING, NAME, ON if dtype == "tf32" else OFF)
        try:
            multiply()
        finally:
            setattr(SETTING, NAME, before)

    return launch


SETTING, HAS_PRECISION = torch.backends.cuda.matmul, hasattr(torch.backends.cuda.matmul, "fp32_precision")
"""How torch multiplies fp32; new versions have a name for it, older ones a boolean."""
NAME, OFF, ON = ("fp32_precision", "ieee", "tf32") if HAS_PRECISION else ("allow_tf32", False, True)


def tf32() -> bool:
    return getattr(SETTING, NAME) == ON
