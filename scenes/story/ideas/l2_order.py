"""What the film l2_order says: nine tiles in a row and in a square, then real orders behind an L2."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tilesim import Device, Problem, orders
from tilesim.devices.gpus import preset_of
from tilesim.errors import ReportError, TilesimError
from tilesim.ideas.l2_order import TracedLoads, blocks, together, traced
from tilesim.ladder.reports import report, row
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.look.language import tr

SIDE, FEW = 9, 3
"""Blocks of a small product's side, and rows of a group there: as in Triton's tutorial."""
FIRST, OTHERS = "row-major", ("grouped:8", "hilbert")
"""The order that others are held against; and those that the film shows where nobody asks for one."""
SIZE, DEVICE = (8192, 8192, 8192), "h200"
UNITS = ("GB", 1e9, ".2f"), ("MB", 1e6, ".0f")
MOST_TILES = 2**16
"""More would be less than a pixel each."""
TOLD = 0.02
"""From so much time saved on, the finding says whether the clock explains it."""
ALIKE = 0.02
"""Orders whose bytes differ by no more cost HBM the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A product in one order: `loads` of its simulated run, and `us` that it takes, measured or simulated.

    `wave_bytes`: what the tiles at work together need of A and B. `counted`: bytes that HBM sent, None where
    no counter was read. `mhz`: the SMs' clock meanwhile, 0 where it is simulated.
    """

    name: str
    loads: TracedLoads
    wave_bytes: int
    us: float
    counted: int | None
    mhz: float

    def needs(self, _: float) -> str:
        return in_bytes(self.wave_bytes, self.wave_bytes)

    def sent(self, t: float) -> str:
        """What HBM has sent until an instant."""
        return in_bytes(self.loads.until(t)[1], self.loads.hbm_bytes)

    def hits(self, t: float) -> str:
        """The share of what was asked for until then that the L2 had."""
        return tr("{hits:.0%} hits", hits=self.loads.hit_rate(t))


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """Tiles in a row and in a square, then a product in several orders, of which the first is row by row.

    `gpu`: on which their times were measured, "" where they are simulated. `elsewhere`: another shape there,
    and by what share the best order changes its time.
    """

    in_a_row: tuple[int, ...]
    in_a_square: tuple[int, ...]
    needed: tuple[int, int]
    ordered: tuple[Ordered, ...]
    problem: Problem
    device: Device
    gpu: str
    elsewhere: tuple[str, float] | None

    @property
    def row_needs(self) -> str:
        return tr(
            "{tiles} tiles in a row need {blocks} blocks", tiles=len(self.in_a_row), blocks=self.needed[0]
        )

    @property
    def square_needs(self) -> str:
        return tr(
            "The same {tiles} in a square need {blocks}", tiles=len(self.in_a_square), blocks=self.needed[1]
        )

    @property
    def at_once(self) -> str:
        sms, tiles = self.device.sms, self.device.slots
        return tr("{shape}: {sms} SMs, {tiles} tiles at once", shape=self.shape, sms=sms, tiles=tiles)

    @property
    def wave_ns(self) -> float:
        """When the first wave of tiles has been multiplied, in whatever order it ends first."""
        ends = (np.sort(one.loads.trace.spans["drain"])[: self.device.slots].max() for one in self.ordered)
        return float(min(ends))

    @property
    def shape(self) -> str:
        return shape_of(self.problem)

    @property
    def alike(self) -> bool:
        """Whether HBM sends about as much in all orders."""
        sent = [one.loads.hbm_bytes for one in self.ordered]
        return max(sent) <= (1 + ALIKE) * min(sent)

    @property
    def what_hbm_sends(self) -> str:
        if self.alike:
            return tr("The L2 holds all: any order does")
        return tr("What the L2 has lost, HBM sends again")

    @property
    def best(self) -> Ordered:
        """The fastest but the first."""
        return min(self.ordered[1:], key=lambda one: one.us)

    @property
    def change(self) -> float:
        """Of the time, from the first order to the best of the others."""
        return self.best.us / self.ordered[0].us - 1

    @property
    def number(self) -> str:
        return tr("{change} time", change=percent(self.change))

    @property
    def clock_change(self) -> float:
        """By what share the SMs' clock is higher in the best order; 0 where it was not measured."""
        first, best = self.ordered[0].mhz, self.best.mhz
        return best / first - 1 if first and best else 0.0

    @property
    def clock_explains(self) -> bool:
        """Whether HBM sends less, and the kernel takes about as many cycles in both orders."""
        in_cycles = (1 + self.change) * (1 + self.clock_change) - 1
        sends_less = self.best.loads.hbm_bytes < self.ordered[0].loads.hbm_bytes
        return self.change < -TOLD and abs(in_cycles) < -self.change / 4 and sends_less

    @property
    def clock_rises(self) -> str:
        return tr("Moving less saves power: clocks rise {percent:.0%}", percent=self.clock_change)

    @property
    def finding(self) -> str:
        if self.clock_explains:
            return tr("HBM sends less; clocks rise {percent:.0%}", percent=self.clock_change)
        return tr("Only the order of tiles differs")

    @property
    def aside(self) -> str:
        """What the same change does elsewhere, or at which shape this is."""
        if self.elsewhere is None:
            return self.shape
        shape, change = self.elsewhere
        return tr("{shape}; {other}: {change}", shape=self.shape, other=shape, change=percent(change))

    @property
    def counted(self) -> tuple[int, ...]:
        """Bytes that HBM sent in each order; empty where they were not counted in all."""
        counts = [one.counted for one in self.ordered if one.counted is not None]
        return tuple(counts) if len(counts) == len(self.ordered) else ()

    @property
    def unit(self) -> tuple[str, float, str]:
        """In which counted bytes are said: its name, how many bytes it has, and how figures are written."""
        return UNITS[max(self.counted) < 1e9]


