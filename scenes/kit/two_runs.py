"""Two runs on one clock: all SMs of each as thin rows, one run below the other."""

from collections.abc import Callable, Mapping, Sequence

from manim import LEFT, RIGHT, UP, VGroup

from tilesim import Trace
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.traces.lane_image import LaneImage

FIGURE = 230
"""Pixels for how long a run took, right of its rows."""


def two_runs(
    film: Lesson,
    runs: Mapping[str, Trace],
    us: Sequence[float],
    fills: Mapping[str, Colour],
    order: Callable[[Trace], Sequence[int]] | None = None,
) -> tuple[list[LaneImage], VGroup, VGroup]:
    """Rows of two runs above the film's key, their names, and how long they took: `us`, as printed.

    `order`: of a run's SMs, by default that of their numbers.
    """
    area, longest = film.area, float(max(run.makespan for run in runs.values()))
    step = (area.top - film.floor) / 2
    rasters, names, ends = [], VGroup(), VGroup()
    for number, ((name, run), took) in enumerate(zip(runs.items(), us, strict=True)):
        sms, window, high = order and order(run), (0.0, longest), step - px(90)
        lanes = LaneImage(run, sms, window, area.width - px(FIGURE), height=high, fills=fills)
        lanes.move_to([area.left, area.top - number * step - px(64), 0], LEFT + UP)
        names.add(label(name, 48, bold=True).next_to(lanes, UP, px(10)).align_to(lanes, LEFT))
        figure = label(tr("{us:.1f} µs", us=took), 48, bold=True, mono=True)
        ends.add(figure.next_to(lanes, RIGHT, px(20)))
        rasters.append(lanes.show(0.0))
    names.add(film.word("one thin row for each SM", 42).next_to(names[0], RIGHT, px(40)))
    return rasters, names, ends
