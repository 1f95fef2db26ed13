"""What the film latency_hiding says: warps of an SM that wait for memory, beside a thread of a CPU."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesim.errors import ReportError, shown
from tilesim.ideas.latency_hiding import in_flight
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr

MOVED = 1536
"""Bytes that a round of a warp moves: 1024 that it asks for, 512 that it stores."""
ASKED_A_WARP, THREADS = 1024, 32
CACHE_LINE = 64
"""Bytes of a CPU's cache line (x86)."""
DATA_CACHES = {"NVIDIA H200": 256 * 1024}
"""Bytes of an SM's L1 and shared memory together (CUDA C++ Programming Guide, Compute Capability 9.0)."""
HOST_ASKED = 2 / 3
"""Of the bytes that y = a * x + y moves, those that are read."""
MOST_LINES = 256
"""That are shown of a thread."""
LONGER = 1.15
"""How much longer a wait is before it is said to be longer."""
LEAST_GAIN = 1.1
NEARLY = 0.95
"""Of what memory gives, from which on it is said to be full."""
STAGES = 3
"""Of the products whose thread blocks are compared."""


@dataclass(frozen=True, slots=True)
class Warps:
    """So many warps on each SM, as measured: cycles `asked` and `came`, int64 [warps, requests].

    All are under way at 0. `wait`: the median of all waits, cycles. `rate`: bytes a cycle that an SM moves.
    """

    warps: int
    asked: np.ndarray
    came: np.ndarray
    wait: float
    rate: float


@dataclass(frozen=True, slots=True)
class Story:
    """What the film shows. `steps`: ever more warps. `all_sms`: {warps: bytes a cycle of an SM}, all at work.

    `lines_of_host`: that one thread of the host has under way, by Little's law. `cache_of_host`: bytes of its
    core's own caches, 0 where not known. `blocks`: {thread blocks on an SM: ns that the SM takes for a
    K-step}, `each`: {the same: ns that it takes each block}.
    """

    gpu: str
    steps: tuple[Warps, ...]
    all_sms: Mapping[int, float]
    lines_of_host: int
    cache_of_host: int
    blocks: Mapping[int, float]
    each: Mapping[int, float]

    @property
    def most(self) -> float:
        """Bytes a cycle that memory gives an SM at most, while all ask."""
        return max(self.all_sms.values())

    @property
    def arriving(self) -> float:
        """Cycles that a round's bytes take at that rate."""
        return MOVED / self.most

    def share(self, step: Warps) -> float:
        """Of what memory gives, up to 1."""
        return step.rate / self.most

    @property
    def until(self) -> float:
        """Cycles that the lanes show: three waits of one warp, and a little."""
        return 3.3 * self.steps[0].wait

    @property
    def turn(self) -> float:
        """Cycles from a question of a warp that has memory for itself to its next one."""
        return MOVED / self.all_sms[1]

    @property
    def needed(self) -> float:
        """Warps that have as much under way as Little's law asks for."""
        return in_flight(self.most / MOVED, self.turn)

    @property
    def enough(self) -> int:
        """The number of warps, of those measured, that is nearest to that."""
        return min(self.all_sms, key=lambda warps: abs(warps - self.needed))

    @property
    def reached(self) -> float:
        """What so many get of what memory gives, up to 1."""
        return self.all_sms[self.enough] / self.most

    # What is said

    @property
    def question(self) -> str:
        return tr("Why run warps that wait?")

    @property
    def one(self) -> str:
        return tr("One warp asks memory, then waits")

    def more(self, step: Warps) -> str:
        """What is seen of more warps."""
        first = self.steps[0]
        if step.wait <= LONGER * first.wait:
            return tr("While one warp waits, others ask")
        longer, gain = step.wait / first.wait, step.rate / first.rate
        return tr("{warps} warps wait ×{longer:.1f} and get ×{gain:.1f}", warps=step.warps,
                  longer=longer, gain=gain)  # fmt: skip

    def cycles(self, count: float) -> str:
        return tr("{count:,.0f} cycles", count=count)

    @property
    def law(self) -> str:
        if self.reached >= NEARLY:
            return tr("{warps} warps fill it: rate × latency", warps=self.enough)
        return tr("{warps} warps would fill it, if no wait grew", warps=self.enough)

    @property
    def lines_of_sm(self) -> int:
        """The same of all warps of an SM, in lines of as many bytes."""
        return self.steps[-1].warps * ASKED_A_WARP // CACHE_LINE

    @property
    def threads(self) -> int:
        """Of all those warps."""
        return THREADS * self.steps[-1].warps

    @property
    def caches(self) -> tuple[int, int] | None:
        """Bytes of the nearest caches for each thread, of the host's core and of an SM, if both are known."""
        of_sm = DATA_CACHES.get(self.gpu, 0) // self.threads
        return (self.cache_of_host, of_sm) if self.cache_of_host > of_sm > 0 else None

    @property
    def cache_words(self) -> str:
        return tr("Cache for each thread, to scale")

    @property
    def host_words(self) -> str:
        return tr("A CPU thread asks ahead by itself")

    @property
    def sm_words(self) -> str:
        return tr("GPU threads ask once, but are many")

    @property
    def two_blocks(self) -> str:
        if self.block_gain < LEAST_GAIN:
            return tr("In a product, two blocks: nothing is won")
        if self.each[2] > self.each[1]:
            return tr("In a product, two blocks: each slower, both ×{gain:.2f} faster", gain=self.block_gain)
        return tr("In a product, two blocks: ×{gain:.2f} faster", gain=self.block_gain)

    @property
    def block_gain(self) -> float:
        """By how much two thread blocks on an SM are faster than one, of the same stages."""
        return self.blocks[1] / self.blocks[2]

    @property
    def gain(self) -> float:
        """Of the most warps against one."""
        return self.steps[-1].rate / self.steps[0].rate

    @property
    def finding(self) -> str:
        if self.gain < LEAST_GAIN:
            return tr("More warps win nothing here")
        return tr("No wait gets shorter; others fill it")

    @property
    def number(self) -> str:
        return f"×{self.gain:.1f}"

    @property
    def aside(self) -> str:
        """What it costs, where it costs something."""
        longer = self.steps[-1].wait / self.steps[0].wait
        return tr("each waits ×{longer:.1f} as long", longer=longer) if longer > LONGER else ""


