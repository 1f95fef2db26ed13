"""Travel: things go where they are needed, one after the other, on arcs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import Mobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.look.theme import AnyColour
from tilesim_scenes.mobjects.hardware.thread_block import ThreadBlock

LEG, FLIGHT, APART, ARC = 0.4, 0.5, 0.1, 0.18
"""Seconds of a leg, of a flight, and from one flight's start to the next; an arc's height for its width."""


class Travel(Direct):
    """Each of `travellers` along its `ways`: points that it passes, where it stands now being the first.

    `sizes`: its width at each of them, as shares of what it has. Each leg takes `leg` seconds, each next
    traveller starts `apart` seconds later.
    """

    def __init__(
        self,
        travellers: Sequence[Mobject],
        ways: Sequence[Sequence[np.ndarray]],
        sizes: Sequence[Sequence[float]] | None = None,
        leg: float = LEG,
        apart: float = APART,
        arc: float = 0.0,
        run_time: float | None = None,
        **kwargs: Any,
    ) -> None:
        self.travellers, self.ways, self.leg, self.apart, self.arc = travellers, ways, leg, apart, arc
        self.sizes = sizes or [[1.0] * len(way) for way in ways]
        longest = max((len(way) for way in ways), default=0)
        self._natural = max(leg * longest + apart * (len(travellers) - 1), 0.1)
        super().__init__(*travellers, run_time=self._natural if run_time is None else run_time, **kwargs)

    def begin(self) -> None:
        self._stood = [
            (one.get_center(), [(member, member.points.copy()) for member in one.get_family()])
            for one in self.travellers
        ]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        second = alpha * self._natural
        for number, (home, members) in enumerate(self._stood):
            stops, sizes = [home, *self.ways[number]], [1.0, *self.sizes[number]]
            last = len(stops) - 1
            legs = float(np.clip((second - number * self.apart) / self.leg, 0, last))
            leg = min(int(legs), last - 1)
            part = smoothstep(legs - leg)
            start = np.asarray(stops[leg])
            across = np.asarray(stops[leg + 1]) - start
            rise = self.arc * np.array([-across[1], across[0], 0.0]) * (-1 if across[0] < 0 else 1)
            at = start + part * across + 4 * part * (1 - part) * rise
            size = sizes[leg] + part * (sizes[leg + 1] - sizes[leg])
            for member, points in members:
                member.points = (points - home) * size + at
            if legs >= last:
                self.land(number)

    def land(self, number: int) -> None:
        """A traveller has come to its end."""


class Deal(Travel):
    """Thread blocks fly to their places, each on an arc, and take the hue of their SM when they land."""

    def __init__(
        self,
        blocks: Sequence[ThreadBlock],
        places: Sequence[Mobject],
        colours: Sequence[AnyColour],
        **kwargs: Any,
    ) -> None:
        self.colours = colours
        super().__init__(blocks, [[place.get_center()] for place in places], leg=FLIGHT, arc=ARC, **kwargs)

    def land(self, number: int) -> None:
        self.travellers[number].resident(self.colours[number])


class Fetch(Travel):
    """A chunk, or a pair of them, comes down the levels of memory, 0.4 s a leg."""

    def __init__(
        self, chunk: Mobject, levels: Sequence[Mobject], sizes: Sequence[float] | None = None, **kwargs: Any
    ) -> None:
        way = [level.get_center() for level in levels]
        super().__init__([chunk], [way], [sizes] if sizes else None, **kwargs)


class WriteBack(Travel):
    """A finished tile flies home to its place in C, and is as large as that when it lands."""

    def __init__(self, tile: Mobject, place: Mobject, **kwargs: Any) -> None:
        ways, sizes = [[place.get_center()]], [[place.width / tile.width]]
        super().__init__([tile], ways, sizes, leg=FLIGHT, arc=ARC, **kwargs)
