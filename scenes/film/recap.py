"""Recap: the film one_tile in four seconds, for films that begin where it ends: SM, lane, tick."""

from manim import RIGHT

from tilesim import Trace
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.unroll import Unroll
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.hardware.sm import SM
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.part_names import part_names

NAME, LANE = 180, 170
"""Pixels of the SM's name, and of its lane."""


def recap(film: Film, trace: Trace, say: str) -> None:
    """An SM's box unrolls into its lane, in which the first tile of `trace` passes, its parts named."""
    area, first = film.area, trace.spans[0]
    sm, done = int(first["sm"]), float(first["done"])
    box = SM(f"SM {sm}", sm_colour(sm, trace.device.sms), 0.3 * area.width, 0.6 * area.height)
    box.move_to(area.center)
    lane = LaneVectors(trace, [sm], (0.0, 1.02 * done), area.width - px(NAME), px(LANE))
    lane.shift(area.center + RIGHT * px(NAME) / 2 - lane.grounds.get_center())
    film.badge(trace)
    film.say(say)
    film.play(Fade(box, 0.0, 1.0))
    film.play(Unroll([box], lane))
    film.play(PlayTrace(lane, until=float(first["start"]), run_time=0.6))
    names = part_names(lane, sm, 0, float(first["start"]))
    film.play(PlayTrace(lane, until=done, run_time=1.4), Fade(names, 0.0, 1.0))
    written = part_names(lane, sm, float(first["drain"]), done)
    film.play(Fade(written, 0.0, 1.0))
    film.wait(0.2)
    film.play(Leave(lane), Leave(names), Leave(written))
    film.badge(None)
