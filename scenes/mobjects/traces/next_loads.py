"""NextLoads: in the lanes of a run, the load of each next tile, below the write during which it begins."""

from collections.abc import Sequence

import numpy as np
from manim import DOWN

from tilesim.metrics import launch_end
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, theme_now
from tilesim_scenes.mobjects.drawing.quads import diagonals, nothing, quad, shape, strokes
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.lane_image import UNDER
from tilesim_scenes.mobjects.traces.lane_vectors import HATCH, LaneVectors


class NextLoads(Redrawn):
    """A strip for each load but the first of a lane, in the hue of the lane, in full height after the write.

    Spans do not say when such a load begins, so each is as long as the first.
    """

    over = ("lanes",)

    def __init__(self, lanes: LaneVectors, hues: Sequence[Colour]) -> None:
        super().__init__()
        self.lanes, self.loads, trace = lanes, [], lanes.trace
        self.stand_on(lanes.grounds[0])
        first = launch_end(trace)
        for sm, ground, hue in zip(lanes.sms, lanes.grounds, hues, strict=True):
            foot = ground.copy().stretch_to_fit_height(UNDER * ground.height).align_to(ground, DOWN)
            mine = trace.spans["sm"] == sm
            starts = np.sort(trace.spans["start"][mine]).tolist()
            long = starts[0] - float(first[mine].min())
            for start, done in zip(starts[1:], np.sort(trace.spans["done"][mine]).tolist(), strict=False):
                self.loads += [(foot, start - long, start), (ground, done, start)]
                for _ in range(2):
                    self.add(shape(mixed(theme_now().idle, hue, 0.3)).add(strokes(hue, 2.5)))
        self.show(0.0)

    def draw(self, was: float) -> None:
        """Draw each load as far as it has come by `t`."""
        left, width = self.lanes.x(self.lanes.window[0]), self.lanes.grounds[0].width
        for (foot, begin, end), strip in zip(self.loads, self.submobjects, strict=True):
            x0, x1 = np.clip([(self.lanes.x(one) - left) / width for one in (begin, min(self.t, end))], 0, 1)
            strip.points = quad(foot, x0, x1) if x1 > x0 else nothing(foot)
            strip.submobjects[0].points = diagonals(foot, x0, x1, px(HATCH)) if x1 > x0 else nothing(foot)
