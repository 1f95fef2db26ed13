"""The tensor cores' rate: wgmma with operands in shared memory, in a loop without loads."""

from dataclasses import dataclass

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper

from ..errors import KernelError
from ..gemm.stages import wgmma_layout
from ..launch.operands import DTYPES
from ..probes.spin import clocks
from .stamping import stamp, stamp_buffer

FEW = 16
"""K-steps whose fp8 sums are still exact: the accumulators keep 14 bits."""


@gluon.jit
def to_shared(x, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    """x [ROWS, COLUMNS], dense, in shared memory in wgmma's layout."""
    by_thread: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, by_thread))
    columns = gl.arange(0, COLUMNS, gl.SliceLayout(0, by_thread))
    found = gl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([ROWS, COLUMNS], x.dtype.element_ty)
    return gl.allocate_shared_memory(x.dtype.element_ty, [ROWS, COLUMNS], layout, found)


@gluon.jit(do_not_specialize=["steps"])
def multiply(stamps, a, b, c, steps, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    """c [BM, BN] = steps times a [BM, BK] by the transpose of b [BN, BK], one K-step each."""
    layout: gl.constexpr = wgmma_layout(BN, a.dtype.element_ty, gl.num_warps())
    x = to_shared(a, BM, BK)
    y = to_shared(b, BN, BK).permute((1, 0))
    acc = gl.zeros([BM, BN], gl.float32, layout)
    hopper.fence_async_shared()
    begin, begin_ns = clocks()
    for _ in range(steps):
        acc = hopper.warpgroup_mma(x, y, acc, is_async=True)
        acc = hopper.warpgroup_mma_wait(1, deps=(acc,))
    acc = hopper.warpgroup_mma_wait(0, deps=(acc,))
    stamp(stamps, begin, begin_ns, gl.to_tensor(0))
    rows = gl.arange(0, BM, gl.SliceLayout(1, layout))
    columns = gl.arange(0, BN, gl.SliceLayout(0, layout))
    gl.store(c + rows[:, None] * BN + columns[None, :], acc)


@dataclass(frozen=True, slots=True)
class Multiplying:
    """A tile (BM, BN, BK) in `dtype` by `warps` warps."""

    dtype: str
    tile: tuple[int, int, int]
    warps: int

    def operands(self, random: torch.Generator) -> list[torch.Tensor]:
        """A [BM, BK], the transpose of B [BN, BK], and C [BM, BN] filled with NaN."""
        bm, bn, bk = self.tile
        a, b = (torch.randint(-1, 2, (size, bk), generator=random, device=random.device) for size in (bm, bn))
        c = torch.full((bm, bn), torch.nan, device=random.device)
        return [a.float().to(DTYPES[self.dtype]), b.float().to(DTYPES[self.dtype]), c]

    def start(self, operands: list[torch.Tensor], blocks: int, steps: int) -> torch.Tensor:
        """Launch `steps` K-steps in each of `blocks` blocks; returns their stamps, written asynchronously."""
        bm, bn, bk = self.tile
        stamps = stamp_buffer(blocks)
        multiply[(blocks,)](stamps, *operands, steps, BM=bm, BN=bn, BK=bk, num_warps=self.warps)
        return stamps

    def check(self, random: torch.Generator) -> None:
        """Raise KernelError if the product of FEW K-steps is not exact."""
        a, b, c = operands = self.operands(random)
        self.start(operands, 1, FEW)
        if not torch.equal(c, FEW * (a.float() @ b.float().T)):
            tile = "x".join(map(str, self.tile))
            raise KernelError(f"products of {tile} in {self.dtype} on the tensor cores are wrong")
