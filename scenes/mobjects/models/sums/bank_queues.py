"""BankQueues: a block's lanes climb a tree in shared memory, and queue where they meet at a bank."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import DOWN, LEFT, VGroup, smoothstep

from tilesim.ideas.reduction import BANKS, WARP, Access, Level, accesses, bank, served
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.discs import discs_at
from tilesim_scenes.mobjects.drawing.quads import EMPTY, rectangle, shape, strokes, uprights
from tilesim_scenes.mobjects.hardware.element_grid import ElementGrid
from tilesim_scenes.mobjects.hardware.warp_row import WarpRow

HELD = 0.4
"""Share of the hue in words that hold a sum."""
ARRIVED, LEAVES = 0.4, 0.7
"""Shares of a beat: in which lanes have come to their queues; and after which who is served goes."""
WARPS, WORDS = 0.09, 0.38
"""Shares of the height: of the warps, and of the words."""


class BankQueues(VGroup):
    """`t` beats of the tree's loads have passed: which lanes are at work, what they ask for, who waits.

    On top the block's warps; below them shared memory, 32 words in a row, so that a column is a bank; at the
    foot a tube for each bank. A lane falls from its warp past its word into the bank's tube. The lowest is
    served in this beat; the others wait. `width` by `height` units; `deepest`: lanes that a tube has room
    for, as many as wait in it by default.

        queues = BankQueues(interleaved(256))
        self.add(queues)
        self.play(Run(queues, until=queues.until, run_time=6))
    """

    def __init__(
        self,
        levels: Sequence[Level],
        width: float | None = None,
        height: float | None = None,
        deepest: int | None = None,
        colour: Colour | None = None,
    ) -> None:
        theme, width, height = theme_now(), width or px(1200), height or px(600)
        self.colour = colour = colour or sm_colour(0, 4)
        self.levels, self.accesses = tuple(levels), accesses(levels)
        self.t, self.ends = 0.0, np.cumsum([one.wavefronts for one in self.accesses])
        self.until = float(self.ends[-1])
        self.threads = len(levels[0].owns) + len(levels[0].others)
        self.deepest = deepest or max(one.wavefronts for one in self.accesses)
        self.warps = WarpRow(self.threads // BANKS, width, WARPS * height, colour)
        self.words = ElementGrid(self.threads // BANKS, BANKS, width, WORDS * height, colour)
        gap = 0.5 * WARPS * height
        self.tubes = rectangle(width, height - self.warps.height - self.words.height - 2 * gap)
        self.words.next_to(self.warps, DOWN, gap)
        self.tubes.next_to(self.words, DOWN, gap)
        self.walls = strokes(theme.operand, 2, 0.35)
        self.walls.points = uprights(self.tubes, np.arange(BANKS + 1) / BANKS)
        self.held, self.asked = shape(mixed(theme.idle, colour, HELD)), shape(colour)
        self.waiting, self.answered = shape(theme.wait), shape(colour)
        super().__init__(self.warps, self.words, self.tubes, self.walls)
        # Lines between words stay above what words hold.
        self.words.submobjects.insert(1, VGroup(self.held, self.asked))
        self.add(self.waiting, self.answered)
        self.center()
        self.show(0)

    def place(self, word: int) -> np.ndarray:
        """Where a word is: the points of a rectangle, float64, shape [16, 3]."""
        return self.words.place(*divmod(word, BANKS))

    def begin(self, access: int) -> int:
        """The beat in which an access begins."""
        return int(self.ends[access]) - self.accesses[access].wavefronts

    def now(self, t: float) -> int:
        """The access that the banks serve at `t`."""
        return min(int(np.searchsorted(self.ends, t, side="right")), len(self.accesses) - 1)

    def show(self, t: float) -> Self:
        """Look as after `t` beats."""
        self.t = t
        number = self.now(t)
        one = self.accesses[number]
        if t >= self.until:
            self.warps.work(0)
            self.held.points = self.asked.points = self.waiting.points = EMPTY
            self.asked.points, self.answered.points = self.place(0), EMPTY
            return self
        level = self.levels[one.level]
        self.warps.work(len(level.owns), one.warp)
        self._show_words(level, one, t - self.begin(number))
        self._show_lanes(one, t - self.begin(number))
        return self

    def _show_words(self, level: Level, one: Access, beat: float) -> None:
        """The words that hold sums; in a level's last beat the one of each pair moves onto the other."""
        last = WARP * (one.warp + 1) >= len(level.owns)
        come = (beat - one.wavefronts + 1 - ARRIVED) / (1 - ARRIVED)
        share = smoothstep(float(np.clip(come, 0, 1))) if last else 0.0
        owns = [self.place(word) for word in level.owns.tolist()]
        others = [self.place(word) for word in level.others.tolist()]
        added = [other + share * (own - other) for own, other in zip(owns, others, strict=True)]
        self.held.points = np.concatenate(owns + added)
        self.asked.points = np.concatenate([self.place(word) for word in one.words.tolist()])

    def _show_lanes(self, one: Access, beat: float) -> None:
        """Each lane on its way from its warp past its word, or at its place in the queue."""
        spacing = self.tubes.height / self.deepest
        radius = 0.42 * min(spacing, self.tubes.width / BANKS)
        turn, part = divmod(beat, 1.0)
        gone = turn + smoothstep(max(0.0, (part - LEAVES) / (1 - LEAVES)))
        ranks = served(one.words) - gone
        foot, right = self.tubes.get_corner(DOWN + LEFT), self.tubes.width / BANKS
        queue = foot + np.stack(
            [(bank(one.words) + 0.5) * right, (ranks + 0.5) * spacing, np.zeros(len(ranks))], axis=1
        )
        words = np.array([self.place(word)[[0, 8]].mean(axis=0) for word in one.words.tolist()])
        lanes = self.warps.places(one.warp, len(words))
        way = min(beat / ARRIVED, 1.0)
        first, second = (smoothstep(float(np.clip(2 * way - leg, 0, 1))) for leg in (0, 1))
        at = lanes + first * (words - lanes) + second * (queue - words)
        sizes = radius * np.clip(1 + ranks, 0.0, 1.0) * (0.4 + 0.6 * first)
        waits = (ranks > 0.5) & (way >= 1)
        for drawn, some in ((self.waiting, waits), (self.answered, ~waits & (sizes > 0))):
            drawn.points = discs_at(at[some], sizes[some])
