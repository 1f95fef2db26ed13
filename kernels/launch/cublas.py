"""The same products by cuBLAS, through torch: what every kernel here is compared with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        with _tf32(dtype == "tf32"):
            multiply()

    return launch


def tf32() -> bool:
    setting = torch.backends.cuda.matmul
    return setting.fp32_precision == "tf32" if hasattr(setting, "fp32_precision") else setting.allow_tf32


@contextmanager
def _tf32(wanted: bool) -> Iterator[None]:
    setting = torch.backends.cuda.matmul
    name = "fp32_precision" if hasattr(setting, "fp32_precision") else "allow_tf32"
    before = getattr(setting, name)
    setattr(setting, name, {True: "tf32", False: "ieee"}[wanted] if name == "fp32_precision" else wanted)
    try:
        yield
    finally:
        setattr(setting, name, before)
