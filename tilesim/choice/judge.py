"""judge and fit: how good the model's choice is, and kernels' times beside the machine's, by measured times.

Each time is fitted by golden section, all of them a few times over, to make the sum of squared logarithms of
measured over estimated time small, so that a product of 5 µs counts as one of 5 ms does.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from statistics import geometric_mean, median
from typing import Any

from tilesim.choice.candidates import candidates
from tilesim.choice.choose import choose
from tilesim.choice.estimate import Estimate, Laid, laid, parts_of
from tilesim.choice.kernel_times import Family, KernelTimes, Tiling, family, tiling
from tilesim.choice.measurement import Timed
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

TOP = 8


@dataclass(frozen=True, slots=True)
class Judged:
    """One product. `chosen`: the first in the model's ranking that was timed, at `place`. Times in µs: `us`,
    its own; `best_us`, that of the fastest kernel; `top_us`, of the fastest of the first TOP that were timed.
    """

    timed: Timed
    chosen: Estimate
    place: int
    us: float
    best_us: float
    top_us: float

    @property
    def regret(self) -> float:
        """How much longer than the fastest the chosen kernel takes, 0 for not at all."""
        return self.us / self.best_us - 1

    @property
    def top_regret(self) -> float:
        return self.top_us / self.best_us - 1

    @property
    def ratio(self) -> float | None:
        """How many times as fast as cuBLAS the chosen kernel is."""
        return self.timed.cublas_us / self.us if self.timed.cublas_us else None


def judge(timed: Iterable[Timed], device: Device) -> list[Judged]:
    """What was chosen for each product of which the model ranks a kernel that was timed."""
    found = []
    for one in timed:
        ranked = choose(one.product, device)
        known = [(i, each, one.us[each.config]) for i, each in enumerate(ranked) if each.config in one.us]
        if known:
            place, chosen, us = known[0]
            top = min(us for _, _, us in known[:TOP])
            found.append(Judged(one, chosen, place, us, min(one.us.values()), top))
    return found


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of many products: the geometric mean and the least of `ratio`; the median and the most of `regret` and
    of `top_regret`; and for how many the first of all was timed."""

    products: int
    mean_ratio: float
    least_ratio: float
    median_regret: float
    most_regret: float
    median_top_regret: float
    most_top_regret: float
    first_timed: int


def verdict(judged: Sequence[Judged]) -> Verdict:
    """The figures of at least one product, of which cuBLAS can multiply at least one."""
    ratios = [one.ratio for one in judged if one.ratio is not None]
    regrets, tops = [one.regret for one in judged], [one.top_regret for one in judged]
    return Verdict(
        len(judged), geometric_mean(ratios), min(ratios), median(regrets), max(regrets),
        median(tops), max(tops), sum(one.place == 0 for one in judged),
    )  # fmt: skip


BOUNDS = {
    "once": (500.0, 10_000.0), "tile_gap": (200.0, 5_000.0), "write": (0.0, 2.0), "multiplying": (1.0, 2.0),
    "waiting": (0.8, 2.0),
}  # fmt: skip
"""Of each constant of KernelTimes."""
PARTIAL_NS = 1000
"""What splitting tiles takes at least beside the whole ones' times: a partial is stored, its flag raised, and
both are read again, each at a latency of DRAM."""
ROUNDS, SECTIONS = 6, 14
FEWEST = 15
"""Products in which a tile was timed before it has a rate of its own."""
CLOSE = 1.3
"""A kernel that takes so many times as long as the fastest weighs a half, and less beyond."""


Case = tuple[Laid, float, float]
"""A kernel, its measured ns, and the weight."""


def cases(timed: Iterable[Timed], device: Device) -> Iterator[tuple[KernelConfig, Product, Case]]:
    """What can be fitted to: the kernels that are candidates and were timed, of what is not held out."""
    for one in timed:
        if one.held_out:
            continue
        hardware = Hardware.named(device.name or REFERENCE, one.product.dtype)
        fastest = min(one.us.values())
        for config in candidates(one.product, device):
            us = one.us.get(config)
            if us is not None:
                weight = 1 / (1 + (log(us / fastest) / log(CLOSE)) ** 2)
                kernel = laid(config, one.product, device, hardware)
                yield config, one.product, (kernel, 1000 * us, weight)


def fit(timed: Iterable[Timed], device: Device) -> dict[str, Any]:
    """{"families": rows of constants, "tilings": rows of "multiplying"}, fitted to what is not held out."""
    families: dict[Family, list[Case]] = defaultdict(list)
    tilings: dict[Tiling, list[Case]] = defaultdict(list)
    products: dict[Tiling, set[Product]] = defaultdict(set)
    for config, product, case in cases(timed, device):
        products[tiling(config, product)].add(product)
        families[family(config)].append(case)
        tilings[tiling(config, product)].append(case)
    found: dict[Family, KernelTimes] = {}
    for name, some in sorted(families.items()):  # a kernel before the same with split tiles
        whole = found.get(name._replace(split=False))
        least = whole.once + PARTIAL_NS if whole else BOUNDS["once"][0]
        found[name] = fitted_to(some, whole or KernelTimes(), BOUNDS | {"once": (least, BOUNDS["once"][1])})
    own = {
        name: fitted_to(some, found[Family(*name[:3])], {"multiplying": BOUNDS["multiplying"]}).multiplying
        for name, some in sorted(tilings.items())
        if len(products[name]) >= FEWEST
    }
    return {
        "families": [
            name._asdict() | {field: round(getattr(known, field), 3) for field in BOUNDS}
            for name, known in found.items()
        ],
        "tilings": [name._asdict() | {"multiplying": round(rate, 3)} for name, rate in own.items()],
    }


def fitted_to(some: list[Case], known: KernelTimes, bounds: Mapping[str, tuple[float, float]]) -> KernelTimes:
    """The times that fit best, each within its bounds, beginning from those that are known."""
    known = replace(known, **{name: max(low, getattr(known, name)) for name, (low, _) in bounds.items()})
    for _ in range(ROUNDS if len(bounds) > 1 else 1):
        for name, (low, high) in bounds.items():
            best = _section(partial(_loss, some, known, name), low, high)
            if _loss(some, known, name, best) < _loss(some, known, name, getattr(known, name)):
                known = replace(known, **{name: best})
    return known


def _loss(some: list[Case], known: KernelTimes, name: str, value: float) -> float:
    """The loss with `known` where `name` is `value`."""
    known = replace(known, **{name: value})
    return sum(weight * log(sum(parts_of(one, known).values()) / ns) ** 2 for one, ns, weight in some)


def _section(loss: Callable[[float], float], low: float, high: float) -> float:
    """The value between `low` and `high` for which `loss` is least, if it falls and then rises.

    >>> round(_section(lambda x: (x - 2) ** 2, 0, 10), 1)
    2.0
    """
    ratio = (5**0.5 - 1) / 2
    for _ in range(SECTIONS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    return (low + high) / 2
