"""Film: the Manim scene that all films are: settings, words, where one looks, and a finding at the end.

A film's `construct` plays its story in its natural length, with Manim's own `play` and `wait` and the words
below. What it shows at a second depends on that second alone, so it is the same at every frame rate.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from manim import UP, Animation, Group, Mobject, config

from tilesim.declared import after, name_of
from tilesim_scenes.animations.fade import Fade, Swap
from tilesim_scenes.animations.zoom import Look
from tilesim_scenes.film.captioned_scene import APPEAR, DIMMED, ON_TOP, CaptionedScene
from tilesim_scenes.film.course import FILMS, OURS
from tilesim_scenes.look.language import tr
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding

CAMERA, CARD, NEXT = 1.2, 4.0, 1.0
"""Seconds: of a camera move, that the card at the end stays, and how many of these it names the next film."""


class Film(CaptionedScene):
    """A film, which a subclass tells in `construct`.

    It names in `default` the traces that it is about, if any.
    """

    def setup(self) -> None:
        """Begin with all in sight."""
        super().setup()
        self._dimmed: list[Mobject] = []
        self._seen: tuple[np.ndarray, float] | None = None
        self._lintel: Mobject | None = None
        self.card: Finding | None = None

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

    def focus(self, *spoken_of: Mobject) -> None:
        """Dim all but some mobjects, in 0.3 s."""
        self.unfocus()
        bright = {id(one) for mobject in spoken_of for one in mobject.get_family()}
        others = [
            one
            for one in self.mobjects
            if one is not self.camera.frame
            and not any(id(member) in bright for member in one.get_family())
            and not any(one is fixed for fixed in self._fixed)
        ]
        if others:
            self._dimmed = others
            self.play(*(Fade(one, 1.0, DIMMED, run_time=APPEAR) for one in others))

    def unfocus(self) -> None:
        """Bring back what `focus` dimmed."""
        dimmed, self._dimmed = self._dimmed, []
        if dimmed:
            self.play(*(Fade(one, DIMMED, 1.0, run_time=APPEAR) for one in dimmed))

    def dive(self, *targets: Mobject, room: float = 1.2, along: Sequence[Animation] = ()) -> None:
        """Bring the camera to some mobjects, with `room` times their size around them, in 1.2 s.

        They land where the picture's middle is, at most 12 times as large as before. What the camera passes
        goes behind the line of badge and clock. `along`: what is played meanwhile.
        """
        group = Group(*targets)
        area, frame = self.area, self.camera.frame
        scale = max(
            room * group.width / area.width,
            room * group.height / area.height,
            frame.width / config.frame_width / 12,
        )
        centre = group.get_center() - scale * area.center
        if self._seen is None:
            self._seen = frame.get_center(), frame.width
            # A film without a ground has nothing that could hide.
            if config.background_opacity == 1:
                top, height = config.frame_height / 2, config.frame_height / 2 - area.top
                self._lintel = rectangle(config.frame_width, height, self.theme.background)
                self._lintel.move_to([0, top, 0], UP)
                self.add(self._overlay(self._lintel).set_z_index(ON_TOP - 1))
                along = [*along, Fade(self._lintel, 0.0, 1.0, run_time=APPEAR)]
        self.play(Look(frame, centre, scale * config.frame_width, self._fixed, run_time=CAMERA), *along)

    def come_out(self, along: Sequence[Animation] = ()) -> None:
        """Bring the camera back out the way it went in."""
        seen, self._seen = self._seen, None
        if seen:
            self.play(Look(self.camera.frame, *seen, self._fixed, run_time=CAMERA), *along)
        if self._lintel is not None:
            self._drop(self._lintel)
            self._lintel = None

    def finding(self, card: Finding, grow: Sequence[Animation] = (), into: Sequence[Animation] = ()) -> None:
        """End on a card: all else leaves, the card comes, what grows on it grows, and it stays.

        At last the next film's title takes the place of the aside, as the card has no words to spare.

        `into`: what takes things that are on screen to their places on the card, where they stay beneath it.
        """
        self.hush()
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
