"""SiliconFilm: a measured run beside its simulation: how far apart they are, at which tile, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, LaggedStart, Line, ManimColor, VGroup

from tilesim import Trace
from tilesim.analysis.compare import Pair, compare
from tilesim.analysis.divergence import time_lag
from tilesim.metrics import slot_index
from tilesim.view import written
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.zoom import GrowFromLane
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.traces.lag_strip import LagStrip
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding

SEEN = 10
"""Segments of a slot, up to which a close look shows all from the first."""
LEAST_GAP = 50
"""ns, below which a tile's difference would be shown as 0.0 µs."""
LEAST_ERROR = 0.0005
"""Share of the run, below which an error would be shown as 0.0 %."""
SIDE, STRIP, ABOVE, GAP = 400.0, 130.0, 90.0, 36.0
"""Pixels: of the column with names and figures, of the strip, of its figure above it, and between two."""
WHOLE, SLOW = 8.0, 3.0
"""Seconds of the whole run, and of the time between a tile's two ends."""


@dataclass(frozen=True, slots=True)
class Chain:
    """How a tile came to its end in one run: `loops`, `pauses` and its own `end` after its main loop, ns.

    They add up to `done`. `ends`: when its slot had written each tile, or part of one, ns, its own last.
    """

    sm: int
    loops: int
    pauses: int
    end: int
    ends: tuple[int, ...]

    @property
    def before(self) -> int:
        """Tiles, or parts of them, that its slot computed first."""
        return len(self.ends) - 1

    @property
    def done(self) -> int:
        return self.loops + self.pauses + self.end


@dataclass(frozen=True, slots=True)
class Divergence:
    """The tile that is written at times farthest apart, in the simulation and on silicon.

    `cause` is what adds most to that: "order" where its slot computed another number of tiles before, else
    "loops", "pauses" or "end", and `by` how much longer that takes on silicon, ns. `window`: ns to look at.
    """

    tile: int
    simulated: Chain
    measured: Chain
    cause: str
    by: int
    window: tuple[float, float]

    @property
    def gap(self) -> int:
        """By how much later it is written on silicon, ns."""
        return self.measured.done - self.simulated.done


@dataclass(frozen=True, slots=True)
class SiliconStory:
    """`lag`: (times, lags), by how much silicon is behind at each instant, ns. `divergence`: None if none."""

    traces: tuple[Trace, Trace]
    run: Pair
    lag: tuple[np.ndarray, np.ndarray]
    divergence: Divergence | None

    @property
    def longest(self) -> float:
        return max(self.run.simulated, self.run.measured)


def tell(simulated: Trace, measured: Trace) -> SiliconStory:
    """The story of two runs, each from its first multiply on; raises TraceError where they differ in kind.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> runs = [simulate("naive", Problem(128, 512, 4, tile=(128, 128, 4)), Device(2), Costs(k_step=ns))
    ...         for ns in (1000, 1100)]
    >>> found = tell(*runs)
    >>> round(found.run.error, 3), found.divergence.tile, found.divergence.cause, found.divergence.by
    (-0.091, 2, 'loops', 200)
    """
    found = compare(simulated, measured)
    return SiliconStory(
        (simulated, measured), found.run, time_lag(simulated, measured), _divergence(simulated, measured)
    )


def _divergence(simulated: Trace, measured: Trace) -> Divergence | None:
    late = written(measured) - written(simulated)
    tile = int(np.argmax(np.abs(late)))
    if abs(late[tile]) < LEAST_GAP:
        return None
    one, other = (_chain(trace, tile) for trace in (simulated, measured))
    parts = {name: getattr(other, name) - getattr(one, name) for name in ("loops", "pauses", "end")}
    cause = max(parts, key=lambda name: abs(parts[name]))
    by = parts[cause]
    if one.before != other.before:
        cause, by = "order", other.before - one.before
    # From the first of its slot where those are few, else the last of them, on either side.
    latest = max(one.done, other.done)
    few = max(one.before, other.before) < SEEN
    low = 0.0 if few else max(0.0, latest - SEEN * (one.loops / (one.before + 1)))
    return Divergence(tile, one, other, cause, by, (low, low + 1.12 * (latest - low)))


