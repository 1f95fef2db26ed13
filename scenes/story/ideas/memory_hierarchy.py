"""What the film memory_hierarchy says: levels of memory, and how little of what is asked for is far."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim import Device, Problem
from tilesim.costs import badge as costs_badge
from tilesim.devices import presets as devices
from tilesim.devices.facts import sources
from tilesim.devices.gpus import preset_of
from tilesim.ideas.l2_order import traced
from tilesim.ideas.memory_hierarchy import Level, levels
from tilesim.ladder.reports import report
from tilesim_scenes.look.language import tr

DEVICE, SIZE, ORDER = "h200", 4096, "grouped:8"
"""Of the product that is followed, where nobody asks for another device: M, N and K alike, and its order."""
AGAIN = 1.5
"""From so many uses of a byte on, the finding says that bytes are used again."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Bytes of A and B that a place is asked for on their way, or asks for, and which place."""

    where: str
    bytes: float

    @property
    def figure(self) -> str:
        return tr("{mb:,.0f} MB", mb=self.bytes / 1e6)


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """The levels of a device, nearest first, and a product's bytes: `passed`, from the SMs to the far memory.

    `gpu`: on which the bytes were counted, "" where they are simulated. `simulated_with`: the label of the
    costs that then stand behind them. `elsewhere`: another product that was counted, and how often a byte
    from the far memory is used there.
    """

    device: str
    levels: tuple[Level, ...]
    problem: Problem
    passed: tuple[Passed, ...]
    gpu: str
    simulated_with: str
    elsewhere: tuple[str, float] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        near = tr("registers"), tr("shared memory"), "L2"
        return *near, self.far.name

    @property
    def far(self) -> Level:
        return self.levels[-1]

    @property
    def badge(self) -> str:
        """What the figures of the levels rest on."""
        known, kinds = devices.facts(self.device), {name: one.kind for name, one in sources().items()}
        found = {kinds.get(known[name].source) for level in self.levels for name in level.facts}
        short = devices.presets()[self.device]["short"]
        if found & {"measured", "microbenchmarks"}:
            return tr("{gpu}, datasheets and measurements", gpu=short)
        return tr("{gpu}, a file’s figures", gpu=short)

    @property
    def sms(self) -> int:
        return Device.named(self.device).sms

    @property
    def farther(self) -> str:
        """How far the far memory is, against the nearest whose latency is known."""
        near = self.levels[1]
        times = (self.far.cycles or 0) / (near.cycles or 1)
        return tr("{far} is {times:.0f} times as far as shared memory", far=self.far.name, times=times)

    @property
    def slower(self) -> str:
        times = self.levels[0].gb_per_s / self.far.gb_per_s
        return tr("Registers give {times:.0f} times what {far} gives", times=times, far=self.far.name)

    @property
    def asks(self) -> str:
        return tr("What do the tiles of {shape} ask for?", shape=self.shape)

    @property
    def shape(self) -> str:
        return _shape(self.problem.m, self.problem.n, self.problem.k)

    @property
    def aside(self) -> str:
        """Which product that is, and what another one makes of its bytes."""
        if self.elsewhere is None:
            return self.shape
        shape, reuse = self.elsewhere
        return tr("{shape}; {other}: ×{reuse:.1f}", shape=self.shape, other=shape, reuse=reuse)

    @property
    def need_not_send(self) -> str:
        return tr("What the L2 holds, {far} need not send", far=self.far.name)

    @property
    def reuse(self) -> float:
        """How often a byte from the far memory is used."""
        return self.passed[0].bytes / self.passed[-1].bytes

    @property
    def each_serves(self) -> str:
        return tr("One byte from {far} serves {times:.1f} times", far=self.far.name, times=self.reuse)

    @property
    def number(self) -> str:
        return f"×{self.reuse:.1f}"

    @property
    def finding(self) -> str:
        if self.reuse < AGAIN:
            return tr("Most bytes come from {far}", far=self.far.name)
        return tr("Each byte from {far} is used many times", far=self.far.name)


def size(level: Level) -> str:
    """What a level holds: of one SM where each has its own.

    >>> size(levels("h200")[0]), size(levels("h200")[2]), size(levels("h200")[3])
    ('256 KB', '50 MB', '141 GB')
    """
    if level.per_sm:
        return f"{level.per_sm / 1024:.0f} KB"
    unit, name = (1e9, "GB") if level.size >= 1e9 else (1e6, "MB")
    return f"{level.size / unit:.0f} {name}"


def rate(level: Level) -> str:
    """What all SMs together read of it.

    >>> rate(levels("h200")[0]), rate(levels("h200")[3]), rate(levels("t4")[3])
    ('402 TB/s', '4.5 TB/s', '0.22 TB/s')
    """
    tb = level.gb_per_s / 1000
    return f"{tb:.0f} TB/s" if tb >= 10 else f"{tb:.2g} TB/s"


def latency(level: Level) -> str:
    """What a load takes.

    >>> latency(levels("h200")[0]), latency(levels("h200")[3])
    ('at once', '686 cycles')
    """
    return tr("at once") if level.cycles is None else tr("{cycles:.0f} cycles", cycles=level.cycles)


def tell(measured: Mapping[str, Any] | None = None, given: Mapping[str, Any] | None = None) -> Story:
    """The story of a report of `tilesim bench memory-hierarchy`, the shipped one by default.

    `given`: a device, where another than the film's own is asked for. Bytes are counted where
    the report is of that device's GPU and has counters, else simulated.

    Raises DeviceError or CostsError for a device of which too little is known.
    """
    measured, name = measured or report("memory_hierarchy"), str((given or {}).get("device", DEVICE))
    device = Device.named(name)
    found = levels(name := device.name)
    far = found[-1].name
    rows = [row for row in measured["rows"] if "dram_read_bytes" in row]
    if rows and preset_of(measured["machine"]["gpu"]) == name:
        row = min(rows, key=lambda row: abs(row["m"] - SIZE))
        names = (row[one] for one in ("m", "n", "k"))
        problem = Problem(*names, tile=tuple(row["tile"]), dtype=row["dtype"], order=row["order"])
        passed = (
            Passed(tr("SMs"), row["arrived_bytes"]),
            Passed("L2", row["l2_bytes"]),
            Passed(far, row["dram_read_bytes"]),
        )
        others = {
            _shape(one["m"], one["n"], one["k"]): one["arrived_bytes"] / one["dram_read_bytes"]
            for one in rows
            if one is not row
        }
        elsewhere = max(others.items(), key=lambda one: one[1], default=None)
        return Story(name, found, problem, passed, measured["machine"]["gpu"], "", elsewhere)
    problem = Problem(SIZE, SIZE, SIZE, dtype="fp16", order=ORDER)
    loads = traced(problem, device)
    passed = Passed(tr("SMs"), problem.requested_bytes), Passed(far, loads.hbm_bytes)
    label = costs_badge(loads.trace.meta["costs"], device)
    return Story(name, found, problem, passed, "", label)


def _shape(m: int, n: int, k: int) -> str:
    return f"{m}×{n}×{k}"
