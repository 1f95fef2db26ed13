"""l2-order: one kernel, one tile, one schedule; only the order in which tiles come differs."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from tilesim.problems import Problem
from tilesim.products import Product

from ..launch.named import named
from ..launch.operands import matrices, sets_beyond_l2
from ..measure.energy import joules_used, power_limit, without_pause
from ..measure.machine import device, measuring
from ..measure.timing import Rotation, capture
from .bench import METHOD, Contender, compare, job_of
from .counters import TRAFFIC, counted

ORDERS = ("row-major", "grouped:4", "grouped:8", "grouped:16", "hilbert")
SIZES = ((8192, 8192, 8192), (8192, 8192, 512))
"""Where the L2 holds a small part of A and B, and where it holds all of them."""
LAUNCHES = 3
"""That are counted, each with cold caches."""
SECONDS, TURNS = 3, 5
"""That each order runs without a pause, and how often."""
KERNEL = "table:persistent"


@measuring
def l2_order(samples: int = 50) -> dict[str, Any]:
    """Time and count the orders. A row per size and order has what `bench` says, and what `traffic` counts
    where that can be read. "without_pause": what each order takes and uses where the GPU never rests, at most
    "power_limit_w"."""
    rows = []
    for size in SIZES:
        orders = {order: named(KERNEL, Problem(*size, order=order)) for order in ORDERS}
        timed = compare(Problem(*size), orders, samples=samples, counting=traffic)
        rows += [row | {"kernel": KERNEL} for row in timed]
    energy = of_each_order(Problem(*SIZES[0])) if joules_used() else []
    return {"method": METHOD, "rows": rows, "without_pause": energy, "power_limit_w": power_limit() or 0.0}


def of_each_order(problem: Problem) -> list[dict[str, Any]]:
    """A row per order of `without_pause`."""
    product, here = Product.of(problem), device(1)
    sets = [matrices(product, "cuda", seed) for seed in range(sets_beyond_l2(product))]
    rotations = {}
    for order in ORDERS:
        work, _ = job_of(named(KERNEL, replace(problem, order=order)), problem, here)
        launches = [work.launcher((a, b, c.detach())) for a, b, c in sets]
        rotations[order] = Rotation(capture(launches), launches)
    found = without_pause(rotations, SECONDS, TURNS)
    return [{"order": order} | row for order, row in found.items()]


def traffic(contenders: Sequence[tuple[Product, Contender]]) -> list[dict[str, Any]]:
    """TRAFFIC of each, the median of LAUNCHES, with l2_bytes and l2_hit_rate; {} where it cannot be read."""
    counts = counted([one for one in contenders for _ in range(LAUNCHES)], TRAFFIC)
    if not counts[0]:
        return [{} for _ in contenders]
    rows = []
    for i in range(0, len(counts), LAUNCHES):
        own = counts[i : i + LAUNCHES]
        moved = {name: round(median(one[name] for one in own)) for name in TRAFFIC}
        sectors = moved["l2_read_sectors"]
        hit_rate = round(moved["l2_hit_sectors"] / max(1, sectors), 4)
        rows.append(moved | {"l2_bytes": 32 * sectors, "l2_hit_rate": hit_rate, "counted_launches": LAUNCHES})
    return rows
