"""Stream-K: how can 132 processors share 33 tiles?

manim render scenes/stream_k.py

Two recorded runs of one kernel and one product: tiles computed whole, and steps shared out equally, with
tiles cut where a share ends. Four SMs and their five tiles show the whole plan, then all 132 are compared.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, LaggedStart, ManimColor, Mobject, VGroup

from tilesim import Device, Problem, Trace
from tilesim.analysis.time_account import account
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default, shipped
from tilesim_scenes.kit.many_sms import ManySMs, Stacks, in_turn
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, px
from tilesim_scenes.look.theme import ink_on, mixed, readable, sm_colour
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.models.k_steps import Partial, Piece, Ribbon
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Stream-K",
    "question": "Can 132 processors share 165 tiles evenly?",
    "finding": (
        "On an H200, 165 tiles on 132 SMs take 25% less time if each SM gets an equal share of the steps,"
        " not whole tiles."
    ),
    "part": "Schedules",
    "place": 180,
    "seconds": 81,
    "shows": "The last tiles of a product, computed whole by a few SMs, and cut so that all SMs share them.",
    "takes": "traces",
}

PRODUCT = "1408x3840x4096-grouped8"
WHOLE, CUT = "persistent-planned", "stream-k"
GROUP = 4
"""SMs, whose shares are whole tiles together."""
PACE = 34_000
"""ns of a run in a second of film."""
LETTERS, PALE = "ABCD", 0.45
"""Names of these, and the share of their colors in a load."""


def idle_at_the_end(trace: Trace) -> float:
    """µs that an average SM waits after its last tile."""
    return account(trace)["tail"] / trace.device.sms / 1000


class StreamK(ManySMs):
    """Whole tiles, and equal shares of steps, in two recorded runs."""

    neutral = RaceFilm
    default = Default(
        ("persistent", "stream-k"),
        Problem(1408, 3840, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=tuple(f"traces/h200-{name}-{PRODUCT}.npz" for name in (WHOLE, CUT)),
    )

    def prepare(self) -> None:
        self.whole, self.cut = (shipped(f"traces/h200-{name}-{PRODUCT}.npz") for name in (WHOLE, CUT))
        problem, sms = self.whole.problem, self.whole.device.sms
        self.sms, self.n, self.steps = sms, problem.tiles, problem.k_steps
        kernels = {(t.problem.title, t.meta["kernel"], t.meta["gpu"]) for t in (self.whole, self.cut)}
        self.guard(len(kernels) == 1, "one kernel ran both plans")
        counts = np.bincount(self.whole.spans["sm"], minlength=sms)
        self.left = self.n - sms
        self.others = sms - self.left
        self.guard(
            self.left == 33 and counts.tolist().count(2) == self.left and counts.max() == 2,
            "33 tiles are left after one for each SM",
        )
        ends = np.sort(self.whole.spans["done"])
        self.first_round = float(ends[sms - 1])
        self.guard(self.first_round < 0.55 * ends[-1], "33 SMs work for as long again")
        spans = self.cut.spans
        share = np.bincount(spans["cta"], (spans["k1"] - spans["k0"]).astype(float))
        self.share = int(share[0])
        self.guard(bool(np.all(share == self.share)), "each SM gets the same number of steps")
        self.guard(GROUP * self.n == (GROUP + 1) * sms, "there are five tiles for every four SMs")
        self.plan()
        self.us = [round(t.makespan / 1000, 1) for t in (self.whole, self.cut)]
        self.waits = waits = [round(idle_at_the_end(t), 1) for t in (self.whole, self.cut)]
        self.busy = [round(us - wait, 1) for us, wait in zip(self.us, waits, strict=True)]
        self.guard(self.busy[0] < self.busy[1], "SMs are busy for longer with equal shares")
        self.guard(waits[1] < 0.2 * waits[0], "hardly any SM waits with equal shares")

    def plan(self) -> None:
        """The first four blocks' segments, each block's in time. Shares are dealt in the opposite order."""
        rows = self.cut.spans[self.cut.spans["cta"] < GROUP]
        rows = rows[np.lexsort((rows["issue"], rows["cta"]))]
        self.blocks = [rows[rows["cta"] == cta] for cta in range(GROUP)]
        self.dealt = [(cta, row) for cta, block in enumerate(self.blocks) for row in block[::-1]]
        self.order = list(dict.fromkeys(int(row["tile"]) for _, row in self.dealt))
        self.guard(len(self.order) == GROUP + 1, "four SMs share five tiles")
        self.handed = [(a[0], b[-1]) for a, b in pairwise(self.blocks)]
        self.guard(
            all(give["tile"] == take["tile"] and give["k1"] == take["k0"] for give, take in self.handed),
            "each of four SMs but the last gives a part to the next one",
        )
        self.guard(
            all(give["done"] + 10_000 < take["drain"] for give, take in self.handed),
            "a partial sum lies ready when the next SM needs it",
        )
        self.guard(
            all(len(block) == 2 for block in self.blocks)
            and all(take["k1"] == self.steps for _, take in self.handed),
            "an SM computes what it hands over first, and the end of a cut tile last",
        )
        begun = np.lexsort((self.cut.spans["issue"], self.cut.spans["cta"]))[:: len(rows) // GROUP]
        firsts = (self.cut.spans["k1"] - self.cut.spans["k0"])[begun].reshape(-1, GROUP)
        self.guard(bool((firsts == firsts[0]).all()), "every SM works like one of four")
        # What a block does to hand a tile to the copy unit is a part of writing it.
        theme = self.theme
        adding = {"wait": theme.partial, "fix up": theme.partial}
        loads = {"launch": theme.by_phase["first load"]}
        self.fills = theme.by_phase | adding | loads | {"hand over": theme.write}
        self.hues = [sm_colour(n, GROUP) for n in range(GROUP)]

    def construct(self) -> None:
        self.ask("A tile is a piece of a matrix that one processor computes at a time.")
        self.one_each()
        self.some_are_left()
        self.a_sum_can_be_split()
        self.share_out()
        self.give_away()
        self.add_up()
        self.all_of_them()
        self.average()

    def one_each(self) -> None:
        """132 tiles leave C, one for each SM, and 33 stay."""
        left, right = self.halves(0.58)
        self.say("This matrix product has {n} tiles. The GPU has {sms} processors, called SMs.")
        tiles, boxes = self.tiles(self.whole.problem, left), self.boxes(self.sms, right)
        holes = VGroup(*(tile.copy().set_fill(ManimColor(self.theme.idle)) for tile in tiles))
        self.play(*self.appear(tiles, self.title_of_tiles))
        self.play(*self.appear(boxes, self.title_of_boxes))
        order = in_turn(self.whole)
        flying = [tiles[tile] for tile in order[: self.sms]]
        self.add(holes, boxes, tiles)
        self.say("First, each SM computes one tile. {left} tiles are left.")
        self.play(self.fly(flying, boxes, 1.0))
        count = self.bold("{n} − {sms} = {left}", 56).next_to(holes, DOWN, px(40))
        stay = [tiles[tile].animate.set_fill(ManimColor(self.hue)) for tile in order[self.sms :]]
        self.play(FadeIn(count), *stay, run_time=1.3)
        self.gone = VGroup(tiles, holes, count, self.title_of_tiles, self.title_of_boxes)
        self.boxes_now = boxes

    def some_are_left(self) -> None:
        """Boxes become rows; 33 go on in the second round, and 99 are dark."""
        self.badge(of_trace(self.whole))
        self.ticking = self.clock(self.whole.makespan)
        key = self.key(*self.entries())
        area = self.area._replace(bottom=self.floor)
        words = tr("132 SMs, one thin row each; time runs to the right")
        lanes, title = self.rows(self.whole, area, words, fills=self.fills)
        self.play(Leave(self.gone))
        self.play(self.into_rows(self.boxes_now, lanes), *self.appear(title))
        self.remove(self.boxes_now)
        self.add(lanes)
        rounds = self.round_names(lanes, [self.first_round, float(self.whole.makespan)])
        rounds[1].set_y(lanes.get_top()[1] - lanes.height * self.left / self.sms / 2)
        rounds.set_color(ManimColor(ink_on(self.hue)))
        self.play(PlayTrace(self.ticking, lanes, until=self.first_round, pace=PACE), *key)
        self.say("Then {left} SMs compute the rest. The other {others} have nothing to do.")
        end, waiting = self.ends(lanes, self.us[0]), VGroup(self.waiting(lanes), self.idle(lanes))
        self.play(FadeIn(rounds[0]), PlayTrace(self.ticking, lanes, until=self.whole.makespan, pace=PACE))
        self.play(FadeIn(rounds[1], end, waiting))
        self.leave(lanes, title, rounds, waiting, end, self.ticking)

    def entries(self) -> list[Entry]:
        """What the colors of thin rows mean."""
        load, *rest = self.phases("first load", "multiply", "write", "both")
        return [load._replace(word=tr("launch, first load")), *rest]

    def idle(self, lanes: LaneImage) -> Mobject:
        """What the SMs without a second tile do."""
        idle, ink = tr("{idle} SMs wait", idle=self.others), ink_on(self.theme.wait)
        return self.note_in(lanes, self.first_round, self.left / self.sms, 1.0, idle, ink)

    def a_sum_can_be_split(self) -> None:
        """A tile with its depth is cut in two for two SMs, and the parts are added."""
        self.badge(Badge(tr("schematic"), "model"))
        self.say("Could the idle SMs help? Each number in a tile is a long sum, built up in {steps} steps.")
        self.show_loaf(self.steps, self.whole.problem.k)
        self.say("A sum can be split: SM A computes half, and SM B adds it to the other half.")
        self.halve_loaf()
        self.add_partial(self.whole.problem.k)
        self.leave(self.split)

    def share_out(self) -> None:
        """Five tiles end to end, cut wherever a share ends; pieces drop to their SMs, first ones left."""
        area, of_tiles = self.area, range(len(self.order))
        total = self.steps * len(self.order)
        self.say("So we share out steps, not tiles. Every four SMs share five tiles.")
        high, apart = px(110 if self.narrow else 150), px(28)
        tiles = [Piece(n * self.steps, (n + 1) * self.steps, tr("tile {n}", n=n + 1)) for n in of_tiles]
        parts, at = [], 0
        for cta, row in self.dealt:
            count = int(row["k1"] - row["k0"])
            parts.append(Piece(at, at + count, str(count), self.hues[cta]))
            at += count
        width = area.width - (GROUP - 1) * apart
        whole, cuts = (Ribbon(row, total, width, high, size=52) for row in (tiles, parts))
        whole.move_to([area.center[0], area.top - px(165) - high / 2, 0])
        cuts.move_to(whole)
        for box, name in whole:
            name.next_to(box, UP, px(16))
        ink, count = self.theme.text, len(tiles)
        above = self.word("{n} tiles of {steps} steps = {total} steps", 46, ink, n=count, total=total)
        above.next_to(whole, UP, px(24))
        names, shifts = VGroup(), [(n - (GROUP - 1) / 2) * apart for n in range(GROUP)]
        row_y = area.bottom + px(185)
        for n, hue in enumerate(self.hues):
            mine = VGroup(*self.pieces_of(cuts, n))
            box = SM(f"SM {LETTERS[n]}", hue, mine.width + px(12), high + px(100), size=50)
            names.add(box.move_to([mine.get_center()[0] + shifts[n], row_y, 0]))
        middle = [area.center[0], (whole.get_bottom()[1] + names.get_top()[1]) / 2, 0]
        ratio = self.word(
            "{n} tiles / {sms} SMs = {five} tiles / {four} SMs", 46, ink, five=count, four=GROUP
        ).move_to(middle)
        self.play(LaggedStart(*map(FadeIn, whole), lag_ratio=0.2, run_time=1.4), FadeIn(above))
        self.play(FadeIn(names, ratio))
        self.say("Each SM gets {share} steps. Three tiles are now split between two SMs.")
        stay = VGroup(*(box.copy().set_opacity(0.5) for box, _ in cuts))
        self.play(*(FadeIn(box, run_time=0.6) for box in stay))
        figures, down = [Fade(figure, 0.0, 1.0) for _, figure in cuts], []
        for n, shift in enumerate(shifts):
            # Of two pieces, the one on the right is computed first.
            last, first = self.pieces_of(cuts, n)
            xs = first.get_right()[0] - last.width / 2, last.get_left()[0] + first.width / 2
            down += [[[x + shift, row_y - px(20), 0]] for x in xs]
        self.play(Travel(list(cuts), down, leg=0.7, apart=0.15), *figures, Leave(ratio))
        for piece, (cta, row) in zip(cuts, self.dealt, strict=True):
            tile = self.order.index(int(row["tile"])) + 1
            word = label(tr("tile {tile}", tile=tile), 30 if self.narrow else 40, readable(self.hues[cta]))
            piece.add(word.next_to(names, DOWN, px(16)).set_x(piece[0].get_x()))
        each = self.word("each SM does its steps from left to right", 46, ink)
        self.play(FadeIn(each.move_to(middle), *(piece[2:] for piece in cuts)))
        self.wait(0.6)
        self.gone = VGroup(whole, stay, cuts, names, above, each)

    def pieces_of(self, cuts: Ribbon, sm: int) -> list[Mobject]:
        """The two pieces of an SM's share."""
        return [piece for piece, (owner, _) in zip(cuts, self.dealt, strict=True) if owner == sm]

    def give_away(self) -> None:
        """Four lanes on the clock; what is given away is computed first, and lies ready."""
        theme, area = self.theme, self.area
        pale = [mixed(theme.idle, hue, PALE) for hue in self.hues]
        self.say("A, B and C start with the part that another SM needs. Its result is called a partial sum.")
        self.badge(of_trace(self.cut))
        key = self.key(
            Entry(tr("launch, first load"), pale),
            Entry(tr("multiply"), self.hues),
            Entry(tr("fetch and add"), [theme.partial]),
            Entry(tr("write (low: while it multiplies)"), [theme.write]),
        )
        side, gap, end = px(150), px(84), float(self.cut.makespan)
        high = (area.top - self.floor - px(20) - (GROUP - 1) * gap) / GROUP
        self.lanes, self.names = [], VGroup()
        for n, hue in enumerate(self.hues):
            fills = {"multiply": hue, "first load": pale[n], "launch": pale[n]}
            lane = LaneVectors(
                self.cut, [int(self.blocks[n]["sm"][0])], (0.0, end), area.width - side, high,
                labels=False, ticks=False, numbers=False, fills=self.fills | fills,
            )  # fmt: skip
            corner = np.array([area.right, area.top - px(10) - n * (high + gap), 0])
            self.lanes.append(lane.shift(corner - lane.grounds.get_corner(RIGHT + UP)))
            name = label(f"SM {LETTERS[n]}", 48, readable(hue), bold=True)
            self.names.add(name.move_to([area.left, lane.grounds.get_y(), 0], LEFT))
        self.ticking = self.clock(end)
        self.moving = (self.ticking, *self.lanes)
        self.play(Leave(self.gone), *key, *self.appear(*self.lanes, self.names, self.ticking))
        self.partials, self.in_lanes = [], VGroup()
        for n, (give, _) in enumerate(self.handed):
            lane, done = self.lanes[n], float(give["done"])
            self.play(PlayTrace(*self.moving, until=done, pace=PACE / 1.4))
            partial = Partial(px(90), px(60)).move_to([lane.x(done), lane.grounds.get_y(), 0])
            below = [lane.x(done) + px(60), lane.grounds.get_bottom()[1] - gap / 2, 0]
            self.play(FadeIn(partial, self.piece_word(n, give)), run_time=0.3)
            self.play(Travel([partial], [[below]], leg=0.4))
            self.partials.append(partial)
            if n == 0:
                word = self.in_memory = self.word("Σ: partial sum, waiting in memory", 40, theme.text)
                word.next_to(partial, RIGHT, px(24))
                word.scale(min(1.0, (area.right - word.get_left()[0]) / word.width), about_edge=LEFT)
                self.play(FadeIn(word, run_time=0.3))

    def piece_word(self, n: int, row: np.void) -> Mobject:
        """What a stretch of a lane computes."""
        count, tile = int(row["k1"] - row["k0"]), self.order.index(int(row["tile"])) + 1
        whole, part = tr("tile {tile}", tile=tile), tr("{count} of tile {tile}", count=count, tile=tile)
        word = label(part if count < self.steps else whole, 42, ink_on(self.hues[n]), bold=True)
        left, right = (self.lanes[n].x(float(row[name])) for name in ("start", "drain"))
        fit(word, 0.9 * (right - left)).move_to([(left + right) / 2, self.lanes[n].grounds.get_y(), 0])
        self.in_lanes.add(word)
        return word

    def add_up(self) -> None:
        """Partial sums go into the lanes of those that finish the tiles, once these need them."""
        takes = [(self.lanes[n], take) for n, (_, take) in enumerate(self.handed, 1)]
        last = self.piece_word(GROUP - 1, self.blocks[-1][0])
        first = min(float(take["drain"]) for _, take in takes)
        rest = [self.piece_word(n, block[-1]) for n, block in enumerate(self.blocks)]
        self.say("At the end, B, C and D each fetch the partial sum they need and add it.")
        self.play(PlayTrace(*self.moving, until=first, pace=PACE / 1.4), FadeIn(last, *rest))
        ways = []
        for partial, (lane, take) in zip(self.partials, takes, strict=True):
            x = lane.x((float(take["drain"]) + float(take["fixup"])) / 2)
            ways.append([[x, partial.get_y(), 0], [x, lane.grounds.get_y(), 0]])
        self.play(
            Leave(self.in_memory),
            Travel(self.partials, ways, [[1.0, 0.7]] * len(ways), leg=0.6, apart=0.0),
        )
        end = PlayTrace(*self.moving, until=float(self.cut.makespan), pace=PACE / 2)
        self.play(*map(FadeOut, self.partials), end)
        self.leave(*self.moving, self.names, self.in_lanes)

    def all_of_them(self) -> None:
        """Both runs, one above the other, on one clock."""
        longest, fills = float(self.whole.makespan), self.fills
        late = Entry(tr("wait at the end"), [self.theme.wait])
        key = self.key(*self.entries(), Entry(tr("fetch and add"), [self.theme.partial]), late)
        area = self.area._replace(bottom=self.floor)
        middle = (area.top + area.bottom) / 2
        upper, lower = area._replace(bottom=middle + px(10)), area._replace(top=middle - px(10))
        shown = [
            *self.rows(self.whole, upper, tr("whole tiles"), longest, fills),
            *self.rows(self.cut, lower, tr("equal shares of steps (Stream-K)"), longest, fills),
        ]
        self.ticking, lanes = self.clock(longest), shown[::2]
        # Right of all rows, so that the clock's hand does not run through them.
        right = lanes[0].get_right()[0] + px(20)
        ends = [self.ends(one, us).set_x(right, LEFT) for one, us in zip(lanes, self.us, strict=True)]
        runs = (self.ticking, *lanes)
        self.say("Here are all {sms} SMs: the old plan above, and below the new one, called Stream-K.")
        bands = VGroup(*(label(tr("like SM {sm}", sm=letter), 40, ink_on(self.hue)) for letter in LETTERS))
        for n, like in enumerate(bands):
            like.move_to([lanes[1].x(48_000), lanes[1].get_top()[1] - (n + 0.5) / GROUP * lanes[1].height, 0])
        self.play(*key, *self.appear(*shown, self.ticking))
        self.play(PlayTrace(*runs, until=float(self.cut.makespan), run_time=2.8))
        self.play(PlayTrace(*runs, until=longest, run_time=1.0), FadeIn(ends[1], bands, run_time=0.3))
        waiting = VGroup(*map(self.waiting, lanes), self.idle(lanes[0]))
        self.play(FadeIn(ends[0], waiting))
        self.gone = [*shown, waiting, *ends, bands, self.ticking]

    def average(self) -> None:
        """An average SM's time in both runs, then the end card."""
        theme, area = self.theme, self.area
        fills = [self.hue, theme.wait]
        key = self.key(Entry(tr("busy"), fills[:1]), Entry(tr("wait at the end"), fills[1:]))
        names = tr("whole tiles"), tr("equal shares")
        rows = [*zip(names, map(list, zip(self.busy, self.waits, strict=True)), strict=True)]
        stacks = Stacks(rows, fills, area.width, px(220 if self.narrow else 270), size=50, above=self.narrow)
        head = self.word("an average SM's time, in µs", 46, theme.text).next_to(stacks, UP, px(36))
        VGroup(head, stacks).move_to([area.center[0], (area.top + self.floor) / 2, 0])
        (busy, more), (wait, less) = self.busy, self.waits
        self.say(
            "With partial sums, an average SM is busy {more:.1f} µs longer, but waits {less:.1f} µs less.",
            more=round(more - busy, 1), less=round(wait - less, 1),
        )  # fmt: skip
        self.play(*map(Leave, self.gone), *key, *self.appear(head, stacks[:3]))
        self.play(LaggedStart(*map(FadeIn, stacks[3:]), lag_ratio=0.15, run_time=1.2))
        self.close(
            "On an H200, {n} tiles on {sms} SMs take {less:.0%} less time "
            "if each SM gets an equal share of the steps, not whole tiles.",
            [(tr("whole tiles"), self.us[0]), (tr("equal shares"), self.us[1])],
            "less time",
            "{:.1f} µs",
            of_trace(self.cut),
            tr("C has 1408 × 3840 numbers, each a sum of 4096 products of 16-bit numbers."),
        )
