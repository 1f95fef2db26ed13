"""Tiling hierarchy: what each level of tiles of a matrix product reads, and the bandwidth that it needs.

A piece of C of m x n over a stretch k of the reduction does 2mnk FLOP and reads k(m + n) elements of A and B.
Four levels are nested: the grid's product reads HBM, each byte once; a thread block's tile the L2; a warp
group's tile shared memory, each byte once; and a wgmma of 4 warps shared memory, into the tensor cores.

wgmma multiplies m64nNkK: N is a multiple of 8 up to 256, and K is 32 bytes of an operand (NVIDIA, PTX ISA
9.0, section 9.7.15). Tensor cores do R multiply-adds per clock (H100 whitepaper V1.04, table 2), so a level
whose pieces do f multiply-adds on b bytes needs b · R / f bytes per clock and SM; with less, they run at the
fraction that they get. The L2 sends more where concurrent tiles read the same lines.
"""

from typing import NamedTuple

from tilesim.devices.hardware import DRAM_SHARE, Hardware
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError, ProblemError, shown
from tilesim.problems import DTYPE_BYTES, Problem

GROUP = 4
"""Warps per warp group (PTX ISA)."""
ROWS = 64
"""Rows of a wgmma."""
DEPTH_BYTES = 32
"""K of a wgmma, in bytes per operand row."""
MOST_COLUMNS, COLUMN_STEP = 256, 8
"""The maximum N of a wgmma, and what N must be a multiple of."""
DTYPES = ("fp16", "bf16", "tf32", "fp8", "int8")
"""The dtypes of a Problem that wgmma multiplies."""
MOST_WARPS = 32


class Level(NamedTuple):
    """A level of the hierarchy, with pieces of `shape` (m, n, k) that read from `source`.

    `flops`, `bytes`: per piece. In bytes per clock and SM, `needs`: what keeps the tensor cores busy;
    `gives`: what the source sends if SMs read different lines; `merged`: if neighbors read the same ones, 0
    if that makes no difference.
    """

    name: str
    shape: tuple[int, int, int]
    source: str
    flops: int
    bytes: int
    needs: float
    gives: float
    merged: float = 0.0

    @property
    def intensity(self) -> float:
        """FLOP per byte read."""
        return self.flops / self.bytes

    @property
    def share(self) -> float:
        """The fraction of the tensor cores' rate that this level allows, with as much sharing as possible."""
        return min(1.0, max(self.gives, self.merged) / self.needs)


def instruction(columns: int, dtype: str) -> tuple[int, int, int]:
    """(m, n, k) of the widest wgmma that divides a warp group's tile of so many columns, a multiple of
    COLUMN_STEP. Raises ProblemError for a dtype that wgmma does not multiply."""
    if dtype not in DTYPES:
        raise ProblemError(f"wgmma does not multiply {dtype}; choose from {', '.join(DTYPES)}")
    fitting = range(COLUMN_STEP, min(columns, MOST_COLUMNS) + 1, COLUMN_STEP)
    return ROWS, max(n for n in fitting if columns % n == 0), DEPTH_BYTES // DTYPE_BYTES[dtype]


def group_tile(problem: Problem, warps: int) -> tuple[int, int]:
    """(rows, columns) of the part of a block tile that each warp group multiplies: rows are split as long as
    each has 64, then columns, as Triton does on Hopper. Raises ProblemError where that does not come out."""
    rows, columns, _ = problem.tile
    if warps not in range(GROUP, MOST_WARPS + 1, GROUP):
        raise ProblemError(f"{shown(warps)} warps are not whole warp groups of {GROUP}, up to {MOST_WARPS}")
    groups = warps // GROUP
    down = min(groups, max(1, rows // ROWS))
    across = groups // down
    if rows % (down * ROWS) or groups % down or columns % (across * COLUMN_STEP):
        raise ProblemError(
            f"{groups} warp groups cannot split a tile of {rows}x{columns}; each needs a multiple of {ROWS}"
            f" rows and of {COLUMN_STEP} columns"
        )
    return rows // down, columns // across


def levels(problem: Problem, warps: int = 8, device: str = "h200") -> tuple[Level, ...]:
    """The levels of a product on a GPU with wgmma, from the product down, for tiles of `warps` warps that an
    SM has room for. Raises DeviceError for a GPU without wgmma, ProblemError for what wgmma cannot split."""
    having = {name: one for name, one in presets().items() if "warpgroup-mma" in one.get("features", ())}
    if device not in having:
        raise DeviceError(f"{shown(device)} has no wgmma; choose from {', '.join(having)}")
    preset = having[device]
    rows, columns = group_tile(problem, warps)
    shape = instruction(columns, problem.dtype)
    hardware, sms = Hardware.named(device, problem.dtype), preset["sms"]
    element = DTYPE_BYTES[problem.dtype]
    shared = float(preset["shared_bytes_per_clock"])
    l2, merged = hardware.l2_bytes_per_clock / sms, hardware.l2_merged_bytes_per_clock / sms

    def level(
        name: str, shape: tuple[int, int, int], source: str, gives: float, merged: float = 0.0
    ) -> Level:
        m, n, k = shape
        read = k * (m + n) * element
        needs = read * hardware.macs_per_clock / (m * n * k)
        return Level(name, shape, source, 2 * m * n * k, read, needs, gives, merged)

    whole_product = (problem.m, problem.n, problem.k)
    return (
        level("product", whole_product, "HBM", hardware.dram_bytes_per_clock / DRAM_SHARE / sms),
        level("block tile", problem.tile, "L2", l2, merged),
        level("warp-group tile", (rows, columns, problem.tile_k), "shared memory", shared),
        level("instruction", shape, "shared memory", shared),
    )
