"""Operands: fresh random matrices, enough sets of them that a rotation does not stay in the L2 cache, and how
they lie in memory.

The *lines* of a matrix, its rows if it is row-major and else its columns, may lie further apart than they are
long, as in a slice of a larger matrix. A layout is one of tilesim.products.LAYOUTS.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch

from tilesim.products import Product

from ..errors import KernelError

DTYPES = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "tf32": torch.float32,  # its products have operands of 10 bits after the point
    "fp8": torch.float8_e4m3fn,
}
"""The dtypes of A and B by their names; sums are fp32 always."""

RESULTS = DTYPES | {"fp8": torch.bfloat16}
"""The dtype of C by that of A and B."""

Matrices = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""A [M, K] and B [K, N], row- or column-major (see `lines`), and C [M, N], row-major and dense."""

VECTORS = "of as many vectors as are over 3 times the L2, at least 2 and at most 32"


def matrices(product: Product, device: str, seed: int) -> Matrices:
    """A and B standard normal and dense, C full of NaN."""
    random = torch.Generator(device).manual_seed(seed)
    dtype = DTYPES[product.dtype]
    a = torch.randn(product.m, product.k, generator=random, device=device).to(dtype)
    b = torch.randn(product.k, product.n, generator=random, device=device).to(dtype)
    a, b = (x.T.contiguous().T if way == "t" else x for x, way in zip((a, b), product.layout, strict=True))
    c = torch.full((product.m, product.n), torch.nan, device=device, dtype=RESULTS[product.dtype])
    return a, b, c


def size_bytes(product: Product) -> int:
    """Bytes of one A, B and C."""
    m, n, k = product.m, product.n, product.k
    operands = DTYPES[product.dtype].itemsize * (m * k + k * n)
    return operands + RESULTS[product.dtype].itemsize * m * n


def sets_beyond_l2(product: Product) -> int:
    """How many operand sets a rotation needs on this GPU, see `beyond_l2`."""
    return beyond_l2(size_bytes(product))


def beyond_l2(size: int) -> int:
    """How many sets of `size` bytes are at least 3 times the L2: at least 2, at most 32."""
    l2 = torch.cuda.get_device_properties().L2_cache_size
    return min(32, max(2, -(-3 * l2 // size)))


@contextmanager
def memory_for(needed: int, what: str) -> Iterator[None]:
    """Raise KernelError, in one sentence, where the work inside, of `needed` bytes, does not fit this GPU."""
    total = torch.cuda.get_device_properties().total_memory
    short = KernelError(f"{what}; this GPU has {total / 1e9:.1f} GB")
    if needed > total:
        raise short
    try:
        yield
    except torch.OutOfMemoryError:
        raise short from None


def gpu_memory(product: Product) -> AbstractContextManager[None]:
    """The same for two sets of operands."""
    size = size_bytes(product)
    what = f"{product.m}x{product.n}x{product.k} in {product.dtype} takes {size / 1e9:.1f} GB"
    return memory_for(2 * size, f"{what}, needed twice and with a float64 reference beside")


def lines(x: torch.Tensor) -> tuple[torch.Tensor, bool] | None:
    """(x, False), or its transpose and True, as a view whose rows are dense; None where neither's are. The
    view's first stride is how many elements lie between the beginnings of two lines, and where there are
    fewer than two, a line's length. Nothing is copied."""
    for view, trans in ((x, False), (x.T, True)):
        rows, columns = view.shape
        if columns <= 1 or view.stride(1) == 1:
            return view.as_strided((rows, columns), (view.stride(0) if rows > 1 else columns, 1)), trans
    return None


def layout(a: torch.Tensor, b: torch.Tensor) -> str:
    """One of LAYOUTS, of operands that have lines."""
    return "".join("nt"[trans] for _, trans in filter(None, map(lines, (a, b))))
