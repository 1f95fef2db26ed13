"""What the film of the roofline says: where kernels that differ in FLOP a byte are, under which roof."""

from collections.abc import Iterator
from dataclasses import dataclass

from tilesim.analysis.roofs import Roof, Spot, dram_bytes, product_bytes, roofs, spot
from tilesim.devices.presets import presets
from tilesim.ladder.reports import report
from tilesim.ladder.steps import Ladder, LadderStep
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.ideas.ladder import size_of

GPU = "h200"


@dataclass(frozen=True, slots=True)
class Story:
    """Roofs, and kernels in the order in which the film comes to them, each pair slow and then fast.

    `climb` are the ladder's steps by bytes from and to DRAM; `slow` is its slowest at another size, by those
    bytes and then by those that pass the L2.
    """

    title: str
    roofs: tuple[Roof, ...]
    peak: float
    fp32: float
    sums: tuple[Spot, Spot]
    skinny: Spot
    rows: int
    """Of the skinny product's C."""
    loads: tuple[Spot, Spot]
    climb: tuple[Spot, ...]
    cube: int
    """M, N and K of the climb's product."""
    slow: tuple[Spot, Spot]
    clock: float
    """MHz of the SMs under the fastest step."""
    share: float
    """Of what the L2 allows the slowest, how much it reaches."""
    far_share: float
    """And of what DRAM and arithmetic allow it."""
    finding: str
    aside: str


def tell(ladder: Ladder) -> Story:
    """The story of the steps of `ladder`, with sums, a skinny product and column loads as they were measured.

    Raises FilmError where the ladder has no problem of whose steps at least two have counted bytes, or none
    that passed the L2.
    """
    preset = presets()[GPU]
    climb = _climb(ladder, preset["l2_mb"])
    crawling = [row for row in ladder.steps if row.l2_bytes and row.dram_bytes]
    if len(climb) < 2 or not crawling:
        raise FilmError(f"the film roofline needs two steps whose bytes were counted; there are {len(climb)}")
    worst = min(crawling, key=lambda row: row.tflops)
    seen = _of_dram(worst, preset["l2_mb"]), spot(worst.name, worst.flops, worst.l2_bytes or 1, worst.us)
    levels = {roof.level: roof for roof in roofs(GPU)}
    allowed = seen[1].intensity * levels["L2"].gb_per_s / 1000
    far = min(levels["DRAM"].gb_per_s / 1000 * seen[0].intensity, ladder.peak_tflops.measured)
    best = max(_known(ladder), key=lambda row: row.tflops)
    thin = min((row for row in report("tuned")["rows"] if row["layout"] == "nn"), key=lambda row: row["m"])
    m, n, k = thin["m"], thin["n"], thin["k"]
    return Story(
        title=tr("How far is the roof?"),
        roofs=roofs(GPU),
        peak=ladder.peak_tflops.measured,
        fp32=preset["peak_tflops"]["fp32"],
        sums=_sums(),
        skinny=spot("skinny", 2 * m * n * k, product_bytes(m, n, k, thin["dtype"]), thin["us"]),
        rows=m,
        loads=tuple(_loads(preset["l2_mb"])),  # type: ignore[arg-type]
        climb=climb,
        cube=best.m,
        slow=seen,
        clock=best.sm_mhz or 0.0,
        share=seen[1].tflops / allowed,
        far_share=seen[0].tflops / far,
        finding=tr("Each memory has its roof; the nearest one counts"),
        aside=tr("{name}, {size}", name=worst.name, size=size_of(worst.m, worst.n, worst.k)),
    )


def _known(ladder: Ladder) -> list[LadderStep]:
    """The steps of the largest cube whose bytes were counted."""
    known = [row for row in ladder.steps if row.dram_bytes and row.m == row.n == row.k]
    largest = max((row.m for row in known), default=0)
    return [row for row in known if row.m == largest]


def _climb(ladder: Ladder, l2_mb: float) -> tuple[Spot, ...]:
    return tuple(_of_dram(row, l2_mb) for row in _known(ladder))


def _of_dram(row: LadderStep, l2_mb: float) -> Spot:
    stored = row.m * row.n * DTYPE_BYTES[row.dtype]
    return spot(row.name, row.flops, dram_bytes(row.dram_bytes or 0.0, stored, l2_mb), row.us)


def _sums() -> tuple[Spot, Spot]:
    """The slowest and the fastest sum of the longest vector of fp32, an addition for each 4 bytes."""
    rows = report("reductions")["rows"]
    longest = max(row["n"] for row in rows)
    sums = [row for row in rows if row["n"] == longest and row["name"] not in ("copy", "torch.sum")]
    slow, fast = max(sums, key=lambda row: row["us"]), min(sums, key=lambda row: row["us"])
    first, last = (spot(row["name"], row["n"], 4 * row["n"], row["us"]) for row in (slow, fast))
    return first, last


def _loads(l2_mb: float) -> Iterator[Spot]:
    """Loads down columns, then along rows, in fp32."""
    for kernel in ("uncoalesced", "coalesced"):
        row = next(
            row for row in report("coalescing")["rows"] if (row["kernel"], row["dtype"]) == (kernel, "fp32")
        )
        stored = row["m"] * row["n"] * DTYPE_BYTES["fp32"]
        moved = dram_bytes(row["dram_bytes"], stored, l2_mb)
        yield spot(kernel, 2 * row["m"] * row["n"] * row["k"], moved, row["us"])
