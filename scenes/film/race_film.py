"""RaceFilm: two to four runs of one problem on one clock: which ends first, and what that is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from manim import LEFT, RIGHT, UP, Create, Group, GrowFromEdge, VGroup

from tilesim import Trace
from tilesim.analysis.time_account import ENDS, LOOPS, PARTIALS, PAUSE, difference
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.into_bars import Fit, Tip
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.zoom import CAMERA, GrowFromLane, Zoom
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.film.runs import Pause, names, parts, unlike_pauses, window
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.charts.share_bar import Balance, Entry
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane, parts_key
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket, length
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.mobjects.words.key import Key

CAUSES = {"pauses": PAUSE, "partials": PARTIALS, "main loops": LOOPS, "tail": ("tail",), "rest": ENDS}
"""What can make a run faster, by the parts of the account of its time."""
LEAST = 0.1
"""Share of the gap, below which a cause is counted to the rest."""
SAME = 0.001
"""Share of a makespan, below which two runs take the same time."""
SIDE, ROW, GAP, BETWEEN, BAR = 310, 62, 110, 28, 130
"""Pixels: of the column with a run's name, of a row of the sum, of a bracket with its figure, from one run to
the next, and from one bar of the end card to the next."""
CLOSE, ABOVE, APART, BELOW, NAMES = 150, 95, 190, 60, 130
"""Pixels: of a lane in a close look at most, above the first, between two, and below the last, for brackets
and names of parts; and of names of runs."""
WHOLE, FIRST, SLOW, LAST, TIP = 7.0, 3.5, 3.5, 2.5, 3.0
"""Seconds: of a whole run, of its beginning at least, of a pause that is looked at, of what is left when the
first run is done, and of lanes' becoming bars."""


@dataclass(frozen=True, slots=True)
class Heat:
    """Runs of one problem on one clock. `slow` and `fast` number the last and the first to be done.

    `causes`: by how much each of CAUSES is longer for an average slot of the slow run than of the fast one,
    ns, largest first; they add up to `gap`. `pauses`: one SM's in the slow and the fast run, if any.
    """

    traces: tuple[Trace, ...]
    names: tuple[str, ...]
    slow: int
    fast: int
    causes: Mapping[str, float]
    pauses: tuple[Pause, Pause] | None

    @property
    def longest(self) -> int:
        """ns."""
        return self.traces[self.slow].makespan

    @property
    def shortest(self) -> int:
        """ns."""
        return self.traces[self.fast].makespan

    @property
    def gap(self) -> int:
        """By how much the first is done before the last, ns."""
        return self.longest - self.shortest

    @property
    def shown_gap(self) -> float:
        """The same in µs, as the difference of the two times that stand beside it, each to a tenth."""
        return round(round(self.longest / 1000, 1) - round(self.shortest / 1000, 1), 1)

    @property
    def same(self) -> bool:
        """Whether the runs take the same time, as far as anybody can tell."""
        return self.gap <= SAME * self.longest or self.shown_gap <= 0

    @property
    def shown_causes(self) -> dict[str, float]:
        """What the fast run gains and loses, and the rest: tenths of µs that add up to `shown_gap`.

        Gains come first. Empty where nothing is gained.
        """
        shown = {
            cause: us for cause, ns in self.causes.items() if cause != "rest" and (us := round(ns / 1000, 1))
        }
        rest = round(self.shown_gap - sum(shown.values()), 1)
        if rest:
            shown["rest"] = rest
        if max(shown.values(), default=0) <= 0:
            return {}
        return dict(sorted(shown.items(), key=lambda item: item[1] < 0))


def heat(traces: tuple[Trace, ...]) -> Heat:
    """Two runs or more on one clock, and what the largest of their differences is made of."""
    order = sorted(range(len(traces)), key=lambda n: traces[n].makespan)
    fast, slow = order[0], order[-1]
    pair = traces[slow], traces[fast]
    parts = difference(*pair)
    causes = {cause: sum(parts[part] for part in group) for cause, group in CAUSES.items()}
    gap = pair[0].makespan - pair[1].makespan
    # What is too small to see is in the rest.
    for cause in [cause for cause, ns in causes.items() if cause != "rest" and abs(ns) < LEAST * gap]:
        causes["rest"] += causes.pop(cause)
    causes = dict(sorted(causes.items(), key=lambda item: -item[1]))
    return Heat(traces, names(traces), slow, fast, causes, unlike_pauses(*pair))


