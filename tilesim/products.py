"""Product: a matrix product as such, whatever computes it."""

from dataclasses import dataclass
from typing import Annotated

from tilesim.errors import ProblemError
from tilesim.problems import DTYPE_BYTES, Dtype, Problem, Size
from tilesim.storage.decode import check, one_of

LAYOUTS = ("nn", "nt", "tn", "tt")
"""A and B, each row-major ("n") or column-major ("t"): "nt" is what a linear layer multiplies, x · Wᵀ."""


@dataclass(frozen=True, slots=True)
class Product:
    """C[m,n] = A[m,k] · B[k,n]. `dtype` is that of A and B, `layout` one of LAYOUTS.

    Raises ProblemError for a size below 1, an unknown dtype, or another layout.
    """

    m: Size
    n: Size
    k: Size
    dtype: Dtype = "bf16"
    layout: Annotated[str, one_of(LAYOUTS)] = "nn"

    def __post_init__(self) -> None:
        check(self, ProblemError)

    @classmethod
    def of(cls, problem: Problem, layout: str = "nn") -> "Product":
        return cls(problem.m, problem.n, problem.k, problem.dtype, layout)

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    @property
    def operand_bytes(self) -> int:
        """Bytes of an element of A and of B."""
        return DTYPE_BYTES[self.dtype]

    @property
    def result_bytes(self) -> int:
        """Bytes of an element of C, which is bf16 if A and B are fp8."""
        return max(2, DTYPE_BYTES[self.dtype])

    @property
    def misaligned(self) -> str:
        """Why TMA cannot load or store its dense matrices, "" if it can.

        >>> Product(64, 100, 64).misaligned
        "B's lines have 200 bytes, and TMA needs a multiple of 16"
        """
        lines = (
            ("A", self.k if self.layout[0] == "n" else self.m, self.operand_bytes),
            ("B", self.n if self.layout[1] == "n" else self.k, self.operand_bytes),
            ("C", self.n, self.result_bytes),
        )
        for name, length, each in lines:
            if length * each % TMA_BYTES:
                return f"{name}'s lines have {length * each} bytes, and TMA needs a multiple of {TMA_BYTES}"
        return ""

    def __str__(self) -> str:
        """As tables print it."""
        return f"{self.m}x{self.n}x{self.k} {self.dtype} {self.layout}"


TMA_BYTES = 16
"""TMA's addresses and row strides are multiples of this (CUDA driver API, cuTensorMapEncodeTiled)."""
