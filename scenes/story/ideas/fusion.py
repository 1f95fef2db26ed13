"""What the film fusion says: a chain of functions, a kernel for each or one for all, as a GPU ran them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim.analysis.roofs import Spot
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim.errors import ReportError
from tilesim.ideas.fusion import WIDTH, Chain
from tilesim.ladder.reports import report
from tilesim_scenes.look.language import tr

NOTHING = 0.05
"""Share of a time within which a gain is none."""
LEAST, NEXT_TO_NOTHING = 2**20, 2**16
"""Bytes of x from which on a chain moves any to speak of, and up to which its launches alone take time."""
BOTH = ("eager", "fused")
"""The kernels that are compared: one for each function, and one for all."""
MOST = 16
"""Functions of the chain that is told: kernels that one watches, one after the other."""
STAYS = 1.5
"""Times the bytes of one kernel, up to which several are said to find theirs in the L2."""
BINDS = 1.25
"""Times what memory alone takes, from which on arithmetic is said to bind."""


@dataclass(frozen=True, slots=True)
class ChainRun:
    """A chain of `functions` on `elements`, one kernel each and all in one: µs, and bytes through DRAM.

    `compiled`: µs of torch.compile's kernel, None where it made none. `counted`: whether counters say the
    bytes; else the model does.
    """

    functions: int
    elements: int
    separate: float
    fused: float
    compiled: float | None
    separate_bytes: float
    fused_bytes: float
    counted: bool

    @property
    def speedup(self) -> float:
        return self.separate / self.fused

    @property
    def saved(self) -> float:
        """How many times fewer bytes go through DRAM."""
        return self.separate_bytes / self.fused_bytes

    @property
    def stays(self) -> bool:
        """Whether what a kernel writes stays in the L2 for the next one: then all move what one moves."""
        return self.saved < STAYS

    @property
    def size(self) -> str:
        """Bytes of x, 10⁶ of them in a MB."""
        return tr("x: {mb:.0f} MB", mb=Chain(self.elements, 1, 1).tensor / 1e6)


@dataclass(frozen=True, slots=True)
class Story:
    """`far`: a chain on the most elements; `near`: on the fewest of 1 MB and more, None where there are none.

    `launch`: µs that a kernel takes which has next to nothing to do, 0 where that was not measured.
    `arithmetic`: µs that the FLOP of one function take at `tflops`, the peak where that is `published`, else
    the most that was measured. `climb`: one kernel on the most elements, for longer and longer chains of
    `lengths` functions; `gb_per_s`: what memory gave the shortest. `binding`: the first length at which
    arithmetic takes longer, None where none does.
    """

    far: ChainRun
    near: ChainRun | None
    launch: float
    arithmetic: float
    tflops: float
    gb_per_s: float
    lengths: tuple[int, ...]
    climb: tuple[Spot, ...]
    binding: int | None
    gpu: str
    published: bool

    @property
    def question(self) -> str:
        return tr("{count} functions, {count} kernels: what takes the time?", count=self.far.functions)

    @property
    def each_trip(self) -> str:
        return tr("Each kernel reads all of x, and writes it back")

    @property
    def waiting(self) -> str:
        given = {"us": self.far.separate / self.far.functions, "flop": self.arithmetic}
        if self.published:
            return tr("Of {us:.0f} µs, arithmetic takes {flop:.1f}", **given)
        return tr("Of {us:.0f} µs, arithmetic takes at most {flop:.1f}", **given)

    @property
    def in_registers(self) -> str:
        return tr("In one kernel, values wait in registers")

    @property
    def near_trips(self) -> str:
        if self.near is not None and self.near.stays:
            return tr("A small x stays in the L2: shorter trips")
        return tr("A smaller x: shorter trips")

    @property
    def more_functions(self) -> str:
        return tr("More functions: more FLOP for the same bytes")

    @property
    def roof(self) -> str:
        if self.binding is None:
            return tr("Up to {count} functions, memory binds", count=self.lengths[-1])
        return tr("From {count} functions on, arithmetic binds", count=self.binding)

    def functions(self, count: int) -> str:
        """The length of a chain, in words for the shortest."""
        return tr("{count} function", count=count) if count == 1 else f"{count:,}"

    def kernels(self, count: int) -> str:
        return tr("{count} kernel", count=count) if count == 1 else tr("{count} kernels", count=count)

    @property
    def badge(self) -> tuple[str, str]:
        """Bytes are counted where a GPU's counters could be read."""
        if self.far.counted:
            return tr("counted on {gpu}", gpu=self.gpu), "counted"
        return tr("measured times, model bytes"), "model"

    @property
    def finding(self) -> str:
        if self.far.speedup < 1 + NOTHING:
            return tr("Fusing wins nothing here")
        return tr("One trip instead of {count}", count=self.far.functions)

    @property
    def number(self) -> str:
        return f"×{self.far.speedup:.1f}"

    @property
    def bars(self) -> list[tuple[str, float, str]]:
        """The card's: µs of each way."""
        count = self.far.functions
        return [
            (self.kernels(count), self.far.separate, "measured"),
            (self.kernels(1), self.far.fused, "measured"),
        ]

    @property
    def aside(self) -> str:
        """The bytes saved, what torch.compile wins, and what the same change wins within the L2."""
        said = [tr("bytes: ÷{saved:.1f}", saved=self.far.saved)]
        if self.far.compiled is not None:
            said.append(f"torch.compile: ×{self.far.separate / self.far.compiled:.1f}")
        if self.near is not None:
            gain = self.near.speedup
            said.append(
                tr("in L2: ×{gain:.1f}", gain=gain)
                if self.near.stays
                else tr("small: ×{gain:.1f}", gain=gain)
            )
        return "; ".join(said)


