"""SmLane: the lane of one SM, close up. Part names: what parts of lanes are called, in them or in a key."""

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Mobject, VGroup

from tilesim import Trace, WorkItems
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import cut, fit, keep_apart, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, readable, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.drawing.redrawn import Redrawn
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.mobjects.traces.lanes import KINDS, parts
from tilesim_scenes.mobjects.words.key import MOST, Entry, Key

SM_NAME = 230
"""Pixels that the SM's name takes beside the run's, with the space between them."""
SIZE, HUES = 46.0, 4
"""Pixels of the letters of a part's name; hues of SMs in a key, at most."""


class SmLane(Redrawn):
    """One SM's lane of a run called `name`, `width` by `height` units, on a lane that shows `longest` ns.

    `side`: units of a column on the left for the names, 0 where they stand above. `named`: whether the SM's
    stands there too.
    """

    def __init__(
        self,
        trace: Trace,
        sm: int,
        name: str,
        width: float,
        height: float,
        longest: float | None = None,
        side: float = 0.0,
        named: bool = True,
        window: tuple[float, float] | None = None,
    ) -> None:
        super().__init__()
        self.trace, self.sm = trace, sm
        window = window or (0.0, float(longest or trace.makespan))
        self.lane = LaneVectors(trace, [sm], window, width - side, height, labels=False)
        colour = sm_colour(sm, trace.device.sms)
        # Beside the lane a name breaks between words; above it, it shares a line with the SM's.
        room = side - px(24) if side else width - px(SM_NAME) * named
        shown = cut(name, room, bold=True)
        whose = VGroup(*lines(shown, 50, room, 2 if side and " " in shown else 1, bold=True))
        if named:
            whose.add(label(f"SM {sm}", 46, readable(colour), bold=True))
        if side:
            fit(whose.arrange(DOWN, buff=px(16), aligned_edge=LEFT), side - px(24))
            whose.next_to(self.lane.grounds, LEFT, px(24))
            whose.set_x(self.lane.grounds.get_left()[0] - side, LEFT)
        else:
            whose.arrange(buff=px(30)).next_to(self.lane.grounds, UP, px(110), aligned_edge=LEFT)
        self.whose = whose
        self.add(self.lane, whose)
        self.stand_on(self.lane.grounds[0])

    @property
    def window(self) -> tuple[float, float]:
        """The ns that it shows."""
        return self.lane.window

    @window.setter
    def window(self, window: tuple[float, float]) -> None:
        self.lane.window = window

    def x(self, t: float) -> float:
        """The scene's x of an instant."""
        return self.lane.x(t)

    def draw(self, was: float) -> None:
        """Draw its lane at `t`."""
        self.lane.show(self.t)

    def names_of(self, begin: float, end: float) -> VGroup:
        """The names of the parts that begin between two instants, in them, or below where they are narrow.

        Below them it is said where a recorded launch has its length from, as stamps do not show that.
        """
        named = part_names(self.lane, self.sm, begin, end)
        note = self.launch_source(begin, end)
        return named.add(note.shift(px(62) * DOWN)) if note is not None else named

    def launch_source(self, begin: float, end: float) -> Mobject | None:
        """Where the first launch between two instants has its length from, under it; None if simulated."""
        mine = (part for part in parts(self.trace).each() if part.slot == self.lane.slots[0])
        first = next((part for part in mine if part.kind == "launch" and begin <= part.begin < end), None)
        if first is None or self.trace.origin != "measured":
            return None
        x, text = self.x((first.begin + first.end) / 2), tr("launch: turnaround benchmark")
        note = name_below(self.lane.grounds, x, text, theme_now().launch)
        low, high = self.lane.grounds.get_left()[0], self.lane.grounds.get_right()[0]
        within = min(max(low, note.get_left()[0]), high - note.width)
        return note.shift((within - note.get_left()[0]) * RIGHT)


