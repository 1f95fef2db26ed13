"""RaceFilm: two to four runs of one problem on one clock. It shows which ends first, and what that is made of."""

from collections.abc import Sequence
from typing import Any

from manim import DOWN, LEFT, RIGHT, UP, Create, Group, GrowFromEdge, Mobject, VGroup, smoothstep

from tilesim import Trace
from tilesim_scenes.animations.enlarge import Enlarge
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import Run
from tilesim_scenes.animations.tip import Tip
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.animations.zoom import CAMERA, Zoom
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.charts.balance import Balance, Entry
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lanes import LaneVectors
from tilesim_scenes.mobjects.traces.part_names import parts_key
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket, length
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces.pauses import window
from tilesim_scenes.story.traces.race import Heat, heat
from tilesim_scenes.story.traces.runs import parts

SIDE, ROW, GAP, BETWEEN, BAR = 310, 62, 110, 28, 130
"""Pixels: of the column with a run's name, of a row of the sum, of a bracket with its figure, from one run to
the next, and from one bar of the end card to the next."""
WHOLE, SLOW, LAST = 5.0, 3.0, 1.0
"""Seconds of a whole run, of a pause that is looked at, and of what is left when the first run is done."""


class RaceFilm(Film):
    """A film of runs on one clock. A subclass names in `default` those that it shows if nobody gives others."""

    def setup(self) -> None:
        """Leave room at the foot for the key of what lanes show."""
        super().setup()
        self.key = parts_key(self.traces, self.area.width)
        self.stage = self.area.over(self.key)

    def construct(self) -> None:
        runs = heat(self.traces)
        self.title(tr("Which run ends first?"))
        self.ticking = self.clock(runs.longest)
        self.badge(badge_of(self.traces))
        panels = self.panels(runs)
        self.say(
            tr(
                "{runs} runs of the same {tiles} start together.",
                runs=len(runs.traces),
                tiles=parts(runs.traces[0].problem),
            )
        )
        self.play(Fade(panels, 0.0, 1.0, run_time=0.5), Fade(self.key, 0.0, 1.0, run_time=0.5))
        if runs.pauses is not None:
            begin = min(one.begin for one in runs.pauses)
            self.run_on(runs, panels, begin)
            self.look_closely(runs, panels)
        self.say(
            tr("{name} ends first, after {us:.1f} µs.", name=runs.names[runs.fast], us=runs.shortest / 1000)
        )
        self.run_on(runs, panels, runs.shortest)
        self.end(runs, self.finish(runs, panels))

    def run_on(self, runs: Heat, panels: Group, until: float) -> None:
        """All runs, as far as `until`, at the pace of the whole."""
        share = (until - self.ticking.t) / runs.longest
        if share > 0:
            seconds = max(1.0, round(2 * WHOLE * share) / 2)
            self.play(Run(self.ticking, *panels, until=until, run_time=seconds))

    def panels(self, runs: Heat) -> Group:
        """The runs, one below the other, with room for the sum below where they stay for it."""
        area, last = self.stage, len(runs.traces) - 1
        # Below the fastest there is room for a bracket.
        gaps = [px(GAP if run == runs.fast else BETWEEN) for run in range(last)]
        rows = px(GAP if runs.fast == last else BETWEEN)
        if last == 1 and not runs.same:
            rows = max(rows, px(ROW) * (len(runs.shown_causes) + 1.6))
        height, top = (area.height - rows - sum(gaps)) / (last + 1), area.top
        panels = Group()
        for run, (trace, name, gap) in enumerate(zip(runs.traces, runs.names, [*gaps, 0.0], strict=True)):
            panel = RunPanel(trace, name, area.width, height, runs.longest, self.side, named=not run)
            # Where it stands does not depend on how high its letters are.
            panel.shift([area.center[0], top - height / 2, 0])
            panels.add(panel)
            top -= height + gap
        return panels

    @property
    def side(self) -> float:
        """The column on the left, where there is room for one."""
        return px(SIDE) if self.area.width > 1.2 * self.area.height else 0.0

    def look_closely(self, runs: Heat, panels: Group) -> None:
        """One SM's lanes come forward, time passes slowly in a pause of the slow and the fast run, and back."""
        pair = dict(zip((runs.slow, runs.fast), runs.pauses, strict=True))
        order, area = sorted(pair), self.stage
        sm = pair[order[0]].sm
        low, high = window(runs.traces[runs.slow], *pair.values())
        lanes = VGroup(
            *(
                SmLane(
                    runs.traces[n],
                    sm,
                    runs.names[n],
                    area.width,
                    px(150),
                    runs.longest,
                    self.side,
                    named=n == order[0],
                ).show(self.ticking.t)
                for n in order
            )
        ).arrange(DOWN, buff=px(180))
        # Their names are of different widths; their lanes are not.
        for lane in lanes:
            lane.shift((area.right - lane.lane.grounds.get_right()[0]) * RIGHT)
        lanes.shift((area.center[1] - lanes.get_center()[1]) * UP)
        places = [panels[n].lanes.lane(sm) for n in order]
        self.say(
            tr(
                "On SM {sm}, {slow} pauses for {longs}, and {fast} for {shorts}.",
                sm=sm,
                slow=runs.names[runs.slow],
                longs=length(pair[runs.slow].length),
                fast=runs.names[runs.fast],
                shorts=length(pair[runs.fast].length),
            )
        )
        self.play(Leave(panels), *enlarged(lanes, places), Zoom(*lanes, window=(low, high)))
        over = [
            TimeBracket(lane.lane, pair[n].begin, pair[n].end, sm)
            for lane, n in zip(lanes, order, strict=True)
        ]
        self.play(Run(self.ticking, *lanes, *over, until=high, run_time=SLOW))
        named = VGroup(
            *(lane.names_of(pair[n].begin, pair[n].end) for lane, n in zip(lanes, order, strict=True))
        )
        self.play(Fade(named, 0.0, 1.0))
        self.wait(1.0)
        self.play(*map(Leave, (named, *over)))
        for panel in panels:
            panel.show(self.ticking.t)
        back = enlarged(lanes, places, rate_func=lambda alpha: smoothstep(1 - alpha))
        out = Zoom(*lanes, window=(0.0, runs.longest))
        self.add(panels).bring_to_front(*lanes)
        self.play(Fade(panels, 0.0, 1.0, CAMERA, rate_func=late), *back, out)
        self.remove(*lanes)

    def finish(self, runs: Heat, panels: Group) -> list[Mobject]:
        """How much later the last one ends, and what adds up to that; return the slow and the fast lanes."""
        seen = [panels[n].lanes for n in (runs.slow, runs.fast)]
        if runs.same:
            self.say(tr("All runs end after {us:.1f} µs.", us=runs.longest / 1000))
            self.play(Run(self.ticking, *panels, until=runs.longest, run_time=LAST))
            self.wait(1.0)
            return seen
        fast, text = panels[runs.fast], tr("{us:.1f} µs", us=runs.shown_gap)
        gap = TimeBracket(fast.lanes, fast.trace.makespan, runs.longest, text=text, below=True)
        self.say(
            tr("{name} ends last, {us:.1f} µs later.", name=runs.names[runs.slow], us=runs.shown_gap)
        )
        self.play(Run(self.ticking, *panels, gap, until=runs.longest, run_time=LAST))
        self.wait(1.0)
        self.play(Leave(gap))
        if runs.shown_causes:
            above = self.two_of(runs, panels) if len(panels) > 2 else panels
            self.add_up(runs, above, seen[0])
        return seen

    def two_of(self, runs: Heat, panels: Group) -> Group:
        """The slow and the fast run move up, and the others leave: the sum takes their room."""
        order = sorted((runs.slow, runs.fast))
        top, step = panels[0].get_center(), panels[1].get_y() - panels[0].get_y()
        self.play(*(Leave(panel) for n, panel in enumerate(panels) if n not in order))
        two = Group(*(panels[n] for n in order))
        ways = [[[panel.get_x(), top[1] + n * step, 0]] for n, panel in enumerate(two)]
        self.play(Travel(list(two), ways, leg=0.8, apart=0.0))
        return two

    def add_up(self, runs: Heat, above: Group, lanes: LaneVectors | LaneImage) -> None:
        """Below what is `above`, to the scale of the slow run's lanes: what is won and what is given back."""
        balance = Balance(
            [Entry(row(cause, us > 0), 1000 * us) for cause, us in runs.shown_causes.items()],
            lanes.x(1000) - lanes.x(0),
            px(ROW),
            room=lanes.x(runs.longest) - self.area.left,
        )
        balance.shift([lanes.x(runs.longest), above.get_bottom()[1] - px(ROW), 0])
        self.say(tr("For an average SM, these parts add up to the {us:.1f} µs.", us=runs.shown_gap))
        for block, text in balance.rows:
            self.play(GrowFromEdge(block, LEFT, run_time=0.6), Fade(text, 0.0, 1.0))
        frame, left = balance.result
        self.play(Create(frame, run_time=0.6), Fade(left, 0.0, 1.0, run_time=0.6))
        self.wait(1.0)

    def end(self, runs: Heat, lanes: Sequence[Mobject]) -> None:
        """The lanes of the slow and the fast run tip over into the two bars of the end card."""
        badge, pair = badge_of(self.traces), (runs.slow, runs.fast)
        rows = [(runs.names[n], runs.traces[n].makespan / 1000, badge.kind) for n in pair]
        bars = Bars(rows, width=self.area.width, row=px(BAR), form="{:.1f} µs")
        slow, fast = (runs.names[n] for n in pair)
        work = parts(runs.traces[0].problem)
        if runs.same:
            sentence = tr("{slow} and {fast} take the same time for {tiles}.", slow=slow, fast=fast, tiles=work)
        else:
            sentence = tr("{fast} ends earlier than {slow}, at the same {tiles}.", slow=slow, fast=fast, tiles=work)
        number = tr("{us:.1f} µs", us=runs.shortest / 1000 if runs.same else runs.shown_gap)
        card = Finding(sentence, number, bars, badge)
        for number_of_bar in range(len(rows)):
            bars.reach(number_of_bar, 0.0)
        self.finding(card, into=[Tip(*two) for two in zip(lanes, bars.grounds, strict=True)])


def row(cause: str, gained: bool) -> str:
    """What a cause is called where causes are added up."""
    return {
        "pauses": tr("shorter pauses") if gained else tr("longer pauses"),
        "partials": tr("fewer partials") if gained else tr("partial sums"),
        "main loops": tr("faster loops") if gained else tr("slower loops"),
        "tail": tr("less idling") if gained else tr("more idling"),
        "rest": tr("rest"),
    }[cause]


def badge_of(traces: Sequence[Trace]) -> Badge:
    """Where runs come from, that of the first unless some are measured and others simulated."""
    if len({trace.origin for trace in traces}) > 1:
        return Badge(tr("measured and simulated"), "simulated")
    return of_trace(traces[0])


def enlarged(lanes: VGroup, places: Sequence[Mobject], **kwargs: Any) -> list[Enlarge]:
    """The lanes come forward from their places in the panels."""
    return [
        Enlarge(lane, place, **{"run_time": CAMERA} | kwargs)
        for lane, place in zip(lanes, places, strict=True)
    ]