def tell(measured: Mapping[str, Any] | None = None, functions: int | None = None) -> Story:
    """The story of a report of `tilesim bench fusion`, the shipped one by default, for a chain's length.

    The longest up to MOST that was measured both ways is told by default. Raises ReportError for another
    length, a report without such chains, or a time that is none.
    """
    measured = measured or report("fusion")
    rows = {(row["elements"], row["functions"], row["kernel"]): row for row in measured["rows"]}
    for row in rows.values():
        if row["us"] <= 0:
            raise ReportError(f"us of {row['kernel']} is {row['us']}; a time must be above 0")
    both = {(elements, n) for elements, n, _ in rows if {(elements, n, k) for k in BOTH} <= rows.keys()}
    most = max(elements for elements, _, _ in rows)
    there = sorted(n for elements, n in both if elements == most and 2 <= n <= MOST)
    if not there:
        raise ReportError(f"the report has no chain of 2 to {MOST} functions that ran both ways")
    functions = there[-1] if functions is None else functions
    if functions not in there:
        lengths = ", ".join(map(str, there))
        raise ReportError(f"functions is {functions}; the report has chains of {lengths}")
    sizes = sorted(elements for elements, n in both if n == functions)
    near = [elements for elements in sizes if elements < most and Chain(elements, 1, 1).tensor >= LEAST]
    lengths = tuple(sorted(n for elements, n, kernel in rows if (elements, kernel) == (most, "fused")))
    chains = {n: Chain(most, n, 1) for n in lengths}
    us = [rows[most, n, "fused"]["us"] for n in lengths]
    climb = tuple(
        Spot(str(n), chains[n].intensity, chains[n].flops / time / 1e6)
        for n, time in zip(lengths, us, strict=True)
    )
    binding = next((n for n, time in zip(lengths, us, strict=True) if time > BINDS * min(us)), None)
    known = peak_tflops(measured["machine"]["gpu"])
    peak = known or max(spot.tflops for spot in climb)
    return Story(
        _run(rows, most, functions),
        _run(rows, near[0], functions) if near else None,
        rows[sizes[0], functions, "eager"]["us"] / functions if sizes[0] <= NEXT_TO_NOTHING // WIDTH else 0.0,
        most / peak / 1e6,
        peak,
        chains[lengths[0]].moved / us[0] / 1e3,
        lengths,
        climb,
        binding,
        measured["machine"]["gpu"],
        known > 0,
    )


def peak_tflops(gpu: str) -> float:
    """TFLOP/s in fp32 by the datasheet of a GPU, 0 where it is not known."""
    return float(presets().get(preset_of(gpu), {}).get("peak_tflops", {}).get("fp32", 0.0))


def _run(rows: Mapping[tuple[int, int, str], Mapping[str, Any]], elements: int, functions: int) -> ChainRun:
    """What was measured of a chain."""
    separate, fused = (rows[elements, functions, kernel] for kernel in BOTH)
    compiled = rows.get((elements, functions, "torch.compile"))
    counted = all("dram_read_bytes" in row for row in (separate, fused))
    moved = [
        row["dram_read_bytes"] + row["dram_write_bytes"]
        if counted
        else Chain(elements, functions, kernels).moved
        for row, kernels in ((separate, functions), (fused, 1))
    ]
    us = compiled["us"] if compiled else None
    return ChainRun(functions, elements, separate["us"], fused["us"], us, *moved, counted)
