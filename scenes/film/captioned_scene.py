"""CaptionedScene: a scene that says what it shows. It has a title, captions, chapters, a badge and a clock.

Captions come and go with the scene's own plays, and stay as long as one needs to read them.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from manim import LEFT, RIGHT, Animation, Mobject, Text, VGroup, config

from tilesim import Trace
from tilesim_scenes.animations.fade import Fade, Still, Swap
from tilesim_scenes.film.configured_scene import ConfiguredScene
from tilesim_scenes.look.text import lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.caption import GROUND, Caption, reading_time
from tilesim_scenes.mobjects.words.count import Clock

ON_TOP = 100
"""Manim's z_index of captions, badges and clocks."""
DIMMED, BEHIND = 0.35, 0.15
"""Opacity of what is not spoken of, and of what stands behind a title."""
CLOCK, CLOCK_NARROW = 56, 44
"""Pixels: the clock's size, in a wide frame and in others."""
APPEAR, CAPTION_AFTER, TITLE = 0.3, 0.2, 1.5
"""Seconds: of appearing, from a play's beginning to its caption, of a title."""


class Said(NamedTuple):
    """A caption, and between which seconds of the film it stands."""

    start: float
    end: float
    text: str


class CaptionedScene(ConfiguredScene):
    """A scene with words. While it is played, `captions` and `chapters` fill with what was said when.

    `pauses`: the seconds at which a talk stops, as a title or a caption is about to make way.
    """

    def setup(self) -> None:
        """Begin without words."""
        super().setup()
        self.captions: list[Said] = []
        self.chapters: list[tuple[float, str]] = []
        self.pauses: list[float] = []
        self._caption: Caption | None = None
        self._said_at, self._next = 0.0, None
        self._title: tuple[Mobject, Mobject] | None = None
        self._fixed: list[Mobject] = []
        self._badges: list[Swap] = []

    def title(self, text: str) -> None:
        """Show a title, or what somebody asked for instead; nothing with `opening = false`.

        It stands alone for 1.5 s, and what the first play brings comes up behind it, dimmed.
        """
        text = self.given.get("title", text)
        if not self.given.get("opening", True) or not text.strip():
            return
        words = lines(text, 96, config.frame_width * 0.86, most=3, bold=True).move_to([0, 0, 0])
        self.chapter(words_of(words))
        self.add(self._overlay(words).set_z_index(ON_TOP + 2))
        paper = self.theme.background
        veil = VGroup(rectangle(config.frame_width, config.frame_height, paper, 1 - BEHIND))
        veil.add(rectangle(words.width + px(96), words.height + px(64), paper, GROUND))
        # A film without a ground has nothing that could dim.
        if config.background_opacity == 1:
            self.add(self._overlay(veil).set_z_index(ON_TOP + 1))
        self._title = veil, words

    def say(self, text: str) -> None:
        """Make `text` the caption, once the next play has begun; first the last one can be read."""
        self._let_read()
        self._next = text

    def hush(self) -> None:
        """Take the caption away with the next play."""
        self.say("")

    def chapter(self, name: str) -> None:
        """Begin a chapter here."""
        self.chapters.append((self.now, name))

    def badge(self, source: Trace | Badge | None) -> None:
        """Show, upper right, where the figures come from; a trace says so itself. None: no badge.

        It changes in the first 0.3 s of the next play, but for one that says what already stands there.
        """
        for change in self._badges:
            if change.new is not None:
                self._drop(change.new)
        self._badges = []
        old = next((one for one in self._fixed if isinstance(one, Badge)), None)
        pill = of_trace(source) if isinstance(source, Trace) else source
        before, after = (one and (one.text, one.kind) for one in (old, pill))
        if before == after:
            return
        if pill is not None:
            pill.move_to(self._corner(1)).shift(LEFT * pill.width / 2)
            self._overlay(pill)
        self._badges = [Swap(old, pill, APPEAR, before=0.0)]

    def clock(self, until: float) -> Clock:
        """A clock, upper left, for a run of so many ns; it moves where it is given to `PlayTrace`."""
        # A badge and the factor of slow motion share the line, which is short where the frame is not wide.
        clock = Clock(until, CLOCK if config.frame_width > 1.3 * config.frame_height else CLOCK_NARROW)
        clock.move_to(self._corner(-1)).shift(RIGHT * clock.width / 2)
        self.add(self._overlay(clock))
        return clock

    def play(self, *args: Any, **kwargs: Any) -> None:
        """As Manim's, with a caption that was said."""
        animations = self.compile_animations(*args, **kwargs)
        if self._title is not None:
            return self._open(animations)
        start, swap = self.now, self._swap()
        badges, self._badges = self._badges, []
        try:
            super().play(*animations, *swap, *badges)
        finally:
            # Where only a part of the film is asked for, it may end before the play does.
            for change in swap:
                self._said(change, start)
            for change in badges:
                if change.old is not None:
                    self._drop(change.old)

    def wait(self, duration: float = 1.0, **kwargs: Any) -> None:
        if self._next is not None or self._badges:
            self.play(Still(run_time=duration))
            return
        super().wait(duration, **kwargs)

    def tear_down(self) -> None:
        """Leave the last caption readable."""
        self._let_read()
        super().tear_down()
        self._end_caption(max(self.now, self.frames / config.frame_rate))

    def _open(self, animations: Sequence[Animation]) -> None:
        """The first play, behind the title where it is short; then the title makes way for the caption.

        What stands there from the beginning is what a player shows as the film's picture.
        """
        (veil, words), self._title = self._title, None
        said, self._next = self._next, None
        longest = max(animation.run_time for animation in animations)
        behind = config.background_opacity == 1 and longest <= TITLE - 2 * APPEAR
        if behind:
            self.play(*animations)
        self.wait(TITLE - APPEAR - longest * behind)
        self.pauses.append(self.now)
        if behind:
            self._next = said
        self.play(Fade(words, 1.0, 0.0, run_time=APPEAR), Fade(veil, 1.0, 0.0, run_time=APPEAR))
        self._drop(words)
        self._drop(veil)
        if not behind:
            self._next = said
            self.play(*animations)

    def _swap(self) -> list[Swap]:
        """The change of captions that is due, if any."""
        if self._next is None:
            return []
        text, self._next = self._next, None
        new = Caption(text) if text else None
        return [Swap(self._caption, self._overlay(new) if new else None)]

    def _said(self, change: Swap, start: float) -> None:
        if change.old is not None:
            self._drop(change.old)
            self.pauses.append(start)
        self._end_caption(start + CAPTION_AFTER * self.stretch)
        self._caption = change.new
        self._said_at = start + CAPTION_AFTER * self.stretch

    def _let_read(self) -> None:
        """Wait until the caption that stands could be read."""
        if self._caption is not None:
            left = reading_time(self._caption.text) - (self.now - self._said_at) / self.stretch
            if left > 0.05:
                super().wait(ceil(10 * left) / 10)

    def _end_caption(self, end: float) -> None:
        if self._caption is not None:
            self.captions.append(Said(self._said_at, end, self._caption.text))

    def _corner(self, side: int) -> Any:
        """The middle of the line that badge (side 1) and clock (-1) stand on, where that begins."""
        return np.array([side * 0.45 * config.frame_width, config.frame_height / 2 - px(54 + 32), 0.0])

    def _overlay(self, mobject: Mobject) -> Mobject:
        """Keep a mobject, placed as in a frame that stands still, where it is on screen while that moves."""
        frame = self.camera.frame
        mobject.scale(frame.width / config.frame_width, about_point=[0, 0, 0]).shift(frame.get_center())
        self._fixed.append(mobject)
        return mobject.set_z_index(ON_TOP)

    def _drop(self, mobject: Mobject) -> None:
        self._fixed = [one for one in self._fixed if one is not mobject]
        self.remove(mobject)


def words_of(words: VGroup) -> str:
    """What lines of text say."""
    return " ".join(line.original_text for line in words if isinstance(line, Text))
