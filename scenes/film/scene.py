"""Film: the Manim scene that all films are: settings, words, where one looks, and a finding at the end.

A film's `construct` plays its story in its natural length, with Manim's own `play` and `wait` and the words
below. What it shows at a second depends on that second alone, so it is the same at every frame rate. Captions
come and go with the scene's own plays, and stay as long as one needs to read them.
"""

import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, Group, Mobject, VGroup, config, smoothstep

from tilesim import Trace
from tilesim.declared import after, name_of
from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.animations.fade import Fade, Swap, late
from tilesim_scenes.animations.zoom import GrowFromLane, Look
from tilesim_scenes.film.configured_scene import ConfiguredScene
from tilesim_scenes.film.course import FILMS, OURS
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.count import Clock
from tilesim_scenes.mobjects.words.finding import Caption, Finding, reading_time
from tilesim_scenes.render.files.joining import Chapter, Cue

CARD, NEXT = 4.0, 1.0
"""Seconds that the card at the end stays, and how many of these it names the next film."""
ON_TOP = 100
"""Manim's z_index of captions, badges and clocks."""
DIMMED = 0.35
"""Opacity of what is not spoken of."""
CLOCK, CLOCK_NARROW = 56, 44
"""Pixels: the clock's size, in a wide frame and in others."""
APPEAR, CAPTION_AFTER, LONGEST_TITLE = 0.3, 0.2, 4.5
"""Seconds: of appearing, from a play's beginning to its caption, and that a title stands at most."""


