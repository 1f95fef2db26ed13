"""Scales: two logarithmic axes, from figures to places."""

from dataclasses import dataclass
from math import ceil, floor, log, log10

from .layout import Box


@dataclass(frozen=True, slots=True)
class Scales:
    """The axes of a plot in design pixels, each from its low to its high end."""

    plot: Box
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        return self.plot.x + self.plot.w * share(value, *self.across)

    def y(self, value: float) -> float:
        return self.plot.bottom - self.plot.h * share(value, *self.up)

    def value(self, x: float) -> float:
        """What the axis across counts at a place.

        >>> round(Scales(Box(10, 0, 100, 100), (1.0, 100.0), (1.0, 10.0)).value(60), 6)
        10.0
        """
        low, high = self.across
        return low * (high / low) ** ((x - self.plot.x) / self.plot.w)

    def value_up(self, y: float) -> float:
        """What the axis upwards counts at a place."""
        low, high = self.up
        return low * (high / low) ** ((self.plot.bottom - y) / self.plot.h)

    def hold(self, across: float, up: float) -> bool:
        """Whether a point is inside the plot."""
        return self.across[0] <= across <= self.across[1] and self.up[0] <= up <= self.up[1]


def share(value: float, low: float, high: float) -> float:
    """Where between two ends a value lies on a logarithmic axis.

    >>> round(share(10.0, 1.0, 1000.0), 3)
    0.333
    """
    return log(value / low) / log(high / low)


def powers(low: float, high: float) -> list[float]:
    """The powers of ten between two ends.

    >>> powers(0.2, 300.0)
    [1.0, 10.0, 100.0]
    """
    return [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
