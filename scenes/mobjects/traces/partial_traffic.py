"""PartialTraffic: partial sums on their way from the lane that computed them to the lane that adds them."""

from collections.abc import Sequence

import numpy as np
from manim import smoothstep

from tilesim import Trace
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.hardware.partial import Partial
from tilesim_scenes.mobjects.traces.lanes import Lanes

FLIGHT = 0.06
"""Of the run's time, that a flight is seen to take; a sum that lies ready waits at its owner's lane."""
AWAY = np.array([1e4, 0.0, 0.0])
"""Where a sum is that is not on its way."""


class PartialTraffic(Redrawn):
    """Some partial sums of a run over its `lanes`; each of `pairs` is (giver, owner), rows of the spans.

    A sum sets out when its giver has stored it, rides at the clock, and goes when its owner has added it.

        traffic = PartialTraffic(trace, lanes, [(3, 17)])
        self.play(PlayTrace(lanes, traffic, until=trace.makespan))
    """

    over = ("lanes",)

    def __init__(
        self, trace: Trace, lanes: Lanes, pairs: Sequence[tuple[int, int]], size: float = 60
    ) -> None:
        super().__init__(*(Partial(px(size), px(0.66 * size)) for _ in pairs))
        self.trace, self.lanes, self.pairs = trace, lanes, tuple(pairs)
        self.show(0.0)

    def draw(self, was: float) -> None:
        """Draw each sum where it is at `t`."""
        t = self.t
        spans, flight = self.trace.spans, FLIGHT * self.trace.makespan
        for (giver, owner), partial in zip(self.pairs, self, strict=True):
            begin = float(spans["done"][giver])
            end = max(float(spans["fixup"][owner]), begin + flight)
            if not begin <= t <= end or t >= self.trace.makespan:
                partial.move_to(AWAY)
                continue
            share = smoothstep(min(1.0, (t - begin) / flight))
            low, high = (self.lanes.lane(int(spans["sm"][row])).get_center()[1] for row in (giver, owner))
            partial.move_to([self.lanes.x(t), low + share * (high - low), 0])
