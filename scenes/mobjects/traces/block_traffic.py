"""BlockTraffic: thread blocks of a run, in their queue, on their SMs, or gone."""

from collections.abc import Sequence

import numpy as np
from manim import VMobject, smoothstep

from tilesim import Trace
from tilesim.metrics import slot_index
from tilesim_scenes.animations.fade import opacities, set_opacities
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.drawing.quads import axes_of
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.hardware.queue import Queue
from tilesim_scenes.mobjects.traces.lanes import Lanes

FLIGHT, LEAVING = 1500.0, 1000.0
"""ns of the trace that a block takes from the queue to its SM, and that it takes to leave."""
ARC = 0.2
"""Height of its arc, for its width."""


class BlockTraffic(Redrawn):
    """The blocks of `queue` as a run has them; `homes` are the places in the queue, the next block's first.

    The first blocks stand left of their SMs' lanes from the beginning on. Each next one flies there when its
    slot is free, and the queue moves up. A block leaves upwards when it is done.

        queue = Queue(range(18))
        blocks = BlockTraffic(trace, queue, lanes, [block.get_center() for block in queue])
        self.play(PlayTrace(lanes, blocks, until=12_000))
    """

    over = ("lanes",)

    def __init__(self, trace: Trace, queue: Queue, lanes: Lanes, homes: Sequence[np.ndarray]) -> None:
        super().__init__(*queue)
        self.trace, self.lanes, self.homes = trace, lanes, homes
        self.stand_on(queue[0].token)
        self._blocks = list(queue)
        self._side = queue[0].token.width
        self._shapes = [
            [((one.points - block.get_center()) / self._side, opacities(one)) for one in block.get_family()]
            for block in queue
        ]
        spans, slots = trace.spans, slot_index(trace)
        mine = [np.flatnonzero(spans["cta"] == block.number) for block in queue]
        self._issue = np.array([spans["issue"][rows].min() for rows in mine], float)
        self._done = np.array([spans["done"][rows].max() for rows in mine], float)
        self._sm = [int(spans["sm"][rows[0]]) for rows in mine]
        self._slot = [int(slots[rows[0]]) for rows in mine]
        there = dealt(trace)
        self._issue[[block.number in there for block in queue]] = -np.inf

    def draw(self, was: float) -> None:
        """Draw each block where it is at `t`."""
        t = self.t
        share = np.array([smoothstep(float(np.clip((t - issue) / FLIGHT, 0, 1))) for issue in self._issue])
        ahead = np.arange(len(share)) - np.concatenate([[0.0], np.cumsum(share)[:-1]])
        for number, flown in enumerate(share.tolist()):
            gone = float(np.clip((t - self._done[number]) / LEAVING, 0, 1))
            self._stand(number, flown, float(ahead[number]), gone)

    def place(self, slot: int) -> np.ndarray:
        """Where the block that is resident in a slot stands."""
        origin, right, up = axes_of(self.ground(slot))
        return origin + up / 2 - right / np.linalg.norm(right) * px(66)

    def ground(self, slot: int) -> VMobject:
        """The lane of a slot."""
        return self.lanes.grounds[self.lanes.slots.index(slot)]

    def _stand(self, number: int, flown: float, ahead: float, gone: float) -> None:
        left = int(ahead)
        following = min(left + 1, len(self.homes) - 1)
        waiting = self.homes[left] + (ahead - left) * (self.homes[following] - self.homes[left])
        slot = self._slot[number]
        place = self.place(slot)
        at = waiting + flown * (place - waiting)
        at = at + 4 * flown * (1 - flown) * np.array([0, ARC * abs(place[0] - waiting[0]), 0])
        at = at + gone**2 * np.array([0, px(90), 0])
        height = float(np.linalg.norm(axes_of(self.ground(slot))[2]))
        side = self._side + flown * (min(self._side, 0.86 * height) - self._side)
        block = self._blocks[number]
        if flown >= 1:
            block.resident(sm_colour(self._sm[number], self.trace.device.sms))
        else:
            block.waits()
        for one, (shape, own) in zip(block.get_family(), self._shapes[number], strict=True):
            one.points = shape * side + at
            set_opacities(one, own, 1 - gone)


def dealt(trace: Trace) -> set[int]:
    """The thread blocks that find a free slot when the run begins.

    >>> from tilesim import Device, Problem, simulate
    >>> sorted(dealt(simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))))
    [0, 1, 2, 3]
    """
    first = np.unique(slot_index(trace), return_index=True)[1]
    return {int(cta) for cta in trace.spans["cta"][first]}