class RaceFilm(Film):
    """A film of runs on one clock. A subclass names in `default` what it shows unless asked otherwise."""

    @cached_property
    def legend(self) -> Key:
        """What colours mean."""
        return parts_key(self.traces, self.area.width)

    @cached_property
    def stage(self) -> Area:
        """Where the picture goes: above that."""
        return self.area.over(self.legend)

    def construct(self) -> None:
        runs = heat(self.traces)
        predicted = {trace.origin for trace in self.traces} == {"simulated", "measured"}
        self.title(tr("How accurate is the simulation?") if predicted else tr("Which run ends first?"))
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
        self.play(Fade(panels, 0.0, 1.0, run_time=0.5), Fade(self.legend, 0.0, 1.0, run_time=0.5))
        if runs.pauses is not None:
            begin = min(one.begin for one in runs.pauses)
            self.run_on(runs, panels, begin)
            self.look_closely(runs, panels)
        self.say(
            tr("{name} ends first, after {us:.1f} µs.", name=runs.names[runs.fast], us=runs.shortest / 1000)
        )
        self.run_on(runs, panels, runs.shortest)
        self.finish(runs, panels)
        self.add_up(runs, panels)
        self.end(runs)

    def run_on(self, runs: Heat, panels: Group, until: float) -> None:
        """All runs, as far as `until`, at the pace of the whole."""
        share = (until - self.ticking.t) / runs.longest
        if share > 0:
            seconds = max(1.0 if self.ticking.t else FIRST, round(2 * WHOLE * share) / 2)
            self.play(PlayTrace(self.ticking, *panels, until=until, run_time=seconds))

    def panels(self, runs: Heat) -> Group:
        """The runs, one below the other."""
        area, last = self.stage, len(runs.traces) - 1
        # Below the fastest there is room for a bracket.
        gaps = [px(GAP if run == runs.fast else BETWEEN) for run in range(last + 1)]
        height, top = (area.height - sum(gaps)) / (last + 1), area.top
        panels = Group()
        for run, (trace, name, gap) in enumerate(zip(runs.traces, runs.names, gaps, strict=True)):
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
        """One SM's lanes of the slow and the fast run come forward, and a pause of both passes slowly."""
        pair = dict(zip((runs.slow, runs.fast), runs.pauses, strict=True))
        order, area = sorted(pair), self.stage
        sm = pair[order[0]].sm
        low, high = window(runs.traces[runs.slow], *pair.values())
        # Where there is no column for names, they stand above the lanes.
        above, apart = (px(gap) + px(NAMES) * (not self.side) for gap in (ABOVE, APART))
        height = min(px(CLOSE), (area.height - above - apart - px(BELOW)) / 2)
        top = area.top - above - (area.height - above - apart - px(BELOW) - 2 * height) / 2
        size, lanes = (area.width, height, runs.longest, self.side), VGroup()
        for number, n in enumerate(order):
            lane = SmLane(runs.traces[n], sm, runs.names[n], *size, named=not number).show(self.ticking.t)
            # Their names are of different widths and heights; their lanes are not.
            corner = [area.right, top - number * (height + apart), 0]
            lanes.add(lane.shift(corner - lane.lane.grounds.get_corner(UP + RIGHT)))
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
        come = (GrowFromLane(*pair, CAMERA) for pair in zip(lanes, places, strict=True))
        self.play(Leave(panels), *come, Zoom(*lanes, window=(low, high)))
        over, named = [], VGroup()
        for lane, n in zip(lanes, order, strict=True):
            over.append(TimeBracket(lane.lane, pair[n].begin, pair[n].end, sm))
        self.play(PlayTrace(self.ticking, *lanes, *over, until=high, run_time=SLOW))
        for lane, n in zip(lanes, order, strict=True):
            named.add(lane.names_of(pair[n].begin, pair[n].end))
        self.play(Fade(named, 0.0, 1.0))
        self.wait(1.0)
        self.play(*map(Leave, (named, *over)))
        for panel in panels:
            panel.show(self.ticking.t)
        self.go_back(lanes, places, panels, Zoom(*lanes, window=(0.0, runs.longest)), seconds=CAMERA)

    def finish(self, runs: Heat, panels: Group) -> None:
        """How much later the last one ends."""
        if runs.same:
            self.say(tr("All runs end after {us:.1f} µs.", us=runs.longest / 1000))
            self.play(PlayTrace(self.ticking, *panels, until=runs.longest, run_time=LAST))
            self.wait(1.0)
            return
        fast, text = panels[runs.fast], tr("{us:.1f} µs", us=runs.shown_gap)
        gap = TimeBracket(fast.lanes, fast.trace.makespan, runs.longest, text=text, below=True)
        self.say(tr("{name} ends last, {us:.1f} µs later.", name=runs.names[runs.slow], us=runs.shown_gap))
        self.play(PlayTrace(self.ticking, *panels, gap, until=runs.longest, run_time=LAST))
        self.wait(0.5)
        self.play(Leave(gap))

    def add_up(self, runs: Heat, panels: Group) -> None:
        """The lanes of the slow and the fast run tip over into bars, and below them is what makes the gap."""
        pair, area = sorted((runs.slow, runs.fast)), self.stage
        self.lanes = [panels[n].lanes for n in pair]
        bars = self.bars(runs).move_to(area.center)
        # Both stand in the middle of what was the lanes' and the key's place.
        bars.shift(px(ROW) * (len(runs.shown_causes) + 2) / 2 * UP)
        others = [part for panel in panels for part in panel if part not in self.lanes]
        self.remove(panels).add(*self.lanes)
        self.say(tr("The lanes become bars, on one scale of time."))
        self.play(*map(Leave, (self.ticking, self.legend, *others)))
        self.play(*(Tip(*two, run_time=TIP) for two in zip(self.lanes, bars.grounds, strict=True)))
        self.play(Fade(VGroup(*bars.names, *bars.figures), 0.0, 1.0))
        if not runs.shown_causes:
            return
        long = bars.grounds[pair.index(runs.slow)]
        per_us = long.width / runs.longest * 1000
        room = long.get_right()[0] - area.left
        entries = [Entry(row(cause, us > 0), 1000 * us) for cause, us in runs.shown_causes.items()]
        balance = Balance(entries, per_us, px(ROW), room=room)
        balance.shift([long.get_right()[0], bars.get_bottom()[1] - px(1.2 * ROW), 0])
        self.say(tr("For an average SM, these parts add up to the {us:.1f} µs.", us=runs.shown_gap))
        for block, text in balance.rows:
            self.play(GrowFromEdge(block, LEFT, run_time=1.5), Fade(text, 0.0, 1.0))
        frame, left = balance.result
        self.play(Create(frame, run_time=1.0), Fade(left, 0.0, 1.0, run_time=1.0))
        self.wait(0.5)

    def bars(self, runs: Heat) -> Bars:
        """The times of the slow and the fast run, in their order on screen; lanes take the places of bars."""
        rows = [
            (runs.names[n], runs.traces[n].makespan / 1000, of_trace(runs.traces[n]).kind)
            for n in sorted((runs.slow, runs.fast))
        ]
        bars = Bars(rows, width=self.area.width, row=px(BAR), form="{:.1f} µs")
        for number in range(len(rows)):
            bars.reach(number, 0.0)
        return bars

    def end(self, runs: Heat) -> None:
        """The bars move to the end card."""
        slow, fast = (runs.names[n] for n in (runs.slow, runs.fast))
        work = parts(runs.traces[0].problem)
        if runs.same:
            sentence = tr(
                "{slow} and {fast} take the same time for {tiles}.", slow=slow, fast=fast, tiles=work
            )
        else:
            sentence = tr(
                "{fast} takes {us:.1f} µs less than {slow} for the same {tiles}.",
                slow=slow,
                fast=fast,
                us=runs.shown_gap,
                tiles=work,
            )
        number = tr("{us:.1f} µs", us=runs.shortest / 1000 if runs.same else runs.shown_gap)
        card = Finding(sentence, number, self.bars(runs), badge_of(runs.traces))
        there = card.bars.grounds
        pairs = zip(self.lanes, there, strict=True)
        self.finding(card, into=[Fit(lane, lane.grounds, ground, 0.5) for lane, ground in pairs])


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
