"""What the film execution_model says: who decides where a block runs, and how many an SM holds at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim.devices.facts import REFERENCE
from tilesim.devices.fill_order import fill_order
from tilesim.devices.gpus import preset_of
from tilesim.devices.occupancy import PARTS, Occupancy, occupancy
from tilesim.devices.presets import facts, presets
from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.look.language import tr

TILE = (128, 128, 64)
SHARING = 1.5
"""How many times as long a warp takes where it shares its partition with another, at least."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which SM gets which block of a launch: `groups` of SMs, in `order`; `small` of them come first.

    `explained` of `launches` went so. `spread_ns`: from the first block's begin to the last's, where each SM
    gets one. `gpu`: on which that was measured.
    """

    groups: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    small: int
    explained: int
    launches: int
    spread_ns: int
    gpu: str


@dataclass(frozen=True, slots=True)
class Story:
    """A kernel's blocks on a device: `kernel`, a row of the report, and the `occupancy` that follows.

    `order`: None of a device on which nobody has found it. `agree` of `counted` kernels were seen to have as
    many residents as the four limits allow. `parts`, `cycles` [warps, parts + 1]: a block's warps in their
    program. `in_turn`: whether warps go to the partitions in turn.
    """

    device: str
    gpu: str
    kernel: Mapping[str, Any]
    occupancy: Occupancy
    order: Order | None
    agree: int
    counted: int
    parts: tuple[str, ...]
    cycles: tuple[tuple[int, ...], ...]
    in_turn: bool

    @property
    def title(self) -> str:
        return presets()[self.device]["title"]

    @property
    def residents(self) -> int:
        return self.occupancy.residents

    @property
    def warps(self) -> int:
        return self.kernel["threads"] // 32

    @property
    def question(self) -> str:
        if self.order:
            return tr("Who decides where a block runs?")
        return tr("How many blocks does an SM hold?")

    @property
    def small_groups(self) -> str:
        return tr(
            "The first {count} fill two small groups in turn", count=self.order.small if self.order else 0
        )

    @property
    def one_by_one(self) -> str:
        return tr("Then GPC by GPC, two neighbours at a time")

    @property
    def at_once(self) -> str:
        sms, ns = (len(self.order.order), self.order.spread_ns) if self.order else (0, 0)
        return tr("All {sms} begin within {ns} ns", sms=sms, ns=ns)

    @property
    def second_round(self) -> str:
        return tr("Then a second each, same order")

    @property
    def warps_part(self) -> str:
        return tr("Warps go to partitions, threads to lanes")

    @property
    def inside_badge(self) -> tuple[str, str]:
        """Of the partitions: who shares one was seen where warps that share one slow each other down."""
        if self.in_turn:
            return tr("measured on {gpu}", gpu=self.gpu), "measured"
        return tr("model"), "model"

    @property
    def four_limits(self) -> str:
        return tr("A block needs room in all four")

    @property
    def refused(self) -> str:
        names = [limit_name(limit) for limit in self.occupancy.binding]
        if len(names) == 1:
            return tr("The next one waits: no {what} left", what=names[0])
        return tr("Full: {one} and {other}", one=names[0], other=names[1])

    @property
    def own_places(self) -> str:
        return tr("One program, each warp at its own place")

    @property
    def barrier(self) -> str:
        return tr("Only a barrier makes them wait")

    @property
    def badge(self) -> tuple[str, str]:
        """Of the limits: seen where the report's GPU is the device, else what the rules say of it."""
        seen = self.kernel["seen"] == self.residents and preset_of(self.gpu) == self.device
        if seen:
            return tr("measured on {gpu}", gpu=self.gpu), "measured"
        return tr("model"), "model"

    @property
    def kernel_name(self) -> str:
        return tr("tiles of {tile}", tile="×".join(map(str, self.kernel["tile"])))

    @property
    def number(self) -> str:
        if self.order:
            return tr(
                "{explained:,} of {launches:,}", explained=self.order.explained, launches=self.order.launches
            )
        return (
            tr("{count} block", count=1)
            if self.residents == 1
            else tr("{count} blocks", count=self.residents)
        )

    @property
    def finding(self) -> str:
        if self.order and self.order.explained == self.order.launches:
            return tr("One order of SMs explains every launch")
        if self.order:
            return tr("One order of SMs explains most launches")
        return tr("So many fit an SM of {device}", device=presets()[self.device]["short"])

    @property
    def aside(self) -> str:
        if self.order:
            return tr(
                "{agree} of {counted} kernels: as many residents as four limits allow",
                agree=self.agree, counted=self.counted,
            )  # fmt: skip
        return tr(
            "{kernel}, bound by {limit}", kernel=self.kernel_name, limit=limit_name(self.occupancy.binding[0])
        )