class Film(ConfiguredScene):
    """A film, which a subclass tells in `construct`.

    It names in `default` the traces that it is about, if any. While it is played, `captions` and `chapters`
    fill with what was said when, and `pauses` with the seconds at which a talk stops, as a title or a caption
    is about to make way.
    """

    def setup(self) -> None:
        """Begin without words, with all in sight."""
        super().setup()
        self.captions: list[Cue] = []
        self.chapters: list[Chapter] = []
        self.pauses: list[float] = []
        self._caption: Caption | None = None
        self._said_at, self._next = 0.0, None
        self._fixed: list[Mobject] = []
        self._badges: list[Swap] = []
        self._seen: tuple[np.ndarray, float] | None = None
        self._lintel: Mobject | None = None
        self.card: Finding | None = None

    def title(self, text: str, name: str = "", note: str = "") -> None:
        """Show a title, or what somebody asked for instead, alone and as long as one needs to read it.

        `name` stands small above it, and `note` below it. With `opening = false` there is none of them.
        """
        text = self.given.get("title", text)
        if not self.given.get("opening", True) or not text.strip():
            return
        room, quiet = 0.88 * config.frame_width, self.theme.quiet
        words = VGroup(label(name, 50, quiet)) if name else VGroup()
        words.add(lines(text, 88, room, most=3, bold=True))
        if note:
            words.add(lines(note, 52, room, most=2, color=quiet))
        words.arrange(DOWN, buff=px(64)).move_to([0, 0, 0])
        self.chapter(text)
        self.add(words)
        self.wait(min(LONGEST_TITLE, round(reading_time(f"{text} {note}"), 1)))
        self.pauses.append(self.now)
        self.play(Fade(words, 1.0, 0.0))
        self.remove(words)

    def say(self, text: str) -> None:
        """Make `text` the caption, or "" none, once the next play has begun; the last one is read first."""
        self.let_read()
        self._next = text

    def chapter(self, name: str) -> None:
        """Begin a chapter here."""
        self.chapters.append(Chapter(self.now, name))

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
        start, captions, badges = self.now, [], self._badges
        if self._next is not None:
            new = self._overlay(Caption(self._next)) if self._next else None
            captions = [Swap(self._caption, new)]
        self._next, self._badges = None, []
        try:
            super().play(*animations, *captions, *badges)
        finally:
            # Where only a part of the film is asked for, it may end before the play does.
            for change in (*captions, *badges):
                if change.old is not None:
                    self._drop(change.old)
            for change in captions:
                if change.old is not None:
                    self.pauses.append(start)
                begun = start + CAPTION_AFTER * self.stretch
                self._end_caption(begun)
                self._caption, self._said_at = change.new, begun

    def wait(self, duration: float = 1.0, **kwargs: Any) -> None:
        if self._next is not None or self._badges:
            self.play(Direct(run_time=duration))
            return
        super().wait(duration, **kwargs)

    def tear_down(self) -> None:
        """Leave the last caption readable."""
        self.let_read()
        super().tear_down()
        self._end_caption(max(self.now, self.frames / config.frame_rate))

    @property
    def next_title(self) -> str:
        """What the film that comes next is called, empty where none does."""
        # A film that is written in a notebook has no file.
        file = getattr(sys.modules.get(type(self).__module__), "__file__", None)
        ours = file and Path(file).resolve().parent == FILMS.resolve()
        name = self.given.get("next", after(name_of(Path(file)), OURS) if ours else "")
        return tr(OURS[name].title) if name in OURS else ""

    @property
    def figures(self) -> dict[str, list[str]]:
        """What is said of the film beside it: its finding, as lines."""
        card = self.card
        return {"finding": list(filter(None, (card.sentence, card.number, card.aside)))} if card else {}

    def dive(self, *targets: Mobject, room: float = 1.2) -> None:
        """Bring the camera to some mobjects, with `room` times their size around them, in 1.2 s.

        They land where the picture's middle is, at most 12 times as large as before. What the camera passes
        goes behind the line of badge and clock.
        """
        group = Group(*targets)
        area, frame = self.area, self.camera.frame
        scale = max(
            room * group.width / area.width,
            room * group.height / area.height,
            frame.width / config.frame_width / 12,
        )
        centre = group.get_center() - scale * area.center
        hides: list[Animation] = []
        if self._seen is None:
            self._seen = frame.get_center(), frame.width
            # A film without a ground has nothing that could hide.
            if config.background_opacity == 1:
                top, height = config.frame_height / 2, config.frame_height / 2 - area.top
                self._lintel = rectangle(config.frame_width, height, self.theme.background)
                self._lintel.move_to([0, top, 0], UP)
                self.add(self._overlay(self._lintel).set_z_index(ON_TOP - 1))
                hides.append(Fade(self._lintel, 0.0, 1.0, run_time=APPEAR))
        self.play(Look(frame, centre, scale * config.frame_width, self._fixed), *hides)

    def come_out(self) -> None:
        """Bring the camera back out the way it went in."""
        seen, self._seen = self._seen, None
        if seen:
            self.play(Look(self.camera.frame, *seen, self._fixed))
        if self._lintel is not None:
            self._drop(self._lintel)
            self._lintel = None

    def go_back(
        self,
        lanes: Sequence[SmLane],
        places: Sequence[Mobject],
        whole: Sequence[Mobject],
        *along: Animation,
        seconds: float = 1.0,
    ) -> None:
        """Lanes that came forward go back to their `places` in the `whole`, which comes up behind them."""
        pairs = zip(lanes, places, strict=True)
        back = (GrowFromLane(*pair, seconds, rate_func=lambda alpha: smoothstep(1 - alpha)) for pair in pairs)
        self.add(*whole).bring_to_front(*lanes)
        self.play(*(Fade(one, 0.0, 1.0, seconds, rate_func=late) for one in whole), *back, *along)
        self.remove(*lanes)

    def finding(self, card: Finding, grow: Sequence[Animation] = (), into: Sequence[Animation] = ()) -> None:
        """End on a card: all else leaves, the card comes, what grows on it grows, and it stays.

        At last the next film's title takes the place of the aside, as the card has no words to spare.

        `into`: what takes things that are on screen to their places on the card, where they stay beneath it.
        """
        self.say("")
        self.come_out()
        staying = [one for animation in into for one in animation.mobject.submobjects]
        # A badge that says the same is not taken away, and brought back.
        says = card.badge.text if card.badge else None
        same = [one for one in self._fixed if isinstance(one, Badge) and one.text == says]
        staying += same
        self.add(*staying)
        kept = {id(one) for one in (self.camera.frame, *staying)}
        leaving = Group(*(one for one in self.mobjects if id(one) not in kept))
        self.chapter(card.sentence)
        self.pauses += [self.now] if self._caption is not None else []
        self._end_caption(self.now)
        self._caption = self._next = None
        self.play(Fade(leaving, 1.0, 0.0, run_time=APPEAR), *into)
        self.remove(*leaving, *self._fixed)
        self._fixed.clear()
        growing = {id(one) for animation in grow for one in animation.mobject.submobjects}
        # Of a row that grows in parts, the others stand still.
        parts = [part for row in card for part in (row if growing & {*map(id, row.submobjects)} else [row])]
        still = [one for one in parts if id(one) not in growing]
        self.add(*still)
        coming = [one for one in still if not (same and one is card.badge)]
        self.play(*(Fade(one, 0.0, 1.0, run_time=APPEAR) for one in coming))
        if grow:
            self.play(*grow)
        self.card = card
        title = self.next_title
        self.wait(CARD - NEXT if title else CARD)
        if title:
            self.play(Swap(card.small, card.instead_of_aside(tr("Next: {title}", title=title))))
            self.wait(NEXT)

    def let_read(self) -> None:
        """Wait until the caption that stands could be read."""
        if self._caption is not None:
            left = reading_time(self._caption.text) - (self.now - self._said_at) / self.stretch
            if left > 0.05:
                super().wait(ceil(10 * left) / 10)

    def _end_caption(self, end: float) -> None:
        if self._caption is not None:
            self.captions.append(Cue(self._said_at, end, self._caption.text))

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
