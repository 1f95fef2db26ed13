"""Manim's cameras, which show only what is different from what they showed last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from manim import Camera, Mobject, MovingCamera, ScreenRectangle
from manim.utils.iterables import remove_list_redundancies

from tilesim_scenes.render import dirty as tiles
from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.manim_inside.canvas import Canvas
from tilesim_scenes.render.manim_inside.looks import Unknown, kind_of

PAUSE = 20
"""Frames that are left to Manim after one with something that is not known here."""


class Listing:
    """The mobjects that Manim draws for some given ones, in order, kept while nobody adds or removes any."""

    def __init__(self) -> None:
        self.given: list[Mobject] | None = None

    def of(self, mobjects: list[Mobject], z_index: bool) -> list[Mobject]:
        """The same list as long as it holds the same. Raises Unknown."""
        if (
            mobjects == self.given
            and z_index == self.z_index
            and [mobject.submobjects for mobject in self.family] == self.submobjects
            and [(mobject.z_index, len(mobject.points) > 0) for mobject in self.family] == self.z
        ):
            return self.displayed
        self.given = None
        # Manim gives most members of a group once more by themselves.
        families = (one.get_family() if one.submobjects else (one,) for one in mobjects)
        self.family = remove_list_redundancies(list(chain.from_iterable(families)))
        self.submobjects = [list(mobject.submobjects) for mobject in self.family]
        self.z = [(mobject.z_index, len(mobject.points) > 0) for mobject in self.family]
        displayed = [mobject for mobject in self.family if len(mobject.points) and kind_of(type(mobject))]
        self.displayed = sorted(displayed, key=lambda m: m.z_index) if z_index else displayed
        self.given, self.z_index = list(mobjects), z_index
        return self.displayed


@dataclass(slots=True)
class State:
    """What an incremental camera remembers; it has no __dict__ for Manim's cache to look into."""

    listing: Listing = field(default_factory=Listing)
    canvas: Canvas | None = None
    changed: np.ndarray | None = None
    view: tuple[Any, ...] | None = None
    pause: int = 0

    def forget(self) -> None:
        """Know nothing of what the frame shows."""
        self.canvas = self.changed = None


class Incremental(Camera):
    """Manim's camera, with `show`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.state = State()
        super().__init__(*args, **kwargs)
        # Manim's cache looks at what a camera has: the same, whether it has drawn or found a play there.
        self.type_or_raise(Mobject())

    def __deepcopy__(self, memo: Any) -> Incremental:
        copy = super().__deepcopy__(memo)
        copy.state = State()
        return copy

    def set_pixel_array(self, *args: Any, **kwargs: Any) -> None:
        self.state.forget()
        super().set_pixel_array(*args, **kwargs)

    def capture_mobjects(self, *args: Any, **kwargs: Any) -> None:
        self.state.forget()
        super().capture_mobjects(*args, **kwargs)

    def show(self, ground: np.ndarray, mobjects: Iterable[Mobject], **kwargs: Any) -> None:
        """What `set_frame_to_background(ground)` and `capture_mobjects(mobjects, **kwargs)` show."""
        mobjects = list(mobjects)
        if self._can_show(kwargs):
            state = self.state
            try:
                displayed = state.listing.of(mobjects, self.use_z_index)
                state.canvas = state.canvas or Canvas(self)
                dirty = state.canvas.show(ground, displayed)
            except Unknown:
                state.pause = PAUSE
            else:
                if state.changed is not None:
                    state.changed |= dirty
                return
        self.set_pixel_array(ground)
        self.capture_mobjects(mobjects, **kwargs)

    def _can_show(self, kwargs: dict[str, Any]) -> bool:
        """Whether to draw what changed: not while the view moves, when nothing that is kept is of use."""
        state, view = self.state, self._view()
        if state.canvas and state.canvas.frame.pixels is not self.pixel_array:
            state.forget()
        if state.pause:
            state.pause -= 1
        elif view == state.view:
            return kwargs == {"include_submobjects": True}
        state.view = view
        return False

    def changed(self) -> list[Pixels]:
        """Where the frame differs from what it was when this was asked last."""
        width, height = self.pixel_width, self.pixel_height
        state, changed = self.state, self.state.changed
        state.changed = tiles.grid(width, height)
        return [Pixels(0, 0, width, height)] if changed is None else tiles.rectangles(changed, width, height)

    def _view(self) -> tuple[Any, ...]:
        """What of the scene the frame shows, and how large."""
        return (
            self.pixel_width, self.pixel_height, self.frame_width, self.frame_height,
            *self.frame_center, self.cairo_line_width_multiple,
        )  # fmt: skip


class IncrementalMovingCamera(Incremental, MovingCamera):
    """The same of Manim's moving camera."""

    def _view(self) -> tuple[Any, ...]:
        if type(self.frame) is not ScreenRectangle or self.frame.submobjects:
            return super()._view()
        # Manim looks for the sides of the frame among all of its points, which takes long.
        return (
            self.pixel_width, self.pixel_height, self.frame.points.tobytes(), self.cairo_line_width_multiple
        )  # fmt: skip


CAMERAS: dict[type[Camera], type[Incremental]] = {Camera: Incremental, MovingCamera: IncrementalMovingCamera}
"""Those cameras of Manim that draw each pixel on its own, and of a scene only what its mobjects say."""