def in_bytes(count: float, most: float) -> str:
    """Bytes, in the unit that suits as many as `most`.

    >>> in_bytes(5e8, most=2e9), in_bytes(17e6, most=17e6)
    ('0.50 GB', '17 MB')
    """
    unit, size, form = UNITS[most < 1e9]
    return f"{count / size:{form}} {unit}"


def shape_of(problem: Problem) -> str:
    return f"{problem.m}×{problem.n}×{problem.k}"


def percent(change: float) -> str:
    """A change with its sign.

    >>> percent(-0.0649), percent(0.017)
    ('−6.5%', '+1.7%')
    """
    return f"{change:+.1%}".replace("-", "−")


def order_name(order: str) -> str:
    """What films call an order."""
    name, _, rows = order.partition(":")
    if name == "grouped":
        return tr("groups of {rows}", rows=rows)
    names = {
        "row-major": tr("row by row"),
        "column-major": tr("column by column"),
        "hilbert": tr("Hilbert curve"),
        "morton": tr("Morton curve"),
    }
    return names.get(name, order)


def tell(measured: Mapping[str, Any] | None = None, given: Mapping[str, Any] | None = None) -> Story:
    """The story of a report of `tilesim bench l2-order`, the shipped one by default.

    `given`: m, n, k, order and device, where others than the film's own are asked for. Times are measured
    where the report has them of that product and GPU, else simulated.

    Raises what a Problem or Device raises, and TilesimError for more tiles than can be seen.
    """
    measured, given = measured or report("l2_order"), given or {}
    device = Device.named(str(given.get("device", DEVICE)))
    sizes = (given.get(name, size) for name, size in zip("mnk", SIZE, strict=True))
    problem = Problem(*sizes)
    if problem.tiles > MOST_TILES:
        raise TilesimError(
            f"{shape_of(problem)} has {problem.tiles} tiles; this film shows up to {MOST_TILES}"
        )
    wanted = [FIRST, *([given["order"]] if "order" in given else OTHERS)]
    if wanted[1] == FIRST:
        raise TilesimError(f"the order is {FIRST}, with which others are compared; ask for another")
    products = [replace(problem, order=order) for order in wanted]
    gpu = measured["machine"]["gpu"]
    gpu = gpu if preset_of(gpu) == device.name else ""
    found = [_row_of(measured, product) for product in products]
    gpu = gpu if all(found) else ""
    ordered = tuple(
        _ordered(product, device, one if gpu else None) for product, one in zip(products, found, strict=True)
    )
    row_by_row, square = orders.row_major(SIDE, SIDE)[:SIDE], orders.grouped(SIDE, SIDE, FEW)[:SIDE]
    needed = [int(blocks(tiles, SIDE, SIDE)[-1].sum()) for tiles in (row_by_row, square)]
    story = Story(
        tuple(row_by_row.tolist()),
        tuple(square.tolist()),
        (needed[0], needed[1]),
        ordered,
        problem,
        device,
        gpu,
        None,
    )
    return replace(story, elsewhere=_elsewhere(measured, story) if gpu else None)


def _ordered(problem: Problem, device: Device, found: Mapping[str, Any] | None) -> Ordered:
    loads = traced(problem, device)
    a, b = blocks(together(problem, device), problem.tiles_n, problem.k_steps)[-1].tolist()
    wave = (a * problem.tile_m + b * problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype]
    us = found["us"] if found else loads.trace.makespan / 1000
    counted, mhz = (found.get("dram_read_bytes"), found["sm_mhz"]) if found else (None, 0.0)
    return Ordered(order_name(problem.order), loads, wave, us, counted, mhz)


def _row_of(measured: Mapping[str, Any], problem: Problem) -> Mapping[str, Any] | None:
    """What a report has of a product in its order; None where it has nothing."""
    about = {name: getattr(problem, name) for name in ("m", "n", "k", "dtype", "order")}
    try:
        return row(measured, tile=list(problem.tile), **about)
    except ReportError:
        return None


def _elsewhere(measured: Mapping[str, Any], story: Story) -> tuple[str, float] | None:
    """The shape of another product that was measured in both orders, and what the best one changes there."""
    pair = [story.ordered[0].loads.trace.problem, story.best.loads.trace.problem]
    for one in measured["rows"]:
        if (sizes := (one["m"], one["n"], one["k"])) == (story.problem.m, story.problem.n, story.problem.k):
            continue
        m, n, k = sizes
        found = [_row_of(measured, replace(problem, m=m, n=n, k=k)) for problem in pair]
        if found[0] and found[1]:
            return shape_of(replace(story.problem, m=m, n=n, k=k)), found[1]["us"] / found[0]["us"] - 1
    return None
