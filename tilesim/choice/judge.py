"""judge: how good the model's choice is, by measured times of all that it could have chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from tilesim.choice.choose import choose
from tilesim.choice.estimate import Estimate
from tilesim.choice.measurement import Timed
from tilesim.devices.device import Device

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
