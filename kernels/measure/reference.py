"""The plain product in float64, against which a kernel is verified before it is timed."""

from collections.abc import Callable

import torch

from tilesim.products import Product

from ..errors import KernelError
from ..launch.operands import Matrices

TOLERANCE = {"fp16": 1e-3, "bf16": 5e-3, "fp32": 1e-5, "tf32": 2e-3, "fp8": 1e-2}
"""Largest allowed |C - reference| / |reference| (Frobenius): some times the rounding of C to its dtype.

tf32: of its operands, of which the tensor cores drop all but 10 bits after the point, 8e-4 together. fp8: of
C to bf16, and of sums that Hopper's tensor cores keep to 14 bits (DeepSeek-V3, arXiv 2412.19437, 3.3.2).
The reference multiplies the operands as they are in their dtype, so their own rounding is no part of it.
"""

ROWS = 1024
"""Rows of the reference held at a time."""


def relative_error(matrices: Matrices) -> float:
    """|C - A·B| / |A·B| with A·B in float64; NaN where C holds one."""
    a, b, c = matrices
    wrong = right = 0.0
    wide = b.double()
    for row in range(0, a.shape[0], ROWS):
        reference = a[row : row + ROWS].double() @ wide  # [ROWS, N]
        wrong += float((c[row : row + ROWS].double() - reference).square().sum())
        right += float(reference.square().sum())
    return (wrong / right) ** 0.5


def verify_result(name: str, run: Callable[[], object], product: Product, matrices: Matrices) -> float:
    """The relative error of a product, `verified` to be at most TOLERANCE."""
    what = f"{name} gets {product} wrong"
    return verified(what, matrices[2], run, lambda: relative_error(matrices), TOLERANCE[product.dtype])


def verified(
    wrong: str, result: torch.Tensor, run: Callable[[], object], error: Callable[[], float], tolerance: float
) -> float:
    """Poison the result with NaN, run once, and return the relative error, to three digits. Raises
    KernelError, so that nothing is timed, where the error is above `tolerance` or not all was written; it
    begins with `wrong`."""
    result.fill_(torch.nan)
    run()
    found = error()
    if not found <= tolerance:
        raise KernelError(
            f"{wrong}: its relative error is {found:.1e}, at most {tolerance:.0e} is allowed, so it was not"
            " timed"
        )
    return float(f"{found:.3g}")