def tell(measured: Mapping[str, Any] | None = None, warps: int = 16) -> Story:
    """The story of a report of `tilesim bench latency-hiding`, the shipped one by default.

    Raises ReportError where it has no lanes of so many warps, lacks a row that the film shows, or says what
    cannot be measured or shown.
    """
    measured = measured or report("latency_hiding")
    sms = measured["sms"]
    counts = [2**i for i in range(warps.bit_length()) if 2**i < warps] + [warps]
    steps = tuple(_warps(measured, sms, count) for count in counts)
    rates = {one["warps"]: _above_0(one, "bytes_per_clock") for one in measured["rows"] if one["sms"] == sms}
    blocks = {"rows": measured["blocks"]}
    each = {count: _above_0(row(blocks, blocks=count, stages=STAGES), "k_step_ns") for count in (1, 2)}
    host = measured["host"]
    under_way = in_flight(
        HOST_ASKED * _above_0(row(host, threads=1), "gb_per_s"), _above_0(host, "latency_ns")
    )
    lines = max(1, round(under_way / CACHE_LINE))
    if lines > MOST_LINES:
        raise ReportError(f"a thread of the host has {lines:,} lines under way; the film shows {MOST_LINES}")
    an_sm = {count: ns / count for count, ns in each.items()}
    return Story(measured["machine"]["gpu"], steps, rates, lines, host["cache_bytes"], an_sm, each)


def in_bytes(size: int) -> str:
    """A size as people read it.

    >>> in_bytes(512), in_bytes(2146304)
    ('512 bytes', '2.1 MB')
    """
    return tr("{mb:.1f} MB", mb=size / 1e6) if size >= 10**5 else tr("{count} bytes", count=size)


def _warps(measured: Mapping[str, Any], sms: int, count: int) -> Warps:
    """What was measured of so many warps; the lanes begin where the last of them is under way."""
    found = row(measured, sms=sms, warps=count)
    lanes = row({"rows": measured["lanes"]}, sms=sms, warps=count)
    try:
        asked, came = (np.array(lanes[name], np.int64) for name in ("asked", "came"))
        fits = asked.shape == came.shape and asked.ndim == 2 and len(asked) == count and (came > asked).all()
    except (ValueError, TypeError, OverflowError):
        fits = False
    if not fits:
        raise ReportError(
            f"the lanes of {count} warps must be a row of questions and one of later answers each"
        )
    begin = asked[:, 0].max()
    wait = _above_0(found["wait"], "p50")
    return Warps(count, asked - begin, came - begin, wait, _above_0(found, "bytes_per_clock"))


def _above_0(found: Mapping[str, Any], name: str) -> float:
    """A figure that is above 0; raises ReportError for any other."""
    if not found[name] > 0:
        raise ReportError(f"{name} is {shown(found[name])}; it must be above 0")
    return float(found[name])
