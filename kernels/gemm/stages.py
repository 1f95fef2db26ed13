"""Shared code of warp-specialized kernels: a circular buffer of stages in shared memory, with mbarriers.

One warp, the producer, loads by TMA. Groups of 4 or 8 warps, the consumers, multiply with wgmma and store C.
Each stage holds one K-step of A and B and has two mbarriers: `full` completes when the bytes have arrived,
`empty` when they have been multiplied. A barrier's phase flips in every round through the stages, and a wait
names the parity of the phase that must have completed. In its first round a producer has nothing to wait for,
so it begins with the odd parity.

The kernels are written in Gluon, because Triton's tile language cannot assign work to warps. They need wgmma,
which only sm_90 has; the interpreter cannot run them. With programmatic dependent launch, a kernel's blocks
are set up while its predecessor ends, and `produce` waits for all of the predecessor's writes before its
first load. Consumers depend on such loads and need no wait.
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.language.extra.cuda import gdc_wait

from tilesim.choice.sharing import dependent_launch
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..errors import KernelError
from ..launch.here import INTERPRETED, limits, no_tma
from .stream_k import corner, cta_of, segment, segment_count

DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16, torch.float8_e4m3fn: gl.float8e4nv}
"""wgmma takes 16-bit operands in either major order; fp8 must lie along K."""


def shared_bytes_here(config: KernelConfig, product: Product) -> int:
    """Shared memory that a thread block can have on this GPU. Raises KernelError where Triton interprets,
    without a GPU, and for operands that TMA cannot load."""
    if INTERPRETED:
        raise KernelError(f"{config.kernel} is written in Gluon, which Triton's interpreter cannot run")
    if config.loads != "tma" or (why := no_tma(product)):
        reason = why if config.loads == "tma" else "these operands it cannot load"
        raise KernelError(f"{config.kernel} loads by TMA alone, and {reason}")
    here = limits()
    if here is None:
        raise KernelError(f"{config.kernel} needs an NVIDIA GPU, and there is none")
    return here.shared_bytes()


def uses_dependent_launch(config: KernelConfig, product: Product, device: Device) -> bool:
    return dependent_launch(config, product, device, Hardware.named(device.name or REFERENCE, product.dtype))


def descriptor(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """A TMA descriptor of x in boxes [rows, columns], in the layout that wgmma reads."""
    return TensorDescriptor.from_tensor(
        x, block, gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    )


POOLED = 2**22
"""int32 of a GPU's pool, enough for some thousand captured launches."""

_left: dict[int, torch.Tensor] = {}
"""By the GPU's index: what of its pool no launch has."""


def flags(rows: int, columns: int) -> torch.Tensor:
    """Zeros on this GPU that no other launch has, and that each launch leaves zero: int32 [rows, columns].
    What is allocated while a CUDA graph is captured would be set to zero at each replay, by a kernel of its
    own that takes as long as a small product. So captured launches get flags from a pool that was zeroed
    once, and each keeps its own for good, since nobody tells when a graph is gone."""
    here, size = torch.cuda.current_device(), rows * columns
    if torch.cuda.is_current_stream_capturing():
        left = _left.get(here)
        if left is not None and size <= len(left):
            _left[here] = left[size:]
            return left[:size].view(rows, columns)
    elif here not in _left:
        _left[here] = torch.zeros(POOLED, dtype=torch.int32, device="cuda")
    return torch.zeros(rows, columns, dtype=torch.int32, device="cuda")


# Triton 3.6 has the long names, Triton 3.9 the short ones.
tma_load = getattr(hopper.tma, "async_load", None) or hopper.tma.async_copy_global_to_shared
tma_store = getattr(hopper.tma, "async_store", None) or hopper.tma.async_copy_shared_to_global

CONSUMER_REGISTERS, PRODUCER_REGISTERS = gl.constexpr(240), gl.constexpr(24)
"""Per thread; two consumer groups of 128 threads and a producer group then use all registers of an SM."""


@gluon.jit
def allocate_stages(x, STAGES: gl.constexpr):
    return gl.allocate_shared_memory(x.dtype, [STAGES] + x.block_type.shape, x.layout)  # noqa: RUF005


@gluon.jit
def allocate_barriers(STAGES: gl.constexpr, GROUPS: gl.constexpr = 1):
    """(full, empty): one mbarrier per stage each; empty takes one arrival per consumer group and round."""
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], hopper.mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], hopper.mbarrier.MBarrierLayout())
    for stage in gl.static_range(STAGES):
        hopper.mbarrier.init(full.index(stage), count=1)
        hopper.mbarrier.init(empty.index(stage), count=GROUPS)
    return full, empty


