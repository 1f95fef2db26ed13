"""What the film of tiles within tiles says: a product's levels, what feeds them, and what tiles are worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim import Device, Problem
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import badge, presets
from tilesim.ideas.tiling_hierarchy import (
    Level,
    group_tile,
    instructions,
    intensity,
    levels,
    wgmma_share,
)
from tilesim.ladder.steps import Ladder, LadderStep
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.look.labels import of_constants
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.ideas.ladder import size_of

CUBE = 2048
"""M, N and K of the product that the film shows, and of the ladder's step."""
ELEMENT, TILED = "element", "uncoalesced"
"""The ladder's steps of one output element and of a tile for each program."""
COLUMNS = (8, 16, 32, 64, 128, 256)
"""N of the curve of narrow instructions."""


@dataclass(frozen=True, slots=True)
class Story:
    """`levels`: from the product down. `measured`: by N of a wgmma, the share of the tensor cores' rate that
    it reached, empty where that was not measured in this dtype on this GPU; `gpu`: where. `before`, `after`:
    the ladder's steps of an element and of a tile.
    """

    problem: Problem
    warps: int
    device: str
    levels: tuple[Level, ...]
    measured: tuple[tuple[int, float], ...]
    gpu: str
    before: LadderStep
    after: LadderStep

    @property
    def tile(self) -> Level:
        return self.levels[1]

    @property
    def group(self) -> Level:
        return self.levels[2]

    @property
    def instruction(self) -> Level:
        return self.levels[3]

    @property
    def groups(self) -> tuple[int, int]:
        """Warp groups down and across a tile."""
        rows, columns = group_tile(self.problem, self.warps)
        return self.problem.tile_m // rows, self.problem.tile_n // columns

    @property
    def instructions(self) -> int:
        """wgmma of a warp group for a K-step."""
        return instructions(self.problem, self.warps)

    @property
    def title(self) -> str:
        return tr("Why tiles within tiles?")

    @property
    def alone(self) -> str:
        return tr("One element reads a row and a column")

    @property
    def grows(self) -> str:
        return tr("A tile reads its edges and computes its area")

    def per_byte(self, m: float, n: float) -> str:
        """What a piece m x n of C does for each byte."""
        found = intensity(m, n, self.problem.dtype)
        return tr("{flop} FLOP a byte", flop=f"{found:.1f}" if found < 10 else f"{found:.0f}")

    def worked(self, m: float, n: float) -> str:
        """FLOP a byte of a piece m x n of C: its area by its edges, times 2 by the bytes of an element.

        A piece does 2mn FLOP for each of its K, and reads m + n elements.
        """
        share = 2 / DTYPE_BYTES[self.problem.dtype]
        return f"{'' if share == 1 else f'{share:g}×'}{m:.0f}×{n:.0f}/({m:.0f}+{n:.0f})"

    @property
    def shared(self) -> str:
        down, across = self.groups
        count = down * across
        if count == 1:
            return tr("One warp group takes all of it")
        if down > 1 and across > 1:
            return tr("{groups} warp groups share A and B", groups=count)
        operand = "B" if down > 1 else "A"
        return tr("{groups} warp groups, each reads all of {operand}", groups=count, operand=operand)

    @property
    def issued(self) -> str:
        return tr("Instructions read shared memory, slice by slice")

    @property
    def wgmma(self) -> str:
        m, n, k = self.instruction.shape
        return f"wgmma m{m}n{n}k{k}"

    @property
    def sums_stay(self) -> str:
        return tr("sums stay in registers")

    @property
    def fed(self) -> str:
        """Whether each level's memory sends the bytes a clock with which tensor cores never wait."""
        starved = [one for one in self.levels if one.share < 0.995]
        if starved:
            return tr("Bytes a clock: {source} sends too few", source=_source(starved[0]))
        merging = [one for one in self.levels if one.merges]
        if merging:
            return tr("{source} keeps up only where SMs share loads", source=_source(merging[0]))
        return tr("Bytes a clock: enough for tensor cores")

    @property
    def rates(self) -> dict[str, tuple[tuple[str, float], ...]]:
        """By source: (what, bytes a clock, an SM) of the product, a tile and an instruction: what it needs
        first. Where loads that SMs share are sent faster, that stands last.
        """
        return {
            _source(level): (
                (tr("needed"), level.needs),
                (tr("sent"), level.gives),
                *([(tr("if shared"), level.merged)] if level.merged > level.gives else []),
            )
            for level in (*self.levels[:2], self.levels[3])
        }

    @property
    def here(self) -> bool:
        """Whether the GPU that was measured is the one that the film is about."""
        return preset_of(self.gpu) == self.device

    @property
    def sent_from(self) -> str:
        """Where the rates of memory come from."""
        if self.here:
            return tr("sent: measured on {gpu}", gpu=self.gpu)
        return of_constants(badge(self.device))

    @property
    def narrow(self) -> str:
        n, share = (self.measured or self.modelled)[0]
        return tr("A narrow instruction starves: {share:.0%} at N = {n}", share=share, n=n)

    @property
    def modelled(self) -> tuple[tuple[int, float], ...]:
        """By N of a wgmma, the share that the model says."""
        return tuple((n, wgmma_share(n, self.problem.dtype, self.device)) for n in COLUMNS)

    @property
    def times(self) -> float:
        return self.before.us / self.after.us

    @property
    def number(self) -> str:
        return f"×{self.times:.0f}"

    @property
    def finding(self) -> str:
        if self.times > 1.1:
            return tr("A tile instead of an element")
        return tr("Here a tile wins nothing")

    @property
    def aside(self) -> str:
        """What else differs between the two steps, which is not the tile's doing alone."""
        shape = size_of(self.after.m, self.after.n, self.after.k)
        return tr("{shape} {dtype}; tensor cores come with it", shape=shape, dtype=self.after.dtype)


def tell(report: Mapping[str, Any], ladder: Ladder, **asked: Any) -> Story:
    """The story of a report of `tilesim bench tiling-hierarchy` and a ladder.

    `asked`: tile, dtype, warps and device, all optional.

    Raises FilmError where the ladder has not both steps, and what `tilesim.ideas.tiling_hierarchy` raises.
    """
    device, warps = Device.named(asked.pop("device", "h200")).name, asked.pop("warps", 8)
    dtype = asked.get("dtype", "bf16")
    problem = Problem(CUBE, CUBE, CUBE, **{"tile": _usual(dtype), **asked})
    found = {row.name: row for row in ladder.rows if row.m == row.n == row.k == CUBE}
    if not {ELEMENT, TILED} <= found.keys():
        raise FilmError(f"the ladder has no steps {ELEMENT} and {TILED} at {CUBE}x{CUBE}x{CUBE}")
    cut = levels(problem, warps, device)
    gpu = str(report["machine"]["gpu"])
    known = presets()[device]
    rate = known["macs_per_clock"].get(dtype, 0)
    measured = tuple(
        (int(row["tile"][1]), float(row["macs_per_clock"]["p50"]) / rate)
        for row in report["rows"]
        if row["dtype"] == dtype and preset_of(gpu) == device
    )
    return Story(problem, warps, device, cut, measured, gpu, found[ELEMENT], found[TILED])


def _usual(dtype: str) -> tuple[int, int, int]:
    """128 x 256 over a K-step of 128 bytes."""
    return 128, 256, {"fp8": 128, "int8": 128, "tf32": 32, "fp32": 32}.get(dtype, 64)


def _source(level: Level) -> str:
    return {"shared memory": tr("shared memory")}.get(level.source, level.source)