def _chain(trace: Trace, tile: int) -> Chain:
    """How the segment that ends a tile came to its end."""
    spans = trace.spans
    mine = np.flatnonzero(spans["tile"] == tile)
    row = mine[np.argmax(spans["done"][mine])]
    slot = slot_index(trace)
    before = spans[(slot == slot[row]) & (spans["start"] < spans["start"][row])]
    last = spans[row]
    loops = int((before["drain"] - before["start"]).sum() + last["drain"] - last["start"])
    end = int(last["done"] - last["drain"])
    ends = (*before[np.argsort(before["start"])]["done"].tolist(), int(last["done"]))
    return Chain(int(last["sm"]), loops, int(last["done"]) - loops - end, end, ends)


def cause(found: Divergence) -> str:
    """Where a divergence comes from."""
    us = abs(found.by) / 1000
    if found.cause == "order":
        return tr(
            "Its SM computes {measured} before it, not {simulated}",
            measured=found.measured.before,
            simulated=found.simulated.before,
        )
    longer = {
        "loops": tr("Main loops take {us:.1f} µs longer on silicon", us=us),
        "pauses": tr("Pauses take {us:.1f} µs longer on silicon", us=us),
        "end": tr("Writing it takes {us:.1f} µs longer on silicon", us=us),
    }
    shorter = {
        "loops": tr("Main loops take {us:.1f} µs less on silicon", us=us),
        "pauses": tr("Pauses take {us:.1f} µs less on silicon", us=us),
        "end": tr("Writing it takes {us:.1f} µs less on silicon", us=us),
    }
    return (longer if found.by > 0 else shorter)[found.cause]


def most_apart(found: Divergence) -> str:
    """Which tile differs the most."""
    return tr("Farthest apart: tile {tile}, by {us:.1f} µs", tile=found.tile, us=abs(found.gap) / 1000)


def is_unseen(simulated: Trace) -> bool:
    """Whether the simulation's costs were fitted, and to runs of other sizes than this."""
    source, problem = simulated.meta.get("costs", {}).get("source", ""), simulated.problem
    return source.startswith("calibrated to") and f"{problem.m}x{problem.n}x{problem.k}" not in source


def opening(story: SiliconStory) -> str:
    """What the simulation knows of the run."""
    if is_unseen(story.traces[0]):
        return tr("The simulator never saw this size")
    return tr("One plan, simulated and measured, one clock")


def finding(story: SiliconStory) -> str:
    """How true the simulation is."""
    error = story.run.error or 0.0
    us = abs(story.run.simulated - story.run.measured) / 1000
    if abs(error) < LEAST_ERROR:
        return tr("The simulation takes as long as silicon")
    if error > 0:
        return tr("The simulation takes {us:.1f} µs longer than silicon", us=us)
    return tr("The simulation takes {us:.1f} µs less than silicon", us=us)


def number(story: SiliconStory) -> str:
    """By how much it is off."""
    return tr("{share:.1%} off", share=abs(story.run.error or 0.0))


def aside(story: SiliconStory) -> str:
    """How far off a tile is at most, of which the total says nothing."""
    if story.divergence is None:
        return ""
    return tr("One tile is {us:.1f} µs off", us=abs(story.divergence.gap) / 1000)