@gluon.jit
def produce(
    a, b, smem_a, smem_b, full, empty, tile_order, shared, M, N, K,
    BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr,
    ORDER: gl.constexpr, GROUP_M: gl.constexpr, SPLIT: gl.constexpr,
    TRANS_A: gl.constexpr, TRANS_B: gl.constexpr, GROUPS: gl.constexpr = 1,
    b_rest=None, smem_rest=None, REST: gl.constexpr = 0,
):  # fmt: skip
    """Load every K-step of this block's segments as soon as its stage is empty: A in one box for each of
    GROUPS, and the last REST columns of B in a box of their own."""
    gdc_wait()
    stage = 0
    phase = 1
    ctas = gl.num_programs(0)
    cta = cta_of(gl.program_id(0), ctas, shared, SPLIT)
    k_steps = gl.cdiv(K, BK)
    for s in range(segment_count(cta, ctas, shared, gl.cdiv(M, BM) * gl.cdiv(N, BN), k_steps, SPLIT)):
        i, k0, k1 = segment(s, cta, ctas, shared, k_steps, SPLIT)
        row, column = corner(i, tile_order, M, N, ctas, shared, BM, BN, ORDER, GROUP_M, SPLIT)
        for k in range(k0, k1):
            hopper.mbarrier.wait(empty.index(stage), phase)
            hopper.mbarrier.expect(full.index(stage), (BM + BN) * BK * a.dtype.primitive_bitwidth // 8)
            for group in gl.static_range(GROUPS):
                rows = row + group * (BM // GROUPS)
                load_stage(a, rows, k * BK, full.index(stage), smem_a.index(stage * GROUPS + group), TRANS_A)
            load_stage(b, k * BK, column, full.index(stage), smem_b.index(stage), TRANS_B)
            if REST:
                rest = column + (BN - REST)
                load_stage(b_rest, k * BK, rest, full.index(stage), smem_rest.index(stage), TRANS_B)
            stage, phase = next_stage(stage, phase, STAGES)


@gluon.jit
def load_stage(x, row, column, full, smem, TRANS: gl.constexpr):
    """Load the block at (row, column) of x, or with TRANS of its transpose, into `smem` in x's own layout."""
    tma_load(x, [column, row] if TRANS else [row, column], full, smem)


@gluon.constexpr_function
def wgmma_layout(columns, dtype, warps):
    """The layout of accumulators, `columns` wide, of products of this dtype by so many warps."""
    return gl.NVMMADistributedLayout([3, 0], [warps, 1], [16, columns, 256 // dtype.primitive_bitwidth])


@gluon.jit
def turned(smem, TRANS: gl.constexpr):
    """`smem`, or its transpose: wgmma reads 16-bit types along either dimension."""
    return smem.permute((1, 0)) if TRANS else smem


@gluon.jit
def next_stage(stage, phase, STAGES: gl.constexpr):
    stage += 1
    if stage == STAGES:
        stage = 0
        phase ^= 1
    return stage, phase


@gluon.jit
def stamp(stamps, i, WORD: gl.constexpr):
    """Write the time to a word of row i: 2 before a group's first wgmma of a tile, when its operands have
    arrived, 4 after the last one, and 6 when the tile is in the hands of TMA; see the module stamps."""
    now = gl.inline_asm_elementwise(
        "mov.u64 $0, %globaltimer;", "=l", [], dtype=gl.int64, is_pure=False, pack=1
    )  # fmt: skip
    gl.store(stamps + i.to(gl.int64) * 16 + WORD, now)


@gluon.jit
def store_pieces(
    c, smem, BUFFERS: gl.constexpr, x, row, column, stored, GROUP: gl.constexpr,
    ROWS: gl.constexpr, COLUMNS: gl.constexpr, WIDTH: gl.constexpr, layout: gl.constexpr,
):  # fmt: skip
    """Store x [ROWS, COLUMNS] in pieces of WIDTH columns, through a group's BUFFERS in turn; returns the
    number of pieces `stored` so far."""
    if COLUMNS == WIDTH:
        smem = smem.index(BUFFERS * GROUP + stored % BUFFERS)
        store_subtile(c, smem, x, row, column, layout, BUFFERS - 1)
        return stored + 1
    else:
        HALF: gl.constexpr = COLUMNS // 2
        left, right = x.reshape([ROWS, 2, HALF]).permute(0, 2, 1).split()  # each thread has registers of both
        stored = store_pieces(c, smem, BUFFERS, left, row, column, stored, GROUP, ROWS, HALF, WIDTH, layout)
        column += HALF
        return store_pieces(c, smem, BUFFERS, right, row, column, stored, GROUP, ROWS, HALF, WIDTH, layout)


@gluon.jit
def store_subtile(
    c, smem, subtile, row, column, layout: gl.constexpr, PENDING: gl.constexpr, TRANS: gl.constexpr = False
):  # fmt: skip
    """Store an epilogue subtile, or with TRANS its transpose, to c at (row, column) by TMA, through `smem`.
    `smem` is free once at most PENDING of this thread block's TMA stores still read shared memory."""
    subtile = gl.convert_layout(subtile.to(c.dtype), layout)
    hopper.tma.store_wait(PENDING)
    turned(smem, TRANS).store(subtile)
    hopper.fence_async_shared()
    tma_store(c, [row, column], smem)