def tells_writes(trace: Trace) -> bool:
    """Whether writing a tile is told apart from multiplying it, which stamps of others may not do."""
    return trace.origin == "simulated" or bool((trace.spans["done"] > trace.spans["fixup"]).any())


def part_words(trace: Trace) -> dict[str, str]:
    """What the parts of lanes are called, and what is left of a lane, by `KINDS` and "idle"."""
    multiply = tr("multiply") if tells_writes(trace) else tr("multiply, write")
    return {
        "launch": tr("launch"),
        "first load": tr("first load"),
        "hand over": tr("hand over"),
        "multiply": tr("work") if isinstance(trace.problem, WorkItems) else multiply,
        "write": tr("write"),
        "wait": tr("wait"),
        "fix up": tr("add partials"),
        "idle": tr("idle"),
    }


def parts_key(traces: Sequence[Trace], width: float) -> Key:
    """The key of the parts that some traces have, of which the shortest are left out beyond six."""
    words, device = part_words(traces[0]), traces[0].device
    sums = dict.fromkeys(words, 0)
    for every in map(parts, traces):
        ns = np.bincount(every.kind, every.end - every.begin, len(KINDS))
        for kind, length in zip(KINDS, ns.tolist(), strict=True):
            sums[kind.removesuffix(" under")] += length
    shown = sorted((kind for kind in sums if sums[kind]), key=lambda kind: -sums[kind])[:MOST]
    # Some of the hues stand for all.
    hues = [
        sm_colour(int(sm), device.sms) for sm in np.unique(np.linspace(0, device.sms - 1, HUES).astype(int))
    ]
    entries = [
        Entry(words[kind], [fill] if (fill := theme_now().fill(kind)) else hues, kind == "first load")
        for kind in words
        if kind in shown
    ]
    return Key(entries, width)


def part_names(lanes: LaneVectors, sm: int, begin: float, end: float) -> VGroup:
    """The names of the parts of an SM's lane that begin between two instants, ns, main loops left out.

    A name stands in its part, or below where that is narrow.
    """
    theme, named, words = theme_now(), VGroup(), part_words(lanes.trace)
    inks = {"launch": theme.launch, "wait": theme.wait_text, "fix up": theme.partial}
    ground, below = lanes.lane(sm)[0], []
    slot = sm * lanes.trace.device.ctas_per_sm
    every = parts(lanes.trace)
    shown = (every.slot == slot) & (every.begin >= begin) & (every.begin < end)
    seen = every.chosen(np.flatnonzero(shown)).each()
    for part in seen:
        if part.kind == "multiply":
            continue
        fill, text = theme.fill(part.kind), words[part.kind.removesuffix(" under")]
        # A write lies on the hand-over to the next tile, where that begins meanwhile.
        writes = (one.end for one in seen if part.kind == "hand over" and one.kind == "write")
        covered = max((end for end in writes if part.begin < end < part.end), default=part.begin)
        x0, x1, foot = lanes.x(covered), lanes.x(part.end), ground.get_bottom()[1]
        high = ground.height / 3 if part.kind == "write under" else ground.height
        word = label(text, SIZE, fill and ink_on(fill), bold=True)
        if word.width <= 0.92 * (x1 - x0) and word.height <= 0.92 * high:
            word.move_to([(x0 + x1) / 2, foot + high / 2, 0])
            if part.kind == "first load":
                back = rectangle(word.width + px(24), word.height + px(24), theme.idle, 0.85)
                word = VGroup(back.move_to(word), label(text, SIZE, bold=True).move_to(word))
        else:
            word = name_below(ground, (x0 + x1) / 2, text, inks.get(part.kind, theme.quiet))
            below.append(word)
        named.add(word)
    keep_apart(below, px(24), ground.get_left()[0], ground.get_right()[0])
    return named


def name_below(ground: Mobject, x: float, text: str, colour: Colour) -> Mobject:
    """`text` under a lane, in the middle of which `x` is."""
    foot = ground.get_bottom()[1] - px(16)
    return label(text, SIZE, readable(colour), bold=True).move_to([x, foot, 0], UP)
