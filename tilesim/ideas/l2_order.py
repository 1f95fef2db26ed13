"""L2 order: what tiles share that are at work together, and what HBM has to send for one order or another.

All tiles of a product do the same work in whatever order they come. What differs is their company. A tile
needs a row of blocks of A and a column of blocks of B; tiles in one row need the same blocks of A, tiles in
one column the same of B. What is needed twice at about the same time the L2 holds, and HBM sends it once.

With A, B and C of 9 x 9 blocks each, the first nine tiles row by row need one row of A and all of B: 9 + 81 =
90 blocks. Nine tiles in a square need three rows and three columns: 27 + 27 = 54 (Triton, Tutorials, Matrix
Multiplication, section L2 Cache Optimizations). That is what a group of rows, GROUP_M, is for. A curve such
as Hilbert's (D. Hilbert, Math. Annalen 38, 1891) does the same on every scale.

It matters only where the L2 cannot hold A and B. As long as it can, each byte comes once in any order. Beyond
that, what was thrown out before its next use comes again. `traced` reads this off a plan with the cache of
tilesim.model.traffic, and lays it over a simulated run of that plan, so that one can watch the bytes come.
"""

from dataclasses import dataclass

import numpy as np

from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.engine.simulate import simulate
from tilesim.errors import TilesimError, shown, whole
from tilesim.kernel_costs.default import default_costs
from tilesim.model.kstep import loads_under
from tilesim.orders import visit
from tilesim.problems import Problem
from tilesim.schedules import plan
from tilesim.traces import Trace
from tilesim.view import progress

SCHEDULE = "persistent"
"""One thread block for each slot; together they take tiles in turn, so the order says which are at work."""
MOST_BLOCKS = 2**20
"""Of K-steps."""


def blocks(tiles: np.ndarray, tiles_n: int, k_blocks: int) -> np.ndarray:
    """Blocks of A and of B that the first tile, the first two ... need, each block once: int64 [tiles, 2].

    `tiles`: ids in the order in which they come, see tilesim.orders. `tiles_n`: tiles in a row. `k_blocks`:
    blocks of A in a row, and of B in a column.

    Raises TilesimError where `tiles` are no list of numbers from 0, or a count is no whole number from 1.

    Nine tiles in a row, and nine in a square:

    >>> from tilesim import orders
    >>> in_a_row, in_groups = orders.row_major(9, 9)[:9], orders.grouped(9, 9, 3)[:9]
    >>> blocks(in_a_row, 9, 9)[-1].tolist(), blocks(in_groups, 9, 9)[-1].tolist()
    ([9, 81], [27, 27])
    """
    tiles_n = whole("the number of tiles in a row", tiles_n, 1, MOST_BLOCKS, TilesimError)
    k_blocks = whole("the number of blocks along K", k_blocks, 1, MOST_BLOCKS, TilesimError)
    tiles = np.asarray(tiles)
    if tiles.ndim != 1 or tiles.dtype.kind not in "iu" or (tiles < 0).any():
        raise TilesimError(f"the tiles are {shown(tiles)}; they must be a list of whole numbers from 0")
    rows_and_columns = np.divmod(tiles, tiles_n)
    return k_blocks * np.stack([np.cumsum(_first_seen(each)) for each in rows_and_columns], axis=1)


def _first_seen(numbers: np.ndarray) -> np.ndarray:
    """Whether each number comes for the first time: bool, of the same shape."""
    first = np.zeros(len(numbers), bool)
    first[np.unique(numbers, return_index=True)[1]] = True
    return first


@dataclass(frozen=True, slots=True, eq=False)
class TracedLoads:
    """A simulated run, and what of A and B passes meanwhile.

    `asked`: bytes that each span's tile loads. `sent`: those of them that HBM sends, which are not in the L2.
    Both float64, in the order of the trace's spans.
    """

    trace: Trace
    asked: np.ndarray
    sent: np.ndarray

    def until(self, t: float) -> tuple[float, float]:
        """Bytes asked for, and bytes that HBM has sent, `t` ns into the run; a main loop loads evenly."""
        share = progress(self.trace, t)
        return float(share @ self.asked), float(share @ self.sent)

    def hit_rate(self, t: float) -> float:
        """The share of the bytes asked for until `t` that HBM did not have to send; 0 before the first."""
        asked, sent = self.until(t)
        return 1 - sent / asked if asked else 0.0

    @property
    def hbm_bytes(self) -> float:
        """What HBM sends of A and B in all."""
        return float(self.sent.sum())


def traced(problem: Problem, device: Device) -> TracedLoads:
    """The persistent schedule on `problem`, in its order, behind the L2 of `device`.

    Raises CostsError where nothing is known of the device at the problem's dtype, and what `simulate` raises.

    At 8192 x 8192 x 8192 groups save a third of what HBM sends; with K = 512 all orders need A and B once:

    >>> h200 = Device.named("h200")
    >>> def megabytes(k, order):
    ...     return round(traced(Problem(8192, 8192, k, order=order), h200).hbm_bytes / 1e6)
    >>> [megabytes(8192, order) for order in ("row-major", "grouped:8", "hilbert")]
    [2282, 1460, 1313]
    >>> [megabytes(512, order) for order in ("row-major", "grouped:8")]
    [17, 17]
    """
    costs = default_costs(SCHEDULE, problem, device)
    made = plan(SCHEDULE, problem, device)
    trace = simulate(SCHEDULE, problem, device, costs)
    hardware = Hardware.named(costs.hardware, problem.dtype)
    loaded = loads_under(made, problem, device, costs, hardware)
    at_tile = np.empty((2, problem.tiles))
    at_tile[:, made.rows["tile"]] = loaded.of_segments(hardware.l2_bytes)
    return TracedLoads(trace, *at_tile[:, trace.spans["tile"]])


def together(problem: Problem, device: Device, wave: int = 0) -> np.ndarray:
    """The tiles that are at work together in a wave, one for each slot, in their order: ids, int32.

    >>> together(Problem(1024, 2048, 64, order="grouped:2"), Device(4)).tolist()
    [0, 8, 1, 9]
    """
    first = wave * device.slots
    return visit(problem)[first : first + device.slots]
