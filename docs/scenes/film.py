from manim import UP, FadeIn

from tilesim import Device, Problem
from tilesim_scenes import Film, Lanes, PlayTrace
from tilesim_scenes.film.traces import Default


class MyFilm(Film):
    default = Default(("naive",), Problem(256, 768, 512), Device.named("h200", sms=4))

    def construct(self):
        (trace,) = self.traces
        lanes = Lanes(trace, width=0.7 * self.area.width).move_to(self.area.center)
        self.badge(trace)
        clock = self.clock(until=trace.makespan)
        self.say("One thread block for each tile")
        self.play(FadeIn(lanes, shift=UP))
        self.play(PlayTrace(lanes, clock, until=trace.makespan))
        self.say("Nothing multiplies while a tile is written")
        self.dive(lanes.span(tile=0, part="write"))
        self.wait(1)
