"""Tiles within tiles: what each level of a matrix product reads, how often it uses it, what it must be sent.

A product C = A · B of m x n x k does 2mnk FLOP. A piece of it, m x n of C over a stretch k of the reduction,
does as many for its own sides, and reads k(m + n) elements of A and B: the FLOP grow as the area, the bytes
as the edge. So a piece does 2mn / (m + n) FLOP for each element that it reads, half of that for each byte in
16 bits:

    one element       1 x 1            0.5 FLOP a byte in bf16
    a block tile      128 x 256       85.3

Four levels follow one another, each cut out of the one before, and each reads from a memory:

    level              who                         reads from
    product            the grid                    HBM, each byte once
    block tile         a thread block              the L2, into shared memory
    warp-group tile    4 warps                     shared memory, each byte once
    instruction        4 warps, a wgmma            shared memory, into the tensor cores

wgmma multiplies m64nNkK: 64 rows, N a multiple of 8 up to 256, and K of 32 bytes: 16 elements of fp16 and
bf16, 8 of tf32, 32 of fp8 and int8. B always comes from shared memory, A from there or from registers
(NVIDIA, PTX ISA 9.0, section 9.7.15, Asynchronous Warpgroup Level Matrix Instructions). Sums stay in
registers, so they are read from nowhere.

Tensor cores that never wait do R multiply-adds a clock (4 of 512 in fp16 on a Hopper SM: NVIDIA H100
whitepaper V1.04, table 2). So a level whose pieces do f multiply-adds for b bytes must be sent b · R / f
bytes a clock, an SM. Where its memory sends fewer, tensor cores wait, and reach the share that it sends. A
wgmma of N columns in bf16 multiplies for N / 2 cycles and reads 2,048 + 32 N bytes, 128 a clock: 16 + N / 4
cycles. Below N = 64 it waits for what it reads. That is what an H200 does, to a tenth of a percent:
`tilesim bench tiling-hierarchy`.

The L2 sends more where neighbours ask for the same lines at the same time, as blocks in one row or column of
tiles do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim.devices.hardware import DRAM_SHARE, Hardware
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError, ProblemError, shown, whole
from tilesim.problems import DTYPE_BYTES, Problem

GROUP = 4
"""Warps of a warp group (PTX ISA)."""
ROWS = 64
"""Of a wgmma."""
DEPTH_BYTES = 32
"""K of a wgmma, in bytes of an operand."""
MOST_COLUMNS, COLUMN_STEP = 256, 8
"""N of a wgmma at most, and what it is a multiple of."""
DTYPES = ("fp16", "bf16", "tf32", "fp8", "int8")
"""What wgmma multiplies, of those that a Problem can have."""
MOST_WARPS = 32
MOST_REGISTERS = 255
"""Of a thread (CUDA C++ Programming Guide, compute capability 9.0)."""
KIB = 1024


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the hierarchy: pieces of `shape`, (m, n, k), that read from `source`.

    `flops`, `bytes`: what one piece does, and reads of A and B. `needs`: bytes a clock, an SM, with which
    tensor cores never wait. `gives`: bytes a clock, an SM, that the source sends where each SM asks for
    others; `merged`: where neighbours ask for the same, 0 where that makes no difference.
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
        """FLOP for each byte read."""
        return self.flops / self.bytes

    @property
    def share(self) -> float:
        """Of the tensor cores' rate that this level allows, up to 1, where neighbours share what they can."""
        return min(1.0, max(self.gives, self.merged) / self.needs)

    @property
    def merges(self) -> bool:
        """Whether it allows all of it only where neighbours ask for the same."""
        return self.gives < self.needs <= self.merged


def intensity(m: float, n: float, dtype: str = "bf16") -> float:
    """FLOP a byte of a piece m x n of C, whatever its stretch of the reduction.

    >>> intensity(1, 1), round(intensity(128, 256), 1), intensity(128, 128, "fp8")
    (0.5, 85.3, 128.0)
    """
    return 2 * m * n / ((m + n) * DTYPE_BYTES[dtype])


def instruction(columns: int, dtype: str) -> tuple[int, int, int]:
    """(m, n, k) of the widest wgmma that divides a warp group's tile of so many columns.

    Raises ProblemError for a dtype that wgmma does not multiply, or columns that none divides.

    >>> instruction(256, "bf16"), instruction(192, "fp8"), instruction(512, "tf32")
    ((64, 256, 16), (64, 192, 32), (64, 256, 8))
    """
    if dtype not in DTYPES:
        raise ProblemError(f"wgmma does not multiply {dtype}; choose from {', '.join(DTYPES)}")
    if columns < COLUMN_STEP or columns % COLUMN_STEP:
        raise ProblemError(
            f"a warp group's tile has {columns} columns; wgmma needs a multiple of {COLUMN_STEP}"
        )
    fitting = range(COLUMN_STEP, min(columns, MOST_COLUMNS) + 1, COLUMN_STEP)
    return ROWS, max(n for n in fitting if columns % n == 0), DEPTH_BYTES // DTYPE_BYTES[dtype]