class SiliconFilm(Film):
    """A measured run and its simulation, whatever they show."""

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        """A simulation and the run that it plays; raises TraceError where they are not of one problem."""
        traces = super().traces_of(given)
        tell(*traces)
        return traces

    def construct(self) -> None:
        story = tell(*self.traces)
        self.title(tr("How true is the simulation?"))
        self.ticking = self.clock(story.longest)
        self.badge(Badge(tr("simulated, measured"), "measured"))
        panels, strip = self.panels(story)
        everything = Group(*panels, strip)
        self.say(opening(story))
        self.play(Fade(everything, 0.0, 1.0, run_time=0.5))
        found = story.divergence
        if found is not None:
            self.run_on(story, panels, strip, min(found.simulated.done, found.measured.done))
            self.look_closely(story, found, everything)
            self.say(tr("Is the whole run as far off?"))
        self.run_on(story, panels, strip, story.longest)
        self.wait(0.5)
        self.end(story)

    def panels(self, story: SiliconStory) -> tuple[list[RunPanel], LagStrip]:
        """The runs, one above the other on one scale, and below them how far apart they are."""
        area = self.area
        side = px(SIDE) if area.width > 1.2 * area.height else 0.0
        whole = min(area.height, 1.3 * area.width)
        above = 0.0 if side else px(ABOVE)
        height = (whole - above - px(STRIP + 2 * GAP)) / 2
        names = tr("Simulation"), tr("Silicon")
        runs = [
            RunPanel(trace, name, area.width, height, story.longest, side, named=name == names[0])
            for name, trace in zip(names, story.traces, strict=True)
        ]
        column = Group(*runs).arrange(DOWN, buff=px(GAP))
        column.move_to([area.center[0], area.center[1] + whole / 2, 0], UP)
        # On the scale of the lanes above it.
        lanes = runs[1].lanes.grounds
        strip = LagStrip(
            *story.lag, story.longest, lanes.width, px(STRIP), tr("silicon behind"), above=not side
        )
        foot = column.get_bottom()[1] - px(GAP) - above
        strip.shift(np.array([lanes.get_right()[0], foot, 0]) - strip.ground.get_corner(UP + RIGHT))
        return runs, strip

    def run_on(self, story: SiliconStory, panels: list[RunPanel], strip: LagStrip, until: float) -> None:
        """Both runs, as far as `until`, at the pace of the whole."""
        share = (until - self.ticking.t) / story.longest
        if share > 0:
            seconds = max(1.0, round(2 * WHOLE * share) / 2)
            self.play(PlayTrace(self.ticking, *panels, strip, until=until, run_time=seconds))

    def look_closely(self, story: SiliconStory, found: Divergence, everything: Group) -> None:
        """The SM of the tile that differs the most, in both runs, until the later one has written it."""
        chains = found.simulated, found.measured
        ends = sorted(chain.done for chain in chains)
        lanes = VGroup(
            *(
                SmLane(trace, chain.sm, panel.run, self.area.width, px(150), window=found.window)
                for trace, chain, panel in zip(story.traces, chains, everything[:2], strict=True)
            )
        )
        lanes.arrange(DOWN, buff=px(60)).move_to(self.area.center)
        pieces = []
        for lane, panel in zip(lanes, everything[:2], strict=True):
            lane.show(ends[0])
            whole = panel.lanes.lane(lane.sm)
            left, right = (panel.lanes.x(t) for t in found.window)
            piece = rectangle(right - left, whole.height)
            pieces.append(piece.move_to([(left + right) / 2, whole.get_y(), 0]))
        self.say(most_apart(found))
        come = (GrowFromLane(*pair) for pair in zip(lanes, pieces, strict=True))
        self.play(Leave(everything), *come)
        first = lanes[0 if found.gap > 0 else 1]
        # With the digits of the caption.
        apart = tr("{us:.1f} µs", us=(ends[1] - ends[0]) / 1000)
        bracket = TimeBracket(first.lane, *ends, first.sm, apart, size=64)
        self.play(PlayTrace(self.ticking, *lanes, bracket, until=ends[1], run_time=SLOW))
        self.say(cause(found))
        drift = self.drift(found, lanes)
        if len(drift):
            self.play(LaggedStart(*(Fade(one, 0.0, 1.0) for one in drift), lag_ratio=1.5))
        self.wait(1.0)
        for one in everything:
            one.show(ends[1])
        self.play(Leave(bracket), Leave(drift))
        self.go_back(lanes, pieces, everything)

    def drift(self, found: Divergence, lanes: VGroup) -> VGroup:
        """Lines between the ends of the same tiles in both lanes, and how far these lie apart."""
        upper, lower = (lane.lane for lane in lanes)
        clear = lanes[1].whose.get_right()[0] + px(20)
        top, foot = upper.grounds.get_bottom()[1], lower.grounds.get_top()[1]
        lines, ink = VGroup(), ManimColor(self.theme.quiet)
        for one, other in zip(found.simulated.ends, found.measured.ends, strict=False):
            if min(one, other) <= found.window[0] or lower.x(other) <= clear:
                continue
            line = Line(
                [upper.x(one), top, 0],
                [lower.x(other), foot, 0],
                stroke_color=ink,
                stroke_width=stroke_width(4),
            )
            late = label(f"{(other - one) / 1000:+.1f}".replace("-", "−"), 48, bold=True, mono=True)
            late.next_to(line.get_center(), LEFT, px(30))
            before = lines[-1].get_right()[0] if lines else clear
            lines.add(VGroup(line, late) if late.get_left()[0] > before + px(20) else VGroup(line))
        return lines

    def end(self, story: SiliconStory) -> None:
        """The finding: one pair of bars."""
        rows = [
            (tr("Simulation"), story.run.simulated / 1000, "simulated"),
            (tr("Silicon"), story.run.measured / 1000, "measured"),
        ]
        bars = Bars(rows, "µs", width=self.area.width, size=54)
        badge = Badge(tr("simulated, measured"), "measured")
        card = Finding(finding(story), number(story), bars, badge, aside(story))
        self.finding(card, [bars.grow()])
