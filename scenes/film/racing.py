"""Racing: what films of runs on one clock share: runs in panels, a look at one SM, and the sum of a gap."""

from typing import Any

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Animation,
    Create,
    Group,
    GrowFromEdge,
    Mobject,
    Rectangle,
    VGroup,
    smoothstep,
)

from tilesim_scenes.animations.enlarge import GrowFromLane
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.animations.zoom import CAMERA, Zoom
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.charts.balance import Balance, Entry
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.story.traces import race_words as words
from tilesim_scenes.story.traces.close_up import Bracket
from tilesim_scenes.story.traces.race import Heat

SIDE, ROW, GAP, BETWEEN = 310, 62, 110, 28
"""Pixels: of the column with a run's name, of a row of the sum, of a bracket with its figure, and from one
run to the next."""
SLOW, LAST = 1.5, 0.8
"""Seconds of each part of a close-up, and of what is left when the first is done."""


class Racing(Film):
    """A film of runs on one clock, `ticking`."""

    def panels(self, heat: Heat) -> Group:
        """The runs, one below the other, with room for the sum below where they stay for it."""
        area, last = self.area, len(heat.traces) - 1
        # Below the fastest there is room for a bracket.
        gaps = [px(GAP if run == heat.fast else BETWEEN) for run in range(last)]
        rows = px(GAP if heat.fast == last else BETWEEN)
        if last == 1 and not heat.same and not heat.alone:
            rows = max(rows, px(ROW) * (len(words.entries(heat)) + 1.6))
        height, top = (area.height - rows - sum(gaps)) / (last + 1), area.top
        panels = Group()
        for run, (trace, name, gap) in enumerate(zip(heat.traces, heat.names, [*gaps, 0.0], strict=True)):
            panel = RunPanel(trace, name, area.width, height, heat.longest, self.side, named=not run)
            # Where it stands does not depend on how high its letters are.
            panel.shift([area.center[0], top - height / 2, 0])
            panels.add(panel)
            top -= height + gap
        return panels

    @property
    def side(self) -> float:
        """The column on the left, where there is room for one."""
        return px(SIDE) if self.area.width > 1.2 * self.area.height else 0.0

    def closes(self, heat: Heat, height: float, between: float) -> VGroup:
        """The lanes of the SM that is looked at, of the slow and the fast run in their order on screen."""
        sm, area = heat.close_up.sm, self.area
        order = sorted((heat.slow, heat.fast))
        lanes = VGroup(
            *(
                SmLane(
                    heat.traces[n],
                    sm,
                    heat.names[n],
                    area.width,
                    height,
                    heat.longest,
                    self.side,
                    named=n == order[0],
                ).show(self.ticking.t)
                for n in order
            )
        )
        lanes.arrange(DOWN, buff=between)
        # Their names are of different widths; their lanes are not.
        for lane in lanes:
            lane.shift((area.right - lane.lane.grounds.get_right()[0]) * RIGHT)
        return lanes

    def look_closely(self, heat: Heat, panels: Group, pauses: bool, loops: bool) -> None:
        """Dive into one SM's lanes, where time passes slowly, and come out again."""
        seen = heat.close_up
        lanes = self.closes(heat, px(150), px(180))
        lanes.shift((self.area.center[1] - lanes.get_center()[1]) * UP)
        self.say(words.pause(heat) if pauses else words.loops(heat))
        self.grow(heat, lanes, panels, Zoom(*lanes, window=seen.window))
        over = [self.bracket(heat, lanes, one) for one in seen.pauses]
        paused = max(one.end for one in seen.pauses)
        self.play(PlayTrace(self.ticking, *lanes, *over, until=paused, run_time=SLOW if pauses else SLOW / 2))
        named = VGroup(*(self.names(heat, lanes, one, pauses) for one in seen.pauses))
        self.play(Fade(named, 0.0, 1.0))
        self.wait(1.0 if pauses else 0.3)
        over.append(named)
        if loops:
            if pauses:
                self.say(words.loops(heat))
            self.play(*(Leave(one) for one in over))
            over = [self.bracket(heat, lanes, one).show(paused) for one in seen.loops]
            self.play(PlayTrace(self.ticking, *lanes, *over, until=seen.window[1], run_time=SLOW))
            self.wait(0.3)
        self.play(*(Leave(one) for one in over))
        for panel in panels:
            panel.show(self.ticking.t)
        back = self.larger(heat, lanes, panels, rate_func=lambda alpha: smoothstep(1 - alpha))
        out = Zoom(*lanes, window=(0.0, heat.longest))
        self.add(panels).bring_to_front(*lanes)
        self.play(Fade(panels, 0.0, 1.0, CAMERA, rate_func=late), *back, out)
        self.remove(*lanes)

    def lane_of(self, heat: Heat, lanes: VGroup, run: int) -> SmLane:
        """The slow (0) or the fast (1) run's lane."""
        return lanes[sorted((heat.slow, heat.fast)).index((heat.slow, heat.fast)[run])]

    def names(self, heat: Heat, lanes: VGroup, one: Bracket, every: bool) -> VGroup:
        """The names of a pause's parts, and where the length of a launch comes from that no stamp shows."""
        lane = self.lane_of(heat, lanes, one.run)
        named = lane.names_of(one.begin, one.end) if every else VGroup()
        source = words.launch_source(heat)
        for t in lane.middles("launch", one.begin, one.end) if source else ():
            note = lane.below(t, source, self.theme.launch)
            named.add(note.shift(px(62) * DOWN * every))
        return named

    def bracket(self, heat: Heat, lanes: VGroup, one: Bracket, text: str = "{length}") -> TimeBracket:
        lane = self.lane_of(heat, lanes, one.run)
        return TimeBracket(lane.lane, one.begin, one.end, lane.sm, text)

    def grow(self, heat: Heat, lanes: VGroup, panels: Group, *along: Animation) -> None:
        """One lane of each panel comes forward, and all else goes."""
        self.play(Leave(panels), *self.larger(heat, lanes, panels), *along)

    def larger(self, heat: Heat, lanes: VGroup, panels: Group, **kwargs: Any) -> list[GrowFromLane]:
        """The lanes come forward from their places in the panels."""
        order = sorted((heat.slow, heat.fast))
        places = [panels[n].lanes.lane(heat.close_up.sm) for n in order]
        kwargs = {"run_time": CAMERA} | kwargs
        return [GrowFromLane(lane, place, **kwargs) for lane, place in zip(lanes, places, strict=True)]

    def finish(self, heat: Heat, panels: Group, stays: bool) -> list[Mobject]:
        """Who is first, by how much, and what adds up to that; `stays`: until the finding takes its place.

        Return the lanes of the slow and the fast run that are seen at the end.
        """
        fast = panels[heat.fast]
        gap = TimeBracket(fast.lanes, fast.trace.makespan, heat.longest, below=True)
        self.say(words.gap(heat))
        self.play(PlayTrace(self.ticking, *panels, gap, until=heat.longest, run_time=LAST))
        seen: list[Mobject] = [panels[n].lanes for n in (heat.slow, heat.fast)]
        if heat.same:
            self.play(Leave(gap))
            return seen
        self.wait(0.9)
        self.play(Leave(gap))
        above = panels
        if heat.alone:
            lanes = self.closes(heat, px(100), px(80))
            lanes.shift((self.area.top - px(50) - lanes.get_top()[1]) * UP)
            self.grow(heat, lanes, panels)
            brackets = VGroup(*(self.bracket(heat, lanes, one, "").show(one.end) for one in heat.pauses))
            self.play(Create(brackets, run_time=0.6))
            above, seen = Group(lanes, brackets), [self.lane_of(heat, lanes, run).lane for run in (0, 1)]
        elif len(panels) > 2:
            above = self.two_of(heat, panels)
        self.add_up(heat, above, seen[0])
        if not stays:
            self.play(Leave(above), Leave(self.balance))
        return seen

    def two_of(self, heat: Heat, panels: Group) -> Group:
        """The slow and the fast run move up, and the others leave: the sum takes their room."""
        order = sorted((heat.slow, heat.fast))
        top, step = panels[0].get_center(), panels[1].get_y() - panels[0].get_y()
        self.play(*(Leave(panel) for n, panel in enumerate(panels) if n not in order))
        two = Group(*(panels[n] for n in order))
        ways = [[[panel.get_x(), top[1] + n * step, 0]] for n, panel in enumerate(two)]
        self.play(Travel(list(two), ways, leg=0.8, apart=0.0))
        return two

    def add_up(self, heat: Heat, above: Group, lanes: LaneVectors | LaneImage) -> None:
        """Below what is `above`, to the scale of the slow run's lanes: what is won and what is given back."""
        balance = Balance(
            [Entry(what, ns) for what, ns in words.entries(heat)],
            lanes.x(1000) - lanes.x(0),
            px(ROW),
            room=lanes.x(heat.longest) - self.area.left,
        )
        balance.shift([lanes.x(heat.longest), above.get_bottom()[1] - px(ROW), 0])
        self.balance = balance
        self.say(words.total(heat))
        won, *given_back = balance.rows
        pieces = self.pieces(heat, lanes, won[0])
        if pieces:
            grow = Travel(*zip(*pieces, strict=True), leg=0.7)
        else:
            grow = GrowFromEdge(won[0], LEFT, run_time=0.7)
        self.play(grow, Fade(won[1], 0.0, 1.0), *(Fade(piece, 0.0, 1.0) for piece, _ in pieces))
        self.remove(*(piece for piece, _ in pieces))
        self.add(won)
        for block, text in given_back:
            self.play(GrowFromEdge(block, LEFT, run_time=0.5), Fade(text, 0.0, 1.0))
        frame, left = balance.result
        self.play(Create(frame, run_time=0.6), Fade(left, 0.0, 1.0, run_time=0.6))
        self.wait(0.5)

    def pieces(
        self, heat: Heat, lanes: LaneVectors | LaneImage, block: Rectangle
    ) -> list[tuple[Rectangle, list]]:
        """(piece, its way): by how much each pause of the slow run is longer than the fast one's.

        Their ways end in `block`. None where it is not of pauses, or these do not go pair by pair.
        """
        slow, fast = ([one for one in heat.pauses if one.run == run] for run in (0, 1))
        longer = [(one, one.length - other.length) for one, other in zip(slow, fast, strict=False)]
        if not heat.alone or len(slow) != len(fast) or heat.gained[0][0] != "pauses":
            return []
        if min(ns for _, ns in longer) <= 0:
            return []
        per_ns, at, found = lanes.x(1) - lanes.x(0), block.get_left()[0], []
        for one, ns in longer:
            piece = block.copy().stretch_to_fit_width(ns * per_ns - px(3))
            place = [at + ns * per_ns / 2, block.get_center()[1], 0]
            piece.move_to([lanes.x(one.begin + ns / 2), lanes.get_center()[1], 0])
            found.append((piece, [place]))
            at += ns * per_ns
        return found