def limit_name(limit: str) -> str:
    """One of `tilesim.devices.occupancy.LIMITS`, in the film's language."""
    return {
        "registers": tr("registers"),
        "shared memory": tr("shared memory"),
        "threads": tr("threads"),
        "block slots": tr("block slots"),
    }[limit]


def part_name(part: str) -> str:
    """A part of the program that the report's warps walk through, in the film's language."""
    known = {"load": tr("load"), "multiply": tr("multiply"), "wait for all": tr("barrier")}
    return known.get(part, part)


def tell(
    measured: Mapping[str, Any] | None = None,
    device: str = REFERENCE,
    tile: tuple[int, ...] = TILE,
    ordered: Mapping[str, Any] | None = None,
) -> Story:
    """The story of a report of `tilesim bench execution-model`, and of one of `sm-order`; those that ship.

    Raises TilesimError for a tile that the report lacks, a device that cannot run its kernel, and what
    `occupancy` raises.
    """
    measured, ordered = measured or report("execution_model"), ordered or report("sm_order")
    kernel = _kernel(measured, device, tile)
    found = occupancy(device, kernel["threads"], kernel["registers"], kernel["shared_bytes"])
    if not found.residents:
        raise TilesimError(
            f"no SM of {presets()[device]['title']} can run a block of tiles of {'x'.join(map(str, tile))},"
            f" which needs {kernel['shared_bytes'] / 1024:.0f} KB of shared memory; take a smaller tile"
        )
    rows = [*measured["rows"], *measured["kernels"]]
    gpu = measured["machine"]["gpu"]
    own = preset_of(gpu) or REFERENCE
    agree = [
        row["seen"] == occupancy(own, row["threads"], row["registers"], row["shared_bytes"]).residents
        for row in rows
    ]
    alone, *beside = measured["beside"]
    walk = measured["walk"]
    return Story(
        device,
        gpu,
        kernel,
        found,
        _order(ordered) if ordered["device"] == device else None,
        sum(agree),
        len(agree),
        tuple(walk["parts"]),
        tuple(map(tuple, walk["cycles"])),
        all((cycles > SHARING * alone) == (warp % PARTS == 0) for warp, cycles in enumerate(beside, 1)),
    )


def _kernel(measured: Mapping[str, Any], device: str, tile: tuple[int, ...]) -> Mapping[str, Any]:
    """The report's product of that tile, loaded by TMA where the device has it."""
    loads = "tma" if "tma" in facts(device)["features"].value else "ptr"
    tiles = {tuple(row["tile"]): row for row in measured["kernels"] if row["name"] == f"naive-{loads}"}
    if tile not in tiles:
        known = ", ".join("x".join(map(str, sizes)) for sizes in tiles)
        raise TilesimError(f"the report has no tiles of {'x'.join(map(str, tile))}; choose from {known}")
    return tiles[tile]


def _order(ordered: Mapping[str, Any]) -> Order:
    """As a report has it, from where most launches of one kind began."""
    tiers, rows = ordered["tiers"], ordered["rows"]
    first = max((begin for row in rows for begin in row["first"]), key=lambda begin: begin[1])[0]
    return Order(
        tuple(tuple(group) for groups in tiers for group in groups),
        fill_order(tiers, first),
        sum(map(len, tiers[0])),
        sum(row["explained"] for row in rows),
        sum(row["launches"] for row in rows),
        ordered["launch_spread_ns"],
        ordered["machine"]["gpu"],
    )
