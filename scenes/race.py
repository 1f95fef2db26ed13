"""Race: which kernel for the same product is done first, and where does the difference come from?"""

from manim import LEFT, UP, Mobject

from tilesim import Device, Problem
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import Run
from tilesim_scenes.animations.tip import Tip
from tilesim_scenes.film.racing import Racing
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces import race_words as words
from tilesim_scenes.story.traces.race import Heat, tell
from tilesim_scenes.story.traces.race import Race as Story

FILM = {
    "title": "Race",
    "question": "What makes a persistent kernel faster?",
    "part": "Schedules",
    "place": 150,
    "seconds": 44,
    "shows": "Runs of one product on one clock, four SMs first, then 132 as measured; what a faster one "
    "wins and what it gives back.",
    "takes": "traces",
    "gallery": [
        {"output": "race.gif", "size": "480p", "fps": 15, "from": 24.4, "to": 42},
        {"output": "race.mp4", "poster": "race.png"},
    ],
}
RACE, BAR = 3.6, 130
"""Seconds of a whole run; pixels from one bar of the finding to the next."""


class Race(Racing):
    """Naive against persistent: four SMs simulated, then 132 measured, unless asked otherwise."""

    default = Default(
        ("naive", "persistent"),
        Problem(4096, 4096, 512),
        Device.named("h200"),
        shipped=tuple(f"traces/h200-{name}-4096x4096x512-grouped8.npz" for name in ("naive", "persistent")),
        most=4,
        any_work=True,
    )

    def construct(self) -> None:
        story = tell(self.traces)
        self.title(words.title(story))
        self.ticking = self.clock(max(heat.longest for heat in story.heats))
        for heat in story.heats:
            # What the first race has shown of a pause, the last need not show again.
            lanes = self.race(heat, first=heat is story.heats[0], last=heat is story.last)
            if story.kernels and heat is not story.last:
                self.compare_kernels(story)
        self.end(story, lanes)

    def race(self, heat: Heat, first: bool, last: bool) -> list[Mobject]:
        """Runs on one clock, a close look at what tells them apart, and the sum of it.

        Return the lanes of the slow and the fast run that are seen at the end.
        """
        panels = self.panels(heat)
        self.badge(heat.traces[0])
        self.ticking.show(0.0)
        self.say(words.opening(heat, first))
        self.play(Fade(panels, 0.0, 1.0, run_time=0.5))
        if heat.close_up:
            begin = min(one.begin for one in heat.close_up.pauses)
            self.play(Run(self.ticking, *panels, until=begin, run_time=1.5))
            self.look_closely(heat, panels, pauses=first, loops=last)
        fastest = heat.traces[heat.fast].makespan
        seconds = max(1.5, RACE * (fastest - self.ticking.t) / heat.longest)
        if first:
            self.say(words.onwards(heat))
        self.play(Run(self.ticking, *panels, until=fastest, run_time=round(2 * seconds) / 2))
        return self.finish(heat, panels, stays=last)

    def compare_kernels(self, story: Story) -> None:
        """Kernel times that tell launches from overlap, and the library's."""
        rows = [(words.kernel(name), us, "measured") for name, us in story.kernels.items()]
        bars = Bars(rows, width=self.area.width, row=px(BAR), size=54).move_to(self.area.center)
        name = label(tr("kernel time, µs"), 48, self.theme.quiet)
        name.next_to(bars.grounds, UP, px(30), aligned_edge=LEFT)
        self.badge(story.last.traces[0])
        self.say(words.answer(story))
        self.play(bars.grow(), Fade(name, 0.0, 1.0), Leave(self.ticking))
        self.wait(1.2)
        self.play(Leave(bars), Leave(name), Fade(self.ticking.show(0.0), 0.0, 1.0))

    def end(self, story: Story, lanes: list[Mobject]) -> None:
        """The finding: the lanes of the last race tip over into its two bars."""
        heat = story.last
        badge = of_trace(heat.traces[0])
        rows = [(name, us, badge.kind) for name, us in words.bars(story)]
        bars = Bars(rows, width=self.area.width, row=px(BAR))
        number = "" if heat.same else words.won(heat)
        card = Finding(words.finding(heat), number, bars, badge, words.aside(story))
        for row in range(len(lanes)):
            bars.reach(row, 0.0)
        self.finding(card, into=[Tip(*pair) for pair in zip(lanes, bars.grounds, strict=True)])
