"""Tail: how long do SMs wait for the last tiles?"""

from manim import FadeIn

from tilesim import Device, Problem
from tilesim.metrics import tail
from tilesim.view import tail_start
from tilesim_scenes import Film, Finding, Lanes, Run, TimeBracket
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.mobjects.words.badge import of_trace

FILM = {
    "title": "Tail",
    "question": "What if tiles do not divide evenly?",
    "part": "Schedules",
    "place": 175,
    "seconds": 14,
    "shows": "9 tiles on 4 SMs, and how long SMs without a tile wait for the last one.",
    "takes": "traces",
}


class Tail(Film):
    """9 tiles on 4 SMs."""

    default = Default(("naive",), Problem(384, 768, 512), Device.named("h200", sms=4))

    def construct(self):
        (trace,) = self.traces
        length, idle = tail(trace)
        self.title(tr(FILM["question"]))
        lanes = Lanes(trace, width=0.7 * self.area.width).move_to(self.area.center)
        clock = self.clock(until=trace.makespan)
        self.badge(trace)
        self.say(tr("Every SM has a tile"))
        self.play(FadeIn(lanes))
        self.play(Run(lanes, clock, until=tail_start(trace), run_time=3))
        self.say(tr("Some have none any more"))
        waiting = TimeBracket(lanes, tail_start(trace), trace.makespan)
        self.play(Run(lanes, clock, waiting, until=trace.makespan, run_time=3))
        self.wait(1)
        sentence = tr("is the tail; idle SMs add up to {us:.1f} µs in it", us=idle / 1000)
        self.finding(Finding(sentence, f"{length / 1000:.1f} µs", badge=of_trace(trace)))