def group_tile(problem: Problem, warps: int) -> tuple[int, int]:
    """(rows, columns) of the part of a block tile that each warp group multiplies.

    Groups part the rows as long as each has 64, then the columns, as Triton does on Hopper.

    Raises ProblemError for warps that are no whole groups, or a tile that they cannot part.

    >>> group_tile(Problem(4096, 4096, 4096), 8), group_tile(Problem(4096, 4096, 4096, tile=(64, 256, 64)), 8)
    ((64, 256), (64, 128))
    """
    warps = whole("the number of warps", warps, GROUP, MOST_WARPS, ProblemError)
    rows, columns, _ = problem.tile
    if warps % GROUP:
        raise ProblemError(f"{warps} warps are no whole warp groups; wgmma takes {GROUP} warps at a time")
    groups = warps // GROUP
    down = min(groups, max(1, rows // ROWS))
    across = groups // down
    if rows % (down * ROWS) or groups % down or columns % (across * COLUMN_STEP):
        raise ProblemError(
            f"{groups} warp groups cannot share a tile of {rows}x{columns}: each needs a multiple of {ROWS}"
            f" rows and of {COLUMN_STEP} columns"
        )
    return rows // down, columns // across


def levels(
    problem: Problem, warps: int = 8, device: str = "h200", a_in_registers: bool = False
) -> tuple[Level, ...]:
    """The levels of a product in tiles of `warps` warps on a GPU that has wgmma, from the product down.

    `a_in_registers`: wgmma finds A there, so that it reads B alone.

    Raises DeviceError for a GPU without wgmma; ProblemError for warps, a tile or a dtype that wgmma cannot
    do, or a tile whose sums or operands do not fit into an SM.

    >>> [(one.name, one.shape, round(one.intensity, 1)) for one in levels(Problem(2048, 2048, 2048))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('product', (2048, 2048, 2048), 1024.0), ('block tile', (128, 256, 64), 85.3),
     ('warp-group tile', (64, 256, 64), 51.2), ('instruction', (64, 256, 16), 51.2)]
    >>> [(round(one.needs), round(one.gives), one.share) for one in levels(Problem(2048, 2048, 2048))]
    [(4, 21, 1.0), (48, 34, 1.0), (80, 128, 1.0), (80, 128, 1.0)]
    """
    preset = _with_wgmma(device)
    rows, columns = group_tile(problem, warps)
    shape = instruction(columns, problem.dtype)
    _check_fits(problem, warps, shape, preset)
    hardware, sms = Hardware.named(device, problem.dtype), preset["sms"]
    element = DTYPE_BYTES[problem.dtype]
    shared = float(preset["shared_bytes_per_clock"])
    l2, merged = hardware.l2_bytes_per_clock / sms, hardware.l2_merged_bytes_per_clock / sms

    def level(
        name: str, shape: tuple[int, int, int], source: str, gives: float, merged: float = 0.0, a: bool = True
    ) -> Level:
        m, n, k = shape
        read = k * (m * a + n) * element
        needs = read * hardware.macs_per_clock / (m * n * k)
        return Level(name, shape, source, 2 * m * n * k, read, needs, gives, merged)

    whole_product = (problem.m, problem.n, problem.k)
    return (
        level("product", whole_product, "HBM", hardware.dram_bytes_per_clock / DRAM_SHARE / sms),
        level("block tile", problem.tile, "L2", l2, merged),
        level("warp-group tile", (rows, columns, problem.tile_k), "shared memory", shared),
        level("instruction", shape, "shared memory", shared, a=not a_in_registers),
    )


def instructions(problem: Problem, warps: int = 8) -> int:
    """How many wgmma a warp group issues for a K-step of its tile.

    >>> instructions(Problem(4096, 4096, 4096)), instructions(Problem(1, 1, 1, tile=(128, 128, 64)), warps=4)
    (4, 8)
    """
    rows, columns = group_tile(problem, warps)
    m, n, k = instruction(columns, problem.dtype)
    return rows // m * (columns // n) * -(-problem.tile_k // k)


def wgmma_share(columns: int, dtype: str = "bf16", device: str = "h200") -> float:
    """Of the tensor cores' rate, what a wgmma m64nN reaches that reads both operands from shared memory.

    >>> [round(wgmma_share(n), 3) for n in (8, 16, 32, 64, 256)]
    [0.222, 0.4, 0.667, 1.0, 1.0]
    """
    shape = instruction(columns, dtype)
    piece = Problem(*shape, tile=(*shape[:2], shape[2]), dtype=dtype)
    return levels(piece, GROUP, device)[-1].share


def _with_wgmma(device: str) -> Mapping[str, Any]:
    """The preset of a device; DeviceError where it has no wgmma."""
    having = {name: one for name, one in presets().items() if "warpgroup-mma" in one.get("features", ())}
    if device not in having:
        raise DeviceError(f"{shown(device)} has no wgmma; choose from {', '.join(having)}")
    return having[device]


def _check_fits(problem: Problem, warps: int, shape: tuple[int, int, int], preset: Mapping[str, Any]) -> None:
    """Raise ProblemError for a tile that an SM has no room for, or that no whole wgmma covers along K."""
    rows, columns, depth = problem.tile
    if depth % shape[2]:
        raise ProblemError(
            f"a K-step of {depth} is no multiple of the {shape[2]} of a wgmma in {problem.dtype}"
        )
    sums = rows * columns // (32 * warps)
    if sums > MOST_REGISTERS:
        raise ProblemError(
            f"the sums of {rows}x{columns} take {sums} registers of each of {32 * warps} threads, which have"
            f" {MOST_REGISTERS}; take more warps or a smaller tile"
        )
    stage = (rows + columns) * depth * DTYPE_BYTES[problem.dtype]
    most = preset["shared_kib_per_block"] * KIB
    if stage > most:
        raise ProblemError(
            f"a K-step of {rows}x{columns}x{depth} takes {stage // KIB} KiB of shared memory; a thread block"
            f" has {most // KIB}"
        )
