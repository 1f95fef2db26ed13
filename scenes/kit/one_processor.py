"""One processor over time: what it loads, multiplies and writes, in rows with names; by calibrated times."""

from collections.abc import Mapping, Sequence

from manim import LEFT, ManimColor

from tilesim import Device, Problem, plan
from tilesim.ideas.warp_specialization import Times
from tilesim.kernel_costs.default import default_costs
from tilesim.model.kstep import k_step_ns
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows

NAMES = 330
"""Pixels for the names of rows, left of them."""


def times_of(problem: Problem, kernel: str, latency: int | None = None) -> Times:
    """What a K-step, a write and a lone load take on an H200, as calibrated for a persistent kernel.

    Operands arrive at least as fast as a main loop was seen to use them up, so that is the interval.
    """
    device = Device.named("h200")
    costs = default_costs("persistent", problem, device, kernel)
    step = round(float(k_step_ns(plan("persistent", problem, device), problem, device, costs).mean()))
    alone = costs.tile_gap if latency is None else latency
    return Times(alone, step, costs.epilogue, interval=step, contention=costs.epilogue_overlap_penalty)


class OneProcessor(Lesson):
    """A film that shows rows of one processor up to `until`, ns, in the color of multiplying."""

    until: float

    def named_rows(self, rows: Mapping[str, Sequence[Bar]], top: float, high: float) -> PhaseRows:
        """Rows from `top` down, each of them `high`, with their names at the picture's left edge."""
        hues = dict.fromkeys(rows, self.theme.by_phase["multiply"])
        wide = self.area.width - px(NAMES)
        made = PhaseRows(rows, (0, self.until), wide, high, 0.2 * high, hues, name_size=42)
        left = made.grounds.get_right()[0] - self.area.width
        for name in made.names:
            name.set_color(ManimColor(self.theme.text))
            name.scale(min(1.0, px(NAMES - 30) / name.width, high / name.height)).set_x(left, LEFT)
        return made.shift([self.area.right - made.grounds.get_right()[0], top - made.grounds.get_top()[1], 0])
